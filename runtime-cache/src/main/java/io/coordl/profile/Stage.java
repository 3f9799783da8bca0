package io.coordl.profile;

import org.jspecify.annotations.Nullable;

/** One part of a profile. All its methods run on the training thread, where it gets a batch. */
abstract class Stage {
  /** How the program's call for a batch goes on. */
  enum Next {
    /** As it is. */
    OWN,
    /** It is answered with the batch in hand. */
    ANSWER,
    /** This stage is over. */
    DONE
  }

  final Plan plan;
  private final String name;

  /** By this name the user hears of it. */
  Stage(Plan plan, String name) {
    this.plan = plan;
    this.name = name;
  }

  String name() {
    return name;
  }

  /** Before its first batch; what it takes is in no step. */
  void begin() {}

  abstract Next get(BatchGet get);

  /**
   * The program's own call has made a batch, which ended that step; null if it is none of steady
   * training: the first of an epoch, or after a validation.
   */
  void took(BatchGet get, Object batch, @Nullable Step step) {}

  /** Tells what was measured, or why nothing was; also if the job ends in the midst of it. */
  void end() {}
}
