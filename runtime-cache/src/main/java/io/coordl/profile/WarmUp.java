package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets the program run until its steps are steady ({@link SteadyState}) and the JIT compiler is
 * quiet: while much code still waits to be compiled, even steady steps do not represent the rest of
 * the training. Items come from storage if a later phase needs them from there.
 */
final class WarmUp extends Stage {
  private static final int MIN_STEPS = 20;
  private static final int MAX_STEPS = 20_000;
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(90);

  /**
   * The compiler is quiet if compilation takes at most a tenth of this window. The window is long,
   * because a method's compile time is counted only once it is compiled, which may take seconds
   * while steps use all cores.
   */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long QUIET_MILLIS = 500;

  private final List<Step> steps = new ArrayList<>();
  private final @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private long begun;
  private long windowBegun;
  private long compiledBefore;
  private boolean warm;
  private int seen;
  private long requested;

  WarmUp(Plan plan) {
    super(plan, "warm-up, until the steps are steady");
  }

  @Override
  void begin() {
    plan.begin();
    begun = plan.now();
    windowBegun = begun;
    compiledBefore = compiled();
    if (plan.phases.contains(Plan.COLD)) {
      plan.items.from(
          ProfiledItems.From.STORAGE); // Warms up the code that reads from storage, too.
    }
  }

  private long compiled() {
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : compiler.getTotalCompilationTime();
  }

  @Override
  Next get(BatchGet get) {
    long now = plan.now();
    requested++;
    if (now - windowBegun >= WINDOW_NANOS) {
      long compiledNow = compiled();
      boolean quiet =
          compiledNow - compiledBefore <= QUIET_MILLIS * (now - windowBegun) / WINDOW_NANOS;
      windowBegun = now;
      compiledBefore = compiledNow;
      warm = quiet && isSteady();
    }
    boolean enough = steps.size() >= SteadyState.GROUP * 2 || Plan.isHopeless(requested);
    boolean over = (now - begun >= MAX_NANOS && enough) || plan.isLate(!steps.isEmpty(), requested);
    if (over && !warm) {
      plan.say("the steps or the compiler have not settled; the phases begin anyway");
    }
    return warm || over ? Next.DONE : Next.OWN;
  }

  private boolean isSteady() {
    return steps.size() >= MIN_STEPS
        && SteadyState.begin(steps.stream().mapToDouble(Step::perSample).toArray()) >= 0
        && !isGettingFaster();
  }

  /** Whether the last third of the steps was faster than the previous third, beyond chance. */
  private boolean isGettingFaster() {
    int third = steps.size() / 3;
    Estimate last = Estimate.of(steps.subList(steps.size() - third, steps.size()));
    Estimate before = Estimate.of(steps.subList(steps.size() - 2 * third, steps.size() - third));
    return before.nanos() - last.nanos() > Math.hypot(before.error(), last.error());
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    if (step != null) {
      seen++;
      steps.add(step);
      if (steps.size() >= MAX_STEPS) {
        steps.subList(0, MAX_STEPS / 2).clear(); // Recent steps decide whether they are steady.
      }
    }
  }

  @Override
  void end() {
    plan.warmedUp(seen, warm);
  }
}
