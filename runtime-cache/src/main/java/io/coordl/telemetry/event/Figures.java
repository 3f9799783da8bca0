package io.coordl.telemetry.event;

import java.lang.reflect.Field;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Timespan;

/**
 * Figures counted over a job, an epoch or a phase of a profile. Each is declared once, here: its
 * public field gives its name, label and unit. The runtime counts into that field, {@link #add}
 * sums it, and reports read it back.
 *
 * <p>Wall, compute, stall and checkpoint times are those of the training thread; the stall is the
 * sum of its four parts. Fetch, decode, transform and other times are self times on all threads,
 * without GC pauses.
 *
 * <p>This class must not refer to an event that extends it: the JFR of JDK 17 links this class
 * while it loads such an event, and would then load the event twice.
 */
public abstract class Figures extends EventBase {
  private static final Field[] FIGURES = Figures.class.getFields();

  @Label("Samples")
  @Description("Samples of the batches taken, 0 if the size of any is unknown")
  @Metric("coordl_samples_total")
  public long samples;

  @Label("Updates")
  @Description("Model updates: 0 in an evaluation")
  @Metric("coordl_updates_total")
  public long updates;

  @Label("Wall Time")
  @Description(
      "From the first request for a batch to the end of the last request or step, plus later"
          + " model writes")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_wall_seconds_total")
  public long wall;

  @Label("Batches")
  @Description("Batches taken")
  @Metric("coordl_batches_total")
  public long batches;

  @Label("Failed Batches")
  @Description("Requests for a batch that threw an exception")
  @Metric("coordl_failed_batches_total")
  @Added("0.2.0")
  public long failedBatches;

  @Label("Compute")
  @Description("Total time of steps, without checkpoints")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_compute_seconds_total")
  public long compute;

  @Label("Data Stall")
  @Description("Total time of waits")
  @Timespan(Timespan.NANOSECONDS)
  public long stall;

  @Label("Fetch Stall")
  @Description("Waits for fetches")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(
      value = "coordl_stall_seconds_total",
      label = "cause=fetch",
      help = "Time the training thread waited for data")
  public long fetchStall;

  @Label("Prep Stall")
  @Description("Waits for preparation")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=prep")
  public long prepStall;

  @Label("Data Set Stall")
  @Description("Part of the prep stall: waits for the preparation of a data set before its epoch")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long dataSetStall;

  @Label("GC Stall")
  @Description("GC pauses during waits")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=gc")
  public long gcStall;

  @Label("Queueing")
  @Description("Waits for hand-over")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=queueing")
  public long queueStall;

  @Label("Checkpoint")
  @Description("Time saving models, without writes in the background")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_checkpoint_seconds_total")
  public long checkpoint;

  @Label("GC Pauses")
  @Description("GC pauses, in waits or not; before JDK 20 without Remark and Cleanup of G1")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_gc_pause_seconds_total")
  public long gcPauses;

  @Label("Explicit GC Pauses")
  @Description("GC pauses caused by calls of System.gc()")
  @Timespan(Timespan.NANOSECONDS)
  public long explicitGcPauses;

  @Label("Fetch Time")
  @Description("Self time of fetches on all threads")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(
      value = "coordl_work_seconds_total",
      label = "stage=fetch",
      help = "Self time of fetching and preparing on all threads")
  public long fetchTime;

  @Label("Decode Time")
  @Description("Self time of decoding and of converting pixels to arrays, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_work_seconds_total", label = "stage=decode")
  public long decodeTime;

  @Label("Transform Time")
  @Description("Self time of transforms on all threads")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_work_seconds_total", label = "stage=transform")
  public long transformTime;

  @Label("Other Preparation Time")
  @Description("Self time of the rest of preparation on all threads")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_work_seconds_total", label = "stage=other")
  public long otherTime;

  @Label("CPU Time")
  @Description("CPU time of the whole process, 0 if not known")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long cpu;

  @Label("CPU Time of Compilers")
  @Description("Part of the CPU time in which the JVM compiled, 0 if not known")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long compilerCpu;

  @Label("CPU Time of Collectors")
  @Description("Part of the CPU time in which the JVM collected garbage, 0 if not known")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long collectorCpu;

  @Label("Waiting for a Core")
  @Description(
      "Time for which threads of this process were ready to run but waited for a core, summed")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_core_wait_seconds_total")
  @Added("0.2.0")
  public long coreWait;

