package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.util.Progress;
import io.coordl.coordination.PrepGroup;
import io.coordl.pipeline.Services;
import io.coordl.store.ByteBudget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The program gets the same batches as without the agent, even if its sampler misbehaves. */
class SampledBatchesTest {
  private static final int SIZE = 10;

  private final List<String> logged = new ArrayList<>();
  private final Numbers dataset = new Numbers();

  /** A group in a missing directory: logs an error if an epoch begins before a batch is fetched. */
  private final PrepGroup nowhere =
      new PrepGroup(Path.of("nowhere"), "g", ByteBudget.parse("64k"), 1, logged::add);

  private SampledEpoch epoch;

  /** Only its size is used. */
  private static final class Numbers extends RandomAccessDataset {
    Numbers() {
      super(new Builder().setSampling(2, false));
    }

    @Override
    public Record get(NDManager manager, long index) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected long availableSize() {
      return SIZE;
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

  @BeforeEach
  void begin() throws ReflectiveOperationException {
    Services services = Services.builder(logged::add).group(nowhere).build();
    epoch =
        new SampledEpoch(
            new CoordinatedBatches(DataIterable.class, services),
            dataset,
            new BatchSampler(new SequenceSampler(), 2));
  }

  @AfterEach
  void noEpochBeginsBeforeABatchIsFetched() {
    nowhere.close();
    assertThat(logged).noneMatch(sentence -> sentence.contains("nowhere"));
  }

  private SampledBatches over(Iterator<List<Long>> sampler) {
    return new SampledBatches(sampler, epoch, SIZE);
  }

  @Test
  void indicesEqualTheSamplersOwn() {
    List<List<Long>> own = List.of(List.of(3L, 1L), List.of(0L, 9L), List.of(4L));
    List<List<Long>> batches = new ArrayList<>();
    over(own.iterator()).forEachRemaining(batches::add);

    assertThat(batches).allMatch(batch -> batch instanceof SampledEpoch.Indices);
    assertThat(batches.get(2)).hasSize(1);
    assertThat(batches).isEqualTo(own);
    assertThat(batches.get(0).hashCode()).isEqualTo(own.get(0).hashCode());
    assertThatThrownBy(() -> batches.get(0).set(0, 1L))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThat(logged).isEmpty();
  }

  @Test
  void nothingIsDrawnBeforeTheFirstRequest() {
    List<Long> drawn = new ArrayList<>();
    Iterator<List<Long>> sampler =
        LongStream.range(0, SIZE).peek(drawn::add).mapToObj(List::of).iterator();
    SampledBatches batches = over(sampler);
    assertThat(drawn).isEmpty();
    assertThat(batches.hasNext()).isTrue();
    assertThat(drawn).hasSize(SIZE);
  }

  @Test
  void endlessSamplerIsLeftAlone() {
    Iterator<List<Long>> sampler =
        LongStream.iterate(0, i -> (i + 3) % SIZE).mapToObj(List::of).iterator();
    SampledBatches batches = over(sampler);
    for (int i = 0; i < 1000; i++) {
      assertThat(batches.hasNext()).isTrue();
      assertThat(batches.next()).isEqualTo(List.of(3L * i % SIZE));
    }
    assertThat(logged).singleElement().asString().contains("samplers that never end");
  }

  /** At the end, {@code next} of DJL's sampler returns the incomplete batch that it should drop. */
  @Test
  void nextBeyondTheEndIsTheSamplersOwn() {
    Iterator<List<Long>> own = new BatchSampler(new SequenceSampler(), 4, true).sample(dataset);
    SampledBatches batches = over(own);
    batches.next();
    batches.next();
    assertThat(batches.hasNext()).isFalse();
    assertThat(batches.next()).containsExactly(8L, 9L);
  }

  @Test
  void invalidIndexIsLeftToTheFetch() {
    for (List<Long> odd :
        Arrays.<List<Long>>asList(List.of(10L), List.of(-1L), Arrays.asList(1L, null), null)) {
      List<List<Long>> own = Arrays.asList(List.of(1L), odd, List.of(2L));
      List<List<Long>> batches = new ArrayList<>();
      over(own.iterator()).forEachRemaining(batches::add);
      assertThat(batches).isEqualTo(own).noneMatch(batch -> batch instanceof SampledEpoch.Indices);
    }
  }

  @Test
  void exceptionIsThrownWhereTheSamplerThrowsIt() {
    for (boolean inNext : List.of(true, false)) {
      SampledBatches batches =
          over(
              new Iterator<>() {
                private int taken;

                @Override
                public boolean hasNext() {
                  if (taken == 2 && !inNext) {
                    throw new IllegalStateException("in hasNext");
                  }
                  return true;
                }

                @Override
                public List<Long> next() {
                  if (taken++ == 2) {
                    throw new IllegalStateException("in next");
                  }
                  return List.of((long) taken);
                }
              });
      assertThat(batches.next()).containsExactly(1L);
      assertThat(batches.hasNext()).isTrue();
      assertThat(batches.next()).containsExactly(2L);
      if (inNext) {
        assertThat(batches.hasNext()).isTrue();
        assertThatThrownBy(batches::next).hasMessage("in next");
      } else {
        assertThatThrownBy(batches::hasNext).hasMessage("in hasNext");
      }
    }
  }

  @Test
  void nextAfterTheLastBatchThrows() {
    SampledBatches batches = over(List.of(List.of(1L)).iterator());
    batches.next();
    assertThat(batches.hasNext()).isFalse();
    assertThatThrownBy(batches::next).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void onlyTheFirstFetchTakesTheBatch() {
    SampledEpoch.Indices indices =
        (SampledEpoch.Indices) over(List.of(List.of(1L)).iterator()).next();
    assertThat(indices.tryMarkFetched()).isTrue();
    assertThat(indices.tryMarkFetched()).isFalse();
  }
}
