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
 * Samples the devices every second, on its own thread, and sums the samples over the time in which
 * the job took batches. Does nothing before the job has loaded CUDA, unless the user asked for
 * GPUs. Never calls native code on another thread, never waits for a device. A failure of the
 * driver is logged once; earlier samples stay.
 */
public final class GpuSampler implements Closeable {
  private static final long PERIOD_MILLIS = 1_000;
  private static final long LATER_MILLIS = 10_000;
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Binding binding;
  private final EventLog events;
  private final Supplier<? extends Figures> totals;
  private final UserLog log;
  private final boolean asked;
  private final AtomicLong synchronizedSteps = new AtomicLong();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile List<GpuTime> devices = List.of();

  /**
   * Creates a sampler, not yet started.
   *
   * @param totals of the job
   * @param asked whether to report a missing driver to the user
   */
  public GpuSampler(
      Binding binding,
      EventLog events,
      Supplier<? extends Figures> totals,
      UserLog log,
      boolean asked) {
    this.binding = binding;
    this.events = events;
    this.totals = totals;
    this.log = log;
    this.asked = asked;
  }

  public void start() {
    try {
      new AgentThread("coordl-gpu", this::run).start();
    } catch (SecurityException e) {
      done.countDown();
      log.say("GPUs are not sampled: " + e);
    }
  }

  /**
   * Adds a step of the training thread, in a profile, from its batch until its device had finished.
   */
  public void addSynchronizedStep(long nanos) {
    synchronizedSteps.addAndGet(nanos);
  }

  /** Statistics of all devices with samples; any thread. */
  public List<GpuStatisticsEvent> statistics() {
    return devices.stream().map(GpuTime::view).filter(view -> view.samples > 0).toList();
  }

  private void run() {
    Nvml nvml = null;
    try {
      // Wait until the program has set up its native libraries; earlier work does not count anyway.
      // A program that does not use CUDA by its first batch is unlikely to use it later.
      boolean trains = false;
      while (!trains || !binding.isWanted()) {
        if (stop.await(trains ? LATER_MILLIS : PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
        trains = totals.get().batches > 0;
      }
      nvml = new Nvml(binding.open(Nvml.LIBRARY, "nvml"), ProcessHandle.current().pid());
      String how = nvml.binding();
      long last = System.nanoTime();
      Figures before = totals.get();
      GpuTime[] made = new GpuTime[nvml.count()];
      for (int i = 0; i < made.length; i++) {
        made[i] = new GpuTime(how, before, synchronizedSteps.get());
      }
      devices = List.of(made);
      if (!nvml.isAlive() && asked) {
        log.say("no GPU is sampled: the driver has none for this process");
      }
      Set<Integer> silent = new HashSet<>();
      while (nvml.isAlive() && !stop.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
        long now = System.nanoTime();
        Figures after = totals.get();
        // The PCIe rates of a device alone take 40 ms; the end of the job waits for one device, not
        // for 16.
        for (int i = 0; i < made.length && stop.getCount() > 0; i++) {
          Nvml.Reading reading = read(nvml, i, now - last);
          if (reading != null) {
            GpuSampleEvent sample = reading.sample();
            if (sample.utilization < 0 && reading.nanos() > 0 && asked && silent.add(i)) {
              log.say(
                  "GPU "
                      + i
                      + " reports no utilization (as in MIG mode): it is only in the recording");
            }
            made[i].add(sample, reading.nanos(), before, after, synchronizedSteps.get());
            events.write(sample, now - reading.nanos(), now);
          }
        }
        last = now;
        before = after;
      }
    } catch (UnavailableException e) {
      if (nvml != null || asked) {
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

  /** Null if that device cannot be read; the others are still sampled. */
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

  /** Ends the sampling; does not wait for a driver that hangs. */
  @Override
  public void close() {
    stop.countDown();
    AgentThread.await(done, PATIENCE);
  }
}
