package io.coordl.profile;

import org.jspecify.annotations.Nullable;

/**
 * One part of a profile. Its methods run on the training thread, when it requests or receives a
 * batch; {@link #end} and {@link #name()} may also run on the thread that ends the job.
 */
abstract class Stage {
  /** How the program's request for a batch continues. */
  enum Next {
    /** The call runs unchanged. */
    OWN,
    /** The call returns the batch in hand. */
    ANSWER,
    /** This stage has ended. */
    DONE
  }

  final Plan plan;
  private final String name;

  /** Creates a stage with a name shown to the user. */
  Stage(Plan plan, String name) {
    this.plan = plan;
    this.name = name;
  }

  String name() {
    return name;
  }

  /** Called before the stage's first batch; its time is not part of a step. */
  void begin() {}

  abstract Next get(BatchGet get);

  /**
   * Called when the program's own call has returned a batch, which ended {@code step}. The step is
   * null if it is not measured, such as before the first batch of an epoch or after a validation.
   */
  void took(BatchGet get, Object batch, @Nullable Step step) {}

  /** Reports the results, or why there are none; also called if the job ends during this stage. */
  void end() {}
}
