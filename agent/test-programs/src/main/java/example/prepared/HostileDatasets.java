package example.prepared;

import ai.djl.basicdataset.tabular.CsvDataset;
import ai.djl.basicdataset.tabular.utils.Feature;
import ai.djl.basicdataset.tabular.utils.Featurizers;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import ai.djl.util.RandomUtils;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TimeZone;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.apache.commons.csv.CSVFormat;

/**
 * Data sets that depend on state that an agent may miss, and a loop that changes it. Argument:
 * {@code JOB}; jobs differ by this number, and each has its files in its own working directory.
 * Prints each batch.
 */
@SuppressWarnings({"DefaultCharset", "UnnecessaryLambda"}) // Intended.
public final class HostileDatasets {
  private static final int SAMPLES = 24;
  private static final int BATCH = 8;
  private static final int EPOCHS = 3;

  private static final List<String> FILES = List.of("linked", "rewritten", "renamed", "hard link");
  private static final List<String> CASES =
      List.of(
          ("plain,words,shared column,added column,taken column,same array,same memory,empty name"
                  + ",own list,kinds,gradient,zone,charset,identity,limit,limits,size,prepared"
                  + ",helper,nested,static,holder,local,implementation,lambda,captured array"
                  + ",array in a record,array in an optional,view,text,enumeration,counter")
              .split(",", -1));

  /** Number of batches so far in the current case. */
  private static int step;

  private static final float[] WEIGHTS = {1};
  private static final List<Float> LIST = new ArrayList<>();
  private static final StringBuilder TEXT = new StringBuilder();
  private static final Holder HOLDER = new Holder();
  private static final Helper HELPER = new Helper();
  private static final Grown GROWN = new Grown();
  private static final ThreadLocal<Float> LOCAL = ThreadLocal.withInitial(() -> 0f);
  private static Way way = value -> value;

  /** Builder of the table to which the loop adds columns. */
  private static CsvDataset.CsvBuilder<?> columns = CsvDataset.builder();

  private HostileDatasets() {}

  /** A function on a number. */
  private interface Way {
    float of(float value);
  }

  private static final class Holder {
    private float height = 1;

    void climb() {
      height++;
    }
  }

  /** Changes itself in a method with the name of a data set's method. */
  private static final class Helper {
    private float prepared;

    @SuppressWarnings("UnusedVariable") // Same signature as a data set's method.
    void prepare(Progress progress) {
      prepared++;
    }
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Weights(float[] all) {}

  /** Depends on a system property of the job. */
  private enum Scale {
    ONE;
    private final int by = Integer.getInteger("scale", 1);
  }

  /** Rows of two numbers each. */
  private abstract static class Rows extends DjlSamples.Counting {
    Rows() {
      this(builder());
    }

    Rows(DjlSamples.Builder builder) {
      super(builder);
    }

    abstract float of(float value) throws IOException;

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      float value = of((float) index);
      NDArray array = manager.create(new float[] {value, value * 3 + 1});
      return new Record(new NDList(array), new NDList(manager.create(index)));
    }
  }

  /** Has one more row after each batch. */
  private static final class Grown extends Rows {
    private long rows = BATCH;

    void grow() {
      rows++;
    }

    @Override
    protected long availableSize() {
      return rows;
    }

    @Override
    float of(float value) {
      return value + rows;
    }
  }

  /** Counts how often it was prepared. */
  private static final class Prepared extends Rows {
    private int times;

    @Override
    public void prepare(Progress progress) {
      times++;
    }

    @Override
    float of(float value) {
      return value + times;
    }
  }

  /** Returns one array twice, or two over the same memory. */
  private static final class Twice extends DjlSamples.Counting {
    private final boolean view;

    Twice(boolean view) {
      super(builder().optPipeline(new Pipeline(new Noise())));
      this.view = view;
    }

    @Override
    public Record get(NDManager manager, long index) {
      NDArray array = manager.create(new float[] {index, index + 1});
      return new Record(new NDList(view ? array.reshape(2, 1) : array), new NDList(array));
    }
  }

