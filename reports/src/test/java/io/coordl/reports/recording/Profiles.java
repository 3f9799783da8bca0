package io.coordl.reports.recording;

import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.PhaseEvent;

/** Emits real agent events of a differential profile, with known values. */
public final class Profiles {
  public static final int BATCH = 32;
  public static final long STEPS = 100;

  private Profiles() {}

  /**
   * Returns a phase of 100 steps of 32 samples.
   *
   * @param sampleNanos time of a sample; its error is 1 %
   * @param fetchNanos fetch time of a sample, over all threads
   * @param prepNanos preparation time of a sample, over all threads
   */
  public static PhaseEvent phase(
      String name, long workers, double sampleNanos, double fetchNanos, double prepNanos) {
    PhaseEvent event = new PhaseEvent();
    event.phase = name;
    event.workers = workers;
    event.warmupSteps = 5;
    event.steps = STEPS;
    event.samples = STEPS * BATCH;
    event.sampleNanos = sampleNanos;
    event.sampleNanosError = sampleNanos / 100;
    event.wall = Math.round(event.samples * sampleNanos);
    event.fetchTime = Math.round(event.samples * fetchNanos);
    event.otherTime = Math.round(event.samples * prepNanos);
    event.items = event.samples;
    event.steady = true;
    return event;
  }

  public static void emitPhase(
      String name, long workers, double sampleNanos, double fetchNanos, double prepNanos) {
    phase(name, workers, sampleNanos, fetchNanos, prepNanos).commit();
  }

  /**
   * Returns a host whose data set has 10,000 items of 100 KB (1 GB), each 600 KB decoded. Memory is
   * read at 10 GB/s.
   *
   * @param freeMemory in bytes
   * @param storageRate in bytes a second
   */
  public static HostEvent host(long cores, long freeMemory, long storageRate, double decodeNanos) {
    HostEvent event = new HostEvent();
    event.cores = cores;
    event.memory = 4 * freeMemory;
    event.freeMemory = freeMemory;
    event.memoryRate = 10_000_000_000L;
    event.storageRate = storageRate;
    event.storageRateError = storageRate / 100;
    event.storageThreads = 4;
    event.storageAccess = "direct";
    event.datasetItems = 10_000;
    event.datasetBytes = 1_000_000_000L;
    event.decodedItemBytes = 600_000;
    event.decodeNanos = decodeNanos;
    return event;
  }

  public static void emitHost(long cores, long freeMemory, long storageRate, double decodeNanos) {
    host(cores, freeMemory, storageRate, decodeNanos).commit();
  }

  /** A pipeline without workers: compute 2 ms, prep 3 ms, fetch 1 ms a sample; 0.5 GB free. */
  public static void emitSerial() {
    Recordings.emitConfiguration("profile", "all");
    emitPhase("ingestion", 0, 2e6, 0, 0);
    PhaseEvent cached = phase("cached", 0, 5e6, 0, 3e6);
    cached.gcStall = cached.wall / 50;
    cached.commit();
    PhaseEvent cold = phase("cold", 0, 6e6, 1e6, 3e6);
    cold.compute = cold.wall / 3;
    cold.prepStall = cold.wall / 2;
    cold.fetchStall = cold.wall / 8;
    cold.gcStall = cold.wall / 60;
    cold.queueStall = cold.wall - cold.compute - cold.prepStall - cold.fetchStall - cold.gcStall;
    cold.stall = cold.wall - cold.compute;
    cold.storageBytes = cold.items * 100_000;
    cold.commit();
    emitPhase("prep", 1, 3e6, 0, 3e6);
    emitPhase("prep", 2, 1.5e6, 0, 3e6);
    emitPhase("fetch", 1, 1e6, 1e6, 0);
    emitHost(4, 500_000_000L, 200_000_000L, 2e6);
    emitJob();
  }

  /**
   * Two workers: compute 1 ms, prep 1.2 ms on a thread, fetch 2.8 ms on a thread; at 200 MB/s,
   * storage takes 0.5 ms a sample.
   */
  public static void emitWorkers() {
    emitPhase("ingestion", 2, 1e6, 0, 0);
    emitPhase("cached", 2, 1e6, 0.05e6, 1.15e6);
    emitPhase("cold", 2, 2e6, 2.85e6, 1.15e6);
    emitPhase("prep", 1, 1.2e6, 0, 1.2e6);
    emitPhase("prep", 2, 0.6e6, 0, 1.2e6);
    emitPhase("prep", 4, 0.3e6, 0, 1.2e6);
    emitHost(8, 500_000_000L, 200_000_000L, 0.9e6);
    emitJob();
  }

  private static void emitJob() {
    Recordings.emitTotals(1, 100, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
  }
}
