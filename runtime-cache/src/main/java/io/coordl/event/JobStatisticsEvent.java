package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** Exact totals since the start of the job, whatever the thresholds. */
@Name("io.coordl.JobStatistics")
@Label("Job Statistics")
@Description("Exact totals since the start of the job, whatever the thresholds.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
@Period("endChunk")
public final class JobStatisticsEvent extends Event {
  /** Program and arguments shortened */
  @Label("Main Class")
  @Description("Program and arguments shortened")
  public @Nullable String mainClass;

  /** Training libraries seen */
  @Label("Frameworks")
  @Description("Training libraries seen")
  public @Nullable String frameworks;

  /** Passes over data sets, whatever for */
  @Label("Passes")
  @Description("Passes over data sets, whatever for")
  public long passes;

  /** Passes that updated a model; 0 if no update was seen */
  @Label("Epochs")
  @Description("Passes that updated a model; 0 if no update was seen")
  public long epochs;

  /** Passes that ended without an update */
  @Label("Evaluation Passes")
  @Description("Passes that ended without an update")
  public long evaluations;

  /** Faults inside the agent */
  @Label("Faults")
  @Description("Faults inside the agent")
  public long faults;

  /** From the first ask to the last */
  @Label("Wall Time")
  @Description("From the first ask to the last")
  @Timespan(Timespan.NANOSECONDS)
  public long wall;

  /** Batches taken */
  @Label("Batches")
  @Description("Batches taken")
  public long batches;

  /** Sum of steps, checkpoints excluded */
  @Label("Compute")
  @Description("Sum of steps, checkpoints excluded")
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

  /** Time writing models */
  @Label("Checkpoint")
  @Description("Time writing models")
  @Timespan(Timespan.NANOSECONDS)
  public long checkpoint;

  /** Self time of fetches on all threads */
  @Label("Fetch Time")
  @Description("Self time of fetches on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long fetchTime;

  /** Self time of decoding and of making arrays of the pixels, on all threads */
  @Label("Decode Time")
  @Description("Self time of decoding and of making arrays of the pixels, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long decodeTime;

  /** Self time of transforms on all threads */
  @Label("Transform Time")
  @Description("Self time of transforms on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long transformTime;

  /** Self time of the rest of preparation on all threads */
  @Label("Other Preparation Time")
  @Description("Self time of the rest of preparation on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long otherTime;

  /** Items fetched */
  @Label("Items")
  @Description("Items fetched")
  public long items;

  /** Items a store of this host answered */
  @Label("Items From Memory")
  @Description("Items a store of this host answered")
  public long memoryItems;

  /** Items the memory of another host answered */
  @Label("Items From Peers")
  @Description("Items the memory of another host answered")
  public long peerItems;

  /** Items read from storage: files opened */
  @Label("Items From Storage")
  @Description("Items read from storage: files opened")
  public long storageItems;

  /** Bytes a store of this host answered */
  @Label("Bytes From Memory")
  @Description("Bytes a store of this host answered")
  @DataAmount
  public long memoryBytes;

  /** Bytes the memory of other hosts answered */
  @Label("Bytes From Peers")
  @Description("Bytes the memory of other hosts answered")
  @DataAmount
  public long peerBytes;

  /** Bytes read from storage */
  @Label("Bytes From Storage")
  @Description("Bytes read from storage")
  @DataAmount
  public long storageBytes;
}
