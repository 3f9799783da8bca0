package io.coordl.reports.summary;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** All findings about one job, with the figures and sentences of the command line. */
public final class Findings {
  private final Summary summary;
  private final Evidence evidence;

  public Findings(JobRecording recording) {
    this.summary = Summary.of(recording);
    this.evidence = summary.evidence(recording);
  }

  /**
   * One finding.
   *
   * @param share its weight, 0 to 1: a share of wall time or of items
   * @param what the finding, in one sentence
   * @param why the figures behind it, in one sentence
   * @param next the advice
   */
  public record Finding(double share, String what, String why, String next) {}

  /** Returns whether a batch was measured; otherwise the findings mean nothing. */
  public boolean isMeasured() {
    return evidence.totals().batches > 0;
  }

  /** Returns whether the recording is of a profile, whose totals are not those of the job. */
  public boolean isProfiled() {
    return evidence.isProfiled();
  }

  public Optional<Finding> dataStall() {
    Figures totals = evidence.totals();
    return Optional.of(
        new Finding(
            evidence.judged().share(evidence.judged().stall),
            Text.format(
                "Training waits for data %s of its time%s.",
                percent(evidence.judged().stall), evidence.ofWhat()),
            "Of the whole job's "
                + new Nanos(totals.wall)
                + ", waits took: "
                + Part.STALLS.stream()
                    .map(part -> part.cause() + " " + new Nanos(part.of(totals)))
                    .collect(Collectors.joining(", "))
                + ".",
            sentence(summary.next().sentence())));
  }

  /**
   * Returns the finding that epochs after the first still wait for storage although the cache is
   * on; empty otherwise.
   */
  public Optional<Finding> laterEpochsFetch() {
    Figures later = evidence.epochs().later();
    return Advice.all(evidence)
        .filter(
            advice ->
                Set.of("cacheTooSmall", "cacheNotAsked", "filesChange").contains(advice.finding()))
        .findFirst()
        .map(
            advice ->
                new Finding(
                    later.share(later.fetchStall),
                    Text.format(
                        "Later epochs still wait for storage %s of their time.",
                        Text.percent(later.fetchStall, later.wall)),
                    Text.format(
                        "They read %s of %,d from storage, though the cache is on.",
                        Text.count(later.storageItems, "item", "items"), later.items),
                    sentence(advice.sentence())));
  }

  /**
   * Returns the finding on the full store that rejected the most items; empty if no store is full.
   */
  public Optional<Finding> storeFull() {
    return summary.stores().stream()
        .filter(store -> store.full)
        .max(Comparator.comparingLong(store -> store.bypassed))
        .map(Findings::full);
  }

  private static Finding full(StoreStatisticsEvent store) {
    long offered = store.admitted + store.bypassed;
    boolean raw = store.keeps(StoreStatisticsEvent.RAW);
    String name = raw ? "cache" : "store of " + store.store + " items";
    return new Finding(
        (double) store.bypassed / offered,
        Text.format(
            "The %s is full: it could not cache %s of the items it was offered.",
            name, Text.percent(store.bypassed, offered)),
        Text.format(
            "It holds %s in %s of %s, nothing is evicted, and %,d times an item was not cached.",
            Text.count(store.items, "item", "items"),
            new Text.Bytes(store.used),
            new Text.Bytes(store.capacity),
            store.bypassed),
        Text.format(
            "If the host has more memory, raise %s.size=SIZE.", raw ? "cache" : store.store));
  }

  public Optional<Finding> slowestJob() {
    return summary.stagings().stream()
        .filter(staging -> staging.waitedForSlowest > 0)
        .max(Comparator.comparingLong(staging -> staging.waitedForSlowest))
        .map(this::slowest);
  }

  private Finding slowest(StagingStatisticsEvent staging) {
    return new Finding(
        evidence.totals().share(staging.waitedForSlowest),
        Text.format(
            "Threads of this job wait for job %s, the slowest of the group %s.",
            staging.slowestJob, Text.line(String.valueOf(staging.group), 100)),
        Text.format(
            "They waited %s for that job, and %s in total for jobs of the group.",
            new Nanos(staging.waitedForSlowest), new Nanos(staging.waitedFor)),
        "Jobs with coordinated prep run at the pace of the slowest: give that job the same cores"
            + " and GPU as the others, or let it train without prep=coordinate.");
  }

