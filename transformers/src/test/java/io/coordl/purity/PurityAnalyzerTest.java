package io.coordl.purity;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.ForkableRandom;
import java.io.BufferedReader;
import java.io.File;
import java.io.StringReader;
import java.time.LocalDate;
import java.time.chrono.JapaneseDate;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.ConcurrentModificationException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which code may run early, which is refused, and with which message. */
class PurityAnalyzerTest {
  /** For a library whose classes are all closed and whose methods are all known. */
  static final PurityAnalyzer CODE = new PurityAnalyzer("org.jspecify.", new Everything(false));

  /** The assumptions of {@link #CODE}; only {@code prepare} is announced. */
  record Everything(boolean comparesFields) implements PurityAnalyzer.Known {
    @Override
    public boolean isClosed(Class<?> type) {
      return true;
    }

    @Override
    public boolean isAnnounced(String method, String descriptor) {
      return method.equals("prepare");
    }

    @Override
    public boolean isKnown(String owner, String method) {
      return true;
    }
  }

  /** A part of a pipeline. */
  interface Part {
    float apply(float value);
  }

  static List<Object> known() {
    return Arrays.asList(
        null,
        "text",
        List.of(1, 2),
        new int[] {1},
        new Plain(2),
        new Made(),
        new KeepsItsOrder(),
        new Reads(Map.of("a", 1f)),
        new Local(),
        new Prepared(),
        new Through(List.of(new Plain(3))),
        new OfLibrary(new ForkableRandom()),
        (Part) value -> value * 2,
        OfAProperty.part(),
        new Lists(),
        new Sorts(),
        new SortsLocally(),
        new FillsNewObjects(),
        new NamesFiles("a"),
        new DrawsFromSeed(),
        new ParsesDates(),
        new Switches());
  }

  /** An object with state of its own. */
  static final class Totals {
    final List<Float> values = new ArrayList<>();
    float[] last = new float[1];
    int count;

    float add(float value) {
      values.add(value);
      last[0] = value;
      return ++count;
    }
  }

  /** Changes only objects that exist during the call. */
  static final class FillsNewObjects implements Part {
    @Override
    public float apply(float value) {
      Totals totals = new Totals();
      totals.add(value);
      totals.last = new float[2];
      return totals.add(2 * value) + totals.values.size() + totals.last[0];
    }
  }

  /** Also keeps such an object. */
  static final class FillsItsObject implements Part {
    private final Totals totals = new Totals();

    @Override
    public float apply(float value) {
      return totals.add(value) + new Totals().add(value);
    }
  }

  /** Such an object may share the list of another one. */
  static final class FillsItsList implements Part {
    static final class Filler {
      private final List<Float> into;

      Filler(List<Float> into) {
        this.into = into;
      }

      void add(float value) {
        into.add(value);
      }
    }

    private final List<Float> kept = new ArrayList<>();

    @Override
    public float apply(float value) {
      new Filler(kept).add(value);
      return kept.size();
    }
  }

  /** Formats strings and numbers in the root locale. */
  record NamesFiles(String name) implements Part {
    @Override
    public float apply(float value) {
      return String.format(Locale.ROOT, "%s-%05d", name, (int) value).length();
    }
  }

  /** Uses collections in the order of a comparator. */
  static final class SortsLocally implements Part {
    @Override
    public float apply(float value) {
      Comparator<String> lengths = Comparator.comparing(String::length);
      TreeMap<String, Float> byName = new TreeMap<>();
      byName.put("a", value);
      TreeMap<String, Float> byLength = new TreeMap<>(lengths.thenComparing(t -> t));
      byLength.putAll(byName);
      return byLength.firstEntry().getValue() + byName.headMap("b").size();
    }
  }

  static final class ChangesMap implements Part {
    private final TreeMap<Float, Float> sums = new TreeMap<>();

    @Override
    public float apply(float value) {
      sums.put(value, value);
      return sums.size();
    }
  }

  /** Changes its map through a view. */
  static final class ShowsMap implements Part {
    private final TreeMap<Float, Float> sums = new TreeMap<>(Map.of(1f, 2f));

    @Override
    public float apply(float value) {
      sums.headMap(value).clear();
      return value;
    }
  }

  static final class DrawsUnseeded implements Part {
    @Override
    public float apply(float value) {
      return new Random().nextFloat();
    }
  }

  /** A generator that another method created may be in use elsewhere. */
  static final class SeedsOther implements Part {
    @Override
    public float apply(float value) {
      return draw(new Random(1));
    }

    private static float draw(Random random) {
      return random.nextFloat();
    }
  }

