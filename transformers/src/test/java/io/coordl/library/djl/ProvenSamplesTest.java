package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.translate.Pipeline;
import ai.djl.translate.StackBatchifier;
import ai.djl.util.Progress;
import io.coordl.pipeline.SampleVerdict;
import java.lang.reflect.Proxy;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Verdicts on whether the samples of a pipeline could be cached. */
class ProvenSamplesTest {
  private abstract static class Numbers extends RandomAccessDataset {
    Numbers() {
      super(new Builder().setSampling(4, false));
    }

    @Override
    protected long availableSize() {
      return 8;
    }

    @Override
    public void prepare(Progress progress) {}

    private static final class Builder extends BaseBuilder<Builder> {
      @Override
      protected Builder self() {
        return this;
      }
    }
  }

  private static final class Pure extends Numbers {
    @Override
    public Record get(NDManager manager, long index) {
      return new Record(null, null);
    }
  }

  private static final class Counting extends Numbers {
    @SuppressWarnings("UnusedVariable") // The proof reads it from the class file.
    private int calls;

    @Override
    public Record get(NDManager manager, long index) {
      calls++;
      return new Record(null, null);
    }
  }

  private static DataIterable over(RandomAccessDataset data) {
    NDManager manager =
        (NDManager)
            Proxy.newProxyInstance(
                ProvenSamplesTest.class.getClassLoader(),
                new Class<?>[] {NDManager.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "getDevice" -> Device.cpu();
                      case "newSubManager" -> proxy;
                      default -> null;
                    });
    return new DataIterable(
        data,
        manager,
        new BatchSampler(new SequenceSampler(), 4),
        new StackBatchifier(),
        new StackBatchifier(),
        new Pipeline(new ToTensor()),
        new Pipeline(),
        null,
        0,
        null);
  }

  private static SampleVerdict verdict(RandomAccessDataset data) throws Exception {
    return Objects.requireNonNull(new ProvenSamples().apply(over(data)));
  }

  @Test
  void samplesWhoseInputsNeverChangeCanBeKept() throws Exception {
    SampleVerdict verdict = verdict(new Pure());
    assertThat(verdict.isKept()).isTrue();
    assertThat(verdict.reason()).isEmpty();
    assertThat(verdict.kept()).isEqualTo(2);
    assertThat(verdict.source()).isEqualTo(Pure.class.getName());
  }

  @Test
  void verdictNamesTheFieldAndTheClassToVouchFor() throws Exception {
    SampleVerdict verdict = verdict(new Counting());
    assertThat(verdict.isKept()).isFalse();
    assertThat(verdict.reason()).contains("Counting.get", "calls");
    assertThat(verdict.vouch()).isEqualTo(Counting.class.getName());
  }

  @Test
  void otherObjectsHaveNoVerdict() throws Exception {
    assertThat(new ProvenSamples().apply("batches")).isNull();
  }
}
