package io.coordl.recording;

import io.coordl.attribution.Durations;
import io.coordl.attribution.JobTotals;
import io.coordl.attribution.Totals;
import io.coordl.staging.StagingStatistics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The text at exit: where the time went, what each policy did, what to try next. */
final class ExitSummary {
  private static final int MOST_LINES = 20;

  /** Faults, what to try next, the recording. */
  private static final int LINES_AT_END = 3;

  private final JobMonitor job;
  private final @Nullable String recording;
  private final List<String> didNothing;

  /**
   * Of a job that ends.
   *
   * @param didNothing why, of each policy asked for that did nothing
   */
  ExitSummary(JobMonitor job, @Nullable String recording, List<String> didNothing) {
    this.job = job;
    this.recording = recording;
    this.didNothing = didNothing;
  }

  /**
   * At most 20 lines; if nothing was trained, read or kept, only why what was asked for did
   * nothing.
   */
  List<String> lines() {
    JobTotals.Snapshot now = job.spans().totals().snapshot();
    JobTotals.Epochs epochs = job.spans().totals().epochs();
    Totals t = now.totals();
    List<String> lines = new ArrayList<>(job.profiled());
    if (!lines.isEmpty()) {
      didNothing.stream().limit(MOST_LINES / 2).forEach(lines::add);
      if (recording != null) {
        lines.add("recording: " + recording);
      }
      return lines;
    }
    if (t.batches == 0 && now.items() == 0) {
      return didNothing.stream().limit(MOST_LINES).toList();
    }
    if (t.batches > 0) {
      lines.add(
          format(
              "%s: %s, %d batches, %s from the first batch to the last",
              job.frameworks().isEmpty() ? "training" : job.frameworks(),
              passes(epochs),
              t.batches,
              seconds(now.wall())));
      lines.add(share("compute", t.compute, now.wall(), ""));
      lines.add(
          share(
              "data stall",
              t.stall,
              now.wall(),
              format(
                  "fetch %s, prep %s, GC %s, queueing %s",
                  seconds(t.fetchStall),
                  seconds(t.prepStall),
                  seconds(t.gcStall),
                  seconds(t.queueStall))));
      if (t.checkpoint > 0) {
        lines.add(share("checkpoints", t.checkpoint, now.wall(), ""));
      }
    }
    if (now.items() > 0) {
      lines.add(
          format(
                  "items: %d from storage (%s), %d from memory (%s)",
                  now.storageItems(),
                  bytes(now.storageBytes()),
                  now.memoryItems(),
                  bytes(now.memoryBytes()))
              + (now.peerItems() == 0
                  ? ""
                  : format(", %d from other hosts (%s)", now.peerItems(), bytes(now.peerBytes())))
              + decodedHits());
    }
    work(lines, "fetch", "items fetched", Durations.Kind.FETCH, now.fetchTime());
    work(lines, "decode", "images decoded", Durations.Kind.DECODE, now.decodeTime());
    work(lines, "transform", "times", Durations.Kind.TRANSFORM, now.transformTime());
    for (StoreView store : job.stores()) {
      lines.add(
          format(
              "%s cache (%s): %d items, %s of %s; %d hits, %d misses, %d bypassed",
              store.store(),
              store.scope(),
              store.items(),
              bytes(store.used()),
              bytes(store.capacity()),
              store.hits(),
              store.misses(),
              store.bypassed()));
    }
    split(job.stores(), lines);
    asked(job.peerViews(), lines);
    lines.addAll(job.policies());
    // As far as there is room, with a line for coordinated prep; the recording has them all.
    int room = Math.max(0, MOST_LINES - LINES_AT_END - 1 - lines.size());
    lines.addAll(didNothing.subList(0, Math.min(room, didNothing.size())));
    staged(job.stagings(), lines, MOST_LINES - LINES_AT_END);
    if (job.log().faults() > 0) {
      lines.add(format("faults inside the agent: %d (see above)", job.log().faults()));
    }
    lines.add("next: " + advice(epochs, now));
    if (recording != null) {
      lines.add("recording: " + recording);
    }
    return lines;
  }

  /** An item that is kept decoded is not fetched again: it came from memory all the same. */
  private String decodedHits() {
    long hits =
        job.stores().stream()
            .filter(store -> store.store().equals("decoded"))
            .mapToLong(StoreView::hits)
            .sum();
    return hits == 0 ? "" : format(", %d decoded images from memory", hits);
  }