  static final class DrawsFromSeed implements Part {
    @Override
    public float apply(float value) {
      Random random = new Random((long) value);
      return random.nextFloat() + new Random(7).nextInt(3);
    }
  }

  static final class ParsesDates implements Part {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("dd.MM.yyyy");

    @Override
    public float apply(float value) {
      LocalDate day = LocalDate.parse("01.02.2003", DAY);
      return value + day.getDayOfYear() + DAY.format(day).length();
    }
  }

  /** The formatter may contain fields of the program. */
  record HoldsFormatter(DateTimeFormatter formatter) implements Part {
    @Override
    public float apply(float value) {
      return LocalDate.parse("2001-02-03", formatter).getDayOfYear();
    }
  }

  /** Dates of other calendars may contain objects of the program. */
  record KeepsCalendar(TemporalAccessor date) implements Part {
    @Override
    public float apply(float value) {
      return date.get(ChronoField.DAY_OF_MONTH);
    }
  }

  static final class Interns implements Part {
    @Override
    public float apply(float value) {
      String text = new String("a");
      return text.intern().length();
    }
  }

  static final class FormatsByReference implements Part {
    @Override
    public float apply(float value) {
      BiFunction<String, Object[], String> format = String::format;
      return format.apply("%tH", new Object[] {0L}).length();
    }
  }

  static final class FormatsInException implements Part {
    @Override
    public float apply(float value) {
      return new IllegalStateException(String.format(Locale.ROOT, "%tH", 0L)).getMessage().length();
    }
  }

  /** A {@code Random} has no text of its own. */
  static final class ShowsGenerator implements Part {
    @Override
    public float apply(float value) {
      return ("" + new Random(1)).hashCode();
    }
  }

  /** Holds an array that no other code can reach. */
  static final class Lists implements Part {
    private final File @Nullable [] files = new File(".").listFiles();

    @Override
    public float apply(float value) {
      return files == null ? value : value + files.length;
    }
  }

  /** Sorts an array and a list before any other code can reach them. */
  static final class Sorts implements Part {
    private final File[] files;
    private final List<String> names = new ArrayList<>();
    private final List<Integer> sizes;

    Sorts() {
      File[] found = new File(".").listFiles();
      files = found == null ? new File[0] : found;
      Arrays.sort(files, Comparator.comparing(File::getName));
      for (File file : files) {
        names.add(file.getName());
      }
      Collections.sort(names);
      sizes = names.stream().map(String::length).sorted().collect(Collectors.toList());
    }

    @Override
    public float apply(float value) {
      return value + files.length + names.get(0).length() + sizes.get(0);
    }
  }

  /** Sorts its array again later. */
  static final class SortsLater implements Part {
    private final int[] order = {3, 1, 2};

    @Override
    public float apply(float value) {
      float first = value * order[0];
      Arrays.sort(order);
      return first;
    }
  }

  /** Collects into a list that other code has, too. */
  static final class CollectsInto implements Part {
    static final List<Integer> SHARED = new ArrayList<>();
    private final List<Integer> sizes;

    CollectsInto() {
      sizes =
          Stream.of("a", "b").map(String::length).collect(Collectors.toCollection(() -> SHARED));
    }

    @Override
    public float apply(float value) {
      return value + sizes.get(0);
    }
  }

  /** The class initialiser has run before the lambda is made. */
  static final class OfAProperty {
    static final int SIZE = Integer.getInteger("size", 3);

    private OfAProperty() {}

    static Part part() {
      return value -> value * SIZE;
    }
  }

  static final class DrawingLambda {
    static final Part PART = value -> value + (float) Math.random();
  }

  private static Part ofArray(float[] factors) {
    return value -> value * factors[0];
  }

  @ParameterizedTest
  @MethodSource("known")
  void knownPartMayRunEarly(@Nullable Object part) {
    assertThat(CODE.reasonToLeave(Collections.singletonList(part))).isNull();
  }

