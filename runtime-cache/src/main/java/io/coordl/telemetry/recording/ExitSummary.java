package io.coordl.telemetry.recording;

import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.advice.CoreWaits;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.advice.Gpus;
import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The summary at exit: where the time went, what each policy did, what to try next.
 *
 * @param didNothing a line for each requested policy that had no effect, with the reason
 */
record ExitSummary(JobFigures job, @Nullable String recording, List<String> didNothing) {
  private static final int MAX_LINES = 20;

  /** Maximum number of lines at the end: faults, what to try next, the recording. */
  private static final int LINES_AT_END = 3;

  /**
   * Returns at most 20 lines. If nothing was trained, loaded, read or found in a store, and no wait
   * lasts too long, the lines only report what each policy did, or why it did nothing.
   */
  List<String> lines() {
    JobStatisticsEvent now = job.totals();
    List<String> lines = new ArrayList<>(job.profiled());
    List<String> last = new ArrayList<>();
    if (!lines.isEmpty()) {
      didNothing.stream().limit(MAX_LINES / 2).forEach(lines::add);
      addRecording(last);
      return withinLimit(lines, last);
    }
    if (now.batches == 0
        && now.loadedBatches == 0
        && now.items == 0
        && !now.waitsTooLong()
        && job.stores().stream().allMatch(store -> store.hits == 0)) {
      lines.addAll(job.policies());
      lines.addAll(didNothing);
      return lines.stream().limit(MAX_LINES).toList();
    }
    Evidence evidence = job.evidence();
    job.openWaits().stream().map(OpenWaitText::atEnd).forEach(lines::add);
    if (now.batches > 0) {
      double speed = evidence.samplesPerSecond();
      lines.add(
          Sentence.TRAINING.with(
              job.frameworks().isEmpty() ? "training" : job.frameworks(),
              speed == 0 ? "" : Sentence.SPEED.with(Text.rate(speed), evidence.ofWhat()),
              job.spans().totals().ended().describe(now, false),
              now.batches,
              (now.batches == 1 ? "batch" : "batches") + Epochs.failures(now),
              seconds(now.wall)));
      lines.add(share("compute", now.compute, now, after(CoreWaits.inSteps(now))));
      String stalls =
          Part.STALLS.stream()
              .map(part -> part.cause() + " " + seconds(part.of(now)))
              .collect(Collectors.joining(", "));
      lines.add(
          share(
              "data stall",
              now.stall,
              now,
              after(stalls) + after(CoreWaits.inPreparation(now)).replaceFirst("^ +", "; ")));
      if (now.checkpoint > 0) {
        lines.add(share("checkpoints", now.checkpoint, now, ""));
      }
      if (now.share(now.betweenEpochs()) >= Part.SHOWN) {
        lines.add(share("between epochs", now.betweenEpochs(), now, ""));
      }
    }
    if (!job.gpus().isEmpty()) {
      lines.add(Gpus.line(job.gpus()));
    }
    if (now.items > 0) {
      lines.add(
          Sentence.ITEMS.with(
                  now.storageItems,
                  new Bytes(now.storageBytes),
                  now.memoryItems,
                  new Bytes(now.memoryBytes))
              + (now.peerItems == 0
                  ? ""
                  : Sentence.ITEMS_OF_PEERS.with(now.peerItems, new Bytes(now.peerBytes)))
              + hits(StoreStatisticsEvent.DECODED, Sentence.DECODED_HITS)
              + hits(StoreStatisticsEvent.PREPARED, Sentence.PREPARED_HITS));
    }
    addWork(lines, "fetch", "items fetched", Durations.Kind.FETCH, now.fetchTime);
    addWork(lines, "decode", "images decoded", Durations.Kind.DECODE, now.decodeTime);
    addWork(lines, "transform", "times", Durations.Kind.TRANSFORM, now.transformTime);
    for (StoreStatisticsEvent store : job.stores()) {
      if (store.items + store.hits + store.bypassed == 0) {
        continue; // If the user requested it, a line below gives the reason.
      }
      lines.add(
          Sentence.STORE.with(
              store.store,
              store.scope,
              store.items,
              new Bytes(store.used),
              new Bytes(store.capacity),
              store.hits,
              store.misses,
              store.bypassed));
    }
    addSplit(job.stores(), lines);
    addPeers(job.peerViews(), lines);
    lines.addAll(job.policies());
    // As many as fit with one line for coordinated prep; the recording has them all.
    int room = Math.max(0, MAX_LINES - LINES_AT_END - 1 - lines.size());
    lines.addAll(didNothing.subList(0, Math.min(room, didNothing.size())));
    addPipelines(job.stagings(), lines, MAX_LINES - LINES_AT_END);
    if (job.faults() > 0) {
      last.add(Sentence.FAULTS.with(job.faults()));
    }
    last.add(Sentence.NEXT.with(Advice.on(evidence).sentence()));
    addRecording(last);
    return withinLimit(lines, last);
  }

  private void addRecording(List<String> lines) {
    if (recording != null) {
      lines.add(Sentence.RECORDING.with(recording));
    }
  }

