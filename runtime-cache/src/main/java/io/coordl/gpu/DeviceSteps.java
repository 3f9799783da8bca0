package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.log.UserLog;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * In a profile, ends each step of the training thread when its devices have finished. Otherwise a
 * step would be the time to launch its kernels, and the device's work would count as waiting for
 * data. Does nothing more once the driver has failed, or if the program uses no device. For the
 * training thread.
 */
public final class DeviceSteps {
  private final BooleanSupplier wanted;
  private final Callable<Cuda> opener;
  private final LongConsumer synchronizedSteps;
  private final UserLog log;
  private @Nullable Cuda cuda;
  private boolean over;

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
   * The training thread has ended a step, whose batch it got at {@code begun} ({@link
   * System#nanoTime}; 0 for none): waits for the devices.
   */
  public void end(long begun) {
    if (over) {
      return;
    }
    try {
      Cuda known = cuda;
      if (known == null) {
        if (!wanted.getAsBoolean()) {
          over = begun != 0; // A step on a device would have loaded CUDA.
          return;
        }
        known = opener.call();
        cuda = known;
      }
      if (known.synchronize() && begun != 0) {
        synchronizedSteps.accept(System.nanoTime() - begun);
      }
    } catch (Exception | Error e) {
      over = true;
      log.say(
          "profile: steps end when their kernels are launched, not when they are done: "
              + UnavailableException.reason(e));
    }
  }
}
