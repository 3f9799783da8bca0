package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.log.UserLog;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * In a profile, ends each step of the training thread when its GPUs have finished. Otherwise a step
 * would end when its kernels are launched, and the rest of their time would be measured as waiting
 * for data. Stops after a driver failure, or if the program uses no GPU. Called on the training
 * thread only.
 */
public final class DeviceSteps {
  private final BooleanSupplier wanted;
  private final Callable<Cuda> opener;
  private final LongConsumer synchronizedSteps;
  private final UserLog log;
  private @Nullable Cuda cuda;
  private boolean stopped;

  /** Loads nothing before the first step. */
  public DeviceSteps(Binding binding, GpuSampler sampler, UserLog log) {
    this(binding::isWanted, () -> Cuda.open(binding), sampler::addSynchronizedStep, log);
  }

  DeviceSteps(
      BooleanSupplier wanted, Callable<Cuda> opener, LongConsumer synchronizedSteps, UserLog log) {
    this.wanted = wanted;
    this.opener = opener;
    this.synchronizedSteps = synchronizedSteps;
    this.log = log;
  }

  /**
   * Waits for the GPUs at the end of a step.
   *
   * @param begun {@link System#nanoTime} when the training thread got the batch of the step; 0 if
   *     there was none
   */
  public void end(long begun) {
    if (stopped) {
      return;
    }
    try {
      Cuda known = cuda;
      if (known == null) {
        if (!wanted.getAsBoolean()) {
          stopped = begun != 0; // A step on a GPU would have loaded CUDA.
          return;
        }
        known = opener.call();
        cuda = known;
      }
      if (known.synchronize() && begun != 0) {
        synchronizedSteps.accept(System.nanoTime() - begun);
      }
    } catch (Exception | Error e) {
      stopped = true;
      log.say(
          "profile: a step ends when its kernels are launched, not when the GPUs have finished: "
              + UnavailableException.reason(e));
    }
  }
}
