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
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One finding about a job and what to do about it. Each judges the {@link Evidence} independently
 * and states how much time it explains; the one that explains most is the advice. Findings only
 * name arguments that the agent has.
 *
 * @param finding stable name, for programs
 * @param sentence for the user; ends with the gain
 * @param arguments all arguments for the agent, as {@code key=value}; empty if no change of them
 *     would help
 * @param gain largest possible speed-up of the judged epochs, derived from their waits; 1 if there
 *     is nothing to change
 * @param nanos time of the training thread that the finding explains in these epochs
 */
public record Advice(
    String finding, String sentence, List<String> arguments, double gain, long nanos) {
  /** Acceptable share of time spent on checkpoints, from CheckFreq (FAST 2021). */
  public static final double WORTH_OF_CHECKPOINTS = 0.035;

  /** Decoded images are worth keeping if decoding takes more than this share of all preparation. */
  private static final double WORTH_KEEPING = 0.25;

  /** Share of CPU time in the kernel from which on the advice mentions it. */
  private static final double WORTH_NAMING = 0.2;

  /**
   * Cost of a page fault in a virtual machine; if faults take less than half of the kernel's time,
   * reads dominate it.
   */
  private static final long FAULT_NANOS = 1_500;

  private static final long GIBIBYTE = 1L << 30;

  /** Changes that gain less are not advised. */
  private static final double WORTH_A_GAIN = 1.03;

  /** Predictions that differ by less than a tenth are as good. */
  private static final double TENTHS = 10;

  /** Time for which the quota held threads back, as a share of the wall time, worth naming. */
  private static final double THROTTLED = 0.05;

  /** The finding that explains most of the job's time. */
  public static Advice on(Evidence evidence) {
    Figures judged = evidence.judged();
    if (evidence.totals().batches == 0) {
      return nothing(
          "nothingMeasured",
          0,
          "no training batch was seen: let the job train at least one epoch.");
    }
    if (evidence.profiled()) {
      return nothing(
          "profiled",
          0,
          "use coordl diff and coordl whatif: this recording contains a profile, whose phases"
              + " distort the job's totals.");
    }
    return all(evidence)
        .filter(advice -> judged.share(advice.nanos()) >= Evidence.WORTH_A_CHANGE)
        .max(Comparator.comparingLong(Advice::nanos))
        .or(() -> manyCauses(evidence))
        .or(() -> cacheFilled(evidence).filter(filled -> explainsTheFirstEpoch(evidence)))
        .orElseGet(
            () ->
                nothing(
                    "computeBound",
                    judged.compute,
                    "compute-bound, nothing to do: waiting for data takes "
                        + stall(evidence)
                        + ", and no cache would make this job faster."));
  }

  /** Waits that matter in total, though no single cause is worth a change. */
  private static Optional<Advice> manyCauses(Evidence evidence) {
    Figures judged = evidence.judged();
    // Where cores are short, waits for them are in the steps.
    long taken = Math.max(judged.computeCoreWait, Math.round(evidence.coreLaw().most()));
    if (judged.share(judged.stall + taken) < Evidence.WORTH_A_CHANGE) {
      return Optional.empty();
    }
    String causes =
        Part.STALLS.stream()
                .map(part -> part.cause() + " " + Text.percent(part.of(judged), judged.wall))
                .collect(Collectors.joining(", "))
            + (judged.share(taken) < Part.SHOWN
                ? ""
                : ", steps without a core up to " + Text.percent(taken, judged.wall));
    return Optional.of(
        nothing(
            "computeBound",
            judged.compute,
            "mostly compute-bound: waiting for data takes "
                + stall(evidence)
                + ", and no single cause is worth a change ("
                + causes
                + ")."));
  }

  /** Every finding that applies to the job, however little it explains. */
  public static Stream<Advice> all(Evidence evidence) {
    Figures judged = evidence.judged();
    return Stream.concat(
        Stream.of(laterFetch(evidence), cacheFilled(evidence)).flatMap(Optional::stream),
        Stream.of(
            prepBound(evidence),
            coreBound(evidence),
            gcBound(evidence),
            change(
                evidence,
                "queueBound",
                "let the program prepare further ahead"
                    + evidence.said(", ", library -> library.howToPrepareAhead),
                judged.queueStall,
                "%s went into batches waiting for a free worker or for their hand-over"),
            checkpointBound(evidence)));
  }

  /** Explicit collections are as frequent on a larger heap, and take longer there. */
  private static Advice gcBound(Evidence evidence) {
    Figures judged = evidence.judged();
    // Where data is prepared ahead, most pauses are in steps, and make them longer.
    long pauses = Math.max(judged.gcStall, Math.min(judged.gcPauses, judged.wall));
    double asked =
        judged.gcPauses == 0 ? 0 : Math.min(1, (double) judged.explicitGcPauses / judged.gcPauses);
    boolean explicit = asked > 0.5;
    String caller =
        evidence.totals() instanceof JobStatisticsEvent job && job.explicitGcCaller != null
            ? ", most of them by " + job.explicitGcCaller
            : ", apparently by the JDK itself: jdk.SystemGC in a recording with"
                + " -XX:StartFlightRecording names the caller";
    return change(
        evidence,
        "gcBound",
        explicit
            ? "avoid calls of System.gc()"
            : "give the program a larger heap (-Xmx) or a collector with shorter pauses",
        pauses,
        "garbage collection stopped the program for %s"
            + (pauses > judged.gcStall
                ? " (" + new Nanos(pauses - judged.gcStall) + " of it during steps)"
                : "")
            + (explicit
                ? Text.format("; %.1f %% of all pauses come from such calls", 100 * asked)
                    + caller
                    + evidence.said("; ", library -> library.callsGc)
                : ""));
  }

  private static Advice checkpointBound(Evidence evidence) {
    Figures judged = evidence.judged();
    if (!"async".equals(evidence.configuration().get("checkpoint"))) {
      return change(
          evidence,
          "checkpointBound",
          "write models in the background",
          judged.checkpoint,
          "the job stood still for %s while they were written",
          "checkpoint=async");
    }
    if (evidence.isOn("checkpoint.every")
        && !"auto".equals(evidence.configuration().get("checkpoint.every"))) {
      return change(
          evidence,
          "checkpointBound",
          "take fewer of the agent's own checkpoints, or write fewer of the program's",
          judged.checkpoint,
          "the job stood still for %s, to copy models and to wait for the previous write",
          "checkpoint.every=auto");
    }
    double share = judged.share(judged.checkpoint);
    return change(
        evidence,
        "checkpointBound",
        "write models "
            + Math.round(Math.ceil(share / WORTH_OF_CHECKPOINTS))
            + " times less often, which keeps this under "
            + Text.format("%.1f %%", 100 * WORTH_OF_CHECKPOINTS)
            + ", or to faster storage",
        judged.checkpoint,
        "the job stood still for %s, to copy them and to wait for the previous write");
  }

  /** The job waits for storage: nothing is cached, or the cache is full or not used. */
  private static Optional<Advice> laterFetch(Evidence evidence) {
    long nanos = evidence.judged().fetchStall;
    if (!evidence.caching()) {
      long bytes = evidence.epochs().bytes();
      return Optional.of(
          change(
              evidence,
              "fetchBound",
              "keep the data set in memory",
              nanos,
              "%s went into waiting for storage; from the second epoch on, what fits in the cache"
                  + (bytes == 0 ? "" : " (an epoch reads " + new Bytes(bytes) + ")")
                  + " is not read again",
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
              "find out why the files have another modification time or inode in each epoch (a"
                  + " mount that generates them, a job that copies them again), or copy the data"
                  + " set to a local disk",
              nanos,
              "%s went into waiting for storage although the files were cached: almost none of them"
                  + " was found again"));
    }
    if (!evidence.isFull(StoreStatisticsEvent.RAW)) {
      return Optional.of(
          change(
              evidence,
              "cacheNotAsked",
              "name the files of the data set by dataset=PATH",
              nanos,
              "%s went into waiting for storage although the cache has room, so some files are not"
                  + " recognized as items"));
    }
    long held = evidence.epochs().bytes() / evidence.hosts();
    long wanted = held + held / 10; // For the index and gaps between the items.
    if (wanted <= evidence.capacity(StoreStatisticsEvent.RAW)) {
      wanted +=
          evidence.capacity(
              StoreStatisticsEvent.RAW); // Full of other files, or of decoded items beside them.
    }
    return Optional.of(
        change(
            evidence,
            "cacheTooSmall",
            evidence.hosts() > 1
                ? "give the cache of each of "
                    + evidence.hosts()
                    + " hosts more memory, if it has it, or add a host,"
                : "give the cache more memory, if the host has it,",
            nanos,
            "%s went into waiting for storage; an epoch reads "
                + new Bytes(evidence.epochs().bytes())
                + " and the cache is full",
            "cache.size=" + gibibytes(wanted)));
  }

  /** The cache is on, and waits for storage only filled it. */
  private static Optional<Advice> cacheFilled(Evidence evidence) {
    if (!evidence.caching() || evidence.laterEpochsWaitForFetches()) {
      return Optional.empty();
    }
    return Optional.of(
        nothing(
            "cacheFilled",
            evidence.judged().fetchStall,
            evidence.epochs().later().batches == 0
                ? "let the job continue: its only epoch filled the cache, and the next will use it."
                : "nothing to do: the first epoch filled the cache, and waiting for data takes "
                    + stall(evidence)
                    + "."));
  }

  private static boolean explainsTheFirstEpoch(Evidence evidence) {
    Figures totals = evidence.totals();
    return totals.share(totals.fetchStall) >= Evidence.WORTH_A_CHANGE;
  }

  /** The steps wait for a core, and not because preparation beside them has it. */
  private static Advice coreBound(Evidence evidence) {
    Figures judged = evidence.judged();
    CoreLaw cores = evidence.coreLaw();
    long nanos = Math.max(0, judged.computeCoreWait - Math.round(cores.share()));
    boolean throttled = judged.share(judged.throttled) >= THROTTLED;
    String what =
        throttled
            ? "give the container a larger CPU limit, or let the engine use no more threads than it"
                + " allows (OMP_NUM_THREADS=N)"
            : cores.isFull()
                ? "let the engine use fewer threads (OMP_NUM_THREADS=N, at most the cores of this"
                    + " job, and OMP_WAIT_POLICY=PASSIVE), prepare on fewer, or give the job"
                    + " another core"
                : "free the cores of other programs, or run the job where nothing else runs";
    String why =
        "%s went into steps that waited for a core"
            + (throttled
                ? ", as the CPU limit of the container"
                    + (evidence.usableCores() > 0
                        ? Text.format(" (%.1f cores)", evidence.usableCores())
                        : "")
                    + " held threads back for "
                    + new Nanos(judged.throttled)
                    + " summed over cores"
                : cores.isFull()
                    ? ", as this job has more threads ready than cores"
                    : ", as other programs had them")
            + "; no cache changes that";
    return change(evidence, "coreBound", what, Math.min(nanos, judged.compute), why);
  }

  /**
   * A change that spares preparation or hides it.
   *
   * @param what it does, for the user
   * @param removed self time of work that is no longer done, on all threads
   * @param waited time of the training thread that it saves besides
   * @param changes of the agent's arguments
   */
  private record Cure(String what, long removed, long waited, List<String> changes) {
    static Cure of(String what, long removed, long waited, String change) {
      return new Cure(what, removed, waited, List.of(change));
    }

    /** Its argument, empty if the program has to change. */
    String policy() {
      return changes.isEmpty() ? "" : changes.get(0);
    }
  }

  /** The job waits for preparation, or preparation beside the steps takes their cores. */
  private static Advice prepBound(Evidence evidence) {
    Figures judged = evidence.judged();
    CoreLaw cores = evidence.coreLaw();
    // If the agent's threads have no core, batches queue.
    long waits = judged.prepStall + (evidence.isOn("prefetch") ? judged.queueStall : 0);
    long nanos = waits + Math.round(cores.share());
    String why =
        "%s went into waiting for preparation"
            + (judged.share(Math.round(cores.most())) < Evidence.WORTH_A_CHANGE
                ? ""
                : " and into cores that preparation takes from the steps (up to "
                    + new Nanos(Math.round(cores.most()))
                    + "; shared caches can make it more)")
            + " (on all threads: decode "
            + new Nanos(judged.decodeTime)
            + ", transforms "
            + new Nanos(judged.transformTime)
            + ", other "
            + new Nanos(judged.otherTime)
            + "); a cache of raw bytes will not help here"
            + freshMemory(evidence);
    return cures(evidence, waits)
        .filter(cure -> evidence.refused(cure.policy()) == null)
        .filter(cure -> cores.gain(cure.removed(), cure.waited()) >= WORTH_A_GAIN)
        .max(
            Comparator.comparingDouble(
                cure -> Math.rint(TENTHS * cores.gain(cure.removed(), cure.waited()))))
        .map(
            cure ->
                change(
                    evidence,
                    "prepBound",
                    cure.what(),
                    nanos,
                    cores.gain(cure.removed(), cure.waited()),
                    why,
                    cure.changes().toArray(String[]::new)))
        .orElseGet(
            () ->
                change(
                    evidence,
                    "prepBound",
                    nothingLeft(evidence),
                    nanos,
                    cores.gain(judged.prepTime(), waits),
                    why));
  }

  /** In the order in which they are advised if they are predicted to be as fast: by memory. */
  private static Stream<Cure> cures(Evidence evidence, long waits) {
    Figures judged = evidence.judged();
    long prep = judged.prepTime();
    double decoding = (double) judged.decodeTime / Math.max(1, prep);
    long decodeWaits = Math.round(decoding * waits);
    List<Cure> cures = new ArrayList<>();
    if (evidence.isFull(StoreStatisticsEvent.PREPARED)) {
      cures.add(
          Cure.of(
              "keep more prepared samples, if the host has the memory,",
              prep,
              waits,
              more("prepared.size", evidence, StoreStatisticsEvent.PREPARED)));
    } else if (evidence.isPrepared()
        && !evidence.keepsPrepared()
        && !evidence.isOn("prep")
        && evidence.batchesAreOfTheLibrary()) {
      cures.add(
          Cure.of(
              "prepare each sample once, up to its first random transform,",
              prep + judged.fetchTime,
              waits,
              "prepared=share"));
    }
    if (decoding > WORTH_KEEPING && !evidence.keepsDecoded()) {
      cures.add(Cure.of("decode each image once", judged.decodeTime, decodeWaits, "decoded=share"));
    } else if (decoding > WORTH_KEEPING && evidence.isFull(StoreStatisticsEvent.DECODED)) {
      cures.add(
          Cure.of(
              "keep more decoded images, if the host has the memory,",
              judged.decodeTime,
              decodeWaits,
              more("decoded.size", evidence, StoreStatisticsEvent.DECODED)));
    }
    // These hide work behind the steps, which takes a core that the steps do not need.
    if (!evidence.coreLaw().isFull() && !evidence.isOn("prefetch") && !evidence.isOn("prep")) {
      long hidden = Math.min(judged.prepStall, judged.compute);
      if (evidence.isPrefetched() && evidence.batchesAreOfTheLibrary()) {
        cures.add(Cure.of("prepare ahead", 0, hidden, "prefetch=2"));
      }
      String how = evidence.said(" ", library -> library.howToPrepareAhead);
      if (evidence.preparesItself() && !how.isEmpty() && evidence.batchesAreOfTheLibrary()) {
        cures.add(new Cure("let the program prepare ahead" + how, 0, hidden, List.of()));
      }
    }
    if (evidence.isAmongOthers()
        && !evidence.isOn("prep")
        && !evidence.resumes()
        && evidence.isCoordinated()
        && evidence.batchesAreOfTheLibrary()) {
      cures.add(
          Cure.of(
              "prepare each batch once for all jobs of this host: run each",
              prep / 2,
              waits / 2,
              "prep=coordinate"));
    }
    return cures.stream();
  }

  /** The change to the program or its host that helps where no argument does. */
  private static String nothingLeft(Evidence evidence) {
    if (!evidence.batchesAreOfTheLibrary()) {
      return "make preparation cheaper, or prepare batches on threads of your program: its own"
          + " class makes them, not the library's, so the agent leaves them alone";
    }
    VerdictEvent refused = evidence.refused("prepared=share");
    boolean full = evidence.coreLaw().isFull();
    String what =
        evidence.isOn("prefetch")
                && evidence.judged().share(Math.round(evidence.coreLaw().share()))
                    >= Evidence.WORTH_A_CHANGE
            ? "prefetch on fewer threads, or not at all, as they take the cores of the steps, and"
                + " make preparation cheaper"
            : evidence.isOn("prep") && !full
                ? "prepare on more threads" + (evidence.isPrefetched() ? ", with prefetch=N" : "")
                : "make preparation cheaper, or give the job more cores";
    if (refused == null) {
      return what;
    }
    String remedy = refused.remedy == null ? "" : refused.remedy;
    return what
        + " (prepared=share does not work here: "
        + refused.reason
        + (remedy.isEmpty()
            ? ""
            : "; " + remedy + " keeps its samples if you vouch that they are the same each time")
        + ")";
  }

  /** Returns a clause if much of the CPU time goes into memory pages that are new to the JVM. */
  private static String freshMemory(Evidence evidence) {
    if (!(evidence.totals() instanceof JobStatisticsEvent job)) {
      return "";
    }
    double share = (double) job.kernelTime / Math.max(1, job.kernelTime + job.userTime);
    boolean byFaults = 2 * FAULT_NANOS * job.pageFaults > job.kernelTime;
    return share > WORTH_NAMING && byFaults
        ? Text.format(
            "; the kernel takes %.1f %% of this JVM's CPU time to provide %,d pages of fresh"
                + " memory, as for arrays that only the collector frees; larger pages cost less"
                + " (docs/recipes.md#fresh-memory)",
            100 * share, job.pageFaults)
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
   * @param gain how many times as fast the change can make the job, at most
   * @param why the reason, with {@code %s} in place of that time and the epochs it is from
   * @param changes to the agent's arguments
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
        what
            + (arguments.isEmpty() ? "" : " with " + Arguments.AGENT + String.join(",", arguments))
            + ": "
            + why.replace("%s", new Nanos(nanos) + evidence.ofWhat())
            + Text.format("; predicted: at most %.2fx faster.", gain),
        arguments,
        gain,
        nanos);
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
    return Text.percent(judged.stall, judged.wall) + " of the time" + evidence.ofWhat();
  }
}
