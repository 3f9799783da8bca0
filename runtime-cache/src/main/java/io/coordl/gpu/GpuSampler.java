package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.host.AgentThread;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuSampleEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Samples the GPUs every second on its own thread, and totals the samples over the time in which
 * the job takes batches. Samples nothing before the job's first batch and, unless the user
 * requested GPUs, nothing before the job has loaded CUDA. Calls native code only on its own thread,
 * and never waits for a GPU. Logs a driver failure once; earlier samples stay.
 */
public final class GpuSampler implements Closeable {
  private static final long PERIOD_MILLIS = 1_000;
  private static final long RECHECK_MILLIS = 10_000;
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Binding binding;
  private final EventLog events;
  private final Supplier<? extends Figures> totals;
  private final UserLog log;
  private final boolean requested;
  private final AtomicLong synchronizedSteps = new AtomicLong();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile List<GpuTime> devices = List.of();

  /**
   * Creates a sampler, not yet started.
   *
   * @param totals totals of the job
   * @param requested whether to report a missing driver to the user
   */
  public GpuSampler(
      Binding binding,
      EventLog events,
      Supplier<? extends Figures> totals,
      UserLog log,
      boolean requested) {
    this.binding = binding;
    this.events = events;
    this.totals = totals;
    this.log = log;
    this.requested = requested;
  }

  public void start() {
    try {
      new AgentThread("coordl-gpu", this::run).start();
    } catch (SecurityException e) {
      done.countDown();
      log.say("GPUs are not sampled: " + e);
    }
  }

  /** Adds the duration of a step in a profile, from its batch until its GPU has finished. */
  public void addSynchronizedStep(long nanos) {
    synchronizedSteps.addAndGet(nanos);
  }

  /** Returns the statistics of all GPUs with samples; any thread may call this. */
  public List<GpuStatisticsEvent> statistics() {
    return devices.stream().map(GpuTime::view).filter(view -> view.samples > 0).toList();
  }

  private void run() {
    Nvml nvml = null;
    try {
      // Wait until the program has set up its native libraries; earlier work is not sampled anyway.
      // A program that does not use CUDA by its first batch is unlikely to use it later.
      boolean trains = false;
      while (!trains || !binding.isWanted()) {
        if (stop.await(trains ? RECHECK_MILLIS : PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
        trains = totals.get().batches > 0;
      }
      nvml = new Nvml(binding.open(Nvml.LIBRARY, "nvml"), ProcessHandle.current().pid());
      String bindingName = nvml.binding();
      long last = System.nanoTime();
      Figures before = totals.get();
      GpuTime[] times = new GpuTime[nvml.count()];
      for (int i = 0; i < times.length; i++) {
        times[i] = new GpuTime(bindingName, before, synchronizedSteps.get());
      }
      devices = List.of(times);
      if (!nvml.isAlive() && requested) {
        log.say("no GPU is sampled: the driver has none for this process");
      }
      Set<Integer> silent = new HashSet<>();
      while (nvml.isAlive() && !stop.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
        long now = System.nanoTime();
        Figures after = totals.get();
        // Reading the PCIe rates of a device takes 40 ms, so check after each device whether the
        // job has ended.
        for (int i = 0; i < times.length && stop.getCount() > 0; i++) {
          Nvml.Reading reading = read(nvml, i, now - last);
          if (reading != null) {
            GpuSampleEvent sample = reading.sample();
            if (sample.utilization < 0 && reading.nanos() > 0 && requested && silent.add(i)) {
              log.say(
                  "GPU "
                      + i
                      + " reports no utilization (as in MIG mode):"
                      + " only the recording has its samples");
            }
            times[i].add(sample, reading.nanos(), before, after, synchronizedSteps.get());
            events.write(sample, now - reading.nanos(), now);
          }
        }
        last = now;
        before = after;
      }
    } catch (UnavailableException e) {
      if (nvml != null || requested) {
        log.say(
            nvml == null
                ? "no GPU is sampled: NVIDIA's driver is not available: " + e.getMessage()
                : "GPUs are no longer sampled: " + e.getMessage());
      }
    } catch (RuntimeException | Error e) {
      log.say("GPUs are no longer sampled: " + UnavailableException.reason(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Interrupted by another part of the agent, at exit.
    } finally {
      if (nvml != null) {
        nvml.close();
      }
      done.countDown();
    }
  }

  /** Returns null if the device cannot be read; the others are still sampled. */
  private Nvml.@Nullable Reading read(Nvml nvml, int device, long nanos)
      throws UnavailableException {
    try {
      return nvml.read(device, nanos);
    } catch (UnavailableException e) {
      if (!nvml.isAlive()) {
        throw e;
      }
      log.say("GPU " + device + " is no longer sampled: " + e.getMessage());
      return null;
    }
  }

  /** Ends the sampling; waits only briefly for a driver that hangs. */
  @Override
  public void close() {
    stop.countDown();
    AgentThread.await(done, PATIENCE);
  }
}
