package io.coordl.profile;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.InterceptedCall;
import io.coordl.host.Uninterrupted;
import io.coordl.store.DecodedSizes;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.PhaseEvent;
import io.coordl.telemetry.log.UserLog;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A differential profile of the program's own training loop, after DS-Analyzer (Mohan et al.,
 * Analyzing and Mitigating Data Stalls in DNN Training, VLDB 2021, section 3): the same loop with
 * nothing from memory (cold, T3), with every item from memory (cached, T2), and with prepared
 * batches (ingestion, T1). The prep stall is T2 - T1, and the fetch stall is T3 - T2.
 *
 * <p>The profile acts when the training thread requests a batch. It may then delay the request
 * while items are loaded into memory, return a copy of an earlier batch, or take batches from the
 * program's iterator and drop them. It may also hold back threads that prepare batches. A step is
 * the time from one batch to the next, without the profile's own work.
 *
 * <p>It profiles only one thread, the first that trains, and measures steps only in epochs that
 * update the model, if any update is seen; validations run as usual. The job ends after the last
 * phase.
 */
public final class Profile {
  private final SpanRecorder spans;
  private final Runnable ending;
  private final Deque<Stage> stages = new ArrayDeque<>();
  private final Plan plan;
  private volatile @Nullable Thread training;
  private volatile @Nullable Stage stage;
  private volatile boolean over;
  private volatile LongConsumer stepEnd = begun -> {};

  // The fields below are used only by the training thread.

  private WeakReference<Object> epoch = new WeakReference<>(null);
  private long updatesBefore;
  private long epochEnds;
  private WeakReference<Object> candidate = new WeakReference<>(null);
  private WeakReference<Object> last = new WeakReference<>(null);
  private int lastSamples = 1;
  private long returnedAt;
  private PhaseEvent workBefore = new PhaseEvent();

  /**
   * Creates a profile that waits for a training thread.
   *
   * @param phases phases to measure: {@code cold}, {@code cached}, {@code ingestion}; with more
   *     than one, preparation and fetching are also measured alone
   * @param steps steps to measure in each phase; 0: as many as a confidence interval of 1 %
   *     requires
   * @param sizes measures the decoded size of items; null if unavailable
   * @param ending ends the job; called on the training thread
   * @param clock current time in nanoseconds
   */
  public Profile(
      Set<String> phases,
      int steps,
      SpanRecorder spans,
      ProfiledItems items,
      @Nullable DecodedSizes sizes,
      UserLog log,
      Runnable ending,
      LongSupplier clock) {
    this(spans, ending, new Plan(phases, steps, spans, items, sizes, log, clock));
    stages.add(new WarmUp(plan));
  }

  /**
   * Creates a profile of the data pipeline alone, against an emulated accelerator.
   *
   * @param steps steps to measure; 0: as many as fit into the measuring time
   */
  public Profile(
      Accelerator accelerator,
      int steps,
      SpanRecorder spans,
      ProfiledItems items,
      UserLog log,
      Runnable ending) {
    this(
        spans,
        ending,
        new Plan(
            Set.of(EmulatedAccelerator.PHASE), steps, spans, items, null, log, System::nanoTime));
    stages.add(new EmulatedAccelerator(plan, accelerator, steps, Profile::sleep));
  }

  private Profile(SpanRecorder spans, Runnable ending, Plan plan) {
    this.spans = spans;
    this.ending = ending;
    this.plan = plan;
  }

  /** Sleeps uninterruptibly; keeps an interrupt pending for the program. */
  private static void sleep(long nanos) {
    Uninterrupted.await(
        nanos,
        remaining -> {
          TimeUnit.NANOSECONDS.sleep(remaining);
          return false;
        });
  }

  /**
   * Sets a function that runs at the end of each step of the training thread; the step ends when it
   * returns. Its argument is the {@link System#nanoTime} at which the step began, 0 before the
   * first batch of an epoch.
   */
  public void endSteps(LongConsumer ending) {
    stepEnd = ending;
  }

  /**
   * Called on any thread when the program is about to get a batch, before the span of that call
   * begins. Returns null to run the call unchanged.
   */
  public @Nullable InterceptedCall enter(Batches batches, Object iterator) {
    if (over || !(iterator instanceof Iterator<?> own)) {
      return null;
    }
    if (!tryEnterTraining()) {
      Thread known = training;
      // DL4J's prefetch calls the program's iterator on a separate thread.
      return known == null || known == Thread.currentThread() ? null : prepare();
    }
    long ends = spans.epochEnds();
    boolean same = last.refersTo(iterator) && ends == epochEnds;
    stepEnd.accept(same ? returnedAt : 0); // Pending device work is part of the step.
    long entered = System.nanoTime();
    boolean inTrainingEpoch = detectTrainingEpoch(iterator);
    epochEnds = ends;
    last = new WeakReference<>(iterator);
    Call get =
        new Call(batches, own, inTrainingEpoch && same, entered - returnedAt, inTrainingEpoch);
    if (inTrainingEpoch) {
      try {
        get.answered = answer(get);
      } catch (BatchGet.IteratorThrewException e) {
        get.thrown = e.getCause();
        get.answered = true;
      } catch (Throwable t) {
        giveUp(t);
        get.answered = get.inHand != null;
      }
    }
    get.held = System.nanoTime() - entered;
    return get;
  }

