package io.coordl.agent.install;

import io.coordl.host.AgentThread;
import io.coordl.pipeline.LibraryDatasets;
import io.coordl.pipeline.LibraryVerdicts;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.recording.JobFigures;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks after an epoch over a data set whether its samples could be cached, so that the advice
 * names no policy that would be refused. Evaluations before the first model update do not count.
 * The proof runs once per class of data set, for at most 8 classes, on an agent thread, and only if
 * preparation takes at least 5 % of the job's time.
 */
final class Verdicts implements Consumer<Object> {
  private static final double WORTH_A_PROOF = 0.05;
  private static final int MAX_DATASETS = 8;
  private static final String PREPARED = "prepared=share";

  private final JobFigures figures;
  private final LibraryDatasets datasets;
  private final LibraryVerdicts proofs;
  private final Set<String> seen = new HashSet<>();

  Verdicts(JobFigures figures, LibraryDatasets datasets, LibraryVerdicts proofs) {
    this.figures = figures;
    this.datasets = datasets;
    this.proofs = proofs;
  }

  /** An epoch over these batches has ended; called on the training thread. */
  @Override
  public void accept(Object batches) {
    Figures now = figures.spans().totals().snapshot();
    String dataset = datasets.apply(batches).getClass().getName();
    if (now.updates == 0 || now.share(now.prepTime()) < WORTH_A_PROOF || !addSeen(dataset)) {
      return;
    }
    AgentThread proof = new AgentThread("coordl-verdict", () -> prove(batches));
    proof.start();
  }

  /** Returns true for the first {@link #MAX_DATASETS} classes of data sets, once for each. */
  private synchronized boolean addSeen(String type) {
    return seen.size() < MAX_DATASETS && seen.add(type);
  }

  private void prove(Object batches) {
    @Nullable SampleVerdict verdict = proofs.apply(batches);
    if (verdict != null) {
      figures.verdict(
          PREPARED, verdict.source(), verdict.isKept(), verdict.reason(), verdict.remedy());
    }
  }
}
