package io.coordl.reports.page;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.reports.comparison.SideBySide;
import io.coordl.reports.comparison.SideBySideText;
import io.coordl.reports.differential.Differential;
import io.coordl.reports.recording.Activity;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.telemetry.advice.Text;
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
 * The contents of a page: one recording, or several to compare. Serialised to the embedded JSON.
 * Names of durations end in {@code Nanos}, names of sizes in {@code Bytes}.
 *
 * @param schemaVersion incremented by incompatible changes
 * @param compared sentences on unreadable recordings, on how much faster each recording after the
 *     first is, and on what was changed
 * @param advised recording whose advice is shown
 */
public record Report(
    int schemaVersion, List<String> compared, Advised advised, List<Entry> recordings) {
  static final int SCHEMA_VERSION = 2;

  private static final long NANOS_PER_MILLISECOND = 1_000_000;

  /**
   * A recording whose advice is shown.
   *
   * @param recording its index
   * @param as why this recording: {@code slowest} or {@code newest}
   */
  public record Advised(int recording, String as) {}

  /**
   * One recording.
   *
   * @param name its name on the page: the file's name, or its path if names are the same
   * @param summary as {@code coordl summary --json} prints it
   * @param latencies latency curves of the whole job, by kind
   * @param differential analysis of the phases of a profile; absent without a profile, and if
   *     recordings are compared
   * @param whatIf absent if recordings are compared
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
   * The activity of the training threads over time: one number for each slot.
   *
   * @param startMillis start of the first slot, in milliseconds since 1970; 0 if there is no slot
   * @param fine the same with narrower slots, for zooming in
   */
  record TimeLine(long startMillis, @JsonUnwrapped Slots slots, Slots fine) {
    private static final int MAX_COARSE_SLOTS = 480;

    static TimeLine of(Activity.Times times) {
      Map<String, List<Long>> lists = new LinkedHashMap<>();
      times.parts().forEach((part, nanos) -> lists.put(part.field() + "Nanos", nanos));
      if (!times.deviceIdle().isEmpty()) {
        lists.put("deviceIdleNanos", times.deviceIdle());
      }
      Slots fine = new Slots(times.slotNanos(), lists);
      int merged = 1;
      while (times.size() > MAX_COARSE_SLOTS * merged) {
        merged *= 2;
      }
      return new TimeLine(times.startNanos() / NANOS_PER_MILLISECOND, fine.merged(merged), fine);
    }
  }

  /**
   * Slots of one width.
   *
   * @param nanos nanoseconds of each activity, and {@code deviceIdleNanos}, the mean over the
   *     sampled devices, if any
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
   * Creates the report of some recordings, in their order.
   *
   * @param unread a sentence for each recording that could not be read
   * @param slowestOf number of recordings from which these were selected, slowest first; 0 if they
   *     are in the user's order
   */
  public static Report of(List<JobActivity> recordings, List<String> unread, int slowestOf) {
    Set<String> names = new HashSet<>();
    boolean namesDiffer =
        recordings.stream().allMatch(each -> names.add(fileName(each.recording().file())));
    List<Entry> entries =
        recordings.stream()
            .map(
                each -> {
                  Path file = each.recording().file();
                  return entry(
                      namesDiffer ? fileName(file) : file.toString(), each, recordings.size() == 1);
                })
            .toList();
    List<String> compared = new ArrayList<>(unread);
    if (!unread.isEmpty()) {
      String first = entries.get(0).name();
      compared.add(
          entries.size() == 1
              ? "This page shows only " + first + " and compares nothing."
              : "The others are compared with " + first + ".");
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

  /** Returns the index of the newest recording; the last index if start times are unknown. */
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