  public Optional<Finding> unansweredPeers() {
    return summary.peers().stream()
        .filter(peer -> unanswered(peer) > 0)
        .max(Comparator.comparingLong(peer -> peer.lostTime))
        .map(
            worst ->
                new Finding(
                    Math.min(1, evidence.totals().share(lostNanos())),
                    Text.format(
                        "Host %s did not answer %s of this job in time.",
                        Text.line(String.valueOf(worst.peer), 100),
                        Text.count(unanswered(worst), "request", "requests")),
                    Text.format(
                        "%s timed out and %,d failed; all hosts together cost the job's threads"
                            + " %s.",
                        Text.count(worst.late, "request", "requests"),
                        worst.failed,
                        new Nanos(lostNanos())),
                    "Check that host and the network to it. A host that does not answer is not"
                        + " queried again until it is back; until then its items are read from"
                        + " storage."));
  }

  private long lostNanos() {
    return summary.peers().stream().mapToLong(peer -> peer.lostTime).sum();
  }

  private static long unanswered(PeerStatisticsEvent peer) {
    return peer.late + peer.failed;
  }

  /**
   * Returns the finding that epochs after the first read a considerable share of the items from
   * storage although the memory of all hosts together could hold all items; empty otherwise.
   */
  public Optional<Finding> unusedPartition() {
    Figures later = evidence.epochs().later();
    if (evidence.hosts() == 1
        || later.storageItems < later.items * Evidence.WORTH_A_CHANGE
        || later.storageItems == 0
        || evidence.capacityOfAllHosts() < evidence.epochs().bytes()) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            later.share(later.fetchStall),
            Text.format(
                "Later epochs read %s of the items from storage, though the memory of %s hosts"
                    + " could hold them.",
                Text.percent(later.storageItems, later.items), evidence.hosts()),
            Text.format(
                "An epoch reads %s; %s hosts like this one can cache %s.",
                new Bytes(evidence.epochs().bytes()),
                evidence.hosts(),
                new Bytes(evidence.capacityOfAllHosts())),
            "Check in the recordings of the other hosts that they have the same cache.size, and"
                + " that they identify files as the same items: by the same paths, or with"
                + " dataset.root."));
  }

  /** Returns the finding on faults inside the agent, with share 1; empty if there were none. */
  public Optional<Finding> faults() {
    Summary.Faults faults = summary.faults();
    if (faults.count() == 0) {
      return Optional.empty();
    }
    String first =
        faults.examples().stream()
            .findFirst()
            .map(
                example ->
                    Text.format(
                        "The first was in %s: %s.",
                        Text.line(String.valueOf(example.where), 200),
                        Text.line(String.valueOf(example.cause), 200)))
            .orElse("The recording does not contain an example.");
    return Optional.of(
        new Finding(
            1,
            "The agent had "
                + Text.count(faults.count(), "fault", "faults")
                + "; each time, the program continued without it.",
            first,
            "Report the fault. Results are not affected, but the agent may not have sped up"
                + " everything it should."));
  }

  /** Returns the finding that corresponds to the advice with this name; empty if there is none. */
  public Optional<Finding> advice(String finding, String what) {
    return Advice.all(evidence)
        .filter(advice -> advice.finding().equals(finding))
        .findFirst()
        .map(
            advice ->
                new Finding(
                    evidence.judged().share(advice.nanos()),
                    Text.format(
                        "%s: %s of training time%s.",
                        what, percent(advice.nanos()), evidence.ofWhat()),
                    Text.format(
                        "This is %s of the training thread's %s.",
                        new Nanos(advice.nanos()), new Nanos(evidence.judged().wall)),
                    sentence(advice.sentence())));
  }

  private String percent(long nanos) {
    return Text.percent(nanos, evidence.judged().wall);
  }

  /**
   * Capitalises a sentence, which begins in lower case because it follows a heading on the command
   * line.
   */
  private static String sentence(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }
}
