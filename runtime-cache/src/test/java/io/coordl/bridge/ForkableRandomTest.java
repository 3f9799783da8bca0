package io.coordl.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The generator draws the same numbers as the JDK's, and can be forked. */
class ForkableRandomTest {
  /** Calls that draw numbers, and one that sets the seed. */
  private static final Map<String, Function<Random, Object>> DRAWS = new LinkedHashMap<>();

  static {
    DRAWS.put("nextInt", Random::nextInt);
    DRAWS.put("nextInt(7)", random -> random.nextInt(7));
    DRAWS.put("nextInt(8)", random -> random.nextInt(8));
    DRAWS.put("nextInt(2^30 + 1)", random -> random.nextInt((1 << 30) + 1));
    DRAWS.put("nextInt(-5, 5)", random -> random.nextInt(-5, 5));
    DRAWS.put("nextLong", Random::nextLong);
    DRAWS.put("nextLong(10^12)", random -> random.nextLong(1_000_000_000_000L));
    DRAWS.put("nextLong(-3, 9)", random -> random.nextLong(-3, 9));
    DRAWS.put("nextBoolean", Random::nextBoolean);
    DRAWS.put("nextFloat", Random::nextFloat);
    DRAWS.put("nextFloat(3)", random -> random.nextFloat(3));
    DRAWS.put("nextDouble", Random::nextDouble);
    DRAWS.put("nextDouble(1, 2)", random -> random.nextDouble(1, 2));
    DRAWS.put("nextGaussian", Random::nextGaussian);
    DRAWS.put("nextGaussian(1, 2)", random -> random.nextGaussian(1, 2));
    DRAWS.put("nextExponential", Random::nextExponential);
    DRAWS.put(
        "nextBytes",
        random -> {
          byte[] bytes = new byte[13];
          random.nextBytes(bytes);
          return List.of(bytes.length, new String(bytes, java.nio.charset.StandardCharsets.UTF_16));
        });
    DRAWS.put("ints", random -> random.ints(5).boxed().toList());
    DRAWS.put("ints(1, 9)", random -> random.ints(5, 1, 9).boxed().toList());
    DRAWS.put("ints()", random -> random.ints().limit(5).boxed().toList());
    DRAWS.put("longs", random -> random.longs(5).boxed().toList());
    DRAWS.put("longs(1, 9)", random -> random.longs(5, 1, 9).boxed().toList());
    DRAWS.put("doubles", random -> random.doubles(5).boxed().toList());
    DRAWS.put("doubles(1, 9)", random -> random.doubles(5, 1, 9).boxed().toList());
    DRAWS.put(
        "shuffle",
        random -> {
          List<Integer> list = IntStream.range(0, 20).boxed().collect(Collectors.toList());
          Collections.shuffle(list, random);
          return list;
        });
    DRAWS.put(
        "setSeed",
        random -> {
          random.setSeed(random.nextLong());
          return "";
        });
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 42, Long.MIN_VALUE, Long.MAX_VALUE, 0x5DEECE66DL})
  void everyDrawEqualsTheJdksInAnyOrder(long seed) {
    Random jdk = new Random(seed);
    ForkableRandom ours = new ForkableRandom(seed);
    Random order = new Random(seed + 1);
    List<String> names = new ArrayList<>(DRAWS.keySet());
    for (int i = 0; i < 5_000; i++) {
      String name = i < names.size() ? names.get(i) : names.get(order.nextInt(names.size()));
      Function<Random, Object> draw = DRAWS.get(name);
      assertThat(draw.apply(ours)).as(name).isEqualTo(draw.apply(jdk));
    }
  }

  @Test
  void unseededGeneratorsDiffer() {
    assertThat(new ForkableRandom().nextLong()).isNotEqualTo(new ForkableRandom().nextLong());
  }

  @Test
  void drawsFromAForkDoNotAffectOtherThreads() throws Exception {
    ForkableRandom ours = new ForkableRandom(3);
    Random jdk = new Random(3);
    assertThat(ours.nextGaussian()).isEqualTo(jdk.nextGaussian()); // One of a pair is pending.
    ForkableRandom from = ours.fork();
    ForkableRandom to = ours.fork();
    List<Object> forked = inAnotherThread(ours, to);
    assertThat(ours.fork().nextGaussian()).isEqualTo(from.fork().nextGaussian());

    assertThat(ours.advance(from, to)).isTrue();
    assertThat(forked).containsExactly(jdk.nextGaussian(), jdk.nextGaussian(), jdk.nextInt());
    assertThat(ours.nextGaussian()).isEqualTo(jdk.nextGaussian());
    assertThat(ours.nextLong()).isEqualTo(jdk.nextLong());
  }

  @Test
  void aForkIsDiscardedIfTheProgramDrewSince() throws Exception {
    for (String name : DRAWS.keySet()) {
      ForkableRandom ours = new ForkableRandom(3);
      Random jdk = new Random(3);
      ForkableRandom from = ours.fork();
      ForkableRandom to = ours.fork();
      assertThat(inAnotherThread(ours, to)).isNotEmpty();
      assertThat(DRAWS.get(name).apply(ours)).isEqualTo(DRAWS.get(name).apply(jdk));

      assertThat(ours.advance(from, to)).as(name).isFalse();
      assertThat(ours.nextGaussian()).isEqualTo(jdk.nextGaussian());
    }
  }

  @Test
  void thePendingGaussianIsPartOfTheState() {
    ForkableRandom ours = new ForkableRandom(3);
    ours.nextGaussian();
    ForkableRandom from = ours.fork();
    ours.nextGaussian(); // The second of the pair: draws no bits.
    assertThat(ours.advance(from, from.fork())).isFalse();
    assertThat(ours.isAt(from)).isFalse();
    assertThat(ours.isAt(ours.fork())).isTrue();
  }

  @Test
  void aSeedSetInAForkStaysInTheFork() throws Exception {
    ForkableRandom ours = new ForkableRandom(3);
    ForkableRandom to = ours.fork();
    FutureTask<Long> task =
        new FutureTask<>(
            () -> {
              ours.drawFrom(to);
              ours.setSeed(9);
              long drawn = ours.nextLong();
              ours.endFork();
              return drawn;
            });
    run(task);
    assertThat(task.get()).isEqualTo(new Random(9).nextLong());
    assertThat(ours.nextLong()).isEqualTo(new Random(3).nextLong());
  }

  private static List<Object> inAnotherThread(ForkableRandom random, ForkableRandom fork)
      throws InterruptedException, ExecutionException {
    FutureTask<List<Object>> task =
        new FutureTask<>(
            () -> {
              random.drawFrom(fork);
              try {
                return List.of(random.nextGaussian(), random.nextGaussian(), random.nextInt());
              } finally {
                random.endFork();
              }
            });
    run(task);
    return task.get();
  }

  private static void run(FutureTask<?> task) throws InterruptedException {
    Thread thread = new Thread(task);
    thread.start();
    thread.join();
  }

  @Test
  void aFailedAttemptDrawsNothing() {
    ForkableRandom random = new ForkableRandom(8);
    Random same = new Random(8);
    assertThat(
            random.attempt(
                () -> {
                  random.nextInt();
                  return false;
                }))
        .isFalse();
    assertThat(
            random.attempt(
                () -> {
                  assertThat(random.nextInt()).isEqualTo(same.nextInt());
                  return true;
                }))
        .isTrue();
    assertThat(random.nextInt()).isEqualTo(same.nextInt());
  }

  @Test
  void anAttemptWithinAForkAdvancesTheFork() {
    ForkableRandom random = new ForkableRandom(8);
    ForkableRandom fork = random.fork();
    random.drawingFrom(
        fork, () -> assertThat(random.attempt(() -> random.nextInt() != 0)).isTrue());
    Random same = new Random(8);
    assertThat(random.nextInt()).isEqualTo(same.nextInt());
    assertThat(fork.nextInt()).isEqualTo(same.nextInt());
  }

  @Test
  void ifAnotherThreadDrawsTheAttemptFailsAndThatDrawIsKept() {
    ForkableRandom random = new ForkableRandom(8);
    Random same = new Random(8);
    assertThat(
            random.attempt(
                () -> {
                  random.nextInt();
                  return drawElsewhere(random) == same.nextInt();
                }))
        .isFalse();
    assertThat(random.nextInt()).isEqualTo(same.nextInt());
  }

  private static int drawElsewhere(ForkableRandom random) {
    int[] drawn = new int[1];
    Thread other = new Thread(() -> drawn[0] = random.nextInt());
    other.start();
    try {
      other.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return drawn[0];
  }

  @Test
  void drawsAreUndoneOnlyIfNothingFollowedThem() {
    ForkableRandom random = new ForkableRandom(8);
    ForkableRandom before = random.forkOfMine();
    int first = random.nextInt();
    random.takeBack(random.forkOfMine(), before);
    assertThat(random.nextInt()).isEqualTo(first);
    ForkableRandom after = random.forkOfMine();
    int second = random.nextInt();
    random.takeBack(after, before);
    assertThat(random.nextInt()).isNotEqualTo(first).isNotEqualTo(second);
  }
}