  /** What the other hosts did for this job; nothing if none was asked. */
  private void asked(List<PeerView> peers, List<String> lines) {
    if (peers.isEmpty()) {
      return;
    }
    long found = peers.stream().mapToLong(PeerView::found).sum();
    Histogram times = job.latency(Durations.Kind.PEER_FOUND);
    lines.add(
        format(
            "peers: %d asked; %d items found there (%s)%s, %d kept there for all (%s); %d late, %d"
                + " failed (%s lost)",
            peers.size(),
            found,
            bytes(peers.stream().mapToLong(PeerView::receivedBytes).sum()),
            found == 0
                ? ""
                : format(
                    ", p50 %s, p99 %s",
                    millis(times.getValueAtPercentile(50)), millis(times.getValueAtPercentile(99))),
            peers.stream().mapToLong(PeerView::kept).sum(),
            bytes(peers.stream().mapToLong(PeerView::sentBytes).sum()),
            peers.stream().mapToLong(PeerView::late).sum(),
            peers.stream().mapToLong(PeerView::failed).sum(),
            seconds(peers.stream().mapToLong(PeerView::lostTime).sum())));
  }

  /** The pipelines that gave the most batches, as far as there is room, and how many more. */
  private static void staged(List<StagingStatistics> all, List<String> lines, int room) {
    List<StagingStatistics> used =
        all.stream()
            .filter(staging -> staging.passes() > 0)
            .sorted(Comparator.comparingLong(s -> -s.taken() - s.alone()))
            .toList();
    for (int i = 0; i < used.size(); i++) {
      List<String> next = new ArrayList<>();
      staged(used.get(i), next);
      int more = used.size() - i;
      if (lines.size() + next.size() > (more == 1 ? room : room - 1)) {
        lines.add(format("coordinated prep: %d more pipelines, see the recording", more));
        return;
      }
      lines.addAll(next);
    }
  }

  /** How long its passes are, which tells training from evaluation, and why not all were shared. */
  private static String pipeline(StagingStatistics s) {
    long unshared = s.passes() - s.sharedPasses();
    return format("; %d batches a pass", (s.taken() + s.alone() + s.passes() / 2) / s.passes())
        + (unshared == 0
            ? ""
            : format(
                ", %d %s while no other job took part",
                unshared, unshared == 1 ? "pass" : "passes"));
  }

  /** What the jobs did for each other, and who waited for whom. */
  private static void staged(StagingStatistics s, List<String> lines) {
    lines.add(
        format(
            "coordinated prep (%s): %d of %d passes shared; %d batches from the group (%d copied),"
                + " %d prepared for it, %d by the job for itself (%d late, %d lost, %d not staged,"
                + " %d with nobody preparing)%s",
            s.group(),
            s.sharedPasses(),
            s.passes(),
            s.taken(),
            s.copied(),
            s.prepared(),
            s.alone(),
            s.late(),
            s.lost(),
            s.notStaged(),
            s.nobody(),
            pipeline(s)));
    if (s.slowestJob() != 0) {
      lines.add(
          format(
              "  who waits for whom: this job for batches %s; its preparing threads for others to"
                  + " use theirs %s, mostly for job %d (%s)",
              seconds(s.waitNanos()),
              seconds(s.waitedForNanos()),
              s.slowestJob(),
              seconds(s.waitedForSlowestNanos())));
    }
  }

  /** Epochs and evaluations; where no update of a model was seen, nobody knows which is what. */
  private static String passes(JobTotals.Epochs epochs) {
    if (epochs.epochs() == 0) {
      return counted(epochs.passes(), "pass over data", "passes over data");
    }
    return counted(epochs.epochs(), "epoch", "epochs")
        + (epochs.evaluations() == 0
            ? ""
            : ", " + counted(epochs.evaluations(), "evaluation pass", "evaluation passes"));
  }

  private static String counted(long number, String singular, String plural) {
    return number + " " + (number == 1 ? singular : plural);
  }

