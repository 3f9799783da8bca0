package io.coordl.library.declared;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.KeptForms;
import io.coordl.store.Outcome;
import io.coordl.store.PreparedStore;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each program gets from the agent the batches that its own calls would have made. */
class DeclaredBatchesTest {
  private static final int EPOCHS = 5;

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private final List<String> faults = Collections.synchronizedList(new ArrayList<>());

  @TempDir Path directory;

  private PreparedStore store;
  private Prefetcher prefetcher;

  @BeforeEach
  void open() {
    Bridge.install(
        SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where + cause));
    ArenaStore arena = ArenaStore.openProcess(directory, ByteBudget.parse("8m"), said::add);
    store = new PreparedStore(arena, new KeptForms());
    prefetcher = new Prefetcher(null, () -> 1);
  }

  @AfterEach
  void close() {
    prefetcher.close();
    store.close();
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    assertThat(faults).isEmpty();
  }

  private enum Mode {
    KEPT,
    PREFETCHED,
    BOTH
  }

  /** Classes for which the user vouches. */
  private Set<String> trusted = Set.of();

  private Services services(Mode mode) {
    Services.Builder with = Services.builder(said::add);
    if (mode != Mode.PREFETCHED) {
      with.prepared(
          new Prepared(
              store,
              store.ofItems(path -> false, () -> true),
              trusted,
              () -> true,
              () -> 100,
              (what, why) -> {}));
    }
    if (mode != Mode.KEPT) {
      with.prefetcher(prefetcher, 1);
    }
    return with.build();
  }

  /** A program, and what it sees. */
  private static final class Job {
    private final Map<Class<?>, DeclaredBatches> agents = new HashMap<>();
    private final @Nullable Services services;
    private final List<String> seen = new ArrayList<>();
    private final IdentityHashMap<Object, Integer> parts = new IdentityHashMap<>();

    Job(@Nullable Services services) {
      this.services = services;
    }

    /** Takes a batch as the rewritten method does. */
    @Nullable Object next(Object iterator, Object... arguments) throws Throwable {
      Method method = method(iterator, arguments);
      method.setAccessible(true);
      InterceptedCall call =
          services == null
              ? null
              : agents
                  .computeIfAbsent(
                      method.getDeclaringClass(), type -> new DeclaredBatches(type, services))
                  .enter("", method.getDeclaringClass(), "next", iterator, arguments);
      if (call != null && call.replaced()) {
        return call.result(null);
      }
      try {
        Object own = method.invoke(iterator, arguments);
        return call == null ? own : call.result(own);
      } catch (InvocationTargetException e) {
        if (call != null) {
          call.failed();
        }
        throw e.getCause();
      }
    }

    private static Method method(Object iterator, Object[] arguments) {
      Class<?> at = iterator instanceof Class<?> type ? type : iterator.getClass();
      for (; ; at = at.getSuperclass()) {
        for (Method method : at.getDeclaredMethods()) {
          Class<?>[] types = method.getParameterTypes();
          if (method.getName().equals("next")
              && types.length == arguments.length
              && (types.length == 0
                  || types[0] == float[].class
                  || types[0] == String.class
                  || types[0]
                      .getSimpleName()
                      .equals(arguments[0] instanceof Integer ? "int" : "long"))) {
            return method;
          }
        }
      }
    }

    /** Requests a batch, notes all that the program sees, and changes the batch as a step may. */
    @Nullable Object step(Object iterator, Object... arguments) {
      Object batch;
      try {
        batch = next(iterator, arguments);
      } catch (Throwable t) {
        seen.add(t + " " + fields(iterator));
        return null;
      }
      seen.add(Described.of(batch) + "#" + identity(batch) + " " + fields(iterator));
      change(batch);
      return batch;
    }

    /** Describes which parts of a batch the program has seen before. */
    private String identity(@Nullable Object part) {
      if (part == null) {
        return "";
      }
      Integer before = parts.putIfAbsent(part, parts.size());
      StringBuilder text = new StringBuilder(before == null ? "new" : "of " + before);
      if (part instanceof Object[] all) {
        for (Object one : all) {
          text.append(' ').append(identity(one));
        }
      } else if (part instanceof Loops.Rows rows) {
        text.append(identity(rows.features())).append(identity(rows.labels()));
      }
      return text.toString();
    }

    private static void change(@Nullable Object part) {
      if (part instanceof Object[] all && !(part instanceof String[])) {
        for (Object one : all) {
          change(one);
        }
      } else if (part instanceof float[] values && values.length > 0) {
        values[0]++;
      } else if (part instanceof int[] values && values.length > 0) {
        values[0] += values[0] < Loops.BATCHES - 1 ? 1 : 0;
      } else if (part instanceof Loops.Rows rows) {
        rows.features().put(0, 7);
        change(rows.labels());
      } else if (part instanceof FloatBuffer floats) {
        floats.put(0, 5);
      } else if (part instanceof ByteBuffer bytes) {
        bytes.put(0, (byte) 5);
      }
    }

    private static String fields(Object of) {
      if (of instanceof Class) {
        return "";
      }
      StringBuilder text = new StringBuilder();
      try {
        for (Class<?> at = of.getClass(); at != Object.class && at != Record.class; ) {
          for (Field field : at.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())
                && (field.getType().isPrimitive() || field.getType().isArray())) {
              field.setAccessible(true);
              Object value = field.get(of);
              text.append(field.getName()).append('=').append(Described.of(value));
            }
          }
          at = at.getSuperclass();
        }
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
      return text.toString();
    }

    Job epochs(Object iterator) {
      for (int epoch = 0; epoch < EPOCHS; epoch++) {
        epoch((Loops.Batches) iterator);
      }
      return this;
    }

    void epoch(Loops.Batches batches) {
      for (int i = 0; i < 2 * Loops.BATCHES && batches.hasNext(); i++) {
        int size = seen.size();
        if (step(batches) == null && seen.get(size).startsWith("java.util.NoSuch")) {
          break;
        }
      }
      batches.reset();
    }
  }

  private List<String> plain(Consumer<Job> program) {
    Job job = new Job(null);
    program.accept(job);
    return job.seen;
  }

  /** Runs a program with and without the agent, and compares. */
  private void same(Mode mode, Consumer<Job> program) {
    Job job = new Job(services(mode));
    program.accept(job);
    assertThat(job.seen).isNotEmpty().isEqualTo(plain(program));
  }

  private long found() {
    return store.statistics().of(Outcome.HIT);
  }

  private void assertServed(Mode mode) {
    assertThat(said).noneMatch(line -> line.contains("leaves"));
    if (mode != Mode.PREFETCHED) {
      assertThat(found()).isPositive();
    }
    if (mode != Mode.KEPT) {
      assertThat(prefetcher.summary()).contains("batches prefetched").doesNotContain(", 0 of them");
    }
  }

  private void assertRefused(String reason) {
    assertThat(said).as(reason).hasSize(1).allMatch(line -> line.contains("leaves"));
    assertThat(said.get(0)).contains(reason);
    assertThat(found()).isZero();
    assertThat(prefetcher.count()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void batchesAreMadeByTheAgent(Mode mode) {
    List<Supplier<Object>> all =
        List.of(
            Loops.Plain::new,
            Loops.Records::new,
            Loops.Open::new,
            Loops.Filled::new,
            Loops.Overriding::new,
            Loops.Numerous::new,
            Loops.Endless::new,
            Loops.Twice::new,
            () -> new Loops.Outer().inner());
    for (Supplier<Object> one : all) {
      same(mode, job -> job.epochs(one.get()));
      same(mode, job -> newOnes(job, one));
    }
    assertServed(mode);
  }

  private static void newOnes(Job job, Supplier<Object> one) {
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      job.epoch((Loops.Batches) one.get());
    }
  }

  @ParameterizedTest
  @EnumSource
  void anOrderThatChangesIsFollowed(Mode mode) {
    List<Supplier<Object>> all =
        List.of(Loops.Shuffled::new, Loops.Listed::of, Loops.NewOrder::new);
    for (Supplier<Object> one : all) {
      same(mode, job -> job.epochs(one.get()));
    }
    assertThat(said).noneMatch(line -> line.contains("to the program: io.coordl"));
    if (mode == Mode.PREFETCHED) {
      assertServed(mode);
    }
  }

  @ParameterizedTest
  @EnumSource
  void exceptionsAndNullsAreTheProgramsOwn(Mode mode) {
    same(mode, job -> job.epochs(new Loops.Throwing()));
    same(mode, job -> job.epochs(new Loops.NullAtEnd()));
    assertServed(mode);
  }

  @ParameterizedTest
  @EnumSource
  void batchesFollowChangesThatTheLoopMakesToItsIterator(Mode mode) {
    same(
        mode,
        job -> {
          Loops.Settable batches = new Loops.Settable();
          for (int epoch = 0; epoch < EPOCHS; epoch++) {
            for (int i = 0; batches.hasNext(); i++) {
              job.step(batches);
              batches.factor += i == 2 ? 1 : 0;
              batches.at += i == 3 ? 1 : 0;
            }
            batches.reset();
          }
        });
    same(
        mode,
        job -> {
          Loops.Listed batches = Loops.Listed.of();
          for (int epoch = 0; epoch < EPOCHS; epoch++) {
            for (int i = 0; batches.hasNext(); i++) {
              job.step(batches);
              Collections.swap(batches.seeds, i, (i + 1) % Loops.BATCHES);
              batches.seeds.set(5, i == 2 ? 9 : 1);
            }
            batches.at = 0;
            batches.seeds = epoch == 2 ? new CopyOnWriteArrayList<>(batches.seeds) : batches.seeds;
          }
        });
    same(
        mode,
        job -> {
          Loops.Plain left = new Loops.Plain();
          job.step(left);
          job.step(left);
          left.reset();
          job.step(left);
          Loops.Plain other = new Loops.Plain();
          for (int i = 0; i < EPOCHS; i++) {
            job.step(left);
            job.step(other);
            job.step(other);
            left.at = i % 2;
          }
        });
  }

  /** Both pairs of strings print as the list {@code [a, b, c]}. */
  @ParameterizedTest
  @EnumSource
  void batchesDependOnTheBoundariesBetweenTheArguments(Mode mode) {
    same(
        mode,
        job -> {
          Loops.Named batches = new Loops.Named();
          for (int epoch = 0; epoch < EPOCHS; epoch++) {
            while (batches.hasNext()) {
              job.step(batches, epoch % 2 == 0 ? "a, b" : "a", epoch % 2 == 0 ? "c" : "b, c");
            }
            batches.reset();
          }
        });
    if (mode == Mode.KEPT) {
      assertServed(mode);
    }
  }

  @ParameterizedTest
  @EnumSource
  void batchesDependOnTheArguments(Mode mode) {
    same(
        mode,
        job -> {
          Loops.Sized batches = new Loops.Sized();
          for (int epoch = 0; epoch < EPOCHS; epoch++) {
            for (int i = 0; batches.hasNext(); i++) {
              if (i == 4) {
                job.step(batches, 4L);
              } else {
                job.step(batches, i < 3 ? 2 : i);
              }
            }
            batches.reset();
          }
        });
    if (mode == Mode.KEPT) {
      assertServed(mode);
    }
  }

  @Test
  void unprovenIteratorsAreLeftToTheProgramAndOneLineSaysWhy() {
    Map<Supplier<Object>, String> all = new LinkedHashMap<>();
    all.put(Loops.Reused::new, "may change an array it keeps");
    all.put(Loops.ReusedElsewhere::new, "fill may change an array");
    all.put(Loops.Constant::new, "NONE, an array");
    all.put(Loops.Preloaded::new, "it keeps objects of ");
    all.put(Loops.Kept::new, "it keeps objects of ");
    all.put(Loops.Counting::of, "count");
    all.put(Loops.ShownOrder::new, "it keeps an array that it returns");
    all.put(Loops.Ahead::new, "ready");
    all.put(Loops.Remembering::new, "it keeps objects of each batch");
    all.put(Loops.Drawing::new, "java.util.Random.nextInt");
    all.put(Loops.Timed::new, "java.lang.System.nanoTime");
    all.put(() -> new Loops.Outer().counting(), "count");
    all.put(Loops.Itself::new, "more than Java arrays");
    all.put(Loops.Texts::new, "more than Java arrays");
    all.put(Loops.Locking::new, "uses a lock");
    all.put(Loops.Turned::new, "factor");
    all.put(Loops.Chained::new, "whose position in its data is unknown");
    all.forEach(
        (one, reason) -> {
          for (Mode mode : Mode.values()) {
            said.clear();
            same(mode, job -> job.epochs(one.get()));
            assertRefused(reason);
          }
        });
  }

  @Test
  void aClassThatOverridesTheDeclaredMethodIsLeftToTheProgram() {
    DeclaredBatches agent = new DeclaredBatches(Loops.Plain.class, services(Mode.BOTH));
    Loops.Overriding batches = new Loops.Overriding();
    assertThat(agent.enter("", Loops.Plain.class, "next", batches, new Object[0])).isNull();
    assertRefused("Loops$Overriding overrides next");
  }

  @Test
  void aStaticMethodIsLeftToTheProgram() {
    DeclaredBatches agent = new DeclaredBatches(Loops.Static.class, services(Mode.BOTH));
    assertThat(agent.enter("", Loops.Static.class, "next", Loops.Static.class, new Object[0]))
        .isNull();
    assertRefused("Static to the program: next is static");
  }

  @Test
  void userCannotVouchForAnIterator() {
    trusted = Set.of(Loops.Drawing.class.getName());
    same(Mode.BOTH, job -> job.epochs(new Loops.Drawing()));
    assertRefused("java.util.Random.nextInt");
  }

  /** Every second batch contains an array that the iterator keeps. */
  @ParameterizedTest
  @EnumSource
  void anIteratorThatKeepsPartOfABatchIsReported(Mode mode) {
    same(mode, job -> job.epochs(new Loops.Padded()));
    assertThat(said).hasSize(1);
    assertThat(said.get(0)).contains("it keeps an array that it returns");
  }

  @Test
  void methodsOfOtherKindsAreLeftToTheProgram() {
    same(
        Mode.BOTH,
        job -> {
          Loops.Recorded recorded = new Loops.Recorded(new int[1]);
          for (int i = 0; i < 8; i++) {
            job.step(recorded);
          }
        });
    assertRefused("objects of the iterator's class cannot be copied");
    said.clear();
    same(
        Mode.BOTH,
        job -> {
          Loops.Given given = new Loops.Given();
          float[] into = new float[1];
          for (int i = 0; i < 8; i++) {
            job.step(given, (Object) into);
          }
        });
    assertRefused("next takes an argument of type float[]");
  }
}
