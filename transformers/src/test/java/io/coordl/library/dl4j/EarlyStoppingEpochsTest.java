package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.EarlyStoppingModelSaver;
import org.deeplearning4j.earlystopping.scorecalc.ScoreCalculator;
import org.deeplearning4j.earlystopping.termination.EpochTerminationCondition;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.termination.ScoreImprovementEpochTerminationCondition;
import org.deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer;
import org.deeplearning4j.nn.api.Model;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/** The predicted number of epochs of an early stopping trainer is the actual one. */
class EarlyStoppingEpochsTest {
  private static final EpochTerminationCondition BY_SCORE =
      new ScoreImprovementEpochTerminationCondition(1_000);

  /** Runs epochs without data and without a network. */
  private static final class Trainer extends BaseEarlyStoppingTrainer<Model> {
    Trainer(EarlyStoppingConfiguration<Model> configuration) {
      super(configuration, nothing(Model.class), nothing(DataSetIterator.class), null, null);
    }

    @Override
    protected void fit(DataSet batch) {}

    @Override
    protected void fit(MultiDataSet batch) {}

    @Override
    protected void pretrain(DataSet batch) {}

    @Override
    protected void pretrain(MultiDataSet batch) {}
  }

  /** A proxy whose methods return false, zero, a model or null. */
  private static <T> T nothing(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            EarlyStoppingEpochsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Class<?> result = method.getReturnType();
              if (method.getName().equals("getBestModel")) {
                return nothing(Model.class);
              }
              return result == boolean.class ? (Object) false : result == double.class ? 0.0 : null;
            }));
  }

  @SuppressWarnings("unchecked")
  private static Trainer trainer(int every, EpochTerminationCondition... conditions) {
    return new Trainer(
        new EarlyStoppingConfiguration.Builder<Model>()
            .scoreCalculator((ScoreCalculator<Model>) nothing(ScoreCalculator.class))
            .modelSaver((EarlyStoppingModelSaver<Model>) nothing(EarlyStoppingModelSaver.class))
            .epochTerminationConditions(conditions)
            .evaluateEveryNEpochs(every)
            .build());
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 3", "2, 1", "5, 1", "5, 2", "4, 2", "6, 4"})
  void countEqualsTheEpochsThatTheTrainerRuns(int maxEpochs, int every) throws Exception {
    Trainer trainer =
        trainer(
            every,
            BY_SCORE,
            new MaxEpochsTerminationCondition(1_000),
            new MaxEpochsTerminationCondition(maxEpochs));
    long counted = new EarlyStoppingEpochs().applyAsLong(trainer);
    assertThat(trainer.fit().getTotalEpochs()).isEqualTo(counted);
  }

  @Test
  void withoutAMaximumTheCountIsUnknown() throws Exception {
    assertThat(new EarlyStoppingEpochs().applyAsLong(trainer(1, BY_SCORE))).isZero();
    assertThat(new EarlyStoppingEpochs().applyAsLong(trainer(1))).isZero();
  }
}
