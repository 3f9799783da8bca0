package io.coordl.reports.page;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.advice.Text;
import io.coordl.reports.comparison.SideBySide;
import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.differential.Differential;
import io.coordl.reports.recording.Activity;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.whatif.WhatIf;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a page shows, in the shape of the JSON that it holds: one recording, or several to compare.
 * Names of times end in {@code Nanos}, names of sizes in {@code Bytes}.
 *
 * @param schemaVersion raised by changes that an old reader would not understand
 * @param compared how much faster each recording after the first is, and what was changed
 * @param advised whose advice is shown
 */
public record Report(
    int schemaVersion, List<String> compared, Advised advised, List<Entry> recordings) {
  static final int SCHEMA_VERSION = 2;

  private static final long NANOS_PER_MILLISECOND = 1_000_000;

  /**
   * One of the recordings.
   *
   * @param recording its place among them
   * @param as why it
   */
  public record Advised(int recording, String as) {}

  /**
   * One recording.
   *
   * @param name what the page calls it: the file's name, or its path where names are the same
   * @param summary as {@code coordl summary --json} prints it
   * @param latencies of the whole job, by kind
   * @param differential what the phases of a profile come to; absent without one, and where
   *     recordings are compared
   * @param whatIf absent where recordings are compared
   */
  record Entry(
      String name,
      Summary summary,
      TimeLine timeLine,
      List<LatencyCurve> latencies,
      Activity.Names files,
      Activity.Names codecs,
      Activity.Names transforms,
      List<Activity.Source> sources,
      @Nullable Differential differential,
      @Nullable WhatIf whatIf) {}

  /**
   * What the training threads did when: one number for each slot.
   *
   * @param startMillis of the first slot, in milliseconds since 1970; 0 if there is no slot
   * @param fine the same in narrower slots, to zoom into
   */
  record TimeLine(long startMillis, @JsonUnwrapped Slots slots, Slots fine) {
    private static final int MOST = 480;

    static TimeLine of(Activity.Times times) {
      Map<String, List<Long>> lists = new LinkedHashMap<>();
      times.parts().forEach((part, nanos) -> lists.put(part.field() + "Nanos", nanos));
      if (!times.deviceIdle().isEmpty()) {
        lists.put("deviceIdleNanos", times.deviceIdle());
      }
      Slots fine = new Slots(times.slotNanos(), lists);
      int merged = 1;
      while (times.size() > MOST * merged) {
        merged *= 2;
      }
      return new TimeLine(times.startNanos() / NANOS_PER_MILLISECOND, fine.merged(merged), fine);
    }
  }

  /**
   * Slots of one width.
   *
   * @param nanos of each part, and {@code deviceIdleNanos}, the mean of the devices that were
   *     sampled, if there are any
   */
  record Slots(long slotNanos, @JsonAnyGetter Map<String, List<Long>> nanos) {
    private Slots merged(int times) {
      Map<String, List<Long>> merged = new LinkedHashMap<>();
      nanos.forEach(
          (name, list) ->
              merged.put(
                  name,
                  IntStream.range(0, (list.size() + times - 1) / times)
                      .mapToObj(
                          slot ->
                              list
                                  .subList(slot * times, Math.min(list.size(), (slot + 1) * times))
                                  .stream()
                                  .mapToLong(Long::longValue)
                                  .sum())
                      .toList()));
      return new Slots(slotNanos * times, merged);
    }
  }

  /**
   * Makes the report of some recordings, in their order.
   *
   * @param unread a sentence for each that was to be on the page, too
   * @param slowestOf of so many these are the slowest, and the first is the slowest of all; 0: they
   *     are in the user's order
   */
  public static Report of(List<JobActivity> recordings, List<String> unread, int slowestOf) {
    Set<String> names = new HashSet<>();
    boolean different =
        recordings.stream().allMatch(each -> names.add(fileName(each.recording().file())));
    List<Entry> entries =
        recordings.stream()
            .map(
                each -> {
                  Path file = each.recording().file();
                  return entry(
                      different ? fileName(file) : file.toString(), each, recordings.size() == 1);
                })
            .toList();
    List<String> compared = new ArrayList<>(unread);
    if (!unread.isEmpty()) {
      String first = entries.get(0).name();
      compared.add(
          entries.size() == 1
              ? "So this page is of " + first + " alone, and compares nothing."
              : "So what others are compared with is " + first + ".");
    }
    if (slowestOf > recordings.size()) {
      compared.add(
          Text.format(
              "These are the slowest %d of %d: coordl summary shows the speed and the waits of"
                  + " all.",
              recordings.size(), slowestOf));
    }
    compared.addAll(
        SideBySideText.sentences(
            SideBySide.of(recordings.stream().map(JobActivity::recording).toList()),
            entries.stream().map(Entry::name).toList()));
    Advised advised =
        slowestOf > 0 ? new Advised(0, "slowest") : new Advised(newest(entries), "newest");
    return new Report(SCHEMA_VERSION, compared, advised, entries);
  }

  /** What the job does now; where it is not known which that is, the last. */
  private static int newest(List<Entry> entries) {
    int newest = entries.size() - 1;
    for (int i = newest; i >= 0; i--) {
      Instant one = entries.get(i).summary().program().started();
      Instant known = entries.get(newest).summary().program().started();
      newest = one != null && known != null && one.isAfter(known) ? i : newest;
    }
    return newest;
  }

  private static String fileName(Path file) {
    Path name = file.getFileName();
    return name == null ? file.toString() : name.toString();
  }

  private static Entry entry(String name, JobActivity job, boolean alone) {
    Activity activity = job.activity();
    JobRecording recording = job.recording();
    return new Entry(
        name,
        Summary.of(recording),
        TimeLine.of(activity.times()),
        recording.latencies().stream().map(LatencyCurve::of).toList(),
        activity.files(),
        activity.codecs(),
        activity.transforms(),
        activity.sources(),
        alone && !recording.phases().isEmpty() ? Differential.of(recording) : null,
        alone ? WhatIf.of(recording) : null);
  }

  String title() {
    return "CoorDL: " + String.join(", ", recordings.stream().map(Entry::name).toList());
  }
}
