package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.bridge.Spans;
import io.coordl.coordination.PrepGroup;
import io.coordl.items.FileState;
import io.coordl.profile.FastProfile;
import io.coordl.profile.Profile;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedStore;
import io.coordl.store.Outcome;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.attribution.SpanRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Policies serve a library that they do not know, through its adapter alone. */
class ThirdLibraryTest {
  private static final int FILES = 24;
  private static final int BATCH = 4;

  /** All code of the library may run early. */
  private static final PurityAnalyzer CODE =
      new PurityAnalyzer(
          "io.coordl.pipeline.Plain",
          new PurityAnalyzer.Known() {
            @Override
            public boolean isClosed(Class<?> type) {
              return true;
            }

            @Override
            public boolean isKnown(String owner, String method) {
              return true;
            }
          });

  /** The program's transform. */
  private static final class Halved implements PlainBatches.Transform {
    private final float factor = 0.5f;

    @Override
    public float apply(int sample) {
      return sample * factor;
    }
  }

  @TempDir Path directory;
  private final List<Path> files = new ArrayList<>();
  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private final List<String> faults = Collections.synchronizedList(new ArrayList<>());

  @BeforeEach
  void write() throws IOException {
    Bridge.install(
        SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where + cause));
    Path data = Files.createDirectory(directory.resolve("data"));
    for (int i = 0; i < FILES; i++) {
      files.add(Files.write(data.resolve("sample-" + i), new byte[] {(byte) (i * 5)}));
    }
    // A batch that reads a file which has just changed is not handed over.
    while (!FileState.of(files.get(FILES - 1)).isSettled()) {
      Thread.onSpinWait();
    }
  }

  @AfterEach
  void noFault() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    assertThat(faults).isEmpty();
  }

  private static List<int[]> order() {
    List<Integer> shuffled = new ArrayList<>(IntStream.range(0, FILES).boxed().toList());
    Collections.shuffle(shuffled, new Random(3));
    return IntStream.range(0, FILES / BATCH)
        .mapToObj(b -> shuffled.subList(b * BATCH, (b + 1) * BATCH))
        .map(batch -> batch.stream().mapToInt(Integer::intValue).toArray())
        .toList();
  }

  private PlainAdapter epoch(Services services) {
    return new PlainAdapter(files, new Halved(), order(), services, CODE);
  }

  private List<float[]> plain() {
    List<float[]> batches = new ArrayList<>();
    new PlainBatches(files, new Halved(), order()).forEachRemaining(batches::add);
    return batches;
  }

  private void assertSameAsWithoutTheAgent(PlainAdapter epoch) {
    for (float[] batch : plain()) {
      assertThat(epoch.hasNext()).isTrue();
      assertThat(Arrays.equals(epoch.next(), batch)).isTrue();
    }
    assertThat(epoch.hasNext()).isFalse();
  }

  @Test
  void batchesArePreparedAhead() {
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
      assertSameAsWithoutTheAgent(
          epoch(Services.builder(said::add).prefetcher(prefetcher, 1).build()));
      assertThat(prefetcher.summary())
          .isEqualTo("prefetch: 0 items prefetched; 5 batches prefetched, 5 of them used");
    }
    assertThat(said).isEmpty();
  }

  @Test
  void fileRewrittenBetweenBatchesIsReadAgain() throws IOException {
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
      PlainAdapter epoch = epoch(Services.builder(said::add).prefetcher(prefetcher, 1).build());
      epoch.next();
      while (!prefetcher.summary().contains(" 1 batch prefetched")) {
        Thread.onSpinWait();
      }
      Path file = files.get(order().get(1)[2]);
      FileTime before = Files.getLastModifiedTime(file);
      Files.write(file, new byte[] {127});
      Files.setLastModifiedTime(file, FileTime.fromMillis(before.toMillis() + 10));
      assertThat(epoch.next()).isEqualTo(plain().get(1)).contains(63.5f);
      assertThat(epoch.next()).isEqualTo(plain().get(2));
      assertThat(prefetcher.summary()).endsWith(" 1 of them used");
    }
    assertThat(said).isEmpty();
  }

  @Test
  void samplesAreDecodedAheadAndKept() throws IOException {
    ArenaStore arena = ArenaStore.openProcess(directory, ByteBudget.parse("2m"), said::add);
    try (DecodedStore store = new DecodedStore(arena, path -> true);
        Prefetcher prefetcher =
            new Prefetcher(new ItemPrefetcher(() -> 2, null, store::mayKeepMore), () -> 2)) {
      Services services =
          Services.builder(said::add).decoded(store).prefetcher(prefetcher, 2).build();
      assertSameAsWithoutTheAgent(epoch(services));
      assertThat(store.statistics().of(Outcome.ADMITTED)).isEqualTo(FILES);
      long before = store.statistics().of(Outcome.HIT);
      assertSameAsWithoutTheAgent(epoch(services));
      assertThat(store.statistics().of(Outcome.HIT) - before).isGreaterThanOrEqualTo(FILES);
    }
    assertThat(said).isEmpty();
  }

  @Test
  void batchesArePreparedForTheGroup() throws IOException {
    Set<String> threads = ConcurrentHashMap.newKeySet();
    AtomicInteger samples = new AtomicInteger();
    PlainBatches.Transform counted =
        sample -> {
          threads.add(Thread.currentThread().getName());
          samples.incrementAndGet();
          return new Halved().apply(sample);
        };
    try (PrepGroup group =
        new PrepGroup(directory, "plain", ByteBudget.parse("64k"), 1, said::add)) {
      Services services = Services.builder(said::add).group(group).build();
      assertSameAsWithoutTheAgent(new PlainAdapter(files, counted, order(), services, CODE));
      assertThat(group.statistics().get(0).taken).isEqualTo(FILES / BATCH);
    }
    assertThat(threads).allMatch(name -> name.startsWith("coordl-prep-"));
    assertThat(samples.get()).isEqualTo(FILES);
    assertThat(said).isEmpty();
  }

  @Test
  void batchesAreReplayedForAProfile() {
    Durations unheard =
        new Durations() {
          @Override
          public void record(Kind kind, long nanos) {}

          @Override
          public void epochEnded(long epoch) {}
        };
    SpanRecorder spans = new SpanRecorder(new EventLog(), unheard, () -> 0);
    try (ProfiledItems items = new ProfiledItems(path -> true, said::add)) {
      Bridge.install(spans, items, (where, cause, tripped) -> faults.add(where + cause));
      Profile profile = FastProfile.of(20, spans, items, said::add);
      Services services = Services.builder(said::add).profile(profile).build();
      List<float[]> own = plain();
      AtomicInteger prepared = new AtomicInteger();
      PlainBatches.Transform counted =
          sample -> {
            prepared.incrementAndGet();
            return new Halved().apply(sample);
          };
      int replayed = 0;
      while (replayed < 10) {
        PlainAdapter epoch = new PlainAdapter(files, counted, order(), services, CODE);
        long fit = Spans.enter(SpanKind.FIT, epoch);
        while (epoch.hasNext() && replayed < 10) {
          int before = prepared.get();
          float[] batch = epoch.next();
          replayed += prepared.get() == before ? 1 : 0;
          assertThat(own).anyMatch(one -> Arrays.equals(one, batch));
          Spans.exit(Spans.enter(SpanKind.UPDATE, null), null);
        }
        Spans.exit(fit, null);
      }
      profile.close();
    }
    assertThat(said)
        .contains(
            "profile: ingestion, keeping a few batches",
            "profile: ingestion, prepared batches replayed");
  }
}
