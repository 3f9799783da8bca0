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
    EarlyStoppingConfiguration<?> settings =
        (EarlyStoppingConfiguration<?>) configuration.require(trainer);
    long every = settings.getEvaluateEveryNEpochs();
    List<EpochTerminationCondition> conditions = settings.getEpochTerminationConditions();
    if (conditions == null) {
      return 0;
    }
    long maxEpochs = 0;
    for (EpochTerminationCondition one : conditions) {
      if (one instanceof MaxEpochsTerminationCondition limit) {
        maxEpochs =
            maxEpochs == 0 ? limit.getMaxEpochs() : Math.min(maxEpochs, limit.getMaxEpochs());
      }
    }
    // The trainer checks its conditions after epoch 1, and then at intervals of `every` epochs.
    return maxEpochs <= 0 ? 0 : (maxEpochs - 2 + every) / every * every + 1;
  }
}
