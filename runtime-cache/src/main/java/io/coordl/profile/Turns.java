package io.coordl.profile;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The phases in turns, until all are known well enough. A machine whose speed changes by the
 * minute, or a program that becomes faster still, would else make the phase that comes first look
 * slower than the others, and the difference look like a stall.
 *
 * <p>What is steady is known in a first turn, and then no second one is needed. Else each goes on,
 * those known already, too, so that all have their share of what the machine does.
 */
final class Turns extends Stage {
  private final List<Turn> phases;
  private int current;
  private int begun;

  /** The phases, at least one, in the order of their turns. */
  Turns(Plan plan, List<Turn> phases) {
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
    while (begun < phases.size() || !phases.stream().allMatch(Turn::isSettled)) {
      Turn now = phases.get(current);
      int following = now.isTurnOver() ? following() : current;
      if (following < 0) {
        break;
      }
      if (following == current) {
        now.asked++;
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

  /** Whose turn is next; the same again if all others have had their most, -1 if all have. */
  private int following() {
    for (int i = 1; i <= phases.size(); i++) {
      int next = (current + i) % phases.size();
      if (next >= begun || phases.get(next).takesMore()) {
        return next;
      }
    }
    return -1;
  }

  private void start(Turn phase) {
    phase.turnBegun = plan.now();
    if (current == begun) {
      begun++;
      plan.say(phase.name());
      phase.begin();
    } else {
      phase.gauge.nextTurn(phase.left());
      phase.resume();
    }
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    phases.get(current).took(get, batch, step);
  }

  @Override
  void end() {
    RuntimeException failed = null;
    for (Turn phase : phases.subList(0, begun)) {
      try {
        phase.end();
      } catch (RuntimeException e) {
        failed = e; // The job ends while its thread still counts steps: the others are whole.
      }
    }
    if (failed != null) {
      throw failed;
    }
  }
}
