package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.PrepGroup;
import io.coordl.coordination.PreparedBatch;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.store.ByteBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A third library, whose batches are numbers; the agent makes them in the library's place. */
class EngineEpochsTest {
  private static final int BATCHES = 6;

  /** Knows nothing of the program's objects. */
  private static final PurityAnalyzer CODE =
      new PurityAnalyzer(
          "",
          new PurityAnalyzer.Known() {
            @Override
            public boolean isClosed(Class<?> type) {
              return false;
            }

            @Override
            public boolean isKnown(String owner, String method) {
              return false;
            }
          });

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private final List<String> made = Collections.synchronizedList(new ArrayList<>());
  private final Prefetcher prefetcher = new Prefetcher(null, () -> 1);

  @TempDir Path directory;

  /** Stands for the state of the program's files. */
  private volatile int state;

  private final class Numbers implements LibraryEpoch {
    @Override
    public Object dataset() {
      return EngineEpochsTest.this;
    }

    @Override
    public long size() {
      return BATCHES;
    }

    @Override
    public Object settings() {
      return "none";
    }

    @Override
    public Object state(int unit) {
      return state;
    }

    @Override
    public Object make(int unit) {
      made.add(Thread.currentThread().getName().replaceAll("-\\d+$", ""));
      return 10 * unit + state;
    }

    @Override
    public Fingerprint fingerprint() {
      return new Fingerprint(Map.of("numbers", "to " + BATCHES));
    }

    @Override
    public BatchOrder order() {
      return BatchOrder.evenly(new int[BATCHES], 1);
    }

    @Override
    public PreparedBatch prepare(int batch, int[] samples) {
      int value = (Integer) make(batch);
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return Integer.BYTES;
        }

        @Override
        public void writeTo(ByteBuffer target) {
          target.putInt(value);
        }
      };
    }

    @Override
    public Object readStaged(ByteBuffer bytes) {
      return bytes.getInt();
    }
  }

  private final class Begun implements EpochEngine.Beginning {
    private final Worth worth = new Worth("batch", () -> 1, System::nanoTime, said::add);
    private @Nullable String reason;
    private Object part = "known";

    @Override
    public String name() {
      return "numbers";
    }

    @Override
    public int batches() {
      return BATCHES;
    }

    @Override
    public Worth worth() {
      return worth;
    }

    @Override
    public boolean mayRunEarly() {
      return true;
    }

    @Override
    public @Nullable String reasonToLeave(boolean keeps) {
      return reason;
    }

    @Override
    public List<Object> parts() {
      return List.of(part);
    }

    @Override
    public LibraryEpoch ofJob() {
      return new Numbers();
    }

    @Override
    public LibraryEpoch ofGroup() {
      return new Numbers();
    }
  }

  private static EpochEngine engine(Services services) {
    return new EpochEngine("Numbers", services, CODE);
  }

  private EpochEngine prefetching() {
    return engine(Services.builder(said::add).prefetcher(prefetcher, 1).build());
  }

  private static Object next(EpochSource source, int number) throws IOException {
    Object batch = source.batch(number);
    source.used();
    source.finish(batch);
    return batch;
  }

  @Test
  void batchesAreMadeEarlyOneAtATime() throws Exception {
    EpochSource source = prefetching().begin(new Begun());
    for (int i = 0; i < BATCHES; i++) {
      assertThat(next(source, i)).isEqualTo(10 * i);
    }
    source.end();
    assertThat(made).hasSize(BATCHES).endsWith("coordl-batches");
    assertThat(prefetcher.summary()).endsWith("5 batches prefetched, 5 of them used");
    assertThat(said).isEmpty();
  }

  @Test
  void batchWithChangedInputsIsMadeAgain() throws Exception {
    EpochSource source = prefetching().begin(new Begun());
    next(source, 0);
    assertThat(source.isKnown(1)).isTrue(); // Waits for the batch.
    state = 1;
    assertThat(next(source, 1)).isEqualTo(11);
    assertThat(next(source, 2)).isEqualTo(21);
    source.end();
    assertThat(prefetcher.summary()).endsWith("1 of them used");
  }

  @Test
  void epochLeftAloneBelongsToTheLibrary() throws Exception {
    Begun begun = new Begun();
    begun.reason = "its numbers are odd";
    assertThat(prefetching().begin(begun)).isNull();
    assertThat(said)
        .containsExactly("prefetch leaves batches of numbers to the program: its numbers are odd.");
    begun.reason = null;
    begun.part = new Object[] {Thread.currentThread()};
    assertThat(prefetching().begin(begun)).isNull();
    assertThat(engine(Services.builder(said::add).build()).begin(new Begun())).isNull();
    assertThat(made).isEmpty();
  }

  @Test
  void batchesPreparedForTheGroupAreNotMadeEarly() throws Exception {
    try (PrepGroup group =
        new PrepGroup(directory, "numbers", ByteBudget.parse("64k"), 1, said::add)) {
      EpochEngine engine =
          engine(Services.builder(said::add).group(group).prefetcher(prefetcher, 1).build());
      EpochSource source = engine.begin(new Begun());
      for (int i = 0; i < BATCHES; i++) {
        assertThat(next(source, i)).isEqualTo(10 * i);
      }
      assertThat(source.isOver()).isTrue();
      assertThat(group.statistics().get(0).taken).isEqualTo(BATCHES);
    }
    assertThat(made).hasSize(BATCHES).containsOnly("coordl-prep");
    assertThat(prefetcher.count()).isZero();
    assertThat(said).isEmpty();
  }
}