  /** What to try, judged by the epochs after the first, which warms up and fills caches. */
  String advice(JobTotals.Epochs epochs, JobTotals.Snapshot now) {
    Totals t = epochs.judged();
    String when =
        epochs.steady()
            ? "from the second epoch on"
            : epochs.epochs() == 1 ? "in the only epoch" : "";
    if (t.batches == 0) {
      return "nothing can be said: no thread was seen to train on the batches it took";
    }
    if (t.stall < epochs.wall() / 20) {
      return when.isEmpty()
          ? "nothing to do: data costs this job less than 5 % of its time"
          : format(
              "nothing to do: %s, waiting for data is %.1f %% of the time",
              when, epochs.wall() == 0 ? 0.0 : 100.0 * t.stall / epochs.wall());
    }
    String waits = when.isEmpty() ? "the job waits for " : when + " the job waits for ";
    if (t.fetchStall >= t.prepStall) {
      if (!keeps("raw")) {
        return waits + "storage; try " + agent("cache=minio");
      }
      boolean full = job.stores().stream().anyMatch(StoreView::full);
      if (full) {
        return waits
            + "storage; a larger cache.size"
            + (job.peerViews().isEmpty() ? "" : ", or another host,")
            + " would keep more of the data set";
      }
      return epochs.steady()
          ? waits + "storage though the cache has room; try " + agent("dataset=PATH")
          : "the job waited for storage while the cache was filled; later epochs read from memory";
    }
    long prep = now.decodeTime() + now.transformTime() + now.otherTime();
    if (!keeps("decoded") && now.decodeTime() > prep / 4) {
      return waits
          + "preparation and decodes every image in every epoch; try "
          + agent("decoded=share");
    }
    if (job.stagings().stream().anyMatch(staging -> staging.sharedPasses() > 0)) {
      return waits + "preparation, which the jobs of its group share already";
    }
    boolean ahead = job.frameworks().contains("DJL") && !prefetches();
    return waits
        + "preparation; try "
        + (ahead ? agent("prefetch=2") + ", or " : "")
        + agent("prep=coordinate")
        + " where several jobs use the same data";
  }

  /** All arguments to give next time, so that no cure is dropped for another. */
  private String agent(String change) {
    String key = change.substring(0, change.indexOf('=') + 1);
    List<String> arguments = new ArrayList<>();
    for (Setting setting : job.settings()) {
      boolean given =
          setting.origin().equals("argument")
              || setting.origin().equals("file")
              || setting.origin().equals("environment");
      if (given && !key.equals(setting.key() + "=")) {
        // Values of a key that was repeated are one setting; a password is none that is known.
        for (String value : setting.value().replace("(not shown)", "PASSWORD").split(", ", -1)) {
          arguments.add(setting.key() + "=" + value);
        }
      }
    }
    arguments.add(change);
    return "-javaagent:coordl-agent.jar=" + String.join(",", arguments);
  }

  /** Which form of an item the common memory goes to, and why; nothing where that was not asked. */
  private static void split(List<StoreView> stores, List<String> lines) {
    for (StoreView first : stores) {
      for (StoreView second : stores) {
        if (first.order().equals("first") && second.order().equals("second")) {
          lines.add(
              format(
                  "both in %s, %s items first: one of %.1f KiB saves %s (%s a MiB), a %s one of"
                      + " %.1f KiB saves %s (%s a MiB)",
                  bytes(first.capacity()),
                  first.store(),
                  first.itemBytes() / 1024.0,
                  millis(first.itemSaves()),
                  millis(perMebibyte(first)),
                  second.store(),
                  second.itemBytes() / 1024.0,
                  millis(second.itemSaves()),
                  millis(perMebibyte(second))));
        }
      }
    }
  }

  private static long perMebibyte(StoreView store) {
    return (long) ((double) store.itemSaves() * (1 << 20) / Math.max(1, store.itemBytes()));
  }

  private boolean prefetches() {
    return job.settings().stream()
        .anyMatch(one -> one.key().equals("prefetch") && !one.value().equals("off"));
  }

  private boolean keeps(String form) {
    return job.stores().stream().anyMatch(store -> store.store().equals(form));
  }

  private void work(List<String> lines, String name, String what, Durations.Kind kind, long self) {
    Histogram histogram = job.latency(kind);
    if (histogram.getTotalCount() > 0) {
      lines.add(
          format(
              "%s: %s on all threads, %d %s, p50 %s, p99 %s",
              name,
              seconds(self),
              histogram.getTotalCount(),
              what,
              millis(histogram.getValueAtPercentile(50)),
              millis(histogram.getValueAtPercentile(99))));
    }
  }

  private static String share(String name, long part, long whole, String more) {
    return format(
        "  %-12s %9s  %5.1f %%%s",
        name,
        seconds(part),
        whole == 0 ? 0.0 : 100.0 * part / whole,
        more.isEmpty() ? "" : "  " + more);
  }

  private static String seconds(long nanos) {
    return format("%.2f s", nanos / 1e9);
  }

  private static String millis(long nanos) {
    return format("%.2f ms", nanos / 1e6);
  }

  private static String bytes(long bytes) {
    if (bytes < 10_000) {
      return bytes + " B";
    }
    double mebibytes = bytes / (double) (1 << 20);
    return mebibytes < 10_000
        ? format("%.1f MiB", mebibytes)
        : format("%.1f GiB", mebibytes / 1024);
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
