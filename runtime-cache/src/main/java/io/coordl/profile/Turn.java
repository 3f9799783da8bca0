package io.coordl.profile;

import java.util.concurrent.TimeUnit;

/** A phase that takes turns with the others, so that all of them cover the same period of time. */
abstract class Turn extends Stage {
  /** Limit of one turn, even if few of its steps count. */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(30);

  final Gauge gauge;

  /** Why nothing can be measured; empty if the phase can be. */
  String reason = "";

  private boolean ended;

  /** Batches that the program has asked for in this phase. */
  long asked;

  long turnBegun;

  Turn(Plan plan, String name, Gauge gauge) {
    super(plan, name);
    this.gauge = gauge;
  }

  /** Continues after the turns of other phases. */
  abstract void resume();

  /** Called before the turns of other phases. */
  void pause() {}

  /** Batches left by other phases, which the program will get first. */
  int left() {
    return 0;
  }

  /** Ends the phase; the results of earlier turns stay. */
  final void giveUp(String why) {
    if (gauge.hasSome()) {
      ended = true;
    } else {
      reason = why;
    }
  }

  private boolean isGivenUp() {
    return ended || !reason.isEmpty();
  }

  private boolean isOverTime() {
    return plan.now() - turnBegun >= MAX_NANOS
        && (gauge.hasSome() || (gauge.taken() == 0 && Plan.isInVain(asked)));
  }

  private boolean isOut() {
    return gauge.isFull() || plan.isLate(gauge.hasSome(), asked);
  }

  /** Whether the result is precise enough, or cannot become more precise. */
  final boolean isSettled() {
    return isGivenUp() || gauge.isDone() || isOut();
  }

  final boolean isTurnOver() {
    return isGivenUp() || gauge.isTurnOver() || isOverTime() || isOut();
  }

  /** Whether more turns are useful. */
  final boolean takesMore() {
    return !isGivenUp() && !isOut();
  }
}