  static List<Object[]> left() {
    return List.of(
        new Object[] {new OwnRandom(), "OwnRandom keeps an object of class java.util.Random"},
        new Object[] {
          new Through(List.of(new OwnRandom())),
          "OwnRandom keeps an object of class java.util.Random"
        },
        new Object[] {new Draws(), "Draws.apply uses java.lang.Math.random"},
        new Object[] {new DrawsLocally(), "uses java.util.concurrent.ThreadLocalRandom"},
        new Object[] {new DrawsDeep(), "Helper.draw uses java.util.Random"},
        new Object[] {new DrawsInLambda(), "uses java.lang.Math.random"},
        new Object[] {new DrawsAbove(), "DrawsBase.above uses java.lang.Math.random"},
        new Object[] {new MakesDrawing(), "Draws.apply uses java.lang.Math.random"},
        new Object[] {new Shuffles(), "uses java.util.Collections.shuffle"},
        new Object[] {new Counts(), "Counts.apply sets its field calls"},
        new Object[] {new CountsStatically(), "CountsStatically.apply sets its field calls"},
        new Object[] {new CountsInArray(), "CountsInArray.apply may change an array it keeps"},
        new Object[] {new CountsInMap(), "CountsInMap.apply may change a collection it keeps"},
        new Object[] {
          new Remembers(), "Remembers keeps a map in access order, which changes when it is read"
        },
        new Object[] {new CountsAtomically(), "java.util.concurrent.atomic.AtomicInteger"},
        new Object[] {new ReadsOn(), "ReadsOn keeps an object of class java.io.BufferedReader"},
        new Object[] {new Prints(), "Prints.apply uses java.io.PrintStream"},
        new Object[] {new Locks(), "Locks.apply uses a lock"},
        new Object[] {
          new SetByUpdater.Factor(),
          "Factor.factor, which java.util.concurrent.atomic.AtomicIntegerFieldUpdater may set"
        },
        new Object[] {
          new InAnArrayThatIsShown(),
          "InAnArrayThatIsShown.apply reads "
              + InAnArrayThatIsShown.class.getName()
              + ".factors, an array that "
              + InAnArrayThatIsShown.class.getName()
              + ".<init> receives from or passes to other code"
        },
        new Object[] {
          new CollectsInto(),
          "CollectsInto.apply reads "
              + CollectsInto.class.getName()
              + ".sizes, a collection that "
              + CollectsInto.class.getName()
              + ".<init> receives from or passes to other code"
        },
        new Object[] {
          new SortsLater(),
          "SortsLater.apply reads "
              + SortsLater.class.getName()
              + ".order, an array that "
              + SortsLater.class.getName()
              + ".apply may change"
        },
        new Object[] {
          new Compares(),
          "Compares keeps an object of class java.util.TreeMap, whose order other code may"
              + " determine"
        },
        new Object[] {
          new HoldsFormatter(DateTimeFormatter.ISO_DATE),
          "HoldsFormatter keeps an object of class java.time.format.DateTimeFormatter"
        },
        new Object[] {new KeepsCalendar(JapaneseDate.of(2001, 2, 3)), "java.time.chrono.Japanese"},
        new Object[] {new Interns(), "uses java.lang.String.intern"},
        new Object[] {new FormatsByReference(), "uses java.lang.String.format"},
        new Object[] {new FormatsInException(), "uses java.lang.String.format"},
        new Object[] {new ShowsGenerator(), "depends on the identity hash code"},
        new Object[] {new FillsItsObject(), "Totals.add sets its field count"},
        new Object[] {new FillsItsList(), "Filler.add may change a collection it keeps"},
        new Object[] {new ChangesMap(), "ChangesMap.apply may change a collection it keeps"},
        new Object[] {new ShowsMap(), "ShowsMap.apply passes to other code"},
        new Object[] {new DrawsUnseeded(), "DrawsUnseeded.apply uses java.util.Random.<init>"},
        new Object[] {new SeedsOther(), "SeedsOther.draw uses java.util.Random.nextFloat"},
        new Object[] {new OfAnEnumSet(), "OfAnEnumSet.apply uses java.util.EnumSet.allOf"},
        new Object[] {new NamesMonths(), "java.time.format.DateTimeFormatter.ofPattern"},
        new Object[] {
          new OfALazyClass(), "Lazy.<clinit> reads " + Eager.class.getName() + ".factor, which is"
        },
        new Object[] {new LocksWhole(), "LocksWhole.apply uses a lock"},
        new Object[] {new Clock(), "uses java.lang.System.nanoTime"},
        new Object[] {DrawingLambda.PART, "uses java.lang.Math.random"},
        new Object[] {
          ofArray(new float[] {1}), "a lambda (io.coordl.purity.PurityAnalyzerTest) that"
        },
        new Object[] {new Native(), "Native.apply is native"});
  }

  @ParameterizedTest
  @MethodSource("left")
  void impurePartIsLeftAloneAndTheReasonIsGiven(Object part, String why) {
    assertThat(CODE.reasonToLeave(List.of("before", part))).contains(why);
  }

  /** The proof reads collections that the program's thread may change at the same time. */
  @Test
  void collectionsThatAnotherThreadChangesAreReadAgain() {
    List<Object> part = List.of(new Plain(2));
    assertThat(new PurityAnalyzer("", changed(3)).reasonToLeave(part)).isNull();
    assertThat(new PurityAnalyzer("", changed(Integer.MAX_VALUE)).reasonToLeave(part))
        .isEqualTo("another thread changes one of its collections");
  }

