package io.coordl.coordination;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.host.AgentThread;
import io.coordl.host.BusyFileException;
import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.host.Uninterrupted;
import io.coordl.store.ByteBudget;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * This job's membership in a group on this host: one staging buffer for each pipeline in which the
 * job begins an epoch. Thread-safe.
 */
public final class PrepGroup implements Closeable {
  /**
   * Each pipeline keeps its buffer until the job ends. Without this limit, a job whose pipeline
   * differs in every epoch (for example, because a preprocessor counts) would take all memory.
   */
  private static final int MAX_PIPELINES = 32;

  /**
   * Longest wait of a second caller of {@link #close}. Leaving a pipeline never takes longer,
   * whatever the program's threads do.
   */
  private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(7);

  private final Path directory;
  private final String group;
  private final ByteBudget budget;
  private final int jobs;
  private final Timeouts timeouts;
  private final OnceLog log;
  private final Map<String, Joined> joined = new ConcurrentHashMap<>();
  private final Set<String> tried = ConcurrentHashMap.newKeySet();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();
  private final HeartbeatThread heartbeat;
  private volatile LongSupplier updates = () -> 0;
  private volatile Consumer<ByteBuffer> reading = slot -> {};
  private volatile LongUnaryOperator bound = LongUnaryOperator.identity();
  private final AtomicInteger threads = new AtomicInteger();
  private final AtomicBoolean loggedAlone = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CountDownLatch left = new CountDownLatch(1);

  private record Joined(SharedFile<StagingFile> file, PipelineSession session) {}

  /**
   * Creates the membership; opens no file before an epoch begins.
   *
   * @param budget budget of each pipeline's buffer
   * @param jobs number of jobs to wait for before the very first epoch; 1 waits for no other
   */
  public PrepGroup(Path directory, String group, ByteBudget budget, int jobs, UserLog log) {
    this(directory, group, budget, jobs, Timeouts.USUAL, log);
  }

  PrepGroup(
      Path directory, String group, ByteBudget budget, int jobs, Timeouts timeouts, UserLog log) {
    this.directory = directory;
    this.group = group;
    this.budget = budget;
    this.jobs = jobs;
    this.timeouts = timeouts;
    this.log = new OnceLog(log);
    this.heartbeat = new HeartbeatThread(this::beat);
  }

  /** Sets the counter of this job's model updates. Call before the first epoch. */
  public void updates(LongSupplier counted) {
    updates = counted;
  }

  /** Limits each buffer's budget to what {@code by} returns for it. Call before the first epoch. */
  public void bounded(LongUnaryOperator by) {
    bound = by;
  }

  /**
   * Sets the listener that receives each whole slot before this job reads from it. Call before the
   * first epoch.
   */
  public void whenRead(Consumer<ByteBuffer> listener) {
    reading = listener;
  }

  /**
   * Begins an epoch of this job. May wait, for a bounded time, for jobs still expected, or until
   * the others finish their current epoch.
   *
   * @param pipeline fingerprint of the pipeline; jobs with an equal one share batches
   * @param own the order this job's own sampler produced; all jobs adopt the first job's order
   * @return null if the job prepares this epoch on its own
   */
  public @Nullable SharedEpoch begin(Fingerprint pipeline, BatchOrder own) {
    String text = pipeline.text();
    if (closed.get() || own.batches() == 0 || refused.contains(text)) {
      return null;
    }
    if (joined.size() + refused.size() >= MAX_PIPELINES && !joined.containsKey(text)) {
      log.once(
          String.format(
              "This job has more than %s pipelines (or one that changes from epoch to epoch): it"
                  + " prepares the batches of any further pipeline itself.",
              MAX_PIPELINES));
      return null;
    }
    Joined to = joined.computeIfAbsent(text, unused -> join(pipeline, own));
    // A job that missed one pipeline (it died, or has a different one) is not waited for at the
    // next.
    boolean inVain = joined.values().stream().anyMatch(other -> other.session().waitedInVain());
    return to == null ? null : to.session().begin(own, inVain ? 1 : jobs);
  }

  /**
   * Opens the pipeline's file and joins it; null if that fails. If another job has it locked, the
   * next epoch tries again.
   */
  private @Nullable Joined join(Fingerprint pipeline, BatchOrder own) {
    boolean first = tried.add(pipeline.text());
    try {
      return heartbeat.call(() -> open(pipeline, own, first ? timeouts.patience() : Duration.ZERO));
    } catch (BusyFileException e) {
      if (first) {
        log.say(
            "%s This job prepares the batches of this epoch itself, and tries again at each later"
                + " epoch.",
            e.getMessage());
      }
      return null;
    } catch (IOException | RuntimeException e) {
      String cause = e.getMessage();
      boolean sentence = cause != null && cause.endsWith("."); // Otherwise a system error.
      log.say(
          (sentence
                  ? cause
                  : "The staging buffer in "
                      + directory
                      + " cannot be created or used ("
                      + e
                      + "): nothing is shared.")
              + " This job prepares all batches of this pipeline itself.");
      refused.add(pipeline.text());
      return null;
    }
  }

