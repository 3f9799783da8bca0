package io.coordl.profile;

import java.util.concurrent.TimeUnit;

/** A phase that takes turns with the others, so that all of them cover the same period of time. */
abstract class AlternatingStage extends Stage {
  /**
   * Time limit of one turn. Applies once the phase has enough steps for an estimate, or if it
   * cannot be expected to get any.
   */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(30);

  final Gauge gauge;

  /** Why the phase cannot be measured; empty if it can. */
  String reason = "";

  private boolean ended;

  /** Batches that the program has requested in this phase. */
  long requested;

  long turnBegun;

  AlternatingStage(Plan plan, String name, Gauge gauge) {
    super(plan, name);
    this.gauge = gauge;
  }

  /** Continues after the turns of other phases. */
  abstract void resume();

  /** Called before the turns of other phases. */
  void pause() {}

  /** Returns the number of batches left by other phases, which the program will get first. */
  int leftOverBatches() {
    return 0;
  }

  /** Ends the phase; results of earlier turns remain valid. */
  final void giveUp(String cause) {
    if (gauge.hasEnoughSteps()) {
      ended = true;
    } else {
      reason = cause;
    }
  }

  private boolean isGivenUp() {
    return ended || !reason.isEmpty();
  }

  private boolean isOverTime() {
    return plan.now() - turnBegun >= MAX_NANOS
        && (gauge.hasEnoughSteps() || (gauge.taken() == 0 && Plan.isHopeless(requested)));
  }

  private boolean isExhausted() {
    return gauge.isFull() || plan.isLate(gauge.hasEnoughSteps(), requested);
  }

  /** Whether the result is precise enough, or cannot become more precise. */
  final boolean isSettled() {
    return isGivenUp() || gauge.isDone() || isExhausted();
  }

  final boolean isTurnOver() {
    return isGivenUp() || gauge.isTurnOver() || isOverTime() || isExhausted();
  }

  /** Whether more turns are useful. */
  final boolean takesMore() {
    return !isGivenUp() && !isExhausted();
  }
}