  /** Changes its input. */
  private static final class Noise implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.addi(RandomUtils.nextFloat());
    }
  }

  /** A list with additional state. */
  private static final class Tagged extends NDList {
    private static final long serialVersionUID = 1;
    private final float tag;

    Tagged(NDArray array, float tag) {
      super(array);
      this.tag = tag;
    }
  }

  /** Makes batches of {@link Tagged} lists. */
  private static final class Tags implements Batchifier {
    private static final long serialVersionUID = 1;

    @Override
    public NDList batchify(NDList[] lists) {
      NDManager manager = lists[0].head().getManager();
      float[] tags = new float[lists.length];
      for (int i = 0; i < lists.length; i++) {
        tags[i] = ((Tagged) lists[i]).tag;
      }
      return new NDList(manager.create(tags));
    }

    @Override
    public NDList[] unbatchify(NDList list) {
      throw new UnsupportedOperationException();
    }

    @Override
    public NDList[] split(NDList list, int count, boolean even) {
      throw new UnsupportedOperationException();
    }
  }

  /** Runs all cases. */
  public static void main(String[] args) throws IOException, TranslateException {
    System.setProperty("scale", args[0]);
    for (String name : FILES) {
      Files.createDirectory(Path.of(name));
      for (Path file : files(name)) {
        Files.writeString(file, "a" + args[0]);
      }
    }
    writeTable(Path.of("one.csv"), 7);
    writeTable(Path.of("two.csv"), 5);
    try (NDManager manager = NDManager.newBaseManager()) {
      for (String name : CASES) {
        run(name, manager);
      }
      for (String name : FILES) {
        run(name, manager);
      }
    }
  }

  /** Writes a table with a modification time old enough for the agent to rely on it. */
  private static void writeTable(Path file, int by) throws IOException {
    List<String> lines = new ArrayList<>(List.of("a,b,c"));
    for (int i = 0; i < SAMPLES; i++) {
      lines.add("word" + i * by % 11 + "," + i * by + "," + i % 2);
    }
    Files.write(file, lines);
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() - 60_000));
  }

  private static void run(String name, NDManager manager) throws IOException, TranslateException {
    System.out.println(name);
    step = 0;
    Engine.getInstance().setRandomSeed(1);
    Set<String> seen = new HashSet<>();
    List<RandomAccessDataset> all = datasets(name);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (RandomAccessDataset data : all) {
        for (Batch batch : data.getData(manager)) {
          String text = text(batch);
          seen.add(text);
          System.out.println(name.equals("identity") ? seen.size() : text);
          NDArray first = batch.getData().head();
          if (first.getDataType() == DataType.FLOAT32 && !first.hasGradient()) {
            first.muli(0);
          }
          batch.close();
          change(name, data);
          if (name.equals("words") && step == 1) {
            break;
          }
        }
      }
    }
    System.out.println("drawn " + RandomUtils.nextInt());
  }

  private static String text(Batch batch) {
    StringBuilder text = new StringBuilder().append(batch.getProgress());
    for (NDList list : List.of(batch.getData(), batch.getLabels())) {
      for (NDArray array : list) {
        CRC32 crc = new CRC32();
        ByteBuffer bytes = array.toByteBuffer();
        crc.update(bytes);
        text.append(array.getName() == null ? " " : " '" + array.getName() + "' ");
        text.append(array.getDataType()).append(array.getShape()).append(array.hasGradient());
        text.append(' ').append(Long.toHexString(crc.getValue()));
      }
    }
    return text.toString();
  }

  /** Changes what the data sets depend on; called after each batch. */
  private static void change(String name, RandomAccessDataset data)
      throws IOException, TranslateException {
    step++;
    WEIGHTS[0]++;
    LIST.add(1f);
    TEXT.append('a');
    HOLDER.climb();
    GROWN.grow();
    LOCAL.set(LOCAL.get() + 1);
    int by = step;
    way = value -> value * by;
    switch (name) {
      case "zone" -> TimeZone.setDefault(TimeZone.getTimeZone("GMT+" + step % 10));
      case "limit" -> Limited.limit((Limited) data, SAMPLES - step);
      case "prepared" -> data.prepare();
      case "helper" -> HELPER.prepare(null);
      case "added column" -> {
        if (step == 4) {
          columns.addNumericFeature("c");
        }
      }
      case "taken column" -> {
        if (step == 4) {
          ((CsvDataset) data).getFeatures().remove(0);
        }
      }
      default -> {
        if (FILES.contains(name)) {
          rewrite(name, files(name).get(step % SAMPLES));
        }
      }
    }
  }

  private static List<Path> files(String name) {
    return IntStream.range(0, SAMPLES).mapToObj(i -> Path.of(name, "part" + i)).toList();
  }

  /** Changes the content of a file, but not its size or modification time. */
  private static void rewrite(String name, Path file) throws IOException {
    String text = "b" + step % 10;
    FileTime time = Files.getLastModifiedTime(file);
    Path other = Path.of(name, "other" + step);
    switch (name) {
      case "linked" -> {
        Files.writeString(other, text);
        Files.delete(file);
        Files.createSymbolicLink(file, other.getFileName());
        Files.setLastModifiedTime(other, time);
      }
      case "renamed" -> {
        Files.writeString(other, text);
        Files.setLastModifiedTime(other, time);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
      }
      case "hard link" -> {
        Files.createLink(other, file);
        Files.writeString(other, text);
        Files.setLastModifiedTime(other, time);
      }
      default -> {
        Files.writeString(file, text);
        Files.setLastModifiedTime(file, time);
      }
    }
  }

  private static DjlSamples.Builder builder() {
    return new DjlSamples.Builder(SAMPLES).setSampling(BATCH, true);
  }

  private static CsvDataset table(
      CsvDataset.CsvBuilder<?> builder, String file, boolean random, Feature... features) {
    return builder
        .optCsvFile(Path.of(file))
        .setCsvFormat(CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get())
        .addFeature(features)
        .addNumericLabel("c")
        .setSampling(BATCH, random)
        .build();
  }

  private static List<RandomAccessDataset> datasets(String name) {
    Feature numeric = new Feature("b", true);
    return switch (name) {
      case "words" ->
          List.of(words(true), words(false)); // Each numbers the words in order of their first use.
      case "shared column" -> {
        Feature shared = new Feature("b", Featurizers.getNumericFeaturizer(true));
        yield List.of(
            table(CsvDataset.builder(), "one.csv", true, shared),
            table(CsvDataset.builder(), "two.csv", false, shared));
      }
      case "added column" -> {
        columns = CsvDataset.builder();
        yield List.of(table(columns, "one.csv", true, numeric));
      }
      case "taken column" ->
          List.of(table(CsvDataset.builder(), "one.csv", true, numeric, new Feature("c", true)));
      case "limits" -> List.of(ofSize(BATCH), ofSize(2 * BATCH));
      default -> List.of(dataset(name));
    };
  }

  private static CsvDataset words(boolean random) {
    Feature words = new Feature("a", Featurizers.getStringFeaturizer(false));
    return table(CsvDataset.builder(), "one.csv", random, words);
  }

  private static Rows ofSize(long limit) {
    return new Rows(builder().optLimit(limit)) {
      @Override
      float of(float value) {
        return value / size();
      }
    };
  }

  private static RandomAccessDataset dataset(String name) {
    return switch (name) {
      case "plain" ->
          new Rows() {
            @Override
            float of(float value) {
              return value;
            }
          };
      case "same array", "same memory" -> new Twice(name.equals("same memory"));
      case "limit" -> new Limited(builder());
      case "size" -> GROWN;
      case "prepared" -> new Prepared();
      case "empty name" ->
          new DjlSamples.Counting(builder()) {
            @Override
            public Record get(NDManager manager, long index) {
              NDArray array = manager.create(new float[] {index, 1});
              array.setName("");
              return new Record(new NDList(array), new NDList(manager.create(index)));
            }
          };
      case "own list" ->
          new DjlSamples.Counting(builder().optDataBatchifier(new Tags())) {
            @Override
            public Record get(NDManager manager, long index) {
              NDArray array = manager.create(index);
              return new Record(new Tagged(array, index * 2f), new NDList(array.add(1)));
            }
          };
      case "kinds" ->
          new DjlSamples.Counting(builder()) {
            @Override
            public Record get(NDManager manager, long index) {
              NDArray array = manager.create(new float[] {index, 0, -index, 0.5f});
              NDList list = new NDList();
              for (DataType type :
                  List.of(
                      DataType.FLOAT32,
                      DataType.BOOLEAN,
                      DataType.INT8,
                      DataType.INT64,
                      DataType.FLOAT16,
                      DataType.FLOAT64)) {
                list.add(array.toType(type, true));
              }
              return new Record(list, new NDList());
            }
          };
      case "gradient" ->
          new DjlSamples.Counting(builder()) {
            @Override
            public Record get(NDManager manager, long index) {
              NDArray array = manager.create(new float[] {index, 1});
              array.setRequiresGradient(true);
              return new Record(new NDList(array.mul(2)), new NDList(manager.create(index)));
            }
          };
      case "identity" ->
          new DjlSamples.Counting(builder().setSampling(BATCH, false)) {
            @Override
            public Record get(NDManager manager, long index) {
              NDArray array = manager.create(index);
              return new Record(
                  new NDList(manager.create(array.getUid().hashCode())), new NDList(array));
            }
          };
      case "zone" ->
          new Rows() {
            @Override
            float of(float value) {
              return value + String.format(Locale.ROOT, "%tH", 0L).hashCode();
            }
          };
      case "charset" ->
          new Rows() {
            private final byte[] letter = {(byte) 0xc3, (byte) 0xa9};

            @Override
            float of(float value) {
              return value + new String(letter.clone()).length();
            }
          };
      case "helper" ->
          new Rows() {
            private final Helper helper = HELPER;

            @Override
            float of(float value) {
              return value + helper.prepared;
            }
          };
      case "nested" ->
          new DjlSamples.Counting(builder()) {
            private final Grown inner = GROWN;

            @Override
            public Record get(NDManager manager, long index) throws IOException {
              return inner.get(manager, index);
            }
          };
      case "static" ->
          new Rows() {
            @Override
            float of(float value) {
              return value + step;
            }
          };
      case "holder" ->
          new Rows() {
            private final Holder holder = HOLDER;

            @Override
            float of(float value) {
              return value * holder.height;
            }
          };
      case "local" ->
          new Rows() {
            @Override
            float of(float value) {
              return value + LOCAL.get();
            }
          };
      case "implementation" ->
          new Rows() {
            @Override
            float of(float value) {
              return way.of(value);
            }
          };
      case "lambda" ->
          new Rows() {
            private final UnaryOperator<Float> longer = value -> value + LIST.size();

            @Override
            float of(float value) {
              return longer.apply(value);
            }
          };
      case "captured array" -> {
        float[] weights = WEIGHTS;
        yield new Rows() {
          @Override
          float of(float value) {
            return value * weights[0];
          }
        };
      }
      case "array in a record" ->
          new Rows() {
            private final Weights weights = new Weights(WEIGHTS);

            @Override
            float of(float value) {
              return value * weights.all[0];
            }
          };
      case "array in an optional" ->
          new Rows() {
            @SuppressWarnings("OptionalUsedAsFieldOrParameterType")
            private final Optional<float[]> weights = Optional.of(WEIGHTS);

            @Override
            float of(float value) {
              return value * weights.orElseThrow()[0];
            }
          };
      case "view" ->
          new Rows() {
            private final List<Float> seen = Collections.unmodifiableList(LIST);

            @Override
            float of(float value) {
              return value + seen.size();
            }
          };
      case "text" ->
          new Rows() {
            private final CharSequence text = TEXT;

            @Override
            float of(float value) {
              return value + text.length();
            }
          };
      case "enumeration" ->
          new Rows() {
            private final Scale scale = Scale.ONE;

            @Override
            float of(float value) {
              return value * scale.by;
            }
          };
      case "counter" ->
          new Rows() {
            private int calls;

            @Override
            float of(float value) {
              calls++;
              return value + calls;
            }
          };
      default ->
          new DjlSamples.Counting(builder()) {
            private final List<Path> files = List.copyOf(files(name));

            @Override
            public Record get(NDManager manager, long index) throws IOException {
              String text = Files.readString(files.get(Math.toIntExact(index)));
              return new Record(
                  new NDList(manager.create(text.hashCode())), new NDList(manager.create(index)));
            }
          };
    };
  }
}
