package io.coordl.telemetry.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.EpochEvent;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * Simulated preparation in parallel with the steps, on a machine that shares its cores evenly among
 * ready threads. The exact cost is known from the same job without preparation.
 */
class CoreLawTest {
  private static final Offset<Double> EXACT = within(1e-6);
  private static final double MILLION = 1e6;

  /** Part of a step: threads compute for {@code millis} each, then wait for each other. */
  private record Stretch(int threads, double millis) {}

  /** A job of equal steps; each overlaps with the preparation of the next batch. */
  private static final class Job {
    private final EpochEvent figures = new EpochEvent();
    private final double cores;
    private final double alone;

    Job(double cores, double prepMillis, Stretch... step) {
      this.cores = cores;
      double left = prepMillis;
      double steps = 0;
      double own = 0;
      double all = 0;
      double prepWaits = 0;
      double busy = prepMillis;
      double free = 0;
      for (Stretch stretch : step) {
        double todo = stretch.millis();
        busy += stretch.threads() * stretch.millis();
        free += stretch.millis() / Math.min(1, cores / stretch.threads());
        while (todo > 1e-9) {
          int ready = stretch.threads() + (left > 1e-9 ? 1 : 0);
          double rate = Math.min(1, cores / ready);
          double time = Math.min(todo, left > 1e-9 ? left : todo) / rate;
          double waited = (1 - rate) * time;
          own += waited;
          all += ready * waited;
          prepWaits += left > 1e-9 ? waited : 0;
          todo -= rate * time;
          left -= left > 1e-9 ? rate * time : 0;
          steps += time;
        }
      }
      double stall = Math.max(0, left);
      alone = free;
      figures.batches = 1;
      figures.compute = nanos(steps);
      figures.stall = nanos(stall);
      figures.prepStall = nanos(stall);
      figures.wall = nanos(steps + stall);
      figures.otherTime = nanos(prepMillis + prepWaits);
      figures.cpu = nanos(busy);
      figures.coreWait = nanos(all) + 1; // 0 would mean unknown.
      figures.computeCoreWait = nanos(own);
      figures.prepCoreWait = nanos(prepWaits);
    }

    private static long nanos(double millis) {
      return Math.round(MILLION * millis);
    }

    CoreLaw law() {
      return new CoreLaw(figures, cores);
    }

    double exact() {
      return figures.wall / (MILLION * alone);
    }

    double predicted() {
      return figures.wall / (figures.wall - figures.prepStall - law().share());
    }

    double atMost() {
      return law().gain(figures.otherTime, figures.prepStall);
    }
  }

