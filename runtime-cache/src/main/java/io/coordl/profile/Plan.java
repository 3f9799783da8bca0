package io.coordl.profile;

import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedSizes;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.log.UserLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stages of a profile, their order and their shared state. Used on the training thread, and by
 * the thread that ends the job.
 */
final class Plan {
  static final String COLD = "cold";
  static final String CACHED = "cached";
  static final String INGESTION = "ingestion";
  static final String PREP = "prep";
  static final String FETCH = "fetch";

  /** An item takes a little more space than its bytes. */
  private static final double STORE_SHARE = 0.95;

  /** Above this, the number of threads is halved for the next measurement, not reduced by one. */
  private static final int HALVE_ABOVE = 8;

  /** Time limit of the phases, which then end with the steps measured so far. */
  private static final long PHASES_NANOS = TimeUnit.SECONDS.toNanos(200);

  /** Time limit of the phases and of measuring preparation alone. */
  private static final long ALL_NANOS = TimeUnit.SECONDS.toNanos(250);

  /** A program that has requested fewer batches may just be slow, so more steps may follow. */
  private static final int MIN_BATCHES = 100;

  /** Time limit for slow programs that have no usable steps yet. */
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(20);

  final Set<String> phases;
  private final int steps;
  final SpanRecorder spans;
  final ProfiledItems items;
  final Gate gate = new Gate();
  final Results results;
  private final @Nullable DecodedSizes sizes;
  private final UserLog log;
  final HostRates rates;
  private final LongSupplier clock;
  private long begun;

  /** Threads that prepare batches for the training thread; 0 if it prepares them itself. */
  int workers;

  /**
   * Why items cannot come from memory, which preparation alone also requires; empty if they can.
   */
  String notCached = "";

  /** Prepared batches for the ingestion phase. */
  List<Batches.Kept> kept = List.of();

  private long taken;

  Plan(
      Set<String> phases,
      int steps,
      SpanRecorder spans,
      ProfiledItems items,
      @Nullable DecodedSizes sizes,
      UserLog log,
      LongSupplier clock) {
    this.phases = Set.copyOf(phases);
    this.steps = steps;
    this.spans = spans;
    this.items = items;
    this.results = new Results(spans, items);
    this.sizes = sizes;
    this.log = log;
    this.rates = new HostRates(items);
    this.clock = clock;
    this.begun = clock.getAsLong();
  }

  /** Starts the time limits; called when training has begun. */
  void begin() {
    begun = now();
  }

  /**
   * Returns a clause that says how many more steps the program must train for all phases, at its
   * speed so far: at least as many as steady steps require, at most as many as fit before the time
   * limits. Empty before the first batch.
   */
  String toGo(Figures totals) {
    if (totals.batches == 0 || totals.wall == 0) {
      return "";
    }
    long step = Math.max(1, totals.wall / totals.batches);
    long each = Math.max(steps, Math.max(Gauge.MIN_STEPS, Gauge.MIN_NANOS / step));
    long left = phases.stream().filter(phase -> !results.has(phase)).count();
    boolean alone = phases.size() > 1;
    long least =
        (left + (alone ? 1 : 0)) * each + (results.isWarm() ? 0 : WarmUp.WINDOW_NANOS / step);
    long most = ((alone ? ALL_NANOS : PHASES_NANOS) - (now() - begun)) / step;
    return Text.format(
            "; let the program train for at least %,d more steps (%s)",
            least, Text.roughly(least * step))
        + (most <= least
            ? ""
            : Text.format(
                ", at most %,d (%s) if times are not steady", most, Text.roughly(most * step)))
        + ", or profile fewer phases";
  }

  long now() {
    return clock.getAsLong();
  }

  /**
   * Whether a phase must end with the steps so far, because the time limit has passed. In a program
   * with short epochs, or on a busy machine, few or no steps can be used.
   *
   * @param some whether the phase has steps that can be used
   * @param requested batches that the program has requested in this phase
   */
  boolean isLate(boolean some, long requested) {
    return now() - begun >= (some || isHopeless(requested) ? PHASES_NANOS : MAX_NANOS);
  }

