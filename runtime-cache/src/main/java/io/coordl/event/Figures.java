package io.coordl.event;

import java.lang.reflect.Field;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Timespan;

/**
 * What is counted over a job, an epoch or a phase of a profile. A figure is declared here, once:
 * its name, label and unit by its public field. The runtime counts into it, {@link #add} adds it
 * up, and reports read it back into the same field.
 *
 * <p>Wall, compute, stalls and checkpoint are times of the training thread; the stall is the sum of
 * its four parts; fetch, decode, transform and other times are self times of all threads, without
 * the pauses of collections.
 *
 * <p>No event that extends this may be named in it: JFR of JDK 17 links this class while it loads
 * such an event, which would then be loaded twice.
 */
public abstract class Figures extends EventBase {
  private static final Field[] FIGURES = Figures.class.getFields();

  @Label("Samples")
  @Description("Samples of the batches taken, 0 if the size of one of them is not known")
  @Metric("coordl_samples_total")
  public long samples;

  @Label("Updates")
  @Description("Model updates: 0 in an evaluation")
  @Metric("coordl_updates_total")
  public long updates;

  @Label("Wall Time")
  @Description("From the first ask to the last")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_wall_seconds_total")
  public long wall;

  @Label("Batches")
  @Description("Batches taken")
  @Metric("coordl_batches_total")
  public long batches;

  @Label("Compute")
  @Description("Sum of steps, checkpoints excluded")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_compute_seconds_total")
  public long compute;

  @Label("Data Stall")
  @Description("Sum of waits")
  @Timespan(Timespan.NANOSECONDS)
  public long stall;

  @Label("Fetch Stall")
  @Description("Waits on fetches")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(
      value = "coordl_stall_seconds_total",
      label = "cause=fetch",
      help = "Time the training thread waited for data")
  public long fetchStall;

  @Label("Prep Stall")
  @Description("Waits on preparation")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=prep")
  public long prepStall;

  @Label("GC Stall")
  @Description("Collection pauses inside waits")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=gc")
  public long gcStall;

  @Label("Queueing")
  @Description("Waits on hand-over")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_stall_seconds_total", label = "cause=queueing")
  public long queueStall;

  @Label("Checkpoint")
  @Description("Time writing models")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_checkpoint_seconds_total")
  public long checkpoint;

  @Label("GC Pauses")
  @Description(
      "Pauses of collections, in waits or not; before JDK 20 without Remark and Cleanup of G1")
  @Timespan(Timespan.NANOSECONDS)
  @Metric("coordl_gc_pause_seconds_total")
  public long gcPauses;

  @Label("Explicit GC Pauses")
  @Description("Of them, collections that code asked for by System.gc()")
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
  @Description("Self time of decoding and of making arrays of the pixels, on all threads")
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

  @Label("Items")
  @Description("Items fetched")
  public long items;

  @Label("Items From Memory")
  @Description("Items a store of this host answered")
  @Metric(value = "coordl_items_total", label = "source=memory", help = "Items fetched")
  public long memoryItems;

  @Label("Items From Peers")
  @Description("Items the memory of another host answered")
  @Metric(value = "coordl_items_total", label = "source=peers")
  public long peerItems;

  @Label("Items From Storage")
  @Description("Items read from storage: files opened")
  @Metric(value = "coordl_items_total", label = "source=storage")
  public long storageItems;

  @Label("Bytes From Memory")
  @Description("Bytes a store of this host answered")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=memory", help = "Bytes fetched")
  public long memoryBytes;

  @Label("Bytes From Peers")
  @Description("Bytes the memory of other hosts answered")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=peers")
  public long peerBytes;

  @Label("Bytes From Storage")
  @Description("Bytes read from storage")
  @DataAmount
  @Metric(value = "coordl_item_bytes_total", label = "source=storage")
  public long storageBytes;

  /** Adds what was counted elsewhere or at another time. */
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

  /** Counts a batch that was taken, of so many samples; 0 if that is not known. */
  public void addBatch(long size) {
    samples = knowsSizes() && size > 0 ? samples + size : 0;
    batches++;
  }

  public void addStall(DataStallEvent wait) {
    stall += wait.wait;
    fetchStall += wait.fetch;
    prepStall += wait.prep;
    gcStall += wait.gc;
    queueStall += wait.queue;
  }

  public void clearStalls() {
    stall = 0;
    fetchStall = 0;
    prepStall = 0;
    gcStall = 0;
    queueStall = 0;
  }

  /** Waits for data itself: what policies can take away. */
  public long dataStall() {
    return fetchStall + prepStall;
  }

  /**
   * Wall time in which the training thread neither waited for a batch nor computed nor wrote a
   * model: what the program does between two epochs. 0 where several threads train at once.
   */
  public long betweenEpochs() {
    return Math.max(0, wall - compute - stall - checkpoint);
  }

  private boolean knowsSizes() {
    return samples > 0 || batches == 0;
  }

  /** Samples a second of wall time, 0 if not known. */
  public double samplesPerSecond() {
    return wall <= 0 ? 0 : samples * 1e9 / wall;
  }

  /** Self time of decoding, transforms and assembly on all threads. */
  public long prepTime() {
    return decodeTime + transformTime + otherTime;
  }

  /** Bytes that were asked for, wherever they came from. */
  public long bytes() {
    return memoryBytes + peerBytes + storageBytes;
  }

  /** A part of the wall time, 0 to 1; 0 if there was no wall time. */
  public double share(long nanos) {
    return wall <= 0 ? 0 : (double) nanos / wall;
  }
}
