package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.OpenWait")
@Label("Open Wait")
@Description("A training thread waits far longer for a batch than ever before.")
public final class OpenWaitEvent extends EventBase {
  @Label("Training Thread")
  public @Nullable String thread;

  @Label("Waited")
  @Description("Time waited until this was written")
  @Timespan(Timespan.NANOSECONDS)
  public long waited;

  @Label("Longest Wait")
  @Description("Longest earlier wait of any training thread")
  @Timespan(Timespan.NANOSECONDS)
  public long longest;

  @Label("Stack")
  @Description("Frames of the training thread, one per line")
  public @Nullable String stack;

  @Label("Last File")
  @Description("File of the data set that was opened last, by any thread; empty if none was")
  public @Nullable String file;

  @Label("Last Reader")
  @Description("The thread that opened it")
  public @Nullable String reader;

  @Label("Stack of the Last Reader")
  @Description("Its frames, one per line; empty if it is the training thread, or has ended")
  public @Nullable String readerStack;
}
