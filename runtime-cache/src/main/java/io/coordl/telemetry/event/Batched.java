package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;

/** An event that may belong to a batch. */
public abstract class Batched extends EventBase {
  @Label("Batch")
  @Description("Number of the batch, 0 if none")
  @BatchId
  public long batch;
}
