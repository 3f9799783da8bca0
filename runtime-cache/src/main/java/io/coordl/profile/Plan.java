package io.coordl.profile;

import io.coordl.advice.Text;
import io.coordl.attribution.SpanRecorder;
import io.coordl.cache.ByteBudget;
import io.coordl.cache.DecodedSizes;
import io.coordl.cache.ProfiledItems;
import io.coordl.log.UserLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Which stages there are, in which order, and what they share. Of the training thread. */
final class Plan {
  static final String COLD = "cold";
  static final String CACHED = "cached";
  static final String INGESTION = "ingestion";
  static final String PREP = "prep";
  static final String FETCH = "fetch";

  /** An item takes a little more than its bytes. */
  private static final double STORE_SHARE = 0.95;

  private static final int EVERY_NUMBER = 8;

  /** Of the whole profile: then phases end with what they have counted, and later ones begin. */
  private static final long PHASES_NANOS = TimeUnit.SECONDS.toNanos(200);

  /** As above, of preparation alone. */
  private static final long ALL_NANOS = TimeUnit.SECONDS.toNanos(250);

  /** With so few steps there may be more: they are slow. */
  private static final int FEW = 100;

  /** Of steps that slow there are enough, or will never be. */
  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(20);

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

  /** Threads that prepare beside the training thread, 0 if it prepares itself. */
  int workers;

  /**
   * Why items could not be had from memory, which preparation alone needs, too; empty if they are
   * there.
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

  /** The first step of training is here: from now on the profile's time counts. */
  void begin() {
    begun = now();
  }

  long now() {
    return clock.getAsLong();
  }

  /**
   * Whether a phase is to end with what it has, so that all of them end in time: of a program whose
   * epochs are short, or on a busy machine, few steps count, or none.
   *
   * @param some whether it has anything to tell
   * @param asked batches that the program has asked for in it
   */
  boolean isLate(boolean some, long asked) {
    return now() - begun >= (some || isInVain(asked) ? PHASES_NANOS : MOST_NANOS);
  }

  /** As {@link #isLate} of what comes after the phases. */
  boolean isLateAlone(boolean some) {
    return now() - begun >= (some ? ALL_NANOS : MOST_NANOS);
  }

  /** Whether so many batches, of which none counts, are enough to know that none will. */
  static boolean isInVain(long asked) {
    return asked >= FEW;
  }

  /** What comes after a stage that left no other to come. */
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

  /** The phases with training steps. */
  private void turns(List<Stage> next) {
    List<Turn> turns = new ArrayList<>();
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

  /** Each stage of the pipeline for itself. */
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

  /** Every number of threads from 8 down, halves above. */
  private static int fewer(int threads) {
    return threads <= EVERY_NUMBER ? threads - 1 : threads / 2;
  }

  /** Items come as the program reads them, and nobody learns of them. */
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
    workers = spans.preparers().most();
    results.warmedUp(count, steady);
  }

  /** What was asked and not told of will not be measured. */
  void notReached(String reason) {
    results.notReached(phases, reason);
  }

  /** Batches that may have been begun before a change of phase. */
  int transition() {
    return workers == 0 ? 1 : 4 * workers + 4;
  }

  /** A phase has had a batch of the program's own. */
  void tookOne() {
    taken++;
  }

  /** Batches that are ready and not taken, but for a number that stays the same. */
  long ready() {
    return spans.preparers().batches() - taken;
  }

  Gauge gauge(int transition) {
    return new Gauge(steps, transition);
  }

  /** Brings the data set into memory while the program waits; why that cannot be, or empty. */
  String preload() {
    ProfiledItems.Listing listing = rates.listing();
    if (listing.items().isEmpty()) {
      return "";
    }
    long room = (long) (STORE_SHARE * items.openStore(ByteBudget.parse("auto")));
    if (listing.bytes() > room) {
      return Text.format(
          "the data set's %d files of %.1f MiB do not fit into the %.1f MiB that may be taken",
          listing.items().size(), listing.bytes() / (double) (1 << 20), room / (double) (1 << 20));
    }
    log.say(
        "profile: bringing %d files (%.1f MiB) into memory; the program waits",
        listing.items().size(), listing.bytes() / (double) (1 << 20));
    rates.keep(listing, Math.max(2, workers));
    return "";
  }
}
