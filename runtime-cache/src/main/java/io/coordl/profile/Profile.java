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
 * <p>Everything happens when the training thread asks for a batch. Then the profile may delay it
 * while items are loaded into memory, answer with a copy of an earlier batch, or take batches from
 * the program's iterator and drop them. A step is the time from one batch to the next, without the
 * profile's own work.
 *
 * <p>The profile follows only one thread: the first that trains. Steps count in epochs that update
 * the model; validations run as usual. The job ends after the last phase.
 */
public final class Profile {
  private final SpanRecorder spans;
  private final Runnable ending;
  private final Deque<Stage> stages = new ArrayDeque<>();
  private final Plan plan;
  private volatile @Nullable Thread training;
  private volatile @Nullable Stage stage;
  private volatile boolean over;
  private volatile LongConsumer steps = begun -> {};

  // All below is used by the training thread only.

  private WeakReference<Object> epoch = new WeakReference<>(null);
  private long updatesBefore;
  private long epochEnds;
  private WeakReference<Object> candidate = new WeakReference<>(null);
  private WeakReference<Object> last = new WeakReference<>(null);
  private int lastSamples = 1;
  private long left;
  private PhaseEvent workBefore = new PhaseEvent();

  /**
   * Creates a profile that waits for a training thread.
   *
   * @param phases phases to measure: {@code cold}, {@code cached}, {@code ingestion}; with all
   *     three, each stage is measured alone, too
   * @param steps steps to count in each phase, 0 for as many as a confidence interval of 1 %
   *     requires
   * @param sizes measures the decoded size of items; null if nothing does
   * @param ending ends the job; called on the training thread
   * @param clock nanoseconds
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
   * A profile of the data side alone, against an emulated accelerator.
   *
   * @param steps to count, 0 for as many as fill the time
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

  /** An interrupt is the program's, for later. */
  private static void sleep(long nanos) {
    Uninterrupted.await(
        nanos,
        left -> {
          TimeUnit.NANOSECONDS.sleep(left);
          return false;
        });
  }

  /**
   * Sets a function whose return ends each step of the training thread from now on. It gets the
   * time when the step began, 0 before the first batch of an epoch.
   */
  public void endSteps(LongConsumer ending) {
    steps = ending;
  }

  /**
   * Called when the program is about to get a batch, on any thread, around the method and before
   * its span begins. Returns null to leave the call alone.
   */
  public @Nullable InterceptedCall enter(Batches batches, Object iterator) {
    if (over || !(iterator instanceof Iterator<?> own)) {
      return null;
    }
    if (!isTraining()) {
      Thread known = training;
      // DL4J's prefetch calls the program's iterator on a separate thread.
      return known == null || known == Thread.currentThread() ? null : prepare();
    }
    long ends = spans.epochEnds();
    boolean same = last.refersTo(iterator) && ends == epochEnds;
    steps.accept(same ? left : 0); // Pending work of the devices belongs to the step.
    long entered = System.nanoTime();
    boolean inside = follow(iterator);
    epochEnds = ends;
    last = new WeakReference<>(iterator);
    Call get = new Call(batches, own, inside && same, entered - left, inside);
    if (inside) {
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

  /** Whether this is the training thread, waiting for a batch. */
  private boolean isTraining() {
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

  /** Whether this is a training epoch: the model was updated since it began. */
  private boolean follow(Object iterator) {
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

  /** Whether the program gets the batch in hand. */
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
    say("abandoned after a fault, the program continues: " + cause);
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
              ? "its batches come from a class that it cannot follow: nothing was measured"
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

  /** Describes the results, for the end of the job. */
  public List<String> summary() {
    return plan.results.lines();
  }

  /**
   * Called when a thread prepares a batch for another one; may wait. Returns null to leave the call
   * alone.
   */
  public @Nullable InterceptedCall prepare() {
    return plan.gate.enter();
  }

  private final class Call extends BatchGet {
    private final boolean inside;

    /** Nanoseconds by which the profile delayed the call. */
    private long held;

    Call(Batches batches, Iterator<?> own, boolean follows, long sinceLast, boolean inside) {
      super(batches, own, follows, sinceLast);
      this.inside = inside;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      long now = System.nanoTime();
      Object batch = answered ? inHand : own;
      try {
        PhaseEvent work = Gauge.reading(spans);
        Stage taking = stage;
        if (!answered && batch != null) {
          if (inside && taking != null) {
            Step step =
                follows && left != 0
                    ? new Step(lastSamples, now - left - held, work.since(workBefore))
                    : null;
            taking.took(this, batch, step);
          }
          lastSamples = batches.samples(batch);
        }
        workBefore = work;
      } catch (Throwable t) { // The program must still get its batch.
        Bridge.fault("a step of the profile", t);
      }
      left = System.nanoTime();
      return batch;
    }
  }
}