  /** Fails the first {@code times} attempts, as a collection does that changes meanwhile. */
  private static PurityAnalyzer.Known changed(int times) {
    AtomicInteger left = new AtomicInteger(times);
    return new PurityAnalyzer.Known() {
      @Override
      public boolean isOfLibrary(String className) {
        if (left.getAndDecrement() > 0) {
          throw new ConcurrentModificationException();
        }
        return false;
      }

      @Override
      public boolean isClosed(Class<?> declaring) {
        return false;
      }

      @Override
      public boolean isKnown(String owner, String method) {
        return false;
      }
    };
  }

  /** Two jobs may iterate over equal sets in different orders, even if no field holds a set. */
  @Test
  void ordersThatDependOnTheProcessAreDetected() {
    assertThat(ordersByProcess(new OfASet())).isTrue();
    assertThat(ordersByProcess(new OfConstants())).isTrue();
    assertThat(ordersByProcess(new OfAnAddress())).isTrue();
    assertThat(ordersByProcess(new Plain(2))).isFalse();
    assertThat(ordersByProcess(new Local())).isFalse();
  }

  private static boolean ordersByProcess(Part part) {
    PurityAnalyzer.Proof proof = CODE.prove(List.of(part));
    assertThat(proof.reason()).isNull();
    return proof.ordersByProcess();
  }

  /** Without {@code toString()}, the text of an object differs between processes. */
  static final class OfAnAddress implements Part {
    private final DrawsBase bare = new DrawsBase();

    @Override
    public float apply(float value) {
      return value + ("" + bare).length() + String.valueOf(bare).hashCode();
    }
  }

  static final class OfASet implements Part {
    @Override
    public float apply(float value) {
      float now = value;
      for (float factor : Set.of(2f, 3f)) {
        now = now * factor + 1;
      }
      return now;
    }
  }

  enum Step {
    ADD,
    DOUBLE
  }

  static final class OfConstants implements Part {
    private final Step first = Step.ADD;

    @Override
    public float apply(float value) {
      Map<Step, Float> factors = new HashMap<>();
      factors.put(first, value);
      factors.put(Step.DOUBLE, 2f);
      return factors.values().iterator().next();
    }
  }

  record Plain(float factor) implements Part {
    @Override
    public float apply(float value) {
      return value * factor;
    }
  }

  /** Creates objects. */
  static final class Made implements Part {
    @Override
    public float apply(float value) {
      UnaryOperator<Float> twice = v -> v * 2;
      return new Plain(3).apply(twice.apply(value)) + ("a" + value).length();
    }
  }

  record Reads(Map<String, Float> factors) implements Part {
    @Override
    public float apply(float value) {
      return value * factors.get("a");
    }
  }

  /** Changes only its local objects. */
  static final class Local implements Part {
    @Override
    public float apply(float value) {
      float[] values = new float[3];
      values[1] = value;
      List<Float> list = new ArrayList<>();
      list.add(value);
      return values[1] + list.get(0);
    }
  }

  /** The program prepares it before an epoch. */
  static final class Prepared implements Part {
    private float factor;

    void prepare() {
      factor = 2;
    }

    @Override
    public float apply(float value) {
      return value * factor;
    }
  }

  record Through(List<Part> parts) implements Part {
    @Override
    public float apply(float value) {
      return parts.get(0).apply(value);
    }
  }

  /** Holds the library's generator. */
  static final class OfLibrary {
    final Random random;

    OfLibrary(Random random) {
      this.random = random;
    }
  }

  static final class Switches implements Part {
    @Override
    public float apply(float value) {
      return switch (Float.toString(value)) {
        case "1.0" -> 2;
        default -> 3;
      };
    }
  }

  static final class OwnRandom implements Part {
    private final Random random = new Random(1);

    @Override
    public float apply(float value) {
      return value * (random == null ? 1 : 2);
    }
  }

  static final class Draws implements Part {
    @Override
    public float apply(float value) {
      return value * (float) Math.random();
    }
  }

  static final class DrawsLocally implements Part {
    @Override
    public float apply(float value) {
      return value * ThreadLocalRandom.current().nextFloat();
    }
  }

  static final class Helper {
    static float draw() {
      return new Random().nextFloat();
    }
  }

  static final class DrawsDeep implements Part {
    @Override
    public float apply(float value) {
      return value * Helper.draw();
    }
  }

