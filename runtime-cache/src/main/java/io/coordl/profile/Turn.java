package io.coordl.profile;

import java.util.concurrent.TimeUnit;

/** A phase that takes turns with the others, so that all of them cover the same stretch of time. */
abstract class Turn extends Stage {
  /** Of one turn, most of which may be in no step: then the others have theirs first. */
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(30);

  final Gauge gauge;

  /** Why nothing can be measured, empty if it can. */
  String reason = "";

  private boolean ended;

  /** Batches that the program has asked for in this phase. */
  long asked;

  long turnBegun;

  Turn(Plan plan, String name, Gauge gauge) {
    super(plan, name);
    this.gauge = gauge;
  }

  /** Goes on after other phases have had the program. */
  abstract void resume();

  /** Other phases are to have the program now. */
  void pause() {}

  /** Batches that other phases have left behind and the program will get first. */
  int left() {
    return 0;
  }

  /** Takes no more turns; what earlier ones gave stays. */
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

  private boolean hadItsTime() {
    return plan.now() - turnBegun >= MOST_NANOS
        && (gauge.hasSome() || (gauge.taken() == 0 && Plan.isInVain(asked)));
  }

  private boolean isOut() {
    return gauge.isFull() || plan.isLate(gauge.hasSome(), asked);
  }

  /** Whether it is known well enough, or will not be known better. */
  final boolean isSettled() {
    return isGivenUp() || gauge.isDone() || isOut();
  }

  final boolean isTurnOver() {
    return isGivenUp() || gauge.isTurnOver() || hadItsTime() || isOut();
  }

  /** Whether it has a use for more turns. */
  final boolean takesMore() {
    return !isGivenUp() && !isOut();
  }
}
