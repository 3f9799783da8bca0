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
import java.util.Random;
import java.util.Set;
import org.datavec.api.conf.Configuration;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.misc.SVMLightRecordReader;
import org.datavec.api.records.reader.impl.regex.RegexLineRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.InputSplit;
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
import org.junit.jupiter.params.provider.ValueSource;
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
      RecordReader reader() {
        return new CSVRecordReader(1, ',');
      }
    },
    TRANSFORM {
      @Override
      RecordReader reader() {
        Schema schema =
            new Schema.Builder().addColumnsDouble("a", "b").addColumnInteger("label").build();
        return new TransformProcessRecordReader(
            new CSVRecordReader(1, ','),
            new TransformProcess.Builder(schema).doubleMathOp("a", MathOp.Multiply, 3).build());
      }
    },
    REGEX {
      @Override
      RecordReader reader() {
        return new RegexLineRecordReader("(.*),(.*),(.*)", 1);
      }
    },
    SVM_LIGHT {
      @Override
      RecordReader reader() {
        return new SVMLightRecordReader();
      }

      @Override
      void initialize(RecordReader reader, Path folder) throws Exception {
        Configuration settings = new Configuration();
        settings.setInt(SVMLightRecordReader.NUM_FEATURES, 3);
        reader.initialize(settings, new FileSplit(folder.resolve("table.svm").toFile()));
      }

      @Override
      DataSetIterator over(RecordReader reader, Path folder) {
        return new RecordReaderDataSetIterator(reader, BATCH, 3, 3);
      }
    },
    SEQUENCES {
      @Override
      RecordReader reader() {
        return new CSVSequenceRecordReader();
      }

      @Override
      void initialize(RecordReader reader, Path folder) throws Exception {
        reader.initialize(split(folder, "x"));
      }

      @Override
      DataSetIterator over(RecordReader reader, Path folder) throws Exception {
        CSVSequenceRecordReader labels = new CSVSequenceRecordReader();
        labels.initialize(split(folder, "y"));
        return new SequenceRecordReaderDataSetIterator(
            (SequenceRecordReader) reader, labels, BATCH, 3, false);
      }

      private static InputSplit split(Path folder, String name) {
        return new NumberedFileInputSplit(
            folder.resolve(name + "_%d.csv").toString(), 0, RECORDS - 1);
      }
    };

    abstract RecordReader reader();

    void initialize(RecordReader reader, Path folder) throws Exception {
      reader.initialize(new FileSplit(folder.resolve("table.csv").toFile()));
    }

    DataSetIterator over(RecordReader reader, Path folder) throws Exception {
      return new RecordReaderDataSetIterator(reader, BATCH, 2, 3);
    }
  }

  /** A program's reader and iterator; without an interceptor, the library alone serves it. */
  private final class Program {
    final Kind kind;
    final RecordReader reader;
    final DataSetIterator iterator;
    final @Nullable EpochInterceptor interceptor;

    private final Path files;

    Program(Kind kind, @Nullable EpochInterceptor interceptor) throws Exception {
      this(kind, interceptor, folder);
    }

    Program(Kind kind, @Nullable EpochInterceptor interceptor, Path files) throws Exception {
      this.kind = kind;
      this.files = files;
      this.interceptor = interceptor;
      reader = kind.reader();
      kind.initialize(reader, files);
      opened();
      iterator = kind.over(reader, files);
    }

    /** Called when the library has opened the reader's file. */
    void opened() {
      RecordReader lines =
          reader instanceof TransformProcessRecordReader
              ? TransformedReader.innerOf(reader)
              : reader;
      EpochInterceptor hooks = interceptor;
      if (hooks != null && lines instanceof LineRecordReader) {
        InterceptedCall call =
            hooks.enter("", LineRecordReader.class, "reset", lines, new Object[0]);
        Objects.requireNonNull(call).result(null);
      }
    }

    @Nullable Object call(String method, Object... arguments) throws Exception {
      EpochInterceptor hooks = interceptor;
      InterceptedCall call =
          hooks == null ? null : hooks.enter("", iterator.getClass(), method, iterator, arguments);
      if (call != null && call.thrown() instanceof RuntimeException thrown) {
        throw thrown;
      }
      if (call != null && call.replaced()) {
        return call.result(null);
      }
      try {
        Object own = body(method, arguments);
        return call == null ? own : call.result(own);
      } catch (Exception e) {
        if (call != null) {
          call.failed();
        }
        throw e;
      }
    }

    private @Nullable Object body(String method, Object... arguments) {
      return switch (method) {
        case "hasNext" -> iterator.hasNext();
        case "next" -> iterator.next((Integer) arguments[0]);
        default -> {
          iterator.reset();
          opened();
          yield null;
        }
      };
    }

    String next(int examples) throws Exception {
      return text((DataSet) Objects.requireNonNull(call("next", examples)));
    }

    boolean hasNext() throws Exception {
      return Boolean.TRUE.equals(call("hasNext"));
    }

    /** Runs an epoch; caching begins before the batch {@code from}. */
    List<String> epoch(int from) throws Exception {
      List<String> batches = new ArrayList<>();
      while (hasNext()) {
        keeps |= batches.size() == from;
        batches.add(next(BATCH));
      }
      call("reset");
      return batches;
    }

    /** What the program sees of an action. */
    String act(Action action) {
      try {
        return run(action);
      } catch (Exception e) {
        return e.getClass().getName();
      }
    }

    private String run(Action action) throws Exception {
      switch (action) {
        case NEXT, NEXT_AGAIN, NEXT_AND_NEXT -> {
          return next(BATCH);
        }
        case FEW -> {
          return next(2);
        }
        case HAS_NEXT -> {
          return hasNext() + "";
        }
        case LOOP -> {
          return hasNext() ? next(BATCH) : "end";
        }
        case READ -> {
          return reader.next() + "";
        }
        case RESET -> call("reset");
        case PREPROCESS -> iterator.setPreProcessor(batch -> batch.getFeatures().addi(1));
        case RESET_READER, INITIALIZE -> {
          // Without a reset, the library continues with the look-ahead of the previous file.
          reader.reset();
          if (action == Action.INITIALIZE) {
            kind.initialize(reader, files);
          }
          opened();
        }
      }
      return "";
    }
  }

  /** What a program may do to its iterator and reader in the middle of an epoch. */
  private enum Action {
    NEXT,
    NEXT_AGAIN,
    NEXT_AND_NEXT,
    FEW,
    HAS_NEXT,
    LOOP,
    RESET,
    READ,
    RESET_READER,
    INITIALIZE,
    PREPROCESS
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

  private static String text(DataSet batch) {
    return text(batch.getFeatures()) + text(batch.getLabels());
  }

  private static String text(INDArray array) {
    return Arrays.toString(array.shape())
        + Arrays.toString(array.stride())
        + Arrays.toString(array.dup('c').data().asFloat());
  }

  private void run(Kind kind, int from, @Nullable Prefetcher prefetcher) throws Exception {
    List<String> expected = new Program(kind, null).epoch(BATCHES);
    assertThat(expected).hasSize(BATCHES);
    Program program = new Program(kind, interceptor(prefetcher));
    assertThat(program.epoch(from)).isEqualTo(expected);
    assertThat(store.statistics().items())
        .as("items of the first epoch")
        .isGreaterThanOrEqualTo(BATCHES - from);
    long before = store.statistics().of(Outcome.HIT);
    assertThat(program.epoch(0)).isEqualTo(expected);
    assertThat(store.statistics().of(Outcome.HIT) - before).isEqualTo(BATCHES - from);
    assertThat(program.epoch(0)).isEqualTo(expected);
    assertThat(store.statistics().of(Outcome.HIT) - before).isEqualTo(2L * BATCHES - from);
    assertThat(said).isEmpty();
  }

  private void begin() throws IOException {
    keeps = false;
    close();
    create();
  }

  @ParameterizedTest
  @EnumSource
  void laterBatchesOfTheFirstEpochAreCached(Kind kind) throws Exception {
    for (int from : new int[] {0, 1, 3, BATCHES - 1}) {
      begin();
      run(kind, from, null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void cachingReplacesPrefetchingWithinAnEpoch(Kind kind) throws Exception {
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
      for (int from : new int[] {0, 1, 3}) {
        begin();
        run(kind, from, prefetcher);
      }
    }
  }

  /** The program does anything at any time; caching begins at any time, and may end again. */
  @ParameterizedTest
  @EnumSource
  void whateverTheProgramDoesItSeesWhatTheLibraryDoes(Kind kind) throws Exception {
    int rounds = Integer.getInteger("coordl.rounds", 12);
    for (int seed = 0; seed < rounds; seed++) {
      try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
        begin();
        Random random = new Random(seed);
        Program plain = new Program(kind, null);
        Program program = new Program(kind, interceptor(random.nextBoolean() ? prefetcher : null));
        if (random.nextBoolean()) {
          plain.call("reset");
          program.call("reset");
        }
        List<Object> done = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
          if (random.nextInt(6) == 0) {
            keeps = !keeps;
            done.add("keeps " + keeps);
          }
          if (random.nextInt(40) == 0) {
            replace();
            done.add("replace");
          }
          Action action = Action.values()[random.nextInt(Action.values().length)];
          done.add(action);
          assertThat(program.act(action)).as(seed + ": " + done).isEqualTo(plain.act(action));
        }
      }
    }
  }

  /** As in most training loops. */
  @ParameterizedTest
  @EnumSource(names = {"CSV", "TRANSFORM"})
  void testDataThatIsEvaluatedAfterEachEpochIsNoReasonToStop(Kind kind) throws Exception {
    Path test = Files.createDirectory(folder.resolve("test"));
    Files.write(
        test.resolve("table.csv"),
        Files.readAllLines(folder.resolve("table.csv")).subList(0, 1 + 2 * BATCH));
    EpochInterceptor interceptor = interceptor(null);
    Program training = new Program(kind, interceptor);
    Program evaluation = new Program(kind, interceptor, test);
    keeps = true;
    List<String> trained = training.epoch(0);
    List<String> evaluated = evaluation.epoch(0);
    for (int i = 1; i < 5; i++) {
      assertThat(training.epoch(0)).isEqualTo(trained);
      assertThat(evaluation.epoch(0)).isEqualTo(evaluated);
      assertThat(store.statistics().of(Outcome.HIT)).isEqualTo(i * (BATCHES + 2L));
    }
    assertThat(said).isEmpty();
  }

  /** Renames another version over each file; programs that have it open read the old one. */
  private void replace() throws IOException {
    for (String name : List.of("table.csv", "table.svm")) {
      Path file = folder.resolve(name);
      Path other = folder.resolve("other");
      Files.writeString(other, Files.readString(file).replace("10", "20"));
      Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Test
  void anEpochOfAFileThatHasChangedSinceItsFirstBatchIsLeftToTheLibrary() throws Exception {
    for (boolean isReset : new boolean[] {true, false}) {
      begin();
      Program plain = new Program(Kind.CSV, null);
      Program program = new Program(Kind.CSV, interceptor(null));
      if (isReset) {
        plain.call("reset");
        program.call("reset");
      }
      assertThat(program.next(BATCH)).isEqualTo(plain.next(BATCH));
      replace();
      keeps = true;
      assertThat(program.epoch(0)).isEqualTo(plain.epoch(0));
      assertThat(store.statistics().items()).isZero();
    }
  }

  /** The library does not reset its position in the file. */
  @ParameterizedTest
  @ValueSource(ints = {2, BATCHES})
  void aReaderThatIsInitialisedWithoutAResetIsLeftToTheLibrary(int batches) throws Exception {
    for (boolean prefetches : new boolean[] {false, true}) {
      try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
        begin();
        Program plain = new Program(Kind.CSV, null);
        Program program = new Program(Kind.CSV, interceptor(prefetches ? prefetcher : null));
        for (Program each : List.of(plain, program)) {
          each.call("reset");
        }
        for (int i = 0; i < batches; i++) {
          assertThat(program.next(BATCH)).isEqualTo(plain.next(BATCH));
        }
        for (Program each : List.of(plain, program)) {
          each.kind.initialize(each.reader, folder);
          each.opened();
        }
        keeps = true;
        for (int i = 0; i < BATCHES; i++) {
          assertThat(program.act(Action.LOOP)).isEqualTo(plain.act(Action.LOOP));
        }
      }
    }
  }
}
