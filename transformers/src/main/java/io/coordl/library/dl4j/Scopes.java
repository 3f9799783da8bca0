package io.coordl.library.dl4j;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.memory.conf.WorkspaceConfiguration;
import org.nd4j.linalg.api.memory.enums.AllocationPolicy;
import org.nd4j.linalg.api.memory.enums.LearningPolicy;
import org.nd4j.linalg.api.memory.enums.ResetPolicy;
import org.nd4j.linalg.api.memory.enums.SpillPolicy;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Allocates the arrays of an epoch that agent threads create. Each thread has one workspace, whose
 * memory is reused for each batch. DL4J's own prefetch thread does the same. Thread-safe.
 */
final class Scopes {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private static final WorkspaceConfiguration CONFIGURATION =
      WorkspaceConfiguration.builder()
          .policyReset(ResetPolicy.BLOCK_LEFT)
          .policyLearning(LearningPolicy.FIRST_LOOP)
          .policyAllocation(AllocationPolicy.STRICT)
          .policySpill(SpillPolicy.REALLOCATE)
          .build();

  private final String name = "coordl-prep-" + NUMBERS.incrementAndGet();
  private final List<MemoryWorkspace> used = new ArrayList<>();
  private int open;
  private boolean ended;

  /**
   * Opens this thread's workspace: arrays that the thread creates from now on live until {@link
   * #leave}.
   */
  synchronized MemoryWorkspace enter() {
    MemoryWorkspace scope = Nd4j.getWorkspaceManager().getAndActivateWorkspace(CONFIGURATION, name);
    open++;
    if (!used.contains(scope)) {
      used.add(scope);
    }
    return scope;
  }

  synchronized void leave(MemoryWorkspace scope) {
    scope.close();
    open--;
    freeIfOver();
  }

  /** Called after the last batch: frees the memory once that batch is written. */
  synchronized void end() {
    ended = true;
    freeIfOver();
  }

  private void freeIfOver() {
    if (ended && open == 0) {
      used.forEach(scope -> scope.destroyWorkspace(true));
      used.clear();
    }
  }
}