  @Label("JVM Waiting for a Core")
  @Description("Part of the waits for a core that fell on the JVM's compiler and collector threads")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long jvmCoreWait;

  @Label("Compute Waiting for a Core")
  @Description("Part of compute during which the training thread waited for a core")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long computeCoreWait;

  @Label("Preparation Waiting for a Core")
  @Description("Part of the self times during which the preparing threads waited for a core")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long prepCoreWait;

  @Label("Throttled")
  @Description("Time that the CPU limit of the control group throttled threads, summed over cores")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_throttled_seconds_total")
  @Added("0.2.0")
  public long throttled;

  @Label("CPU Pressure")
  @Description(
      "Time for which any thread of the host or container waited for a core, as the kernel reports")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long pressure;

  @Label("Slow Steps")
  @Description(
      "Part of compute, in epochs that have ended, by which steps took longer than the fastest"
          + " tenth of their epoch's steps")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long slowSteps;

  @Label("Items")
  @Description("Items fetched")
  public long items;

  @Label("Items From Memory")
  @Description("Items found in a store of this host")
  @Metric(value = "coordl_items_total", label = "source=memory", help = "Items fetched")
  public long memoryItems;

  @Label("Items From Peers")
  @Description("Items found in the memory of another host, or in Redis")
  @Metric(value = "coordl_items_total", label = "source=peers")
  public long peerItems;

  @Label("Items From Storage")
  @Description("Items read from storage: files opened")
  @Metric(value = "coordl_items_total", label = "source=storage")
  public long storageItems;

  @Label("Bytes From Memory")
  @Description("Bytes from a store of this host")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=memory", help = "Bytes fetched")
  public long memoryBytes;

  @Label("Bytes From Peers")
  @Description("Bytes from the memory of other hosts, or from Redis")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=peers")
  public long peerBytes;

  @Label("Bytes From Storage")
  @Description("Bytes read from storage")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=storage")
  public long storageBytes;

  /** Adds figures counted elsewhere or at another time. */
  public void add(Figures more) {
    add(more, 1);
  }

  public void subtract(Figures earlier) {
    add(earlier, -1);
  }

  void add(Figures more, int sign) {
    long sum = knowsSizes() && more.knowsSizes() ? samples + sign * more.samples : 0;
    try {
      for (Field figure : FIGURES) {
        figure.setLong(this, figure.getLong(this) + sign * figure.getLong(more));
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    samples = sum;
  }

  /** Counts a batch that was taken; {@code size} is its number of samples, 0 if unknown. */
  public void addBatch(long size) {
    samples = knowsSizes() && size > 0 ? samples + size : 0;
    batches++;
  }

  public void addStall(DataStallEvent wait) {
    stall += wait.wait;
    fetchStall += wait.fetch;
    prepStall += wait.prep;
    dataSetStall += wait.dataSet;
    gcStall += wait.gc;
    queueStall += wait.queue;
  }

  public void clearStalls() {
    stall = 0;
    fetchStall = 0;
    prepStall = 0;
    dataSetStall = 0;
    gcStall = 0;
    queueStall = 0;
  }

  /** Returns the waits for fetches and preparation, which policies can remove. */
  public long dataStall() {
    return fetchStall + prepStall;
  }

  /**
   * Returns the wall time in which the training thread neither waited for a batch nor computed nor
   * wrote a model: the work of the program between two epochs. Usually 0 if several threads train
   * concurrently.
   */
  public long betweenEpochs() {
    return Math.max(0, wall - compute - stall - checkpoint);
  }

  private boolean knowsSizes() {
    return samples > 0 || batches == 0;
  }

  /** Returns the samples per second of wall time, 0 if unknown. */
  public double samplesPerSecond() {
    return wall <= 0 ? 0 : samples * 1e9 / wall;
  }

  /** Returns the self time of decoding, transforms and assembly on all threads. */
  public long prepTime() {
    return decodeTime + transformTime + otherTime;
  }

  /** Returns the self time of fetching and preparing on all threads. */
  public long work() {
    return fetchTime + prepTime();
  }

  /** Returns the bytes fetched, from all sources. */
  public long bytes() {
    return memoryBytes + peerBytes + storageBytes;
  }

  /** Returns {@code nanos} as a share of the wall time, 0 to 1; 0 without wall time. */
  public double share(long nanos) {
    return wall <= 0 ? 0 : (double) nanos / wall;
  }
}
