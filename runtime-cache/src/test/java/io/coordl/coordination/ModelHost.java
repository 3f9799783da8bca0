package io.coordl.coordination;

import io.coordl.host.JobLiveness;
import io.coordl.telemetry.log.UserLog;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A host of a {@link Model}: staging buffers, the jobs that join them, and heartbeats. */
final class ModelHost {
  private final Model model;
  private final Timeouts timeouts;
  private final List<ModelMemory> memories = new ArrayList<>();
  private boolean setupLocked;

  ModelHost(Model model, Timeouts timeouts) {
    this.model = model;
    this.timeouts = timeouts;
    model.onTime(this::beat);
  }

  /** Creates a staging buffer of {@code slots} slots. */
  ModelMemory memory(ModelMemory.Defect defect, int slots) {
    ModelMemory memory = new ModelMemory(model, defect, slots);
    memories.add(memory);
    return memory;
  }

  /** Sends a heartbeat for every job that is not stopped. */
  private void beat() {
    for (ModelMemory memory : memories) {
      for (int i = 0; i < StagingDescriptor.MAX_PARTICIPANTS; i++) {
        long at = StagingDescriptor.participant(i);
        long job = memory.peek(at + StagingDescriptor.PARTICIPANT_JOB);
        if (job != 0 && !model.stopped(model.jobs().get((int) job - 1))) {
          long beat = at + StagingDescriptor.PARTICIPANT_BEAT;
          memory.poke(beat, memory.peek(beat) + 1);
        }
      }
    }
  }

  private int waitingElsewhere(ModelMemory mine) {
    Set<Long> jobs = new HashSet<>();
    for (ModelMemory memory : memories) {
      for (int i = 0; memory != mine && i < StagingDescriptor.MAX_PARTICIPANTS; i++) {
        jobs.add(memory.peek(StagingDescriptor.participant(i) + StagingDescriptor.PARTICIPANT_JOB));
      }
    }
    jobs.remove(0L);
    return jobs.size();
  }

  private final class Others implements JobLiveness {
    private final ModelMemory memory;

    Others(ModelMemory memory) {
      this.memory = memory;
    }

    @Override
    public boolean alive(long number) {
      Model.Job job = model.jobs().get((int) number - 1);
      return !job.killed
          && !(memory.defect() == ModelMemory.Defect.STOPPED_IS_DEAD && model.stopped(job));
    }

    @Override
    public void alone(Runnable action) {
      if (!setupLocked) {
        setupLocked = true;
        try {
          action.run();
        } finally {
          setupLocked = false;
        }
      }
    }
  }

  /** Joins the buffer, on a thread of the job. */
  PipelineSession join(
      Model.Job job, ModelMemory memory, UserLog log, Consumer<Boolean> notifyOthers) {
    Others others = new Others(memory);
    boolean[] entered = {false};
    while (!entered[0]) {
      others.alone(
          () -> entered[0] = Participants.enter(memory, job.number, job.number, others::alive));
      if (!entered[0]) {
        model.pause(1_000_000);
      }
    }
    return new PipelineSession(
        memory,
        others,
        model,
        timeouts,
        job.number,
        work -> model.start(job, work),
        log,
        failure -> {},
        notifyOthers,
        () -> waitingElsewhere(memory),
        () -> {});
  }
}
