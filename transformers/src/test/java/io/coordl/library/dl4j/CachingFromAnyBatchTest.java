package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.InterceptedCall;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.KeptForms;
import io.coordl.store.Outcome;
import io.coordl.store.PreparedStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.datavec.api.conf.Configuration;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.misc.SVMLightRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.NumberedFileInputSplit;
import org.datavec.api.transform.MathOp;
import org.datavec.api.transform.TransformProcess;
import org.datavec.api.transform.schema.Schema;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/** Caching that begins in the middle of an epoch, as {@code auto} begins it. */
class CachingFromAnyBatchTest {
  private static final int RECORDS = 32;
  private static final int BATCH = 4;
  private static final int BATCHES = 8;

  @TempDir Path folder;
  private ArenaStore arena;
  private PreparedStore store;
  private boolean keeps;
  private final List<String> said = new ArrayList<>();

  /** Kinds of iterators; each is created over the same files. */
  private enum Kind {
    CSV {
      @Override
      DataSetIterator over(Path folder) throws Exception {
        return table(new CSVRecordReader(1, ','), folder);
      }
    },
    TRANSFORM {
      @Override
      DataSetIterator over(Path folder) throws Exception {
        Schema schema =
            new Schema.Builder().addColumnsDouble("a", "b").addColumnInteger("label").build();
        TransformProcess process =
            new TransformProcess.Builder(schema).doubleMathOp("a", MathOp.Multiply, 3).build();
        return table(
            new TransformProcessRecordReader(new CSVRecordReader(1, ','), process), folder);
      }
    },
    SEQUENCES {
      @Override
      DataSetIterator over(Path folder) throws Exception {
        return new SequenceRecordReaderDataSetIterator(
            sequences(folder, "x"), sequences(folder, "y"), BATCH, 3, false);
      }

      private SequenceRecordReader sequences(Path folder, String name) throws Exception {
        CSVSequenceRecordReader reader = new CSVSequenceRecordReader();
        reader.initialize(
            new NumberedFileInputSplit(
                folder.resolve(name + "_%d.csv").toString(), 0, RECORDS - 1));
        return reader;
      }
    },
    SVM_LIGHT {
      @Override
      DataSetIterator over(Path folder) throws Exception {
        SVMLightRecordReader reader = new SVMLightRecordReader();
        Configuration settings = new Configuration();
        settings.setInt(SVMLightRecordReader.NUM_FEATURES, 3);
        reader.initialize(settings, new FileSplit(folder.resolve("table.svm").toFile()));
        return new RecordReaderDataSetIterator(reader, BATCH, 3, 3);
      }
    };

    abstract DataSetIterator over(Path folder) throws Exception;

    static DataSetIterator table(RecordReader reader, Path folder) throws Exception {
      reader.initialize(new FileSplit(folder.resolve("table.csv").toFile()));
      return new RecordReaderDataSetIterator(reader, BATCH, 2, 3);
    }
  }

