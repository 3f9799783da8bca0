package io.coordl.library.dl4j;

import io.coordl.pipeline.LibraryField;
import java.util.List;
import java.util.function.ToLongFunction;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.termination.EpochTerminationCondition;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer;

/** Maximum number of epochs that an early stopping trainer runs; 0 if no condition limits it. */
public final class EarlyStoppingEpochs implements ToLongFunction<Object> {
  private final LibraryField<Object> configuration;

  public EarlyStoppingEpochs() throws NoSuchFieldException {
    configuration = LibraryField.of(BaseEarlyStoppingTrainer.class, "esConfig");
  }

  @Override
  public long applyAsLong(Object trainer) {
    EarlyStoppingConfiguration<?> of =
        (EarlyStoppingConfiguration<?>) configuration.require(trainer);
    long every = of.getEvaluateEveryNEpochs();
    List<EpochTerminationCondition> conditions = of.getEpochTerminationConditions();
    if (conditions == null) {
      return 0;
    }
    long maxEpochs = 0;
    for (EpochTerminationCondition one : conditions) {
      if (one instanceof MaxEpochsTerminationCondition last) {
        maxEpochs = maxEpochs == 0 ? last.getMaxEpochs() : Math.min(maxEpochs, last.getMaxEpochs());
      }
    }
    // The trainer checks its conditions after the first epoch, and then every `every` epochs.
    return maxEpochs <= 0 ? 0 : (maxEpochs - 2 + every) / every * every + 1;
  }
}
