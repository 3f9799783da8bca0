package example.prepared;

import example.prepared.OwnIterators.Rows;
import example.prepared.OwnIterators.Way;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import javax.script.SimpleBindings;
import org.datavec.api.writable.IntWritable;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/**
 * Iterators that depend on state that an agent may miss, and a loop that changes it. Arguments:
 * {@code TABLE JOB}; jobs differ by the number JOB, and each has its files in its own working
 * directory. Prints each batch.
 */
@SuppressWarnings({"serial", "ReferenceEquality"}) // None is serialized; array identity matters.
public final class HostileIterators {
  /** Number of batches so far in the current case. */
  private static int step;

  private static Path table = Path.of("");
  private static int job;

  private static final List<String> CASES =
      List.of(
          ("plain,static preprocessor,static number,inherited setting,inherited number"
                  + ",comparator,bindings,quoted,none,kinds,enumerations,collections,orders"
                  + ",threads,kernel,tick,link,missing,directory,late,shuffled,failing"
                  + ",prefetching,boxed,equals,same array,property,captured array,view,row"
                  + ",constant,holder,reader,enumeration,record,format,zone,local,asynchronous")
              .split(",", -1));

  private static final Map<String, Object> BOUND = new HashMap<>();
  private static final float[] WEIGHTS = {1};
  private static final List<Float> LIST = new ArrayList<>();

  private HostileIterators() {}

  /** Separate from the outer class, which is initialised before any case runs. */
  private static final class Apart {
    static final DataSetPreProcessor SCALER = new ImagePreProcessingScaler(0, 1);
    static final Setting SETTING = new Setting();
    static final Comparator<String> ORDER = (a, b) -> step % 2 == 0 ? a.compareTo(b) : 1;
    static final Holder HOLDER = new Holder();
    static final Reader READER = new Reader();
    static final ThreadLocal<Integer> LOCAL = ThreadLocal.withInitial(() -> 0);
  }

  private static final class Moved {
    static final Shift SHIFT = new Shift();
  }

  /** Inherits settable state. */
  private static final class Setting extends ImagePreProcessingScaler {}

  private record Part(DataSetPreProcessor scaler) {}

  private static final class Shift extends IntWritable {}

  private enum Plus implements Way {
    ONE;

    @Override
    public float of(float value) {
      return value + 1;
    }
  }

  private enum Times implements Way {
    ONE;

    @Override
    public float of(float value) {
      return value * -1;
    }
  }

  @SuppressWarnings("ImmutableEnumChecker")
  private enum Level {
    ONE;
    private int height;

    void climb() {
      height++;
    }
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Weights(float[] all) {}

  /** Initialised when the last batch of an epoch is produced. */
  private static final class Late {
    static final int SHIFT = number(Path.of("late"));
  }

  private interface Shared {
    List<Float> ALL = new ArrayList<>();
  }

  private static final class Holder {
    private Way way = Plus.ONE;

    void turn() {
      way = way == Plus.ONE ? Times.ONE : Plus.ONE;
    }
  }

  private static final class Reader {
    private int place;

    int next() {
      return place++;
    }
  }

  /** Fails on request. */
  private static final class Failing extends Rows {
    boolean fails;

    Failing(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      DataSet batch = super.next(count);
      if (fails) {
        throw new IllegalStateException("as requested");
      }
      return batch;
    }
  }

  /** Has a field that references another object after each batch. */
  private static final class Boxed extends Rows {
    private Integer batches = 1000;

    Boxed(Path table) {
      super(table);
    }

    @Override
    public DataSet next(int count) {
      batches = batches + 1;
      return super.next(count);
    }
  }

  /** Has a constant that depends on a system property of the job. */
  private static final class OfProperty extends Rows {
    private static final int SCALE = Integer.getInteger("scale", 1);

    OfProperty(Path table) {
      super(table);
    }

    @Override
    float of(float value) {
      return value * SCALE;
    }
  }

  /** Throws if it is compared or hashed. */
  private static final class Lonely extends Rows {
    Lonely(Path table) {
      super(table);
    }

    @Override
    public boolean equals(Object other) {
      throw new IllegalStateException("compared");
    }

    @Override
    public int hashCode() {
      throw new IllegalStateException("hashed");
    }
  }

