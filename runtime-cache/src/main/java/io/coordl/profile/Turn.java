package io.coordl.profile;

/** A phase that takes turns with the others, so that all of them cover the same stretch of time. */
abstract class Turn extends Stage {
  final Plan plan;
  final Gauge gauge;

  /** Why nothing can be measured, empty if it can. */
  String reason = "";

  Turn(Plan plan, Gauge gauge) {
    this.plan = plan;
    this.gauge = gauge;
  }

  /** Goes on after other phases have had the program. */
  abstract void resume();

  /** Other phases are to have the program now. */
  void pause() {}

  /** Whether it is known well enough, or will not be known better. */
  final boolean isSettled() {
    return !reason.isEmpty() || gauge.isDone() || gauge.isFull();
  }

  final boolean isTurnOver() {
    return !reason.isEmpty() || gauge.isTurnOver();
  }

  /** Whether it has a use for more turns. */
  final boolean takesMore() {
    return reason.isEmpty() && !gauge.isFull();
  }
}
