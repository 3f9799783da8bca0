package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.log.UserLog;
import org.jspecify.annotations.Nullable;

/**
 * In a profile, ends each step of the training thread when its devices are done: without that, a
 * step is the time to launch its kernels, and the device's work counts as waiting for data. When
 * the driver fails it is not asked again. For the training thread.
 */
public final class DeviceSteps {
  private final Binding binding;
  private final GpuSampler sampler;
  private final UserLog log;
  private @Nullable Cuda cuda;
  private boolean failed;

  /** Nothing is loaded before the first step. */
  public DeviceSteps(Binding binding, GpuSampler sampler, UserLog log) {
    this.binding = binding;
    this.sampler = sampler;
    this.log = log;
  }

  /**
   * A step is over for the training thread; waits for the devices.
   *
   * @param begun when the thread got the step's batch, {@link System#nanoTime}; 0 for none
   */
  public void end(long begun) {
    if (failed) {
      return;
    }
    try {
      Cuda known = cuda;
      if (known == null) {
        known = Cuda.open(binding);
        cuda = known;
      }
      known.synchronize();
      if (begun != 0) {
        sampler.addSynchronizedStep(System.nanoTime() - begun);
      }
    } catch (UnavailableException | RuntimeException | Error e) {
      failed = true;
      log.say("profile: steps end when their kernels are launched, not when they are done: " + e);
    }
  }
}
