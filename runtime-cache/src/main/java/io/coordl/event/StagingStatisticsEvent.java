package io.coordl.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.StagingStatistics")
@Label("Staging Statistics")
@Description("This job's part in the coordinated prep of one pipeline.")
@Period("endChunk")
public final class StagingStatisticsEvent extends EventBase {
  @Label("Group")
  @Description("Jobs that prepare together")
  public @Nullable String group;

  @Label("Pipeline")
  @Description("Checksum of the pipeline whose batches these are")
  public @Nullable String pipeline;

  @Label("Capacity")
  @Description("Byte budget of the staging buffer, -1 if there is none: the job prepares by itself")
  @DataAmount
  public long capacity;

  @Label("Slots")
  @Description("Batches that find room at once")
  public long slots;

  @Label("Slot Size")
  @Description("Bytes of a slot, 0 until a first batch was prepared")
  @DataAmount
  public long slotBytes;

  @Label("Jobs")
  @Description("Live jobs of the group, this one included")
  public long jobs;

  @Label("Epochs")
  @Description("Epochs and evaluations that this job has begun")
  public long epochs;

  @Label("Shared Epochs")
  @Description("Of these, in which other jobs took part")
  public long sharedEpochs;

  @Label("Prepared")
  @Description("Batches that this job has staged")
  public long prepared;

  @Label("Taken")
  @Description("Batches that came from the buffer")
  public long taken;

  @Label("Bytes Taken")
  @Description("Bytes of these")
  @DataAmount
  public long takenBytes;

  @Label("Left by All")
  @Description("Batches the job prepared by itself: nobody prepared them (any more)")
  public long nobody;

  @Label("Not Staged")
  @Description("Batches the job prepared by itself: too large, or there was no memory")
  public long notStaged;

  @Label("Late")
  @Description("Batches the job prepared by itself: whoever had begun did not get on")
  public long late;

  @Label("Lost")
  @Description("Batches the job prepared by itself: it had been taken out of the epoch")
  public long lost;

  @Label("Waited")
  @Description("Time the program waited for batches of any job")
  @Timespan
  public long waited;

  @Label("Waited for Jobs")
  @Description("Time that preparing threads waited for room until other jobs had got on")
  @Timespan
  public long waitedFor;

  @Label("Slowest Job")
  @Description("Process id of the job that was waited for longest, 0 if none was")
  public long slowestJob;

  @Label("Waited for Slowest Job")
  @Description("The part of that job")
  @Timespan
  public long waitedForSlowest;

  @Label("Taken Over")
  @Description("Claims taken over from jobs that died or were stopped")
  public long takeOvers;

  @Label("Dropped")
  @Description("How often a job was taken out of an epoch since it did not get on")
  public long dropped;

  @Label("Too Late")
  @Description("Batches prepared here after others had taken the claims over")
  public long tooLate;

  @Label("Updates")
  @Description("Updates of a model between its batches: none in evaluations")
  public long updates;

  /** As it is now, whatever is counted later. */
  public StagingStatisticsEvent copy() {
    return (StagingStatisticsEvent) clone();
  }

  /** Batches that the job prepared by itself after all. */
  public long alone() {
    return nobody + notStaged + late + lost;
  }
}