  static final class DrawsInLambda implements Part {
    @Override
    public float apply(float value) {
      UnaryOperator<Float> noise = v -> v * (float) Math.random();
      return noise.apply(value);
    }
  }

  static class DrawsBase {
    float above() {
      return (float) Math.random();
    }
  }

  static final class DrawsAbove extends DrawsBase implements Part {
    @Override
    public float apply(float value) {
      return value * above();
    }
  }

  static final class MakesDrawing implements Part {
    @Override
    public float apply(float value) {
      Part part = new Draws();
      return part.apply(value);
    }
  }

  static final class Shuffles implements Part {
    @Override
    public float apply(float value) {
      List<Float> list = new ArrayList<>(List.of(value, 2f));
      Collections.shuffle(list);
      return list.get(0);
    }
  }

  static final class Counts implements Part {
    private int calls;

    @Override
    public float apply(float value) {
      calls++;
      return value * calls;
    }
  }

  static final class CountsStatically implements Part {
    private static int calls;

    @Override
    public float apply(float value) {
      calls++;
      return value * calls;
    }
  }

  static final class CountsInArray implements Part {
    private final int[] calls = new int[1];

    @Override
    public float apply(float value) {
      return value * ++calls[0];
    }
  }

  static final class CountsInMap implements Part {
    private final Map<String, Integer> calls = new HashMap<>();

    @Override
    public float apply(float value) {
      return value * calls.merge("calls", 1, Integer::sum);
    }
  }

  /** Reading a value moves it to the end. */
  static final class Remembers implements Part {
    private final Map<String, Float> recent = new LinkedHashMap<>(4, 0.75f, true);

    Remembers() {
      recent.put("a", 1f);
      recent.put("b", 2f);
    }

    @Override
    public float apply(float value) {
      return value * recent.get("a") + recent.values().iterator().next();
    }
  }

  /** Keeps insertion order, which reads do not change. */
  static final class KeepsItsOrder implements Part {
    private final Map<String, Float> factors = new LinkedHashMap<>();

    KeepsItsOrder() {
      factors.put("a", 1f);
      factors.put("b", 2f);
    }

    @Override
    public float apply(float value) {
      return value * factors.get("b");
    }
  }

  static final class CountsAtomically implements Part {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public float apply(float value) {
      return value * calls.incrementAndGet();
    }
  }

  static final class ReadsOn implements Part {
    private final BufferedReader lines = new BufferedReader(new StringReader("a"));

    @Override
    public float apply(float value) {
      return lines == null ? 0 : value;
    }
  }

  static final class Prints implements Part {
    @Override
    public float apply(float value) {
      System.out.println(value);
      return value;
    }
  }

  static final class InAnArrayThatIsShown implements Part {
    static Object[] shown = {};

    private final float[] factors;

    @SuppressWarnings("StaticAssignmentInConstructor")
    InAnArrayThatIsShown() {
      float[] made = {1};
      shown = new Object[] {made};
      factors = made;
    }

    @Override
    public float apply(float value) {
      return value * factors[0];
    }
  }

  static final class Compares implements Part {
    static boolean backwards;

    private final TreeMap<Integer, Float> factors =
        new TreeMap<>((a, b) -> backwards ? b - a : a - b);

    @Override
    public float apply(float value) {
      Float factor = factors.get((int) value);
      return factor == null ? value : value * factor;
    }
  }

  @SuppressWarnings("ImmutableEnumChecker")
  enum Mode {
    ONE;

    final float[] factors = {1};
  }

  static final class OfAnEnumSet implements Part {
    @Override
    public float apply(float value) {
      for (Mode mode : EnumSet.allOf(Mode.class)) {
        value *= mode.factors[0];
      }
      return value;
    }
  }

  static final class NamesMonths implements Part {
    @Override
    public float apply(float value) {
      return value * DateTimeFormatter.ofPattern("MMMM").toString().length();
    }
  }

  static class Eager {
    static float factor = 1;
  }

  static final class Lazy extends Eager {
    static final float TAKEN = factor;
  }

  static final class OfALazyClass implements Part {
    @Override
    public float apply(float value) {
      return value * Lazy.TAKEN;
    }
  }

  static final class Locks implements Part {
    @Override
    public float apply(float value) {
      synchronized (this) {
        return value;
      }
    }
  }

  static final class LocksWhole implements Part {
    @Override
    public synchronized float apply(float value) {
      return value;
    }
  }

  static final class Clock implements Part {
    @Override
    public float apply(float value) {
      return value * System.nanoTime();
    }
  }

  static final class Native implements Part {
    @Override
    public native float apply(float value);
  }
}