  /** Limits the lines: many GPUs, stores and policies may need more; the recording has them all. */
  private static List<String> withinLimit(List<String> lines, List<String> last) {
    return Stream.concat(lines.stream().limit(MAX_LINES - last.size()), last.stream()).toList();
  }

  /** Names the hits on decoded or prepared items, which came from memory but are not fetches. */
  private String hits(String form, Sentence sentence) {
    long hits =
        job.stores().stream()
            .filter(store -> store.keeps(form))
            .mapToLong(store -> store.hits)
            .sum();
    return hits == 0 ? "" : sentence.with(hits);
  }

  /** Adds the requests to other hosts; nothing if none was contacted. */
  private void addPeers(List<PeerStatisticsEvent> peers, List<String> lines) {
    if (peers.isEmpty()) {
      return;
    }
    long found = peers.stream().mapToLong(peer -> peer.found).sum();
    LatencyStatisticsEvent times = job.latency(Durations.Kind.PEER_FOUND);
    lines.add(
        Sentence.PEERS.with(
            peers.size(),
            found,
            new Bytes(peers.stream().mapToLong(peer -> peer.receivedBytes).sum()),
            times == null ? "" : ", " + percentiles(times),
            peers.stream().mapToLong(peer -> peer.kept).sum(),
            new Bytes(peers.stream().mapToLong(peer -> peer.sentBytes).sum()),
            peers.stream().mapToLong(peer -> peer.late).sum(),
            peers.stream().mapToLong(peer -> peer.failed).sum(),
            seconds(peers.stream().mapToLong(peer -> peer.lostTime).sum())));
  }

  /**
   * Adds the pipelines that delivered the most batches, while there is room, and the number of
   * others.
   */
  private void addPipelines(List<StagingStatisticsEvent> all, List<String> lines, int room) {
    List<StagingStatisticsEvent> used =
        all.stream()
            .filter(staging -> staging.epochs > 0)
            .sorted(Comparator.comparingLong(one -> -one.taken - one.preparedLocally()))
            .toList();
    for (int i = 0; i < used.size(); i++) {
      List<String> next = new ArrayList<>();
      addPipeline(used.get(i), next);
      int more = used.size() - i;
      if (lines.size() + next.size() > (more == 1 ? room : room - 1)) {
        lines.add(Sentence.MORE_PIPELINES.with(more));
        return;
      }
      lines.addAll(next);
    }
  }

  /** Adds what the jobs did for each other, and which job this one waited for most. */
  private void addPipeline(StagingStatisticsEvent staging, List<String> lines) {
    lines.add(
        Sentence.STAGED.with(
            staging.group,
            Epochs.shared(
                staging.sharedEpochs,
                staging.epochs,
                staging.updates > 0,
                job.spans().totals().updating() > 0),
            staging.taken,
            staging.prepared,
            staging.preparedLocally(),
            staging.late,
            staging.lost,
            staging.notStaged,
            staging.nobody));
    if (staging.slowestJob != 0) {
      lines.add(
          Sentence.WHO_WAITS.with(
              seconds(staging.waited),
              seconds(staging.waitedFor),
              staging.slowestJob,
              seconds(staging.waitedForSlowest)));
    }
  }

  /** If two forms of items share memory, adds which form gets the memory first, and why. */
  private static void addSplit(List<StoreStatisticsEvent> stores, List<String> lines) {
    for (StoreStatisticsEvent first : stores) {
      for (StoreStatisticsEvent second : stores) {
        if ("first".equals(first.order) && "second".equals(second.order)) {
          lines.add(
              Sentence.SPLIT.with(
                  new Bytes(first.capacity),
                  first.store,
                  first.itemBytes / 1024.0,
                  new Nanos(first.itemSaves),
                  new Nanos(perMebibyte(first)),
                  second.store,
                  second.itemBytes / 1024.0,
                  new Nanos(second.itemSaves),
                  new Nanos(perMebibyte(second))));
        }
      }
    }
  }

  private static long perMebibyte(StoreStatisticsEvent store) {
    return (long) ((double) store.itemSaves * (1 << 20) / Math.max(1, store.itemBytes));
  }

  private void addWork(
      List<String> lines, String name, String what, Durations.Kind kind, long self) {
    LatencyStatisticsEvent times = job.latency(kind);
    if (times != null) {
      lines.add(
          Sentence.WORK.with(
              name,
              seconds(self),
              kind == Durations.Kind.DECODE ? Sentence.WITH_ARRAYS.with() : "",
              times.count,
              what,
              percentiles(times),
              kind == Durations.Kind.DECODE ? Sentence.WITHOUT_ARRAYS.with() : ""));
    }
  }

  private static String after(String more) {
    return more.isEmpty() ? "" : "  " + more;
  }

  private static String percentiles(LatencyStatisticsEvent of) {
    return Sentence.PERCENTILES.with(new Nanos(of.p50), new Nanos(of.p99));
  }

  private static String share(String name, long part, Figures whole, String more) {
    return Sentence.SHARE.with(name, seconds(part), Text.percent(part, whole.wall), more);
  }

  private static String seconds(long nanos) {
    return Text.seconds(nanos) + " s";
  }
}