  @BeforeEach
  void create() throws IOException {
    StringBuilder table = new StringBuilder("a,b,label\n");
    StringBuilder svm = new StringBuilder();
    for (int i = 0; i < RECORDS; i++) {
      int label = i * 7 % 3;
      table
          .append(i * 0.37)
          .append(',')
          .append(100 - i * 1.1)
          .append(',')
          .append(label)
          .append('\n');
      svm.append(label).append(" 0:").append(i).append(" 2:").append(i * 0.5).append('\n');
      Files.writeString(folder.resolve("x_" + i + ".csv"), i + ",1\n" + i * 2 + ",2\n");
      Files.writeString(folder.resolve("y_" + i + ".csv"), label + "\n" + label + "\n");
    }
    Files.writeString(folder.resolve("table.csv"), table);
    Files.writeString(folder.resolve("table.svm"), svm);
    arena =
        Objects.requireNonNull(ArenaStore.openProcess(folder, ByteBudget.parse("8m"), said::add));
    store = new PreparedStore(arena, new KeptForms());
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private EpochInterceptor interceptor(@Nullable Prefetcher prefetcher) throws Exception {
    Prepared prepared =
        new Prepared(
            store,
            store.ofItems(path -> false, () -> keeps),
            Set.of(),
            () -> keeps,
            () -> 10,
            (what, why) -> {});
    Services.Builder services = Services.builder(said::add).prepared(prepared);
    if (prefetcher != null) {
      services.prefetcher(prefetcher, 1);
    }
    return new EpochInterceptor(RecordReaderMultiDataSetIterator.class, services.build());
  }

  private static @Nullable Object call(
      EpochInterceptor interceptor, DataSetIterator iterator, String method, Object... arguments)
      throws Exception {
    InterceptedCall call = interceptor.enter("", iterator.getClass(), method, iterator, arguments);
    if (call != null && call.replaced()) {
      return call.result(null);
    }
    Object own =
        switch (method) {
          case "hasNext" -> iterator.hasNext();
          case "next" -> iterator.next((Integer) arguments[0]);
          default -> {
            iterator.reset();
            yield null;
          }
        };
    return call == null ? own : call.result(own);
  }

  private static String next(EpochInterceptor interceptor, DataSetIterator iterator)
      throws Exception {
    return text((DataSet) Objects.requireNonNull(call(interceptor, iterator, "next", BATCH)));
  }

  private static String text(DataSet batch) {
    return text(batch.getFeatures()) + text(batch.getLabels());
  }

  private static String text(INDArray array) {
    return Arrays.toString(array.shape())
        + Arrays.toString(array.stride())
        + Arrays.toString(array.dup('c').data().asFloat());
  }

  /** Runs an epoch; caching begins before the batch {@code from}. */
  private List<String> epoch(EpochInterceptor interceptor, DataSetIterator iterator, int from)
      throws Exception {
    List<String> batches = new ArrayList<>();
    while (Boolean.TRUE.equals(call(interceptor, iterator, "hasNext"))) {
      keeps |= batches.size() == from;
      batches.add(next(interceptor, iterator));
    }
    call(interceptor, iterator, "reset");
    return batches;
  }

  private static List<String> plain(DataSetIterator iterator) {
    List<String> batches = new ArrayList<>();
    while (iterator.hasNext()) {
      batches.add(text(iterator.next(BATCH)));
    }
    return batches;
  }

  private void run(Kind kind, int from, @Nullable Prefetcher prefetcher) throws Exception {
    List<String> expected = plain(kind.over(folder));
    assertThat(expected).hasSize(BATCHES);
    EpochInterceptor interceptor = interceptor(prefetcher);
    DataSetIterator iterator = kind.over(folder);
    assertThat(epoch(interceptor, iterator, from)).isEqualTo(expected);
    assertThat(store.statistics().items())
        .as("items of the first epoch")
        .isGreaterThanOrEqualTo(BATCHES - from);
    long before = store.statistics().of(Outcome.HIT);
    assertThat(epoch(interceptor, iterator, 0)).isEqualTo(expected);
    assertThat(store.statistics().of(Outcome.HIT) - before).isEqualTo(BATCHES - from);
    assertThat(epoch(interceptor, iterator, 0)).isEqualTo(expected);
    assertThat(store.statistics().of(Outcome.HIT) - before).isEqualTo(2L * BATCHES - from);
    assertThat(said).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void laterBatchesOfTheFirstEpochAreCached(Kind kind) throws Exception {
    for (int from : new int[] {0, 1, 3, BATCHES - 1}) {
      keeps = false;
      close();
      create();
      run(kind, from, null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void cachingReplacesPrefetchingWithinAnEpoch(Kind kind) throws Exception {
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
      for (int from : new int[] {0, 1, 3}) {
        keeps = false;
        close();
        create();
        run(kind, from, prefetcher);
      }
    }
  }

  /** The library continues where the program's own read left the reader. */
  @Test
  void anEpochFromWhichTheProgramTookARecordIsLeftToTheLibrary() throws Exception {
    CSVRecordReader own = new CSVRecordReader(1, ',');
    DataSetIterator plain = Kind.table(own, folder);
    List<String> expected = new ArrayList<>(List.of(text(plain.next(BATCH))));
    own.next();
    expected.addAll(plain(plain));
    CSVRecordReader reader = new CSVRecordReader(1, ',');
    DataSetIterator iterator = Kind.table(reader, folder);
    EpochInterceptor interceptor = interceptor(null);
    List<String> batches = new ArrayList<>();
    batches.add(next(interceptor, iterator));
    reader.next();
    keeps = true;
    while (Boolean.TRUE.equals(call(interceptor, iterator, "hasNext"))) {
      batches.add(next(interceptor, iterator));
    }
    assertThat(batches).isEqualTo(expected);
    assertThat(store.statistics().items()).isZero();
  }

  /** The library has an earlier version of the file open. */
  @Test
  void anEpochOfAFileThatHasChangedSinceItsFirstBatchIsLeftToTheLibrary() throws Exception {
    List<String> expected = plain(Kind.CSV.over(folder));
    DataSetIterator iterator = Kind.CSV.over(folder);
    EpochInterceptor interceptor = interceptor(null);
    List<String> batches = new ArrayList<>();
    batches.add(next(interceptor, iterator));
    Path other = folder.resolve("other.csv");
    Files.writeString(other, Files.readString(folder.resolve("table.csv")).replace("0.37", "9.99"));
    Files.move(other, folder.resolve("table.csv"), StandardCopyOption.REPLACE_EXISTING);
    keeps = true;
    while (Boolean.TRUE.equals(call(interceptor, iterator, "hasNext"))) {
      batches.add(next(interceptor, iterator));
    }
    assertThat(batches).isEqualTo(expected);
    assertThat(store.statistics().items()).isZero();
  }
}
