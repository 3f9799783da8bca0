package io.coordl.telemetry.advice;

import org.jspecify.annotations.Nullable;

/**
 * The sentences and clauses of the advice, the lines about epochs, the summary at exit and {@code
 * auto}. Apart from labels, the classes that produce these texts contain no others: {@code
 * SentencesTest} searches the class files for other texts. For each sentence, the test has a job
 * that gets the sentence and a similar job that must not.
 */
public enum Sentence {
  // ---- advice: nothing to change
  NOTHING_MEASURED("no training batch was seen: let the job train at least one epoch."),
  NOTHING_TRAINED("%s: no advice is possible without training%s."),
  BATCH_LOADED("1 batch was loaded, but not trained on"),
  BATCHES_LOADED("%d batches were loaded, but none was trained on"),
  AUTO_WITHOUT_TRAINING("; auto caches for such jobs, too"),
  PROFILED(
      "use coordl diff and coordl whatif: this recording contains a profile, whose phases distort"
          + " the job's totals."),
  COMPUTE_BOUND(
      "compute-bound, nothing to do: waiting for data takes %s, and no cache would make this job"
          + " faster."),
  MOSTLY_COMPUTE_BOUND(
      "mostly compute-bound: waiting for data takes %s, and no single cause is worth a change"
          + " (%s)."),
  STEPS_WITHOUT_A_CORE(", steps without a core up to %s"),
  CACHE_FILLS("let the job continue: its only epoch filled the cache, and the next will use it."),
  CACHE_FILLED("nothing to do: the first epoch filled the cache, and waiting for data takes %s."),
  OF_THE_TIME("%s of the time%s"),

  // ---- advice: a change
  WITH_ARGUMENTS("%s with %s"),
  PREDICTED("%s: %s; predicted: at most %.2fx faster."),
  PREPARE_FURTHER_AHEAD("let the program prepare further ahead%s"),
  QUEUED("%s were spent on batches that waited for a free worker or for their hand-over"),
  AVOID_GC_CALLS("avoid calls of System.gc()"),
  LARGER_HEAP("give the program a larger heap (-Xmx) or a collector with shorter pauses"),
  GC_STOPPED("garbage collection stopped the program for %s"),
  GC_IN_STEPS(" (%s of it during steps)"),
  GC_CALLS("; %.1f %% of all pauses come from such calls"),
  GC_CALLER(", most of them by %s"),
  GC_OF_THE_JDK(
      ", apparently by the JDK itself: jdk.SystemGC in a recording with -XX:StartFlightRecording"
          + " names the caller"),
  WRITE_IN_BACKGROUND("write models in the background"),
  WRITTEN("training stopped for %s while they were written"),
  FEWER_CHECKPOINTS("take fewer of the agent's own checkpoints, or write fewer of the program's"),
  COPIED("training stopped for %s, to copy models and to wait for the previous write"),
  WRITE_LESS_OFTEN(
      "write models %d times less often, so that training stops for at most %.1f %% of the time, or"
          + " write them to faster storage"),

  // ---- advice: storage
  KEEP_IN_MEMORY("keep the data set in memory"),
  STORAGE_WAITS(
      "%s were spent waiting for storage; from the second epoch on, what fits in the cache%s is not"
          + " read again"),
  EPOCH_READS(" (an epoch reads %s)"),
  FILES_CHANGE(
      "find out why the files have another modification time or inode in each epoch (a mount that"
          + " generates them, a job that copies them again), or copy the data set to a local disk"),
  FILES_NOT_FOUND_AGAIN(
      "%s were spent waiting for storage although the files were cached: almost none of them"
          + " was found again"),
  NAME_THE_FILES("name the files of the data set with dataset=PATH"),
  CACHE_HAS_ROOM(
      "%s were spent waiting for storage although the cache has room, so some files are not"
          + " recognized as items"),
  LARGER_CACHE("give the cache more memory, if the host has it,"),
  LARGER_CACHES(
      "give the cache on each of the %d hosts more memory, if they have it, or add a host,"),
  CACHE_FULL("%s were spent waiting for storage; an epoch reads %s and the cache is full"),

  // ---- advice: cores
  LARGER_LIMIT(
      "give the container a larger CPU limit, or let the engine use no more threads than it allows"
          + " (OMP_NUM_THREADS=N)"),
  FEWER_THREADS(
      "let the engine use fewer threads (OMP_NUM_THREADS=N, at most the cores of this job, and"
          + " OMP_WAIT_POLICY=PASSIVE), prepare on fewer, or give the job another core"),
  FREE_CORES("free cores that other programs use, or run the job on an idle machine"),
  CORE_WAITS("%s were spent in steps that waited for a core%s; no cache changes that"),
  CORES_OF_THE_LIMIT(
      ", as the CPU limit of the container%s held threads back for %s summed over cores"),
  LIMIT(" (%.1f cores)"),
  CORES_OF_THIS_JOB(", as this job has more threads ready than cores"),
  CORES_OF_OTHERS(", as other programs used the cores"),