  /** Runs on the heartbeat thread. */
  private Joined open(Fingerprint pipeline, BatchOrder own, Duration patience) throws IOException {
    StagingContents contents = new StagingContents(pipeline, own, heartbeat);
    long user = Machine.user();
    SharedFile.sweep(directory, user, contents, log);
    String name = Long.toHexString(pipeline.checksum()) + StagingContents.SUFFIX;
    List<String> budgetLines = new ArrayList<>(); // Logged only if the file opens.
    SharedFile<StagingFile> file =
        new SharedFile.Opening<>(
                directory.resolve(prefix(user) + name).toAbsolutePath(),
                user,
                contents,
                () ->
                    contents.capacity(
                        bound.applyAsLong(
                            budget.resolve(
                                Math.min(Machine.freeMemory(), Machine.freeSpace(directory)),
                                budgetLines::add))),
                log)
            .within(patience);
    budgetLines.forEach(log::say);
    StagingFile memory = file.memory();
    byte[] text = pipeline.text().getBytes(StandardCharsets.UTF_8);
    int length = (int) memory.get(StagingDescriptor.TEXT_BYTES);
    if (length != text.length
        || !Arrays.equals(memory.getBytes(StagingDescriptor.TEXT, length), text)) {
      file.close();
      throw new IOException("The file " + file.path() + " belongs to another pipeline.");
    }
    PipelineSession session =
        new PipelineSession(
            memory,
            new CachedJobLiveness(file.liveness(), Clock.SYSTEM),
            Clock.SYSTEM,
            timeouts,
            file.job(),
            this::start,
            log,
            cause -> Bridge.fault("preparing batches for the group", cause),
            blocked -> notifyOthers(memory, blocked),
            this::waitingElsewhere,
            () ->
                heartbeat.later(
                    () -> {
                      logWhyAlone(pipeline);
                      return true;
                    }));
    session.updates = updates;
    memory.whenDamaged(session::damaged);
    memory.whenRead(reading);
    return new Joined(file, session);
  }

  /**
   * Returns the number of jobs that have joined other pipelines of the group, in which no job
   * prepares batches yet.
   */
  private int waitingElsewhere() {
    try {
      return heartbeat.call(
          () -> {
            Set<Long> pids = new HashSet<>();
            for (byte[] head : otherPipelines()) {
              pids.addAll(StagingContents.waiting(head));
            }
            return pids.size();
          });
    } catch (IOException e) {
      return 0;
    }
  }

  private List<byte[]> otherPipelines() throws IOException {
    String pattern = prefix(Machine.user()) + "*" + StagingContents.SUFFIX;
    return SharedFile.othersInUse(directory, pattern, StagingDescriptor.TEXT_END);
  }

  /**
   * Logs, after an epoch that no other job shared, how this job's pipeline differs from the most
   * similar one.
   */
  private void logWhyAlone(Fingerprint pipeline) throws IOException {
    if (loggedAlone.get()) {
      return;
    }
    Fingerprint nearest = null;
    for (byte[] head : otherPipelines()) {
      Fingerprint other = StagingContents.fingerprint(head);
      if (nearest == null || pipeline.likeness(other) > pipeline.likeness(nearest)) {
        nearest = other;
      }
    }
    String difference = nearest == null ? null : pipeline.difference(nearest);
    if (difference != null && !loggedAlone.getAndSet(true)) {
      log.say(
          "No other job of group %s has this job's pipeline; compared with the most similar one,"
              + " %s. This job prepares all its batches itself.",
          group, difference);
    }
  }

  /** Returns this job's statistics so far: one new, uncommitted event per pipeline. */
  public List<StagingStatisticsEvent> statistics() {
    List<StagingStatisticsEvent> all = new ArrayList<>();
    joined.forEach(
        (text, one) ->
            all.add(one.session().statistics(group, Long.toHexString(SharedFile.checksum(text)))));
    return all;
  }

  private void start(Runnable work) {
    Thread thread = new AgentThread("coordl-prep-" + threads.incrementAndGet(), work);
    // The library may look up services through the context loader of the program's thread.
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    thread.start();
  }

  /** Returns the prefix of the group's file names; unique, because group names contain no comma. */
  private String prefix(long user) {
    return "coordl-" + user + "-" + SharedFile.fileName(group) + ",";
  }

  private void notifyOthers(StagingMemory from, boolean blocked) {
    for (Joined other : joined.values()) {
      if (other.session().memory != from) {
        other.session().blockedElsewhere(blocked);
      }
    }
  }

  private void beat() {
    if (Producers.areOff()) {
      close(); // Leave now, so the others need not detect that this job takes no more batches.
      return;
    }
    joined.values().forEach(one -> one.session().beat());
  }

  /**
   * Leaves the group: running work ends, batches already taken stay valid, and the last job deletes
   * the files. A second caller waits, for a bounded time, until the first has left, because a job
   * may end while its heartbeat thread is leaving.
   */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      Uninterrupted.await(LEAVE_NANOS, nanos -> left.await(nanos, TimeUnit.NANOSECONDS));
      return;
    }
    try {
      for (Joined one : joined.values()) {
        // If a thread stays inside, leave the file to the kernel and the next sweep.
        if (one.session().close()) {
          one.file().close();
        }
      }
    } finally {
      left.countDown();
    }
    heartbeat.stop();
  }
}
