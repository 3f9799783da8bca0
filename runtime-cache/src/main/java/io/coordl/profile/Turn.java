package io.coordl.profile;

/** A phase that takes turns with the others, so that all of them cover the same stretch of time. */
abstract class Turn extends Stage {
  final Plan plan;
  final Gauge gauge;

  /** Why nothing can be measured, empty if it can. */
  String reason = "";

  private boolean ended;

  Turn(Plan plan, Gauge gauge) {
    this.plan = plan;
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

  /** Whether it is known well enough, or will not be known better. */
  final boolean isSettled() {
    return isGivenUp() || gauge.isDone() || gauge.isFull();
  }

  final boolean isTurnOver() {
    return isGivenUp() || gauge.isTurnOver();
  }

  /** Whether it has a use for more turns. */
  final boolean takesMore() {
    return !isGivenUp() && !gauge.isFull();
  }
}