  static int number(Path file) {
    try {
      return Files.readString(file).hashCode() % 1000;
    } catch (NoSuchFileException e) {
      return -1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs all cases. */
  public static void main(String[] args) throws IOException {
    System.setProperty("scale", args[1]);
    table = Path.of(args[0]);
    job = Integer.parseInt(args[1]);
    for (String name : CASES) {
      run(name);
    }
    System.out.println("collected " + collectUnreachable());
  }

  private static void run(String name) throws IOException {
    System.out.println(name);
    prepare();
    Rows rows = rows(name, 0);
    for (int epoch = 1; epoch <= 3; epoch++) {
      if (name.matches("quoted|none|kinds|enumerations|collections|orders|boxed")) {
        rows = rows(name, epoch + job);
      }
      DataSetIterator taken =
          name.equals("asynchronous") ? new AsyncDataSetIterator(rows, 2) : rows;
      for (int i = 0; i < 4 && taken.hasNext(); i++) {
        try {
          DataSet batch = taken.next();
          Dl4jSamples.print(batch);
          System.out.println(batch.getLabels() == batch.getFeatures());
          batch.getFeatures().muli(0);
        } catch (IllegalStateException e) {
          System.out.println(e.getMessage());
        }
        change(name, rows);
      }
      rows.reset(); // The asynchronous iterator has ended.
    }
  }

  /** Resets some of the state, and writes the initial files of all cases. */
  private static void prepare() throws IOException {
    step = 0;
    WEIGHTS[0] = 1;
    LIST.clear();
    BOUND.put("a", 1f);
    for (int i = 0; i < 8; i++) {
      Files.writeString(Path.of("part" + i), "a" + i);
    }
    Files.deleteIfExists(Path.of("link"));
    Files.createSymbolicLink(Path.of("link"), Path.of("part0"));
    for (String name : List.of("tick", "late", "comm")) {
      Files.writeString(Path.of(name), "a0");
    }
    List<String> lines = new ArrayList<>(Files.readAllLines(table));
    Collections.rotate(lines, job);
    Files.write(Path.of("own.csv"), lines);
  }

  /** Changes what the iterators depend on; called after each batch. */
  private static void change(String name, Rows rows) throws IOException {
    step++;
    ((ImagePreProcessingScaler) Apart.SCALER).setMaxRange(step + 1);
    Apart.SETTING.setMaxRange(step + 1);
    Moved.SHIFT.set(step);
    BOUND.put("a", (float) step);
    WEIGHTS[0]++;
    LIST.add(1f);
    Shared.ALL.add(1f);
    Apart.HOLDER.turn();
    Apart.READER.next();
    Level.ONE.climb();
    Apart.LOCAL.set(step);
    Files.writeString(Path.of("part" + step % 8), "b" + step % 10);
    Files.writeString(Path.of("late"), "b" + step % 10);
    switch (name) {
      case "kernel" -> Files.writeString(Path.of("/proc/self/comm"), "a" + step % 10);
      case "tick" -> {
        Files.writeString(Path.of("tick"), "b" + step % 10);
        rows.reset();
      }
      case "link" -> {
        Files.delete(Path.of("link"));
        Files.createSymbolicLink(Path.of("link"), Path.of("part" + step % 8));
      }
      case "missing" -> {
        if (!Files.deleteIfExists(Path.of("comm"))) {
          Files.writeString(Path.of("comm"), "a0");
        }
      }
      case "failing" -> ((Failing) rows).fails = step % 3 == 1;
      case "zone" -> TimeZone.setDefault(TimeZone.getTimeZone("GMT+" + step));
      case "format" -> Locale.setDefault(step % 2 == 0 ? Locale.ROOT : Locale.GERMANY);
      default -> {}
    }
  }

  /** Makes iterators unreachable; returns whether the garbage collector collects all of them. */
  private static boolean collectUnreachable() {
    List<WeakReference<Rows>> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(used(i % 2 == 0 ? new Boxed(table) : new Rows(table)));
    }
    for (int i = 0; i < 50 && all.stream().anyMatch(reference -> reference.get() != null); i++) {
      System.gc();
    }
    return all.stream().allMatch(reference -> reference.get() == null);
  }

  private static WeakReference<Rows> used(Rows rows) {
    rows.next(1);
    return new WeakReference<>(rows);
  }

  private static Rows rows(String name, int epoch) {
    boolean turned = epoch % 2 == 0;
    return switch (name) {
      case "static preprocessor" ->
          new Rows(table) {
            @Override
            public DataSet next(int count) {
              DataSet batch = super.next(count);
              Apart.SCALER.preProcess(batch);
              return batch;
            }
          };
      case "static number" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return value + Moved.SHIFT.get();
            }
          };
      case "inherited setting" ->
          new Rows(table) {
            private final Part part = new Part(Apart.SETTING);

            @Override
            public DataSet next(int count) {
              DataSet batch = super.next(count);
              part.scaler.preProcess(batch);
              return batch;
            }
          };
      case "inherited number" ->
          new Rows(table) {
            private final IntWritable shift = Moved.SHIFT;

            @Override
            float of(float value) {
              return value + shift.get();
            }
          };
      case "comparator" ->
          new Rows(table) {
            private final Map<String, Float> steps = new TreeMap<>(Apart.ORDER);

            {
              steps.put("a", 2f);
              steps.put("b", 3f);
            }

            @Override
            float of(float value) {
              return value * steps.getOrDefault("a", 5f);
            }
          };
      case "bindings" ->
          new Rows(table) {
            private final Map<String, Object> bound = new SimpleBindings(BOUND);

            @Override
            float of(float value) {
              return value * (Float) bound.get("a");
            }
          };
      case "quoted" ->
          new Rows(table) {
            private final List<String> words = turned ? List.of("a, b") : List.of("a", "b");

            @Override
            float of(float value) {
              return value * words.size();
            }
          };
      case "none" ->
          new Rows(table) {
            private final Object word = turned ? "none" : null;

            @Override
            float of(float value) {
              return word == null ? value : -value;
            }
          };
      case "kinds" ->
          new Rows(table) {
            private final Object kind = turned ? "1" : (Object) 1;

            @Override
            float of(float value) {
              return kind instanceof Integer ? value : -value;
            }
          };
      case "enumerations" ->
          new Rows(table) {
            private final Way way = turned ? Plus.ONE : Times.ONE;

            @Override
            float of(float value) {
              return way.of(value);
            }
          };
      case "collections" ->
          new Rows(table) {
            private final Collection<Integer> numbers =
                turned ? new ArrayList<>(List.of(1)) : new LinkedHashSet<>(List.of(1));

            @Override
            float of(float value) {
              return numbers instanceof List ? value : -value;
            }
          };
      case "orders" ->
          new Rows(table) {
            // Equal hash codes, so iteration is in insertion order.
            private final Map<String, Float> steps = new HashMap<>();

            {
              steps.put(turned ? "Aa" : "BB", turned ? 2f : 3f);
              steps.put(turned ? "BB" : "Aa", turned ? 3f : 2f);
            }

            @Override
            float of(float value) {
              float now = value;
              for (float by : steps.values()) {
                now = now * by + 1;
              }
              return now;
            }
          };
      case "threads" ->
          new Rows(table) {
            private final List<Path> parts =
                IntStream.range(0, 8).mapToObj(i -> Path.of("part" + i)).toList();

            @Override
            public DataSet next(int count) {
              DataSet batch = super.next(count);
              batch
                  .getFeatures()
                  .addi(
                      StreamSupport.stream(parts.spliterator(), true)
                          .mapToInt(HostileIterators::number)
                          .sum());
              return batch;
            }
          };
      case "kernel" -> ofFile("/proc/self/comm");
      case "tick", "link" -> ofFile(name);
      case "missing" -> ofFile("comm");
      case "directory" ->
          new Rows(table) {
            @Override
            BufferedReader open() throws IOException {
              return Files.newBufferedReader(Path.of("own.csv"));
            }
          };
      case "late" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return value >= 64 ? value + Late.SHIFT : value;
            }
          };
      case "shuffled" ->
          new Rows(table) {
            private int epochs;
            private int[] order = {0};

            @Override
            float of(float value) {
              return value + order[0];
            }

            @Override
            public void reset() {
              epochs++;
              int[] fresh = {epochs % 2};
              order = fresh;
              super.reset();
            }
          };
      case "failing" -> new Failing(table);
      case "prefetching" ->
          new Rows(table) {
            private DataSet ready;

            @Override
            public boolean hasNext() {
              if (ready == null && super.hasNext()) {
                ready = super.next(32);
              }
              return ready != null;
            }

            @Override
            public DataSet next() {
              DataSet batch = ready;
              ready = null;
              return batch;
            }
          };
      case "boxed" -> new Boxed(table);
      case "equals" -> new Lonely(table);
      case "same array" ->
          new Rows(table) {
            @Override
            public DataSet next(int count) {
              DataSet batch = super.next(count);
              batch.setLabels(batch.getFeatures());
              return batch;
            }
          };
      case "property" -> new OfProperty(table);
      case "captured array" -> {
        float[] weights = WEIGHTS;
        yield new Rows(table) {
          @Override
          float of(float value) {
            return value * weights[0];
          }
        };
      }
      case "view" ->
          new Rows(table) {
            private final List<Float> seen = Collections.unmodifiableList(LIST);

            @Override
            float of(float value) {
              return value + seen.size();
            }
          };
      case "row" ->
          new Rows(table) {
            private final List<float[]> rows = List.of(WEIGHTS);

            @Override
            float of(float value) {
              return value * rows.get(0)[0];
            }
          };
      case "constant" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return value + Shared.ALL.size();
            }
          };
      case "holder" ->
          new Rows(table) {
            private final Holder holder = Apart.HOLDER;

            @Override
            float of(float value) {
              return holder.way.of(value);
            }
          };
      case "reader" ->
          new Rows(table) {
            private final Reader reader = Apart.READER;

            @Override
            float of(float value) {
              return value + reader.next();
            }
          };
      case "enumeration" ->
          new Rows(table) {
            private final Level level = Level.ONE;

            @Override
            float of(float value) {
              return value + level.height;
            }
          };
      case "record" ->
          new Rows(table) {
            private final Weights weights = new Weights(WEIGHTS);

            @Override
            float of(float value) {
              return value * weights.all[0];
            }
          };
      case "format" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return String.format("%.1f", value).contains(",") ? value : -value;
            }
          };
      case "zone" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return value * String.format(Locale.ROOT, "%tH", (long) value).hashCode();
            }
          };
      case "local" ->
          new Rows(table) {
            @Override
            float of(float value) {
              return value + Apart.LOCAL.get();
            }
          };
      default -> new Rows(table);
    };
  }

  private static Rows ofFile(String name) {
    return new Rows(table) {
      private final Path file = Path.of(name);

      @Override
      public DataSet next(int count) {
        DataSet batch = super.next(count);
        batch.getFeatures().addi(number(file));
        return batch;
      }
    };
  }
}
