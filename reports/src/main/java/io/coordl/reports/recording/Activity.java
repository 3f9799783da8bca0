package io.coordl.reports.recording;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.coordl.telemetry.advice.Part;
import java.util.List;
import java.util.Map;

/**
 * Aggregates of a recording's frequent events, of bounded size.
 *
 * @param times the activity of the training threads over time
 * @param files the slowest items, by fetches of 0.1 ms or longer
 * @param codecs codecs, by decodes at or above the recording's threshold
 * @param transforms transforms, by transforms at or above the recording's threshold
 * @param sources iterators and data sets, by the preparation time of their batches
 */
public record Activity(
    Times times, Names files, Names codecs, Names transforms, List<Source> sources) {
  /**
   * Nanoseconds of each part in slots of equal width; several training threads together may exceed
   * the width of a slot.
   *
   * @param startNanos start of the first slot, in nanoseconds since 1970; 0 if there is none
   * @param slotNanos width of a slot
   * @param parts nanoseconds of each part, slot by slot
   * @param deviceIdle mean idle time of the sampled devices in nanoseconds, slot by slot; empty if
   *     none was sampled
   */
  public record Times(
      long startNanos, long slotNanos, Map<Part, List<Long>> parts, List<Long> deviceIdle) {
    public int size() {
      return parts.getOrDefault(Part.COMPUTE, List.of()).size();
    }
  }

  /**
   * The names of items, codecs or transforms that took the most time.
   *
   * @param known number of different names that were tracked
   * @param slowest the names with the most time in total, slowest first
   * @param others all other names together
   * @param unnamed number of events whose names were beyond the limit and not tracked; one of these
   *     names may be as slow as the slowest
   */
  public record Names(long known, long unnamed, List<Total> slowest, Total others) {}

  /**
   * Totals of the events of one name, or of several.
   *
   * @param name empty for several names
   * @param memory number of events served from memory
   */
  public record Total(
      String name, long count, long totalNanos, long longestNanos, long bytes, long memory) {
    @JsonProperty
    long meanNanos() {
      return count == 0 ? 0 : totalNanos / count;
    }

    /** Returns the sum of both, under this total's name. */
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

  /** Batches of one iterator or data set, with the self times of their preparation. */
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
