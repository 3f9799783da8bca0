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

/** This job's part in the coordinated prep of one pipeline. */
@Name("io.coordl.StagingStatistics")
@Label("Staging Statistics")
@Description("This job's part in the coordinated prep of one pipeline.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
@Period("endChunk")
public final class StagingStatisticsEvent extends Event {
  /** Jobs that prepare together */
  @Label("Group")
  @Description("Jobs that prepare together")
  public @Nullable String group;

  /** Checksum of the pipeline whose batches these are */
  @Label("Pipeline")
  @Description("Checksum of the pipeline whose batches these are")
  public @Nullable String pipeline;

  /** Byte budget of the staging buffer */
  @Label("Capacity")
  @Description("Byte budget of the staging buffer")
  @DataAmount
  public long capacity;

  /** Batches that find room at once */
  @Label("Slots")
  @Description("Batches that find room at once")
  public long slots;

  /** Bytes of a slot */
  @Label("Slot Size")
  @Description("Bytes of a slot")
  @DataAmount
  public long slotBytes;

  /** Live jobs of the group, this one included */
  @Label("Jobs")
  @Description("Live jobs of the group, this one included")
  public long jobs;

  /** Passes that this job has begun */
  @Label("Passes")
  @Description("Passes that this job has begun")
  public long passes;

  /** Of these, in which other jobs took part */
  @Label("Shared Passes")
  @Description("Of these, in which other jobs took part")
  public long sharedPasses;

  /** Batches that this job has staged */
  @Label("Prepared")
  @Description("Batches that this job has staged")
  public long prepared;

  /** Batches taken without a copy */
  @Label("Mapped")
  @Description("Batches taken without a copy")
  public long mapped;

  /** Batches taken by a copy */
  @Label("Copied")
  @Description("Batches taken by a copy")
  public long copied;

  /** Bytes of both */
  @Label("Bytes Taken")
  @Description("Bytes of both")
  @DataAmount
  public long takenBytes;

  /** Batches the job prepared by itself: nobody prepared them (any more) */
  @Label("Left by All")
  @Description("Batches the job prepared by itself: nobody prepared them (any more)")
  public long nobody;

  /** Batches the job prepared by itself: too large, or there was no memory */
  @Label("Not Staged")
  @Description("Batches the job prepared by itself: too large, or there was no memory")
  public long notStaged;

  /** Batches the job prepared by itself: whoever had begun did not get on */
  @Label("Late")
  @Description("Batches the job prepared by itself: whoever had begun did not get on")
  public long late;

  /** Batches the job prepared by itself: it had been taken out of the pass */
  @Label("Lost")
  @Description("Batches the job prepared by itself: it had been taken out of the pass")
  public long lost;

  /** Time the program waited for batches of any job */
  @Label("Waited")
  @Description("Time the program waited for batches of any job")
  @Timespan
  public long waited;

  /** Time that preparing threads waited for room until other jobs had got on */
  @Label("Waited for Jobs")
  @Description("Time that preparing threads waited for room until other jobs had got on")
  @Timespan
  public long waitedFor;

  /** Process id of the job that was waited for longest, 0 if none was */
  @Label("Slowest Job")
  @Description("Process id of the job that was waited for longest, 0 if none was")
  public long slowestJob;

  /** The part of that job */
  @Label("Waited for Slowest Job")
  @Description("The part of that job")
  @Timespan
  public long waitedForSlowest;

  /** Claims taken over from jobs that died or were stopped */
  @Label("Taken Over")
  @Description("Claims taken over from jobs that died or were stopped")
  public long takeOvers;

  /** How often a job was taken out of a pass since it did not get on */
  @Label("Dropped")
  @Description("How often a job was taken out of a pass since it did not get on")
  public long dropped;

  /** Batches prepared here after others had taken the claims over */
  @Label("Too Late")
  @Description("Batches prepared here after others had taken the claims over")
  public long tooLate;

  /** Updates of a model between its batches: none in evaluations */
  @Label("Updates")
  @Description("Updates of a model between its batches: none in evaluations")
  public long updates;
}