  /**
   * Whether this is the training thread, waiting for a batch. The first thread that waits for one
   * becomes the training thread and begins the first stage.
   */
  private boolean tryEnterTraining() {
    if (!spans.isBatchGet()) {
      return false;
    }
    if (training == null) {
      synchronized (this) {
        if (training == null) {
          training = Thread.currentThread();
          Stage first = stages.remove();
          stage = first;
          first.begin();
        }
      }
    }
    return training == Thread.currentThread();
  }

  /**
   * Detects a training epoch: the model has been updated since the epoch began, or has never been
   * updated. False on the first call in each epoch.
   */
  private boolean detectTrainingEpoch(Object iterator) {
    if (epoch.refersTo(iterator)) {
      return true;
    }
    long updates = spans.updates();
    if (!candidate.refersTo(iterator)) {
      candidate = new WeakReference<>(iterator);
      updatesBefore = updates;
      return false;
    }
    // If no update is ever seen, the loop trains in an unknown way.
    if (updates > updatesBefore || updates == 0) {
      epoch = new WeakReference<>(iterator);
      return true;
    }
    return false;
  }

  /** Runs the stages; returns whether the program gets the batch in hand. */
  private boolean answer(BatchGet get) {
    while (true) {
      Stage now = stage;
      if (now == null) {
        finish();
        return get.inHand != null;
      }
      Stage.Next next = now.get(get);
      if (next != Stage.Next.DONE) {
        return next == Stage.Next.ANSWER || get.inHand != null;
      }
      now.end();
      advance(now);
    }
  }

  private void advance(Stage before) {
    if (stages.isEmpty()) {
      stages.addAll(plan.after(before));
    }
    Stage following = stages.poll();
    stage = following;
    if (following != null) {
      plan.say(following.name());
      following.begin();
    }
  }

  /**
   * Handles a defect of the agent: the program continues unchanged, and the recording keeps the
   * results so far.
   */
  private void giveUp(Throwable cause) {
    over = true;
    plan.gate.open();
    plan.giveUp();
    say("abandoned after a fault (" + cause + "); the program continues");
    plan.notReached("the profile was abandoned after a fault: " + cause);
    Bridge.fault("a profile", cause);
  }

  private void finish() {
    over = true;
    plan.gate.open();
    plan.results.host(plan.rates.event());
    ending.run();
  }

  /** Called once, by the thread that ends the job, whether or not the profile caused the end. */
  public synchronized void close() {
    boolean complete = over;
    over = true;
    plan.gate.open();
    Stage now = stage;
    if (complete) {
      return;
    }
    if (now == null) {
      notReached(
          spans.totals().snapshot().batches > 0
              ? "the program's batches come from a class that the profile does not support: nothing"
                  + " was measured"
              : "no training step was seen: nothing was measured");
      return;
    }
    try {
      now.end();
    } catch (RuntimeException e) {
      // The training thread is still running and changed its steps during this call.
    }
    notReached(
        "the program ended before the profile did, in: "
            + now.name()
            + plan.toGo(spans.totals().snapshot()));
    plan.results.host(plan.rates.event());
  }

  private void notReached(String sentence) {
    say(sentence);
    plan.notReached(sentence);
  }

  private void say(String sentence) {
    plan.results.remark(sentence);
    plan.say(sentence);
  }

  /** Returns the results as lines for the summary at exit. */
  public List<String> summary() {
    return plan.results.lines();
  }

  /**
   * Called when a thread prepares a batch for another thread; may block. Returns null to run the
   * call unchanged.
   */
  public @Nullable InterceptedCall prepare() {
    return plan.gate.enter();
  }

  private final class Call extends BatchGet {
    private final boolean inTrainingEpoch;

    /** Nanoseconds by which the profile delayed the call. */
    private long held;

    Call(
        Batches batches,
        Iterator<?> own,
        boolean follows,
        long sinceLast,
        boolean inTrainingEpoch) {
      super(batches, own, follows, sinceLast);
      this.inTrainingEpoch = inTrainingEpoch;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      long now = System.nanoTime();
      Object batch = answered ? inHand : own;
      try {
        PhaseEvent work = Gauge.reading(spans);
        Stage current = stage;
        if (!answered && batch != null) {
          if (inTrainingEpoch && current != null) {
            Step step =
                follows && returnedAt != 0
                    ? new Step(lastSamples, now - returnedAt - held, work.since(workBefore))
                    : null;
            current.took(this, batch, step);
          }
          lastSamples = batches.samples(batch);
        }
        workBefore = work;
      } catch (Throwable t) { // The program must still get its batch.
        Bridge.fault("a step of the profile", t);
      }
      returnedAt = System.nanoTime();
      return batch;
    }
  }
}
