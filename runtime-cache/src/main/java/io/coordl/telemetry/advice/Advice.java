package io.coordl.telemetry.advice;

import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One finding about a job and what to do about it. Each finding is derived from the {@link
 * Evidence} independently of the others and states how much time it explains; the one that explains
 * most is the advice. Findings name only arguments that the agent has.
 *
 * @param finding stable name, for programs
 * @param sentence text for the user; ends with the gain if there is something to change
 * @param arguments all arguments for the agent, as {@code key=value}; empty if no change to them
 *     would help
 * @param gain largest possible speed-up of the judged epochs, derived from their figures; 1 if
 *     there is nothing to change
 * @param nanos time of the training thread that the finding explains in these epochs
 */
public record Advice(
    String finding, String sentence, List<String> arguments, double gain, long nanos) {
  /** Acceptable share of time spent on checkpoints, from CheckFreq (FAST 2021). */
  public static final double MAX_CHECKPOINT_SHARE = 0.035;

  /** Begins an argument that declares a class deterministic. */
  private static final String DECLARING = "prepared=share:";

  /** Decoded images are worth caching if decoding takes more than this share of all preparation. */
  private static final double WORTH_KEEPING = 0.25;

  /** The advice mentions page faults if the kernel takes more than this share of the CPU time. */
  private static final double WORTH_NAMING = 0.2;

  /**
   * Cost of a page fault in a virtual machine; if faults explain less than half of the kernel's
   * time, reads dominate.
   */
  private static final long FAULT_NANOS = 1_500;

  private static final long GIBIBYTE = 1L << 30;

  /** Changes to preparation that gain less are not advised. */
  private static final double WORTH_A_GAIN = 1.03;

  /** Predicted gains are compared in tenths; smaller differences do not count. */
  private static final double TENTHS = 10;

  /**
   * The advice names the CPU limit if that limit held threads back for this share of the wall time.
   */
  private static final double THROTTLED = 0.05;

  /** Returns the finding that explains most of the job's time. */
  public static Advice on(Evidence evidence) {
    Figures judged = evidence.judged();
    if (evidence.totals() instanceof JobStatisticsEvent job && job.waitsTooLong()) {
      return nothing("openWait", job.openWait, Sentence.FIND_OUT_WHY.with(new Nanos(job.openWait)));
    }
    if (evidence.totals().batches == 0) {
      return nothing("nothingMeasured", 0, nothingTrained(evidence));
    }
    if (evidence.isProfiled()) {
      return nothing("profiled", 0, Sentence.PROFILED.with());
    }
    return all(evidence)
        .filter(advice -> judged.share(advice.nanos()) >= Evidence.WORTH_A_CHANGE)
        .max(Comparator.comparingLong(Advice::nanos))
        .or(() -> manyCauses(evidence))
        .or(() -> cacheFilled(evidence).filter(filled -> explainsTheFirstEpoch(evidence)))
        .orElseGet(
            () ->
                nothing(
                    "computeBound", judged.compute, Sentence.COMPUTE_BOUND.with(stall(evidence))));
  }

  private static String nothingTrained(Evidence evidence) {
    if (!(evidence.totals() instanceof JobStatisticsEvent job) || job.loadedBatches == 0) {
      return Sentence.NOTHING_MEASURED.with();
    }
    return Sentence.NOTHING_TRAINED.with(
        job.loadedBatches == 1
            ? Sentence.BATCH_LOADED.with()
            : Sentence.BATCHES_LOADED.with(job.loadedBatches),
        evidence.isOn("auto") ? "" : Sentence.AUTO_WITHOUT_TRAINING.with());
  }

  /** Returns a finding if the waits matter in total, though no single cause is worth a change. */
  private static Optional<Advice> manyCauses(Evidence evidence) {
    Figures judged = evidence.judged();
    // If cores are short, steps include waits for a core.
    long taken = Math.max(judged.computeCoreWait, Math.round(evidence.coreLaw().maxShare()));
    if (judged.share(judged.stall + taken) < Evidence.WORTH_A_CHANGE) {
      return Optional.empty();
    }
    String causes =
        Part.STALLS.stream()
                .map(part -> part.cause() + " " + Text.percent(part.of(judged), judged.wall))
                .collect(Collectors.joining(", "))
            + (judged.share(taken) < Part.SHOWN
                ? ""
                : Sentence.STEPS_WITHOUT_A_CORE.with(Text.percent(taken, judged.wall)));
    return Optional.of(
        nothing(
            "computeBound",
            judged.compute,
            Sentence.MOSTLY_COMPUTE_BOUND.with(stall(evidence), causes)));
  }

  /** Returns every finding that applies to the job, however little it explains. */
  public static Stream<Advice> all(Evidence evidence) {
    Figures judged = evidence.judged();
    return Stream.concat(
        Stream.of(fetchBound(evidence), cacheFilled(evidence)).flatMap(Optional::stream),
        Stream.of(
            prepBound(evidence),
            coreBound(evidence),
            gcBound(evidence),
            change(
                evidence,
                "queueBound",
                Sentence.PREPARE_FURTHER_AHEAD.with(
                    evidence.textOf(", ", library -> library.howToPrepareAhead)),
                judged.queueStall,
                Sentence.QUEUED.with(time(evidence, judged.queueStall))),
            checkpointBound(evidence)));
  }

  /**
   * Advises a larger heap, unless most collections are explicit: on a larger heap, these are as
   * frequent and take longer.
   */
  private static Advice gcBound(Evidence evidence) {
    Figures judged = evidence.judged();
    // Where data is prepared ahead, most pauses are in steps, and make them longer.
    long pauses = pauses(judged);
    double explicitShare =
        judged.gcPauses == 0 ? 0 : Math.min(1, (double) judged.explicitGcPauses / judged.gcPauses);
    boolean explicit = explicitShare > 0.5;
    String caller =
        evidence.totals() instanceof JobStatisticsEvent job && job.explicitGcCaller != null
            ? Sentence.GC_CALLER.with(job.explicitGcCaller)
            : Sentence.GC_OF_THE_JDK.with();
    return change(
        evidence,
        "gcBound",
        (explicit ? Sentence.AVOID_GC_CALLS : Sentence.LARGER_HEAP).with(),
        pauses,
        evidence.coreLaw().gain(0, pauses, (double) Math.max(judged.collectorCpu, pauses)),
        Sentence.GC_STOPPED.with(time(evidence, pauses))
            + (pauses > judged.gcStall
                ? Sentence.GC_IN_STEPS.with(new Nanos(pauses - judged.gcStall))
                : "")
            + (explicit
                ? Sentence.GC_CALLS.with(100 * explicitShare)
                    + caller
                    + evidence.textOf("; ", library -> library.callsGc)
                : ""));
  }

  private static Advice checkpointBound(Evidence evidence) {
    Figures judged = evidence.judged();
    String stopped = time(evidence, judged.checkpoint);
    if (!"async".equals(evidence.configuration().get("checkpoint"))) {
      return change(
          evidence,
          "checkpointBound",
          Sentence.WRITE_IN_BACKGROUND.with(),
          judged.checkpoint,
          Sentence.WRITTEN.with(stopped),
          "checkpoint=async");
    }
    if (evidence.isOn("checkpoint.every")
        && !"auto".equals(evidence.configuration().get("checkpoint.every"))) {
      return change(
          evidence,
          "checkpointBound",
          Sentence.FEWER_CHECKPOINTS.with(),
          judged.checkpoint,
          Sentence.COPIED.with(stopped),
          "checkpoint.every=auto");
    }
    double share = judged.share(judged.checkpoint);
    return change(
        evidence,
        "checkpointBound",
        Sentence.WRITE_LESS_OFTEN.with(
            Math.round(Math.ceil(share / MAX_CHECKPOINT_SHARE)), 100 * MAX_CHECKPOINT_SHARE),
        judged.checkpoint,
        Sentence.COPIED.with(stopped));
  }

  /** Returns why the job waits for storage: no cache, a full or unused one, or changing files. */
  private static Optional<Advice> fetchBound(Evidence evidence) {
    long nanos = evidence.judged().fetchStall;
    double gain = evidence.coreLaw().gain(evidence.judged().fetchTime, nanos);
    String waited = time(evidence, nanos);
    if (!evidence.isCaching()) {
      long bytes = evidence.epochs().bytes();
      return Optional.of(
          change(
              evidence,
              "fetchBound",
              Sentence.KEEP_IN_MEMORY.with(),
              nanos,
              gain,
              Sentence.STORAGE_WAITS.with(
                  waited, bytes == 0 ? "" : Sentence.EPOCH_READS.with(new Bytes(bytes))),
              "cache=minio"));
    }
    if (!evidence.laterEpochsWaitForFetches()) {
      return Optional.empty();
    }
    if (evidence.keepsInVain(StoreStatisticsEvent.RAW)) {
      return Optional.of(
          change(
              evidence,
              "filesChange",
              Sentence.FILES_CHANGE.with(),
              nanos,
              gain,
              Sentence.FILES_NOT_FOUND_AGAIN.with(waited)));
    }
    if (!evidence.isFull(StoreStatisticsEvent.RAW)) {
      return Optional.of(
          change(
              evidence,
              "cacheNotAsked",
              Sentence.NAME_THE_FILES.with(),
              nanos,
              gain,
              Sentence.CACHE_HAS_ROOM.with(waited)));
    }
    long held = evidence.epochs().bytes() / evidence.hosts();
    long wanted = held + held / 10; // For the index and gaps between the items.
    if (wanted <= evidence.capacity(StoreStatisticsEvent.RAW)) {
      wanted +=
          evidence.capacity(
              StoreStatisticsEvent.RAW); // Full of other files, or also of decoded items.
    }
    return Optional.of(
        change(
            evidence,
            "cacheTooSmall",
            evidence.hosts() > 1
                ? Sentence.LARGER_CACHES.with(evidence.hosts())
                : Sentence.LARGER_CACHE.with(),
            nanos,
            gain,
            Sentence.CACHE_FULL.with(waited, new Bytes(evidence.epochs().bytes())),
            "cache.size=" + gibibytes(wanted)));
  }

  /** Returns a finding if the cache is on and epochs after the first hardly wait for storage. */
  private static Optional<Advice> cacheFilled(Evidence evidence) {
    if (!evidence.isCaching() || evidence.laterEpochsWaitForFetches()) {
      return Optional.empty();
    }
    return Optional.of(
        nothing(
            "cacheFilled",
            evidence.judged().fetchStall,
            evidence.epochs().later().batches == 0
                ? Sentence.CACHE_FILLS.with()
                : Sentence.CACHE_FILLED.with(stall(evidence))));
  }

  private static boolean explainsTheFirstEpoch(Evidence evidence) {
    Figures totals = evidence.totals();
    return totals.share(totals.fetchStall) >= Evidence.WORTH_A_CHANGE;
  }

  /** Returns how long steps wait for cores that parallel preparation does not take, and why. */
  private static Advice coreBound(Evidence evidence) {
    Figures judged = evidence.judged();
    CoreLaw cores = evidence.coreLaw();
    long nanos = Math.max(0, judged.computeCoreWait - Math.round(cores.share()));
    boolean throttled = judged.share(judged.throttled) >= THROTTLED;
    Sentence remedy =
        throttled
            ? Sentence.LARGER_LIMIT
            : cores.isFull() ? Sentence.FEWER_THREADS : Sentence.FREE_CORES;
    String cause =
        throttled
            ? Sentence.CORES_OF_THE_LIMIT.with(
                evidence.usableCores() > 0 ? Sentence.LIMIT.with(evidence.usableCores()) : "",
                new Nanos(judged.throttled))
            : (cores.isFull() ? Sentence.CORES_OF_THIS_JOB : Sentence.CORES_OF_OTHERS).with();
    long explained = Math.min(nanos, judged.compute);
    return change(
        evidence,
        "coreBound",
        remedy.with(),
        explained,
        new CoreLaw(judged, 0).gain(0, explained), // The remedy changes the cores.
        Sentence.CORE_WAITS.with(time(evidence, explained), cause));
  }

  /**
   * A change that saves preparation or hides it.
   *
   * @param what description for the user
   * @param removed self time of work that is no longer done, on all threads
   * @param waited waits of the training thread that are saved, too
   * @param changes changes to the agent's arguments
   */
  private record Cure(String what, long removed, long waited, List<String> changes) {
    static Cure of(Sentence what, long removed, long waited, String change) {
      return new Cure(what.with(), removed, waited, List.of(change));
    }

    /** Returns the agent argument to change; empty if the program has to change. */
    String policy() {
      return changes.isEmpty() ? "" : changes.get(0);
    }
  }

  /**
   * Returns how to save or hide preparation that the job waits for or that takes cores from steps.
   */
  private static Advice prepBound(Evidence evidence) {
    Figures judged = evidence.judged();
    CoreLaw cores = evidence.coreLaw();
    // If the agent's threads have no core, batches queue.
    long waits = judged.prepStall + (evidence.isOn("prefetch") ? judged.queueStall : 0);
    long nanos = waits + Math.round(cores.share());
    String why =
        Sentence.PREP_WAITS.with(
            time(evidence, nanos),
            judged.share(Math.round(cores.maxShare())) < Evidence.WORTH_A_CHANGE
                ? ""
                : Sentence.PREP_CORES.with(new Nanos(Math.round(cores.maxShare()))),
            new Nanos(judged.decodeTime),
            new Nanos(judged.transformTime),
            new Nanos(judged.otherTime),
            freshMemory(evidence));
    return cures(evidence)
        .filter(cure -> evidence.refused(cure.policy()) == null)
        .filter(cure -> gain(evidence, cure) >= WORTH_A_GAIN)
        .max(Comparator.comparingDouble(cure -> Math.rint(TENTHS * preference(evidence, cure))))
        .map(
            cure ->
                change(
                    evidence,
                    "prepBound",
                    cure.what(),
                    nanos,
                    atMost(evidence, cure),
                    why,
                    cure.changes().toArray(String[]::new)))
        .orElseGet(
            () ->
                change(
                    evidence,
                    "prepBound",
                    nothingLeft(evidence),
                    nanos,
                    atMost(evidence, new Cure("", judged.prepTime(), waits(judged), List.of())),
                    why));
  }

  /** Predicts the speed-up of a job if work and waits are removed. */
  private interface Law {
    double gain(CoreLaw cores, long removed, long waited);
  }

  /**
   * Returns the speed-up by which cures are compared. Only half of the gain counts if the program
   * has to change, or the user must know what the agent cannot prove.
   */
  private static double preference(Evidence evidence, Cure cure) {
    double gain = gain(evidence, cure);
    boolean isEasy = !cure.changes().isEmpty() && !cure.policy().startsWith(DECLARING);
    return isEasy ? gain : 1 + (gain - 1) / 2;
  }

  private static double gain(Evidence evidence, Cure cure) {
    return larger(evidence, cure, CoreLaw::gain);
  }

  /**
   * Returns the largest factor by which a cure can speed up the job. In a first epoch, cold code
   * makes steps slow, so a cure gets no credit for slow steps.
   */
  private static double atMost(Evidence evidence, Cure cure) {
    return larger(evidence, cure, evidence.isSteady() ? CoreLaw::atMost : CoreLaw::gain);
  }

  /**
   * Returns the larger of the factors predicted for the judged epochs and for the last one, whose
   * code is the warmest.
   */
  private static double larger(Evidence evidence, Cure cure, Law law) {
    return Stream.of(evidence.judged(), evidence.last())
        .mapToDouble(figures -> gain(evidence, figures, cure, law))
        .max()
        .orElseThrow();
  }

  /**
   * Predicts the factor for epochs with these figures, if the cure saves the same share of them as
   * of the judged ones. Removed work makes no garbage, so its share of the GC pauses may be saved
   * as well.
   */
  private static double gain(Evidence evidence, Figures figures, Cure cure, Law law) {
    Figures judged = evidence.judged();
    double removed = (double) cure.removed() / Math.max(1, judged.work());
    double waited = (double) cure.waited() / Math.max(1, waits(judged));
    return law.gain(
        evidence.coreLaw(figures),
        Math.round(removed * figures.work()),
        Math.round(waited * waits(figures) + pauses(figures) * Math.min(1, removed)));
  }

  /** Returns the GC pauses, in waits and in steps. */
  private static long pauses(Figures figures) {
    return Math.max(figures.gcStall, Math.min(figures.gcPauses, figures.wall));
  }

  private static long waits(Figures figures) {
    return figures.dataStall() + figures.queueStall;
  }

  /** Returns the applicable cures; of those with equal predicted gains, the first is advised. */
  private static Stream<Cure> cures(Evidence evidence) {
    Figures judged = evidence.judged();
    long prep = judged.prepTime();
    double decoding = (double) judged.decodeTime / Math.max(1, prep);
    // Cached images are not read, and batches that need no preparation hardly queue.
    long all = waits(judged);
    long decodes = judged.decodeTime + judged.fetchTime;
    long decodeWaits = Math.min(all, decodes);
    List<Cure> cures = new ArrayList<>();
    if (evidence.isFull(StoreStatisticsEvent.PREPARED)) {
      cures.add(
          Cure.of(
              Sentence.KEEP_MORE_PREPARED,
              prep + judged.fetchTime,
              all,
              more("prepared.size", evidence, StoreStatisticsEvent.PREPARED)));
    } else if (evidence.isPrepared()
        && !evidence.keepsPrepared()
        && !evidence.isOn("prep")
        && evidence.batchesAreOfTheLibrary()) {
      cures.add(Cure.of(Sentence.PREPARE_ONCE, prep + judged.fetchTime, all, "prepared=share"));
    }
    VerdictEvent refused = evidence.declarable();
    if (refused != null) {
      String remedy = Objects.requireNonNull(refused.remedy);
      String type = remedy.substring(DECLARING.length());
      cures.add(
          new Cure(
              Sentence.DECLARE.with(type, refused.reason),
              prep + judged.fetchTime,
              all,
              List.of(remedy)));
    }
    if (decoding > WORTH_KEEPING && !evidence.keepsDecoded()) {
      cures.add(Cure.of(Sentence.DECODE_ONCE, decodes, decodeWaits, "decoded=share"));
    } else if (decoding > WORTH_KEEPING && evidence.isFull(StoreStatisticsEvent.DECODED)) {
      cures.add(
          Cure.of(
              Sentence.KEEP_MORE_DECODED,
              decodes,
              decodeWaits,
              more("decoded.size", evidence, StoreStatisticsEvent.DECODED)));
    }
    // These hide work behind the steps, which takes a core that the steps do not need.
    boolean prefetches = evidence.isOn("prefetch");
    if (!evidence.coreLaw().isFull()
        && !evidence.isOn("prep")
        && (!prefetches || evidence.refused("prefetch") != null)) {
      int threads = threads(evidence);
      long hidden = hidden(evidence, 1, threads);
      if (!prefetches && evidence.isPrefetched() && evidence.batchesAreOfTheLibrary()) {
        cures.add(Cure.of(Sentence.PREPARE_AHEAD, 0, hidden, "prefetch=" + threads));
      }
      String how = evidence.textOf(" ", library -> library.howToPrepareAhead);
      if (evidence.preparesItself() && !how.isEmpty() && evidence.batchesAreOfTheLibrary()) {
        cures.add(new Cure(Sentence.PROGRAM_PREPARES_AHEAD.with(how), 0, hidden, List.of()));
      }
    }
    long jobs = evidence.jobs();
    if (jobs > 1
        && !evidence.isOn("prep")
        && !evidence.resumes()
        && evidence.isCoordinated()
        && evidence.batchesAreOfTheLibrary()) {
      cures.add(
          Cure.of(
              Sentence.PREPARE_FOR_ALL,
              judged.work() - judged.work() / jobs,
              hidden(evidence, 1.0 / jobs, 1),
              "prep=coordinate"));
    }
    return cures.stream();
  }

  /** Returns how many threads hide preparation behind the steps: at least 2, at most the cores. */
  private static int threads(Evidence evidence) {
    Figures judged = evidence.judged();
    double needed = preparationTime(evidence) / Math.max(1, (double) judged.compute);
    return (int) Math.max(2, Math.min(evidence.usableCores(), Math.ceil(needed)));
  }

  /** Returns the thread time of preparing batches, without waits for a core. */
  private static double preparationTime(Evidence evidence) {
    Figures judged = evidence.judged();
    return Math.max(0, evidence.coreLaw().running() * judged.work() - judged.dataSetStall);
  }

  /**
   * Returns the longest waiting time that can be saved if threads prepare in parallel with the
   * steps. The threads cannot begin before the data set is prepared.
   *
   * @param share share of the work that is still done for this job
   */
  private static long hidden(Evidence evidence, double share, int threads) {
    Figures judged = evidence.judged();
    double late = Math.max(0, share * preparationTime(evidence) / threads - judged.compute);
    return Math.max(0, waits(judged) - judged.dataSetStall - Math.round(late));
  }

  /** Returns a change to the program or its host, for jobs that no argument helps. */
  private static String nothingLeft(Evidence evidence) {
    if (!evidence.batchesAreOfTheLibrary()) {
      return Sentence.OWN_BATCHES.with();
    }
    VerdictEvent refused = evidence.refused("prepared=share");
    boolean full = evidence.coreLaw().isFull();
    String what =
        evidence.prefetchesByNumber()
                && evidence.judged().share(Math.round(evidence.coreLaw().share()))
                    >= Evidence.WORTH_A_CHANGE
            ? Sentence.PREFETCH_LESS.with()
            : evidence.isOn("prep") && !full
                ? Sentence.MORE_THREADS.with()
                    + (evidence.isPrefetched() ? Sentence.BY_PREFETCH.with() : "")
                : Sentence.CHEAPER_PREPARATION.with(full ? Sentence.MORE_CORES.with() : "");
    if (refused == null || evidence.usesPrepared()) {
      return what; // A declared class is cached although the proof refuses it.
    }
    return Sentence.NOT_PREPARED.with(what, refused.reason);
  }

  /** Returns a clause if much of the CPU time goes into memory pages that are new to the JVM. */
  private static String freshMemory(Evidence evidence) {
    if (!(evidence.totals() instanceof JobStatisticsEvent job)) {
      return "";
    }
    double share = (double) job.kernelTime / Math.max(1, job.kernelTime + job.userTime);
    boolean byFaults = 2 * FAULT_NANOS * job.pageFaults > job.kernelTime;
    return share > WORTH_NAMING && byFaults
        ? Sentence.FRESH_MEMORY.with(100 * share, job.pageFaults)
        : "";
  }

  private static Advice change(
      Evidence evidence, String finding, String what, long nanos, String why, String... changes) {
    return change(evidence, finding, what, nanos, evidence.coreLaw().gain(0, nanos), why, changes);
  }

  /**
   * Returns a finding with something to change.
   *
   * @param nanos time that the finding explains
   * @param gain largest factor by which the change can speed up the job
   * @param why the reason
   * @param changes changes to the agent's arguments
   */
  private static Advice change(
      Evidence evidence,
      String finding,
      String what,
      long nanos,
      double gain,
      String why,
      String... changes) {
    List<String> arguments = Arguments.merged(evidence.given(), List.of(changes));
    return new Advice(
        finding,
        Sentence.PREDICTED.with(
            arguments.isEmpty()
                ? what
                : Sentence.WITH_ARGUMENTS.with(what, Arguments.AGENT + String.join(",", arguments)),
            why,
            gain),
        arguments,
        gain,
        nanos);
  }

  /** Returns a time, and the epochs that it covers. */
  private static String time(Evidence evidence, long nanos) {
    return new Nanos(nanos) + evidence.ofWhat();
  }

  private static String more(String key, Evidence evidence, String form) {
    return key + "=" + gibibytes(2 * evidence.capacity(form));
  }

  private static String gibibytes(long bytes) {
    return Math.max(1, (bytes + GIBIBYTE - 1) / GIBIBYTE) + "g";
  }

  private static Advice nothing(String finding, long nanos, String sentence) {
    return new Advice(finding, sentence, List.of(), 1, nanos);
  }

  private static String stall(Evidence evidence) {
    Figures judged = evidence.judged();
    return Sentence.OF_THE_TIME.with(Text.percent(judged.stall, judged.wall), evidence.ofWhat());
  }
}
