package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.JobStatistics")
@Label("Job Statistics")
@Description("Exact totals since the start of the job, independent of event thresholds.")
@Period("endChunk")
public final class JobStatisticsEvent extends Figures {
  /** A wait of fewer nanoseconds is not too long, even if all earlier waits were very short. */
  private static final long MIN_TOO_LONG = 5_000_000_000L;

  private static final int TIMES_THE_LONGEST = 10;

  @Label("Main Class")
  @Description("Program and its arguments, shortened")
  public @Nullable String mainClass;

  @Label("Frameworks")
  @Description("Training libraries seen")
  public @Nullable String frameworks;

  @Label("Running")
  @Description("Whether the job was still running when this was written")
  public boolean running;

  @Label("Epochs")
  @Description("Epochs, including the current one; evaluations too if no model update was seen")
  @Metric("coordl_epochs")
  public long epochs;

  @Label("Planned Epochs")
  @Description("Total epochs once the current training loop ends, 0 if unknown")
  @Metric(value = "coordl_planned_epochs", absentIfZero = true)
  public long plannedEpochs;

  @Label("Time Left")
  @Description("Expected time until the planned epochs end, 0 if unknown")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_epoch_eta_seconds", absentIfZero = true)
  public long timeLeft;

  @Label("Open Wait")
  @Description("Longest unfinished wait for a batch; part of the data stall; 0 if none")
  @Timespan(Timespan.NANOSECONDS)
  @Metric(value = "coordl_open_wait_seconds", absentIfZero = true)
  @Added("0.2.0")
  public long openWait;

  @Label("Longest Wait")
  @Description("Longest finished wait for a batch")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long longestWait;

  @Label("Kept Items")
  @Description("Decoded and prepared items that came from a store, and so were not fetched")
  @Added("0.2.0")
  public long keptItems;

  @Label("Loaded Batches")
  @Description("Batches loaded by any thread while none has trained; 0 once a thread trains")
  @Added("0.2.0")
  public long loadedBatches;

  @Label("Evaluations")
  @Description("Evaluations that have ended; 0 if no model update was seen")
  public long evaluations;

  @Label("Explicit GC Caller")
  @Description("Class and method that called System.gc() most often; none if only the JDK did")
  public @Nullable String explicitGcCaller;

  @Label("User Time")
  @Description("CPU time of this JVM in user mode, 0 if unknown")
  @Timespan(Timespan.NANOSECONDS)
  public long userTime;

  @Label("Kernel Time")
  @Description("CPU time of this JVM in the kernel, as for reads and page faults; 0 if unknown")
  @Timespan(Timespan.NANOSECONDS)
  public long kernelTime;

  @Label("Page Faults")
  @Description("Memory pages that were new to this JVM, 0 if unknown")
  public long pageFaults;

  @Label("Faults")
  @Description("Faults inside the agent")
  @Metric("coordl_faults_total")
  public long faults;

  /** Whether a wait lasts so much longer than any before that its batch may never come. */
  public static boolean isTooLong(long wait, long longest) {
    return wait >= Math.max(MIN_TOO_LONG, TIMES_THE_LONGEST * longest);
  }

  /**
   * Adds an unfinished wait; its cause is not known yet, so it counts as queueing.
   *
   * @param nanos negative to subtract it again
   */
  public void addOpenWait(long nanos) {
    stall += nanos;
    queueStall += nanos;
    wall += nanos;
  }

  /** Whether the job waits, or waited at its end, for a batch that may never come. */
  public boolean waitsTooLong() {
    return isTooLong(openWait, longestWait);
  }
}