  private static List<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (int cores : new int[] {1, 2}) {
      for (int tenths = 0; tenths <= 10; tenths++) {
        double prep = 10.0 * tenths;
        jobs.add(new Job(cores, prep, new Stretch(1, 100)));
        jobs.add(new Job(cores, prep, new Stretch(cores, 100)));
        // With two cores, steps that use both for only part of their time.
        jobs.add(new Job(cores, prep, new Stretch(cores, 50), new Stretch(1, 50)));
        jobs.add(new Job(cores, prep, new Stretch(1, 30), new Stretch(cores, 70)));
      }
    }
    return jobs;
  }

  @Test
  void theTimePreparationTakesFromStepsIsPredicted() {
    double[] errors =
        jobs().stream()
            .mapToDouble(job -> 100 * Math.abs(job.predicted() - job.exact()))
            .sorted()
            .toArray();
    assertThat(errors[errors.length / 2]).isLessThanOrEqualTo(3);
    assertThat(errors[errors.length - 1]).isLessThanOrEqualTo(8);
  }

  @Test
  void theBoundHoldsAndIsTight() {
    for (Job job : jobs()) {
      assertThat(job.atMost()).isGreaterThanOrEqualTo(job.exact() - 1e-6);
    }
    double[] ratios =
        jobs().stream().mapToDouble(job -> job.atMost() / job.exact()).sorted().toArray();
    assertThat(ratios[ratios.length / 2]).isLessThanOrEqualTo(1.25);
  }

  /**
   * An epoch of 100 ns that waits for {@code prepStall} of {@code work}, and computes otherwise.
   */
  private static EpochEvent epoch(long prepStall, long work) {
    EpochEvent figures = new EpochEvent();
    figures.wall = 100;
    figures.prepStall = prepStall;
    figures.compute = 100 - prepStall;
    figures.otherTime = work;
    return figures;
  }

  /** Compilers stop, and collectors have nothing to do without the work that makes garbage. */
  @Test
  void cpuTimeOfTheJvmItselfDoesNotTightenTheBound() {
    EpochEvent figures = epoch(90, 90);
    figures.cpu = 190;
    CoreLaw unknown = new CoreLaw(figures, 2);
    assertThat(unknown.gain(90, 90)).isEqualTo(2);
    figures.compilerCpu = 40;
    figures.collectorCpu = 40;
    assertThat(new CoreLaw(figures, 2).gain(90, 90)).isEqualTo(10);
    assertThat(new CoreLaw(figures, 1).gain(45, 45)).isEqualTo(100 / 85.0);
    assertThat(new CoreLaw(figures, 1).gain(0, 90)).isEqualTo(1);
  }

  /** Evicted caches and shared hyper-threads slow steps down in ways that no CPU time shows. */
  @Test
  void stepsMayBecomeAsFastAsTheFastestWere() {
    EpochEvent figures = epoch(60, 60);
    figures.slowSteps = 20;
    assertThat(new CoreLaw(figures, 0).atMost(60, 60)).isEqualTo(5);
    assertThat(new CoreLaw(figures, 0).gain(60, 60)).isEqualTo(2.5);
    assertThat(new CoreLaw(figures, 0).atMost(30, 30)).isEqualTo(100 / 60.0);
    assertThat(new CoreLaw(figures, 0).atMost(0, 60)).isEqualTo(2.5);
    // Removed work saves the pauses, too, so callers add these to the waits.
    figures.gcPauses = 15;
    assertThat(new CoreLaw(figures, 0).atMost(60, 75)).isEqualTo(5);
    // The remaining CPU time includes that of the slow steps, but not their waits for a core.
    figures.cpu = 115;
    figures.gcPauses = 0;
    figures.computeCoreWait = 5;
    assertThat(new CoreLaw(figures, 1.5).atMost(60, 60)).isCloseTo(3.75, EXACT);
    CoreLaw alone = new CoreLaw(figures, 1);
    assertThat(alone.atMost(60, 60)).isEqualTo(alone.gain(60, 60));
  }

  /** Compilers wait for cores, too, but no step waits for them. */
  @Test
  void waitsOfTheJvmsOwnThreadsAreNotGivenBackToTheSteps() {
    EpochEvent figures = epoch(20, 60);
    figures.stall = 20;
    figures.cpu = 158;
    figures.coreWait = 50;
    figures.computeCoreWait = 10;
    assertThat(new CoreLaw(figures, 2).maxShare()).isEqualTo(31);
    figures.jvmCoreWait = 30;
    assertThat(new CoreLaw(figures, 2).maxShare()).isEqualTo(20);
    figures.cpu = 140; // Too little for a second thread that computes.
    assertThat(new CoreLaw(figures, 2).maxShare()).isEqualTo(10);
  }

  /** Sequences of different lengths, for example. */
  @Test
  void stepsBecomeAtMostTwiceAsFast() {
    EpochEvent figures = epoch(40, 60);
    figures.slowSteps = 50;
    assertThat(new CoreLaw(figures, 0).atMost(60, 40)).isEqualTo(100 / 30.0);
  }

  /** The remaining CPU time of an engine on two threads shrinks on both. */
  @Test
  void fasterStepsFreeAllCoresThatTheyUse() {
    EpochEvent figures = epoch(50, 50);
    figures.stall = 50;
    figures.cpu = 150;
    figures.slowSteps = 20;
    assertThat(new CoreLaw(figures, 2).gain(50, 50)).isEqualTo(2);
    assertThat(new CoreLaw(figures, 2).atMost(50, 50)).isEqualTo(100 / 30.0);
  }

  /** Every second step of a GAN, for example, is short. */
  @Test
  void stepsThatDifferByNatureAreNotSlowedMoreThanPreparationRuns() {
    EpochEvent figures = epoch(6, 10);
    figures.slowSteps = 90;
    assertThat(new CoreLaw(figures, 0).atMost(10, 6)).isEqualTo(100 / 84.0);
  }

  /** Hand-over and collections are no work beside the steps, so all of that work is given back. */
  @Test
  void waitsForHandOverDoNotReduceWhatTheStepsGetBack() {
    EpochEvent figures = new EpochEvent();
    figures.wall = 100;
    figures.compute = 70;
    figures.prepStall = 10;
    figures.queueStall = 20;
    figures.otherTime = 60;
    figures.cpu = 100;
    figures.coreWait = 30;
    figures.computeCoreWait = 30;
    assertThat(new CoreLaw(figures, 1).gain(60, 30)).isEqualTo(2.5);
  }

  @Test
  void aCoreUnusedByTheStepsIsNotTakenFromThem() {
    Job job = new Job(2, 90, new Stretch(1, 100));
    assertThat(job.law().share()).isZero();
    assertThat(job.atMost()).isCloseTo(1, EXACT);
    assertThat(job.law().isFull()).isTrue(); // 190 of 200 ms: no room for another thread.
  }

  @Test
  void onOneCoreAllPreparationIsTakenFromTheSteps() {
    Job job = new Job(1, 50, new Stretch(1, 100));
    assertThat(job.law().share()).isCloseTo(50 * MILLION, within(1.0));
    assertThat(job.atMost()).isCloseTo(1.5, EXACT);
  }

  /** Work that only moves to another thread still takes the cores. */
  @Test
  void hidingWorkGainsNothingIfAllCoresAreBusy() {
    EpochEvent serial = new EpochEvent();
    serial.wall = 100;
    serial.compute = 50;
    serial.prepStall = 50;
    serial.stall = 50;
    serial.otherTime = 50;
    serial.cpu = 100;
    assertThat(new CoreLaw(serial, 1).gain(0, 50)).isEqualTo(1);
    assertThat(new CoreLaw(serial, 1).gain(50, 50)).isEqualTo(2);
    assertThat(new CoreLaw(serial, 2).gain(0, 50)).isEqualTo(2);
  }

  /** Recordings of earlier versions contain no waits for cores. */
  @Test
  void withoutCoreWaitsOnlyFullyUsedCoresCount() {
    EpochEvent old = new EpochEvent();
    old.wall = 100;
    old.compute = 100;
    old.otherTime = 40;
    old.cpu = 199;
    assertThat(new CoreLaw(old, 2).share()).isCloseTo(20.5, EXACT);
    old.cpu = 150;
    assertThat(new CoreLaw(old, 2).share()).isZero();
    old.cpu = 0;
    assertThat(new CoreLaw(old, 2).share()).isZero();
    assertThat(new CoreLaw(old, 0).gain(40, 0)).isEqualTo(1);
  }

  @Test
  void aMachineIsBusyIfStepsWaitForCoresTheJobDoesNotUse() {
    EpochEvent slow = new EpochEvent();
    slow.wall = 100;
    slow.compute = 100;
    slow.cpu = 100;
    slow.coreWait = 100;
    slow.computeCoreWait = 50;
    assertThat(new CoreLaw(slow, 2).isMachineBusy()).isTrue();
    slow.cpu = 199; // The job itself has too many threads.
    assertThat(new CoreLaw(slow, 2).isMachineBusy()).isFalse();
    slow.cpu = 100;
    slow.computeCoreWait = 4;
    assertThat(new CoreLaw(slow, 2).isMachineBusy()).isFalse();
  }

  @Test
  void timeWithoutACoreIsNotTheJobsOwn() {
    EpochEvent serial = new EpochEvent();
    serial.wall = 100;
    serial.compute = 60;
    serial.stall = 40;
    serial.prepStall = 40;
    serial.otherTime = 40;
    serial.cpu = 50;
    serial.coreWait = 50;
    serial.computeCoreWait = 30;
    serial.prepCoreWait = 20;
    assertThat(new CoreLaw(serial, 2).own()).isEqualTo(50);
    assertThat(new CoreLaw(serial, 2).lostInPreparation()).isEqualTo(20);
    serial.otherTime = 80; // On another thread, whose waits need not prolong the job.
    assertThat(new CoreLaw(serial, 2).own()).isEqualTo(70);
    serial.computeCoreWait = 99;
    assertThat(new CoreLaw(serial, 2).own()).isEqualTo(10);
  }
}
