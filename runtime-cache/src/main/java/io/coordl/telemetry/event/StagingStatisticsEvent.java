package io.coordl.telemetry.event;

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
  @Description("Checksum of the pipeline that produces the batches")
  public @Nullable String pipeline;

  @Label("Capacity")
  @Description("Byte budget of the staging buffer, -1 without one: the job prepares locally")
  @DataAmount
  public long capacity;

  @Label("Slots")
  @Description("Batches that fit at the same time")
  public long slots;

  @Label("Slot Size")
  @Description("Bytes of a slot, 0 until the first batch is prepared")
  @DataAmount
  public long slotBytes;

  @Label("Jobs")
  @Description("Live jobs of the group, this one included")
  public long jobs;

  @Label("Epochs")
  @Description("Epochs and evaluations that this job has begun")
  public long epochs;

  @Label("Shared Epochs")
  @Description("Epochs and evaluations in which other jobs took part")
  public long sharedEpochs;

  @Label("Prepared")
  @Description("Batches that this job has staged")
  public long prepared;

  @Label("Taken")
  @Description("Batches taken from the buffer")
  public long taken;

  @Label("Bytes Taken")
  @Description("Bytes of the batches taken")
  @DataAmount
  public long takenBytes;

  @Label("Not Prepared")
  @Description("Batches prepared locally because no job prepared them for the group")
  public long nobody;

  @Label("Not Staged")
  @Description("Batches prepared locally because they were too large or memory was short")
  public long notStaged;

  @Label("Late")
  @Description("Batches prepared locally because no job made progress with them in time")
  public long late;

  @Label("Lost")
  @Description(
      "Batches prepared locally because the job was removed from the epoch or could not read"
          + " them")
  public long lost;

  @Label("Waited")
  @Description("Time the program waited for batches of any job")
  @Timespan
  public long waited;

  @Label("Waited for Jobs")
  @Description("Time that preparing threads waited for other jobs to free slots")
  @Timespan
  public long waitedFor;

  @Label("Slowest Job")
  @Description("Process ID of the job waited for longest, 0 if none")
  public long slowestJob;

  @Label("Waited for Slowest Job")
  @Description("Time waited for that job")
  @Timespan
  public long waitedForSlowest;

  @Label("Taken Over")
  @Description("Claims taken over from jobs that died or were stopped")
  public long takeOvers;

  @Label("Dropped")
  @Description("How often this job removed another from an epoch, because it made no progress")
  public long dropped;

  @Label("Too Late")
  @Description("Batches prepared here after other jobs had taken over their claims")
  public long tooLate;

  @Label("Updates")
  @Description("Model updates between batches of this job; 0 in evaluations")
  public long updates;

  /** Returns a snapshot, unaffected by later counts. */
  public StagingStatisticsEvent copy() {
    return (StagingStatisticsEvent) clone();
  }

  /** Returns the number of batches that the job prepared locally. */
  public long preparedLocally() {
    return nobody + notStaged + late + lost;
  }
}
