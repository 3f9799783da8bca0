package io.coordl.profile;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The program as it is, until its steps have become steady ({@link SteadyState}) and the compiler
 * of the JVM has become quiet: a step that is steady while half the code waits to be compiled is
 * not the one that the rest of the training will have.
 */
final class WarmUp extends Stage {
  private static final int LEAST_STEPS = 20;
  private static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** Time of compiling, in a window of so much time, that is quiet: a tenth. */
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long QUIET_MILLIS = 100;

  private final Plan plan;
  private final List<Double> steps = new ArrayList<>();
  private final @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private final long begun = System.nanoTime();
  private long windowBegun = begun;
  private long compiledBefore;
  private boolean quiet;

  WarmUp(Plan plan) {
    this.plan = plan;
  }

  @Override
  String name() {
    return "warm-up, until the steps are steady";
  }

  @Override
  void begin() {
    compiledBefore = compiled();
  }

  private long compiled() {
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : compiler.getTotalCompilationTime();
  }

  @Override
  Next get(BatchGet get) {
    long now = System.nanoTime();
    if (now - windowBegun >= WINDOW_NANOS) {
      long compiledNow = compiled();
      quiet = compiledNow - compiledBefore <= QUIET_MILLIS * (now - windowBegun) / WINDOW_NANOS;
      windowBegun = now;
      compiledBefore = compiledNow;
    }
    boolean over = now - begun >= MOST_NANOS && steps.size() >= SteadyState.GROUP * 2;
    return over || (quiet && now - begun >= LEAST_NANOS && isSteady()) ? Next.DONE : Next.OWN;
  }

  private boolean isSteady() {
    return steps.size() >= LEAST_STEPS
        && SteadyState.begin(steps.stream().mapToDouble(Double::doubleValue).toArray()) >= 0;
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    if (step != null) {
      steps.add(step.perSample());
    }
  }

  @Override
  void end() {
    plan.warmedUp(steps.size());
  }
}
