package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * One phase of a differential profile was measured; all figures are of its steady state, warm-up
 * steps excluded. A phase measured at several numbers of workers is one event each.
 */
@Name("io.coordl.Phase")
@Label("Profile Phase")
@Description("One phase of a differential profile was measured.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
public final class PhaseEvent extends Event {
  /** ingestion, cached or cold: with training steps; prep or fetch: that stage alone */
  @Label("Phase")
  @Description("ingestion, cached or cold: with training steps; prep or fetch: that stage alone")
  public @Nullable String phase;

  /** Threads that prepare beside the training thread, 0 if it prepares itself */
  @Label("Workers")
  @Description("Threads that prepare beside the training thread, 0 if it prepares itself")
  public long workers;

  /** Steps before the steady state, not counted */
  @Label("Warm-up Steps")
  @Description("Steps before the steady state, not counted")
  public long warmupSteps;

  /** Steps counted */
  @Label("Steps")
  @Description("Steps counted")
  public long steps;

  /** Samples counted */
  @Label("Samples")
  @Description("Samples counted")
  public long samples;

  /** Time of the steps counted */
  @Label("Wall Time")
  @Description("Time of the steps counted")
  @Timespan(Timespan.NANOSECONDS)
  public long wall;

  /** Mean time of one sample in nanoseconds */
  @Label("Time per Sample")
  @Description("Mean time of one sample in nanoseconds")
  public double sampleNanos;

  /** Half width of the 95 % confidence interval of that mean in nanoseconds */
  @Label("Error of Time per Sample")
  @Description("Half width of the 95 % confidence interval of that mean in nanoseconds")
  public double sampleNanosError;

  /** Sum of steps */
  @Label("Compute")
  @Description("Sum of steps")
  @Timespan(Timespan.NANOSECONDS)
  public long compute;

  /** Sum of waits */
  @Label("Data Stall")
  @Description("Sum of waits")
  @Timespan(Timespan.NANOSECONDS)
  public long stall;

  /** Waits on fetches */
  @Label("Fetch Stall")
  @Description("Waits on fetches")
  @Timespan(Timespan.NANOSECONDS)
  public long fetchStall;

  /** Waits on preparation */
  @Label("Prep Stall")
  @Description("Waits on preparation")
  @Timespan(Timespan.NANOSECONDS)
  public long prepStall;

  /** Collection pauses inside waits */
  @Label("GC Stall")
  @Description("Collection pauses inside waits")
  @Timespan(Timespan.NANOSECONDS)
  public long gcStall;

  /** Waits on hand-over */
  @Label("Queueing")
  @Description("Waits on hand-over")
  @Timespan(Timespan.NANOSECONDS)
  public long queueStall;

  /** Self time of fetches on all threads */
  @Label("Fetch Time")
  @Description("Self time of fetches on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long fetchTime;

  /** Self time of decoding, transforms and assembly on all threads */
  @Label("Preparation Time")
  @Description("Self time of decoding, transforms and assembly on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long prepTime;

  /** CPU time of the whole process, 0 if unknown */
  @Label("CPU Time")
  @Description("CPU time of the whole process, 0 if unknown")
  @Timespan(Timespan.NANOSECONDS)
  public long cpu;

  /** Items fetched */
  @Label("Items")
  @Description("Items fetched")
  public long items;

  /** Bytes a store answered */
  @Label("Bytes From Memory")
  @Description("Bytes a store answered")
  @DataAmount
  public long memoryBytes;

  /** Bytes read from storage */
  @Label("Bytes From Storage")
  @Description("Bytes read from storage")
  @DataAmount
  public long storageBytes;

  /** False if it ended before its confidence interval was as narrow as asked for */
  @Label("Steady")
  @Description("False if it ended before its confidence interval was as narrow as asked for")
  public boolean steady;

  /** Why it ended, or how it was measured */
  @Label("Note")
  @Description("Why it ended, or how it was measured")
  public @Nullable String note;
}
