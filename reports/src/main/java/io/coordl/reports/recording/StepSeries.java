package io.coordl.reports.recording;

import io.coordl.reports.recording.JobRecording.Steps;
import io.coordl.telemetry.event.EpochEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a job in their order: each wait for a batch, the step that used it, and the time to
 * prepare the batch. Events are collected by batch number, so they may come in any order. There are
 * at most {@value #SLOTS} slots: when a number lies beyond the last, pairs of slots are merged, and
 * each then holds twice as many batches. Confined to one thread.
 */
final class StepSeries {
  static final int SLOTS = 1 << 16;
  private static final int INITIAL_SLOTS = 1 << 8;

  /** The figures of the batches of one slot. */
  private static final class Slot {
    private final EpochEvent figures = new EpochEvent();
    private long firstEpoch = Long.MAX_VALUE;
    private long lastEpoch = Long.MIN_VALUE;
    private long steps;
    private long batchesWithSize;

    void include(long epoch) {
      firstEpoch = Math.min(firstEpoch, epoch);
      lastEpoch = Math.max(lastEpoch, epoch);
    }

    void add(Slot more) {
      long samples = figures.samples + more.figures.samples;
      figures.add(more.figures);
      figures.samples = samples; // Figures.add drops the sum if either is unknown.
      steps += more.steps;
      batchesWithSize += more.batchesWithSize;
      firstEpoch = Math.min(firstEpoch, more.firstEpoch);
      lastEpoch = Math.max(lastEpoch, more.lastEpoch);
    }

    /** Returns the sums; null if a wait or a step is missing, as at the end of a killed job. */
    @Nullable Steps steps() {
      if (steps == 0 || steps != figures.batches) {
        return null;
      }
      figures.samples =
          batchesWithSize < steps
              ? 0
              : Math.round((double) figures.samples * steps / batchesWithSize);
      return new Steps(firstEpoch, lastEpoch, figures);
    }
  }

  private @Nullable Slot[] slots = new @Nullable Slot[INITIAL_SLOTS];

  /** Binary logarithm of the batches per slot. */
  private int shift;

  /** Returns consumers by type of event. */
  Map<String, Consumer<JobEvent>> takers() {
    return Map.of(
        "io.coordl.DataStall", this::addWait,
        "io.coordl.Step", this::addStep,
        "io.coordl.Batch", this::addBatch);
  }

  private void addWait(JobEvent event) {
    Slot slot = slot(event);
    if (slot == null) {
      return;
    }
    slot.include(event.number("epoch"));
    EpochEvent figures = slot.figures;
    long wait = event.number("wait");
    figures.batches++;
    figures.wall += wait;
    figures.stall += wait;
    figures.fetchStall += event.number("fetch");
    figures.prepStall += event.number("prep");
    figures.gcStall += event.number("gc");
    figures.queueStall += event.number("queue");
  }

  private void addStep(JobEvent event) {
    Slot slot = slot(event);
    if (slot == null) {
      return;
    }
    slot.include(event.number("epoch"));
    slot.steps++;
    EpochEvent figures = slot.figures;
    long compute = event.number("compute");
    long checkpoint = event.number("checkpoint");
    figures.compute += compute;
    figures.checkpoint += checkpoint;
    figures.wall += compute + checkpoint;
    figures.computeCoreWait += addedField(event, "coreWait");
  }

  private void addBatch(JobEvent event) {
    Slot slot = slot(event);
    if (slot == null) {
      return;
    }
    long samples = event.number("samples");
    slot.batchesWithSize += samples > 0 ? 1 : 0;
    EpochEvent figures = slot.figures;
    figures.samples += Math.max(0, samples);
    figures.fetchTime += event.number("fetch");
    figures.decodeTime += event.number("decode");
    figures.transformTime += event.number("transform");
    figures.otherTime += event.number("other");
    figures.items += event.number("items");
    figures.prepCoreWait += addedField(event, "coreWait");
  }

  /** Returns a field that recordings of earlier versions lack; 0 for these. */
  private static long addedField(JobEvent event, String field) {
    return event.has(field) ? event.number(field) : 0;
  }

  /** Returns the slot of the event's batch; null if it has no batch. */
  private @Nullable Slot slot(JobEvent event) {
    long batch = event.number("batch");
    if (batch <= 0) {
      return null;
    }
    while (batch >> shift >= SLOTS) {
      merge();
    }
    int at = (int) (batch >> shift);
    if (at >= slots.length) {
      slots = Arrays.copyOf(slots, Math.max(2 * slots.length, Integer.highestOneBit(at) << 1));
    }
    Slot slot = slots[at];
    if (slot == null) {
      slot = new Slot();
      slots[at] = slot;
    }
    return slot;
  }

  private void merge() {
    shift++;
    @Nullable Slot[] merged = new @Nullable Slot[slots.length];
    for (int i = 0; i < slots.length; i++) {
      Slot slot = slots[i];
      if (slot != null) {
        Slot first = merged[i / 2];
        if (first == null) {
          merged[i / 2] = slot;
        } else {
          first.add(slot);
        }
      }
    }
    slots = merged;
  }

  List<Steps> steps() {
    List<Steps> steps = new ArrayList<>();
    for (Slot slot : slots) {
      Steps complete = slot == null ? null : slot.steps();
      if (complete != null) {
        steps.add(complete);
      }
    }
    return steps;
  }
}