  /** Like {@link #isLate}, for the stages after the phases. */
  boolean isLateAlone(boolean some) {
    return now() - begun >= (some ? ALL_NANOS : MAX_NANOS);
  }

  /** Whether no usable step can be expected after this many batches without one. */
  static boolean isHopeless(long requested) {
    return requested >= MIN_BATCHES;
  }

  /** Returns the stages that follow when {@code before} was the last one planned. */
  List<Stage> after(Stage before) {
    List<Stage> next = new ArrayList<>();
    if (before instanceof EmulatedAccelerator) {
      return next;
    }
    if (before instanceof WarmUp && phases.contains(INGESTION)) {
      next.add(new Collect(this));
    } else if (before instanceof WarmUp || before instanceof Collect) {
      turns(next);
    }
    if (next.isEmpty() && !(before instanceof PrepAlone) && !(before instanceof StorageAlone)) {
      alone(next);
    }
    return next;
  }

  /** Adds the phases with training steps. */
  private void turns(List<Stage> next) {
    List<AlternatingStage> turns = new ArrayList<>();
    if (phases.contains(COLD)) {
      turns.add(new OwnSteps(COLD, this));
    }
    if (phases.contains(CACHED)) {
      turns.add(new OwnSteps(CACHED, this));
    }
    if (!kept.isEmpty()) {
      turns.add(new Replay(this, kept));
    }
    if (!turns.isEmpty()) {
      next.add(new Turns(this, turns));
    }
  }

  /** Adds measurements of each part of the pipeline alone. */
  private void alone(List<Stage> next) {
    if (phases.size() > 1) {
      next.add(new PrepAlone(this, workers));
      int fewer = fewer(workers);
      while (fewer > 0) {
        next.add(new PrepAlone(this, fewer));
        fewer = fewer(fewer);
      }
      if (sizes != null) {
        next.add(new DecodedSize(this, sizes));
      }
    }
    next.add(new StorageAlone(this, phases.size() > 1));
  }

  /** Returns the next number of threads to measure: one less, or half of a number above 8. */
  private static int fewer(int threads) {
    return threads <= HALVE_ABOVE ? threads - 1 : threads / 2;
  }

  /** Lets the program read its items as usual, and ends all measurements of them. */
  void giveUp() {
    items.from(ProfiledItems.From.PROGRAM);
    if (sizes != null) {
      sizes.learn(false);
    }
  }

  void say(String stage) {
    log.say("profile: " + stage);
  }

  void warmedUp(int count, boolean steady) {
    workers = spans.preparers().peak();
    results.warmedUp(count, steady);
  }

  /** Reports the requested phases that will not be measured. */
  void notReached(String reason) {
    results.notReached(phases, reason);
  }

  /** Returns the number of batches whose preparation may have begun before a change of phase. */
  int transition() {
    return workers == 0 ? 1 : 4 * workers + 4;
  }

  /** Counts a batch that a phase has taken from the program's own call. */
  void countTaken() {
    taken++;
  }

  /** Returns the number of batches prepared but not taken, plus an unknown constant. */
  long ready() {
    return spans.preparers().batches() - taken;
  }

  Gauge gauge(int transition) {
    return new Gauge(steps, transition);
  }

  /**
   * Loads the data set into memory while the program waits; returns why this is impossible, or
   * empty.
   */
  String preload() {
    ProfiledItems.Listing listing = rates.listing();
    if (listing.items().isEmpty()) {
      return "";
    }
    long room = (long) (STORE_SHARE * items.openStore(ByteBudget.parse("auto")));
    if (listing.bytes() > room) {
      return Text.format(
          "the data set's %d files (%.1f MiB) do not fit into the %.1f MiB that may be used",
          listing.items().size(), listing.bytes() / (double) (1 << 20), room / (double) (1 << 20));
    }
    log.say(
        "profile: loading %d files (%.1f MiB) into memory; the program waits",
        listing.items().size(), listing.bytes() / (double) (1 << 20));
    rates.keep(listing, Math.max(2, workers));
    return "";
  }
}