  // ---- advice: preparation
  PREP_WAITS(
      "%s were spent waiting for preparation%s (on all threads: decode %s, transforms %s, other"
          + " %s); a cache of raw bytes will not help here%s"),
  PREP_CORES(
      " or lost because preparation takes cores from the steps (up to %s; shared CPU caches can add"
          + " to that)"),
  KEEP_MORE_PREPARED("keep more prepared samples, if the host has the memory,"),
  PREPARE_ONCE("prepare each sample once, up to its first random transform,"),
  DECLARE(
      "declare that samples of %s are the same in each epoch, if they are (prepared=check tests"
          + " that; the proof fails: %s),"),
  DECODE_ONCE("decode each image once"),
  KEEP_MORE_DECODED("keep more decoded images, if the host has the memory,"),
  PREPARE_AHEAD("prepare ahead"),
  PROGRAM_PREPARES_AHEAD("let the program prepare ahead%s"),
  PREPARE_FOR_ALL("prepare each batch once for all jobs of this host: run each"),
  OWN_BATCHES(
      "make preparation cheaper, or prepare batches on threads of your program: its own class makes"
          + " them, not the library's, so the agent leaves them alone"),
  PREFETCH_LESS(
      "prefetch on fewer threads, or not at all, because they take cores from the steps; also make"
          + " preparation cheaper"),
  MORE_THREADS("prepare on more threads"),
  BY_PREFETCH(", with prefetch=N"),
  CHEAPER_PREPARATION("make preparation cheaper%s"),
  MORE_CORES(", or give the job more cores"),
  NOT_PREPARED("%s (prepared=share does not work here: %s)"),
  FRESH_MEMORY(
      "; the kernel takes %.1f %% of this JVM's CPU time to provide %,d pages of fresh memory, as"
          + " for arrays that only the collector frees; larger pages cost less"
          + " (docs/recipes.md#fresh-memory)"),

  // ---- the judged epochs
  SECOND_EPOCH_ON(" from the second epoch on%s"),
  ONLY_EPOCH(" in the only epoch"),
  FIRST_EPOCH(" in the first epoch"),
  OF_MODEL(" of model %d"),
  NO_UPDATE("%s without a model update%s"),
  EPOCHS_OF(" (%s)"),
  OF_SOURCE("%d of %s"),
  LEFT_EARLY(", left early"),
  SOME_LEFT_EARLY(", %d of them left early"),
  SHARED("%d of %s shared%s"),
  NOT_SHARED(" (%d while no other job took part)"),

  // ---- exit summary: where the time went
  TRAINING("%s: %s%s, %d %s, %s from the first batch to the last"),
  SPEED("%s samples/s%s; "),
  FAILED_BATCHES(" and %d that threw an exception"),
  SHARE("  %-14s %9s  %7s%s"),
  IN_STEPS("of it %s"),
  CORE_WAIT("waiting for a core %s"),
  GC_PAUSES("GC %s"),
  PREPARING_CORE_WAIT("preparing threads waited for a core %s"),
  NEXT("next: %s"),
  RECORDING("recording: %s"),
  FAULTS("faults inside the agent: %d (see above)"),

  // ---- epochs of a running job
  ONE_EPOCH("epoch %d"),
  SEVERAL_EPOCHS("epochs %d to %d"),
  ANOTHER_MODEL("model %d, "),
  EPOCHS("%s: %s%s s; data stall %s (%s)%s%s"),
  EPOCH_SPEED("%s samples/s, "),
  WITHOUT_A_CORE(", steps without a core %s"),
  CHECKPOINTS(", checkpoints %s"),
  FROM_MEMORY(", %s of items from memory"),
  EPOCHS_LEFT("; %s left, about %s"),
  SLOWER("%s: a batch takes %.0f %% longer than in epoch 2, %s instead of %s; most of it is %s"),
  GROWN("%s, %s instead of %s"),
  BOTH_GROWN("%s, and %s"),

  // ---- a batch that does not come
  OPEN_WAIT(
      "thread %s has waited %s for a batch, far longer than ever before (%s)%s; the stacks are in"
          + " the recording (io.coordl.OpenWait)"),
  NEVER_CAME(
      "thread %s waited %s for a batch that never came, far longer than ever before (%s)%s; the"
          + " stacks are in the recording (io.coordl.OpenWait)"),
  LAST_FILE("; last file opened: %s, by thread %s"),
  FIND_OUT_WHY(
      "find out what the loader waited for: the last batch never came, and %s were spent waiting"
          + " for it."),

  // ---- exit summary: what did nothing
  DID_NOTHING("%s did nothing: %s"),
  IT_SAID("it %s"),

  // ---- exit summary: items and stores
  ITEMS("items: %d from storage (%s), %d from memory (%s)"),
  ITEMS_OF_PEERS(", %d from other hosts (%s)"),
  DECODED_HITS(", %d decoded images from memory"),
  PREPARED_HITS(", %d prepared samples from memory"),
  WORK("%s: %s on all threads%s, %d %s, %s%s"),
  WITH_ARRAYS(", conversion to arrays included"),
  WITHOUT_ARRAYS(" without the arrays"),
  PERCENTILES("p50 %s, p99 %s"),
  STORE("%s cache (%s): %d items, %s of %s; %d hits, %d misses, %d not cached"),
  SPLIT(
      "both in %s, %s items first: one of %.1f KiB saves %s (%s per MiB), a %s one of %.1f KiB"
          + " saves %s (%s per MiB)"),

