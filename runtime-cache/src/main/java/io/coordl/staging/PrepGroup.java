package io.coordl.staging;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.cache.ByteBudget;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.shared.BusyFileException;
import io.coordl.shared.Machine;
import io.coordl.shared.SharedFile;
import io.coordl.thread.AgentThread;
import io.coordl.thread.Uninterrupted;
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
 * The jobs of a group on this host, as this job is one of them: a staging buffer for each pipeline
 * that this job begins an epoch of. Thread-safe.
 */
public final class PrepGroup implements Closeable {
  /**
   * Each has a buffer until the job ends; a job whose pipeline is another one in every epoch (a
   * preprocessor that counts) would else take all memory.
   */
  private static final int MAX_PIPELINES = 32;

  /** To leave a pipeline takes no longer, whatever the program's threads do. */
  private static final long NANOS_TO_LEAVE = TimeUnit.SECONDS.toNanos(7);

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
  private final AtomicBoolean saidAlone = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CountDownLatch left = new CountDownLatch(1);

  private record Joined(SharedFile<StagingFile> file, PipelineSession session) {}

  /**
   * A group; no file is made before an epoch begins.
   *
   * @param budget of each pipeline's buffer
   * @param jobs to wait for before the first epoch of all; 1 for none but this one
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

  /** Before the first epoch: counts the updates of models by this job so far. */
  public void updates(LongSupplier counted) {
    updates = counted;
  }

  /** Call before the first epoch: applies {@code by} to each buffer's budget to limit it. */
  public void bounded(LongUnaryOperator by) {
    bound = by;
  }

  /** Before the first epoch: hears of each slot, whole, before this job reads from it. */
  public void whenRead(Consumer<ByteBuffer> hears) {
    reading = hears;
  }

  /**
   * This job begins an epoch. May wait, boundedly, until the epoch can be shared: for jobs that are
   * expected, or for the end of an epoch that the others are in the midst of.
   *
   * @param pipeline whose batches these are; jobs with an equal one share
   * @param own the order this job's own sampler produced; the first job's is adopted by all
   * @return null if the job keeps its own pipeline for this epoch
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
                  + " prepares the batches of all others itself.",
              MAX_PIPELINES));
      return null;
    }
    Joined to = joined.computeIfAbsent(text, unused -> join(pipeline, own));
    // A job that did not come to one pipeline, as it died or has another one, is not waited for at
    // the next.
    boolean inVain = joined.values().stream().anyMatch(other -> other.session().waitedInVain());
    return to == null ? null : to.session().begin(own, inVain ? 1 : jobs);
  }

  /**
   * Null if the file cannot be had; if only since another job keeps it locked, the next epoch tries
   * again.
   */
  private @Nullable Joined join(Fingerprint pipeline, BatchOrder own) {
    boolean first = tried.add(pipeline.text());
    try {
      return heartbeat.call(() -> open(pipeline, own, first ? timeouts.patience() : Duration.ZERO));
    } catch (BusyFileException e) {
      if (first) {
        log.say(
            "%s The job prepares the batches of this epoch itself, and tries again at each of the"
                + " next ones.",
            e.getMessage());
      }
      return null;
    } catch (IOException | RuntimeException e) {
      String cause = e.getMessage();
      boolean sentence = cause != null && cause.endsWith("."); // Else it is the system's.
      log.say(
          (sentence
                  ? cause
                  : "The staging buffer in "
                      + directory
                      + " cannot be made or used ("
                      + e
                      + "): nothing is shared.")
              + " The job prepares all batches of this pipeline itself.");
      refused.add(pipeline.text());
      return null;
    }
  }

  /** On the heartbeat thread. */
  private Joined open(Fingerprint pipeline, BatchOrder own, Duration patience) throws IOException {
    StagingContents contents = new StagingContents(pipeline, own, heartbeat);
    long user = Machine.user();
    SharedFile.sweep(directory, user, contents, log);
    String name = Long.toHexString(pipeline.checksum()) + StagingContents.SUFFIX;
    List<String> ofBudget = new ArrayList<>(); // Of no interest if the file cannot be had.
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
                                ofBudget::add))),
                log)
            .within(patience);
    ofBudget.forEach(log::say);
    StagingFile memory = file.memory();
    byte[] text = pipeline.text().getBytes(StandardCharsets.UTF_8);
    int length = (int) memory.get(StagingDescriptor.TEXT_BYTES);
    if (length != text.length
        || !Arrays.equals(memory.getBytes(StagingDescriptor.TEXT, length), text)) {
      file.close();
      throw new IOException("Another pipeline has the name of " + file.path() + ".");
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
            blocked -> tellOthers(memory, blocked),
            this::waitingElsewhere,
            () ->
                heartbeat.later(
                    () -> {
                      sayWhyAlone(pipeline);
                      return true;
                    }));
    session.updates = updates;
    memory.whenDamaged(session::damaged);
    memory.whenRead(reading);
    return new Joined(file, session);
  }

  /**
   * Other jobs of the group that are in no pipeline of this job, and have not begun an epoch yet.
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

  /** After an epoch that no job shared, while other jobs of the group are there: what differs. */
  private void sayWhyAlone(Fingerprint pipeline) throws IOException {
    if (saidAlone.get()) {
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
    if (difference != null && !saidAlone.getAndSet(true)) {
      log.say(
          "No other job has this job's pipeline: %s as in the nearest one of group %s. It prepares"
              + " all its batches itself.",
          difference, group);
    }
  }

  /** What this job did so far, a new event for each pipeline, not written yet. */
  public List<StagingStatisticsEvent> statistics() {
    List<StagingStatisticsEvent> all = new ArrayList<>();
    joined.forEach(
        (text, one) ->
            all.add(one.session().statistics(group, Long.toHexString(SharedFile.checksum(text)))));
    return all;
  }

  private void start(Runnable work) {
    Thread thread = new AgentThread("coordl-prep-" + threads.incrementAndGet(), work);
    // Whatever the library looks up by it, it finds what the program's thread finds.
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    thread.start();
  }

  /** How the names of the group's files begin; no other group's do, since none has a comma. */
  private String prefix(long user) {
    return "coordl-" + user + "-" + SharedFile.fileName(group) + ",";
  }

  private void tellOthers(StagingMemory from, boolean blocked) {
    for (Joined other : joined.values()) {
      if (other.session().memory != from) {
        other.session().blockedElsewhere(blocked);
      }
    }
  }

  private void beat() {
    if (Producers.areOff()) {
      close(); // The other jobs need not find out that this one takes no more batches.
      return;
    }
    joined.values().forEach(one -> one.session().beat());
  }

  /**
   * Leaves the group: what is under way ends, every batch that was taken stays as it is, and the
   * last job takes the files along. Who comes second waits, boundedly, until the first has left: a
   * job may end while its heartbeat leaves.
   */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      Uninterrupted.await(NANOS_TO_LEAVE, nanos -> left.await(nanos, TimeUnit.NANOSECONDS));
      return;
    }
    try {
      for (Joined one : joined.values()) {
        // Where a thread does not come out the file is left to the kernel and the next sweep.
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
