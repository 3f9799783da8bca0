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

/** One epoch, or one evaluation pass, ended; all figures are of it. */
@Name("io.coordl.Epoch")
@Label("Epoch")
@Description("One epoch, or one evaluation pass, ended; all figures are of it.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
public final class EpochEvent extends Event {
  /** Number of the pass, from 1, evaluations included */
  @Label("Epoch")
  @Description("Number of the pass, from 1, evaluations included")
  public long epoch;

  /** Model updates in it: 0 in an evaluation */
  @Label("Updates")
  @Description("Model updates in it: 0 in an evaluation")
  public long updates;

  /** Class of the iterator or data set */
  @Label("Source")
  @Description("Class of the iterator or data set")
  public @Nullable String source;

  /** False if the loop left before the end */
  @Label("Complete")
  @Description("False if the loop left before the end")
  public boolean complete;

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
