package io.coordl.reports.recording;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.coordl.advice.Part;
import java.util.List;
import java.util.Map;

/**
 * What the frequent events of a recording come to. Its size does not depend on their number.
 *
 * @param times what the training threads did when
 * @param files the slowest items, by their fetches of 0.1 ms or longer
 * @param codecs by decodes as long as the recording's threshold or longer
 * @param transforms by transforms as long as the recording's threshold or longer
 * @param sources iterators and data sets, by the preparation of their batches
 */
public record Activity(
    Times times, Names files, Names codecs, Names transforms, List<Source> sources) {
  /**
   * Nanoseconds of each part in slots of equal width; several training threads may together do more
   * than a slot is wide.
   *
   * @param startNanos of the first slot, in nanoseconds since 1970; 0 if there is none
   * @param slotNanos width of a slot
   * @param parts of each slot
   * @param deviceIdle of the devices that were sampled, their mean; empty if there is none
   */
  public record Times(
      long startNanos, long slotNanos, Map<Part, List<Long>> parts, List<Long> deviceIdle) {
    public int size() {
      return parts.getOrDefault(Part.COMPUTE, List.of()).size();
    }
  }

  /**
   * Names by their time.
   *
   * @param known how many different names were told apart
   * @param slowest those that took most time in total, the slowest first
   * @param others all other names together
   * @param unnamed how many of the others came when as many names were known as are told apart; one
   *     of them may be as slow as the slowest
   */
  public record Names(long known, long unnamed, List<Total> slowest, Total others) {}

  /**
   * Events of one name, or of several together.
   *
   * @param name empty if it stands for several
   * @param memory how many of them were answered from memory
   */
  public record Total(
      String name, long count, long totalNanos, long longestNanos, long bytes, long memory) {
    @JsonProperty
    long meanNanos() {
      return count == 0 ? 0 : totalNanos / count;
    }

    /** Both together, by this one's name. */
    Total plus(Total more) {
      return new Total(
          name,
          count + more.count,
          totalNanos + more.totalNanos,
          Math.max(longestNanos, more.longestNanos),
          bytes + more.bytes,
          memory + more.memory);
    }
  }

  /** Batches of one iterator or data set, and the self times of their preparation. */
  public record Source(
      String name,
      long batches,
      long items,
      long wallNanos,
      long fetchNanos,
      long decodeNanos,
      long transformNanos,
      long otherNanos) {
    Source plus(Source more) {
      return new Source(
          name,
          batches + more.batches,
          items + more.items,
          wallNanos + more.wallNanos,
          fetchNanos + more.fetchNanos,
          decodeNanos + more.decodeNanos,
          transformNanos + more.transformNanos,
          otherNanos + more.otherNanos);
    }
  }
}
