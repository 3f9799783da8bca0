package io.coordl.agent.install;

import io.coordl.pipeline.SampleVerdict;
import io.coordl.telemetry.event.Figures;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Checks after an epoch over a data set whether its samples could be cached, so that the advice
 * names no policy that would be refused. Evaluations before the first model update do not count.
 * The proof runs once per class of data set, for at most 8 classes, and only if preparation takes
 * at least 5 % of the job's time.
 */
final class Verdicts implements Consumer<Object> {
  private static final double WORTH_A_PROOF = 0.05;
  private static final int MAX_DATASETS = 8;

  private final Supplier<? extends Figures> totals;
  private final UnaryOperator<Object> datasets;
  private final Function<Object, @Nullable SampleVerdict> proofs;
  private final Executor threads;
  private final Consumer<SampleVerdict> found;
  private final Set<String> seen = new HashSet<>();

  /**
   * Proves nothing yet.
   *
   * @param totals totals of the job so far
   * @param datasets finds the data set behind an object that yields its batches
   * @param proofs runs the proof for such an object; null if there is no verdict
   * @param threads runs the proofs
   * @param found receives the verdicts, on those threads
   */
  Verdicts(
      Supplier<? extends Figures> totals,
      UnaryOperator<Object> datasets,
      Function<Object, @Nullable SampleVerdict> proofs,
      Executor threads,
      Consumer<SampleVerdict> found) {
    this.totals = totals;
    this.datasets = datasets;
    this.proofs = proofs;
    this.threads = threads;
    this.found = found;
  }

  /** Handles the end of an epoch over these batches; called on the training thread. */
  @Override
  public void accept(Object batches) {
    Figures now = totals.get();
    String dataset = datasets.apply(batches).getClass().getName();
    if (now.updates > 0 && now.share(now.prepTime()) >= WORTH_A_PROOF && addSeen(dataset)) {
      threads.execute(() -> prove(batches));
    }
  }

  /** Returns true for the first {@link #MAX_DATASETS} classes of data sets, once for each. */
  private synchronized boolean addSeen(String type) {
    return seen.size() < MAX_DATASETS && seen.add(type);
  }

  private void prove(Object batches) {
    SampleVerdict verdict = proofs.apply(batches);
    if (verdict != null) {
      found.accept(verdict);
    }
  }
}