  // ---- exit summary: other jobs and hosts
  PEERS(
      "peers: %d contacted; %d items found there (%s)%s, %d stored there (%s); %d late, %d failed"
          + " (%s lost)"),
  STAGED(
      "coordinated prep (%s): %s; %d batches from the group, %d prepared for the group, %d prepared"
          + " locally (%d late, %d lost, %d not staged, %d with nobody preparing)"),
  WHO_WAITS(
      "  who waits for whom: this job waited %s for batches; its preparing threads waited %s for"
          + " other jobs to free slots, mostly for job %d (%s)"),
  MORE_PIPELINES("coordinated prep: %d more pipelines, see the recording"),

  // ---- exit summary: devices
  GPU("GPU %d (%s)"),
  GPUS("%d GPUs"),
  GPU_OF_ANY(" of this host, used by any process"),
  GPU_BUSY("%s%s: busy %s%s the 90 %% that MLPerf Storage requires"),
  GPU_AT_LEAST(", at least"),
  GPU_LESS(", less than"),
  GPU_LOWEST(", lowest GPU %d at %s"),
  GPU_IDLE("; data stalls explain at most %s of its idle time"),
  GPU_SYNCHRONIZED(
      "; synchronized steps took %s of the time, so the sampled utilization is off by %+.1f %%"),

  // ---- prepared=check
  CHECK_EQUAL("prepared=check: %s: %,d of %,d %s were bit-identical when made again"),
  CHECK_VOUCH("; if they always are, use %s"),
  CHECK_OTHERS("; other data sets of this class were not compared"),
  CHECK_NOT_NEEDED("; prepared=share proves it and needs no check"),
  CHECK_IN_VAIN("; but prepared=share cannot cache them: %s"),
  CHECK_DIFFERED("prepared=check: %s: %,d of %,d %s differed when made again"),
  CHECK_DO_NOT_VOUCH("; do not declare them deterministic"),
  CHECK_PART("; prepared=share caches what it proves deterministic"),
  CHECK_MADE_ONCE("prepared=check: %s: no %s were made twice"),
  CHECK_LEFT("prepared=check: %s: nothing was compared, because %s"),

  // ---- auto
  WAITED("the job waited for preparation %s of the time and for fetches %s"),
  WAITED_FIRST("the job waited %s s for its first data, longer than it then computed"),
  WORKED("fetching and preparing data took %s of the cores' time, most of it beside the steps"),
  NOT_SWITCHED("auto: nothing was switched on; %s"),
  NOTHING_ELSE_SWITCHED("auto: nothing else was switched on; %s"),
  SWITCHED_BACK("auto: provisional caching ended; %s"),
  NO_BATCH("no training batch was seen"),
  FEW_LOADED("no batch was trained on, and the first loading thread took too few to judge"),
  KEPT("auto: cached data from %.1f s on, because %s%s%s%s"),
  KEPT_IN_VAIN("auto: tried to cache data from %.1f s on, because %s; the job used none of it%s%s"),
  DROPPED("; dropped it, because the job was no faster and waited no less"),
  SPEEDS("%.0f samples/s before, %.0f after"),
  BROUGHT("%s: %sx as fast with caching"),
  BROUGHT_AT_MOST("%s; at most %.2fx as fast with caching; the rest is the job's own warm-up"),
  NO_EFFECT("%s: no measurable effect"),
  TOO_FEW_STEPS("%s: too few steady steps to tell the effect from the job's own warm-up"),
  PREFETCHING("prefetching %s (%s)"),
  ON("on, %s"),
  OFF("off"),
  PREFETCH_EFFECT("%sx as fast with it"),
  PREFETCH_ROUGH_EFFECT("faster with it in a short trial"),
  PREFETCH_UNMEASURED("effect not measured"),
  PREFETCH_NO_EFFECT("no measurable effect"),
  PREFETCH_ON("prefetching is on, %s"),
  PREFETCH_OFF("prefetching is off"),
  THREADS("%d threads"),
  ONE_THREAD("1 thread"),
  PREFETCH_TRIAL(
      "the job was %sx as fast with %s as with %s, and a step took %.2fx as long, in"
          + " %d windows"),
  DATA_KEPT("data is cached"),
  DATA_DROPPED("cached data is no longer used"),
  DATA_USED("cached data is used");

  private final String format;

  Sentence(String format) {
    this.format = format;
  }

  /** Returns the text with its figures. */
  public String with(@Nullable Object... figures) {
    return Text.format(format, figures);
  }

  /**
   * Returns the text with placeholders for its figures, in the syntax of {@link
   * java.util.Formatter}.
   */
  public String format() {
    return format;
  }
}
