package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.Figures;
import java.util.List;

/** Parts of the wall time of a training thread. */
public enum Part {
  COMPUTE("compute", "compute"),
  FETCH_STALL("fetchStall", "fetch stall"),
  PREP_STALL("prepStall", "prep stall"),
  GC_STALL("gcStall", "GC stall"),
  QUEUE_STALL("queueStall", "queueing"),
  CHECKPOINT("checkpoint", "checkpoint");

  /** The waits for batches, by cause. */
  public static final List<Part> STALLS = List.of(FETCH_STALL, PREP_STALL, GC_STALL, QUEUE_STALL);

  /** Smallest share that is not printed as 0.0 %. */
  public static final double SHOWN = 0.0005;

  private final String field;
  private final String label;

  Part(String field, String label) {
    this.field = field;
    this.label = label;
  }

  /** Returns the name of the figure, in events and JSON. */
  public String field() {
    return field;
  }

  public String label() {
    return label;
  }

  /** Returns a short label, for contexts where it is clear that this is a stall. */
  public String cause() {
    return label.replace(" stall", "");
  }

  /** Returns the nanoseconds of this part. */
  public long of(Figures figures) {
    return switch (this) {
      case COMPUTE -> figures.compute;
      case FETCH_STALL -> figures.fetchStall;
      case PREP_STALL -> figures.prepStall;
      case GC_STALL -> figures.gcStall;
      case QUEUE_STALL -> figures.queueStall;
      case CHECKPOINT -> figures.checkpoint;
    };
  }
}
