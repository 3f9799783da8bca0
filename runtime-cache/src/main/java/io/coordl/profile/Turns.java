package io.coordl.profile;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the phases in turns until all are known precisely enough. Without turns, a phase could be
 * slower than the others only because the machine's speed changed or the program was still getting
 * faster, and the difference would look like a stall.
 *
 * <p>If all phases are steady, one turn of each is enough. Otherwise all phases continue, even
 * those already known, so that a change in the machine's speed affects all of them.
 */
final class Turns extends Stage {
  private final List<AlternatingStage> phases;
  private int current;
  private int begun;

  /** Creates a stage of at least one phase, in the order of their turns. */
  Turns(Plan plan, List<AlternatingStage> phases) {
    super(plan, "");
    this.phases = List.copyOf(phases);
  }

  @Override
  String name() {
    return phases.get(current).name();
  }

  @Override
  void begin() {
    begun = 1;
    phases.get(0).turnBegun = plan.now();
    phases.get(0).begin();
  }

  @Override
  Next get(BatchGet get) {
    while (begun < phases.size() || !phases.stream().allMatch(AlternatingStage::isSettled)) {
      AlternatingStage now = phases.get(current);
      int following = now.isTurnOver() ? following() : current;
      if (following < 0) {
        break;
      }
      if (following == current) {
        now.requested++;
        Next next = now.get(get);
        if (next != Next.DONE) {
          return next;
        }
      } else {
        now.pause();
        current = following;
        start(phases.get(following));
      }
    }
    return Next.DONE;
  }

  /**
   * Returns the index of the phase whose turn is next; the current one if all others have reached
   * their limits, -1 if all have.
   */
  private int following() {
    for (int i = 1; i <= phases.size(); i++) {
      int next = (current + i) % phases.size();
      if (next >= begun || phases.get(next).takesMore()) {
        return next;
      }
    }
    return -1;
  }

  private void start(AlternatingStage phase) {
    phase.turnBegun = plan.now();
    if (current == begun) {
      begun++;
      plan.say(phase.name());
      phase.begin();
    } else {
      phase.gauge.nextTurn(phase.leftOverBatches());
      phase.resume();
    }
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    phases.get(current).took(get, batch, step);
  }

  @Override
  void end() {
    RuntimeException failure = null;
    for (AlternatingStage phase : phases.subList(0, begun)) {
      try {
        phase.end();
      } catch (RuntimeException e) {
        failure = e; // Its steps changed as the job ended; end the others.
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
