package io.coordl.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.staging.Model.Plan;
import io.coordl.staging.ModelMemory.Defect;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What jobs of a group may rely on when another comes late, hangs, is stopped or does not come: the
 * protocol as it is shipped, in a {@link Model} whose time passes only when all wait, so that how
 * long one waits for another is exact.
 */
class CoordinatedJobsTest {
  private static final int BATCHES = 6;
  private static final int BATCH = 2;
  private static final long STEP = Duration.ofMillis(5).toNanos();
  private static final long LONG = Duration.ofSeconds(5).toNanos();

  private static final Bounds BOUNDS =
      new Bounds(
          Duration.ofMillis(300),
          Duration.ofMillis(200),
          Duration.ofMillis(400),
          Duration.ofMillis(50),
          Duration.ofSeconds(1));

  private static final long LEASE = BOUNDS.lease().toNanos();

  /** Pauses between attempts, and a few steps of the programs. */
  private static final long SLACK = Duration.ofMillis(60).toNanos();

  private final Model model = new Model(new Plan(Map.of()));
  private final ModelHost host = new ModelHost(model, BOUNDS);

  /** A job, and what its program was given and did. */
  private final class Program {
    private final Model.Job job = model.job();
    private final List<String> words = new ArrayList<>();
    private final List<Stream> streams = new ArrayList<>();
    private Consumer<Integer> whilePreparing = batch -> {};
    private boolean ended;

    void starts(Runnable script) {
      model.start(
          job,
          () -> {
            script.run();
            ended = true;
          });
    }

    /** A pipeline of the job; while it waits in one it says so in the others. */
    Stream joins(ModelMemory memory) {
      int number = streams.size();
      Stream stream =
          host.join(
              job,
              memory,
              words::add,
              blocked -> {
                for (Stream other : streams) {
                  if (other != streams.get(number)) {
                    other.blockedElsewhere(blocked);
                  }
                }
              });
      streams.add(stream);
      return stream;
    }

    CoordinatedPass begins(Stream stream, int first, int jobs) {
      int[] items = IntStream.range(first, first + BATCHES * BATCH).toArray();
      CoordinatedPass pass = stream.begin(BatchOrder.evenly(items, BATCH), jobs);
      assertThat(pass).as("a pass").isNotNull();
      assertThat(pass.order().batches()).isEqualTo(BATCHES);
      pass.prepareWith(
          (batch, wanted) -> {
            whilePreparing.accept(batch);
            return new Prepared(wanted);
          },
          1);
      return pass;
    }

    /** Uses batches, each for a step; those it is not given it has to prepare itself. */
    void uses(CoordinatedPass pass, int from, int to) {
      for (int batch = from; batch < to; batch++) {
        StagedBatch staged = pass.take(batch);
        if (staged != null) {
          assertThat(items(staged.bytes())).isEqualTo(pass.order().items(batch));
          staged.release();
        }
        model.pause(STEP);
      }
    }

    /** A whole pass; the first item of its order. */
    int goesThrough(Stream stream, int first) {
      CoordinatedPass pass = begins(stream, first, 1);
      uses(pass, 0, BATCHES);
      pass.end();
      return pass.order().items(0)[0];
    }

    StagingCounters counters() {
      return streams.get(0).counters();
    }

    /** Batches the program had to prepare after all, in all pipelines. */
    long alone() {
      return streams.stream()
          .mapToLong(
              stream ->
                  Arrays.stream(StagingCounters.Reason.values())
                      .mapToLong(stream.counters()::aloneBecause)
                      .sum())
          .sum();
    }
  }

  private static final class Prepared implements PreparedBatch {
    private final int[] items;

    Prepared(int[] items) {
      this.items = items;
    }

    @Override
    public long bytes() {
      return 4L * items.length;
    }

    @Override
    public void writeTo(ByteBuffer target) {
      target.asIntBuffer().put(items);
    }

    @Override
    public void close() {}
  }

  private static int[] items(ByteBuffer bytes) {
    int[] items = new int[bytes.remaining() / 4];
    bytes.asIntBuffer().get(items);
    return items;
  }

  private long preparedBy(Program... programs) {
    return Arrays.stream(programs).mapToLong(one -> one.counters().prepared.sum()).sum();
  }

  // ---- who comes late

  @Test
  void aJobThatComesWhileNothingIsGivenUpSharesThePassUnderWay() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    early.starts(
        () -> {
          CoordinatedPass pass = early.begins(early.joins(memory), 100, 1);
          early.uses(pass, 0, 3);
          midway[0] = true;
          early.uses(pass, 3, BATCHES);
          pass.end();
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          assertThat(late.goesThrough(late.joins(memory), 200)).isEqualTo(100);
        });
    model.run();
    assertThat(preparedBy(early, late)).isEqualTo(BATCHES);
    assertThat(early.alone() + late.alone()).isZero();
    assertThat(late.words).isEmpty();
  }

  /** Its own order is that of the next pass, which it begins at once as far as there are slots. */
  @Test
  void aSharedPassThatALoopHasLeftCountsAsShared() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 2 * BATCHES);
    Program first = new Program();
    Program second = new Program();
    first.starts(
        () -> {
          Stream stream = first.joins(memory);
          first.uses(first.begins(stream, 100, 2), 0, BATCHES / 2);
          assertThat(stream.statistics("g", "p").sharedPasses()).isEqualTo(1);
          assertThat(stream.statistics("g", "p").passes()).isEqualTo(1);
        });
    second.starts(
        () -> {
          Stream stream = second.joins(memory);
          second.goesThrough(stream, 200);
          assertThat(stream.statistics("g", "p").sharedPasses()).isEqualTo(1);
        });
    model.run();
    assertThat(first.ended && second.ended).isTrue();
  }

  @Test
  void aJobThatComesInMidPassSharesTheNextOneAndNeitherLosesNorRepeatsABatch() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] ahead = {false};
    early.starts(
        () -> {
          Stream stream = early.joins(memory);
          CoordinatedPass pass = early.begins(stream, 100, 1);
          early.uses(pass, 0, 4);
          midway[0] = true;
          model.await(() -> ahead[0]);
          early.uses(pass, 4, BATCHES);
          pass.end();
          assertThat(early.goesThrough(stream, 300)).as("the order it adopts").isEqualTo(200);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          CoordinatedPass pass = late.begins(late.joins(memory), 200, 1);
          assertThat(pass.order().items(0)).as("its own order").startsWith(200);
          late.uses(pass, 0, 2);
          ahead[0] = true;
          late.uses(pass, 2, BATCHES);
          pass.end();
        });
    model.run();
    assertThat(late.words).singleElement().asString().contains("in the midst of a pass");
    assertThat(early.alone() + late.alone()).as("batches nobody shared").isZero();
    assertThat(preparedBy(early, late)).as("each of two passes once").isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateJobThatGoesAheadHoldsNobodyUp() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.starts(
        () -> {
          Stream stream = early.joins(memory);
          CoordinatedPass pass = early.begins(stream, 100, 1);
          early.uses(pass, 0, 2);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.uses(pass, 2, BATCHES);
          pass.end();
          assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
          early.goesThrough(stream, 300);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          CoordinatedPass pass = late.begins(late.joins(memory), 200, 1);
          there[0] = true;
          late.uses(pass, 0, BATCHES);
          pass.end();
        });
    model.run();
    assertThat(early.alone() + late.alone()).as("batches nobody shared").isZero();
    assertThat(preparedBy(early, late)).as("each of two passes once").isEqualTo(2 * BATCHES);
  }

  /** Who is still in the older pass could not go on without slots. */
  @Test
  void aNewerPassLeavesHalfOfTheSlotsToTheOlderOne() throws Throwable {
    int slots = 4; // Fewer than batches: else the late job would share the pass under way.
    ModelMemory memory = host.memory(Defect.NONE, slots);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] counted = {false};
    early.whilePreparing = batch -> model.await(() -> batch < BATCHES - 1 || counted[0]);
    early.starts(
        () -> {
          Stream stream = early.joins(memory);
          CoordinatedPass pass = early.begins(stream, 100, 1);
          early.uses(pass, 0, BATCHES - 1);
          midway[0] = true;
          early.uses(pass, BATCHES - 1, BATCHES);
          pass.end();
          early.goesThrough(stream, 300);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          CoordinatedPass pass = late.begins(late.joins(memory), 200, 1);
          model.pause(20 * STEP);
          assertThat(slotsOfNewestPass(memory)).isEqualTo(slots / 2);
          counted[0] = true;
          late.uses(pass, 0, BATCHES);
          pass.end();
        });
    model.run();
    assertThat(early.alone() + late.alone()).as("batches nobody shared").isZero();
  }

  private static long slotsOfNewestPass(ModelMemory memory) {
    long newest = 0;
    long count = 0;
    for (int slot = 0; slot < StagingDescriptor.MAX_SLOTS; slot++) {
      long word = memory.peek(StagingDescriptor.slot(slot));
      int state = StagingDescriptor.state(word);
      if (state == StagingDescriptor.READY || state == StagingDescriptor.FILLING) {
        long pass = StagingDescriptor.pass(word);
        count = pass > newest ? 1 : pass == newest ? count + 1 : count;
        newest = Math.max(newest, pass);
      }
    }
    return count;
  }

  /** Else each would go through a pass of its own, and prepare all of it. */
  @Test
  void whoHasGoneThroughAPassWaitsForThoseWhoHaveYetToComeToIt() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    Program first = new Program();
    Program second = new Program();
    boolean[] joined = {false};
    first.starts(
        () -> {
          Stream stream = first.joins(memory);
          model.await(() -> joined[0]);
          first.goesThrough(stream, 100);
          first.goesThrough(stream, 200);
        });
    second.starts(
        () -> {
          Stream stream = second.joins(memory);
          joined[0] = true;
          model.pause(LEASE / 2);
          assertThat(second.goesThrough(stream, 300)).isEqualTo(100);
          assertThat(second.goesThrough(stream, 400)).isEqualTo(200);
        });
    model.run();
    assertThat(first.alone() + second.alone()).isZero();
    assertThat(preparedBy(first, second)).isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateJobThatHangsIsWaitedForNoLongerThanTheLease() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.starts(
        () -> {
          Stream stream = early.joins(memory);
          CoordinatedPass pass = early.begins(stream, 100, 1);
          early.uses(pass, 0, 4);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.uses(pass, 4, BATCHES);
          pass.end();
          early.goesThrough(stream, 300);
          early.goesThrough(stream, 400);
          assertThat(model.nanos() - began).as("waited").isLessThan(LEASE + 2 * SLACK);
          assertThat(late.ended).as("before the other goes on").isFalse();
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          CoordinatedPass pass = late.begins(late.joins(memory), 200, 1);
          there[0] = true;
          model.pause(LONG); // Its program hangs; the agent's threads do not.
          late.uses(pass, 0, BATCHES);
          pass.end();
        });
    model.run();
    assertThat(early.ended && late.ended).isTrue();
    assertThat(early.alone()).isZero();
  }

  // ---- who is stopped

  /** Its lease, which would be longer, ends with its signs of life. */
  @Test
  void aStoppedJobIsNotWaitedForUntilItsLeaseEnds() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program runs = new Program();
    Program stops = new Program();
    boolean[] inside = {false};
    runs.starts(
        () -> {
          Stream stream = runs.joins(memory);
          CoordinatedPass pass = runs.begins(stream, 100, 2);
          model.await(() -> inside[0]);
          model.stops(stops.job);
          long began = model.nanos();
          runs.uses(pass, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(BOUNDS.beat().toNanos(), BOUNDS.beat().toNanos() + 2 * SLACK);
          pass.end();
          assertThat(runs.counters().dropped.sum()).isEqualTo(1);
          model.goesOn(stops.job);
        });
    stops.starts(
        () -> {
          CoordinatedPass pass = stops.begins(stops.joins(memory), 200, 2);
          stops.uses(pass, 0, 1);
          inside[0] = true;
          model.pause(STEP);
          stops.uses(pass, 1, BATCHES);
          pass.end();
        });
    model.run();
    assertThat(runs.ended && stops.ended).isTrue();
    assertThat(runs.alone()).isZero();
  }

  @Test
  void aStoppedJobsClaimIsTakenOverAndWhatItPublishesThenIsTooLateAndHarmless() throws Throwable {
    int claimed = 3;
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 2);
    Program runs = new Program();
    Program stops = new Program();
    boolean[] hasClaim = {false};
    boolean[] goesOn = {false};
    stops.whilePreparing =
        batch -> {
          if (batch == claimed && !hasClaim[0]) {
            hasClaim[0] = true;
            model.await(() -> goesOn[0]);
          }
        };
    // Whoever comes to the claim first: the other must not have it.
    runs.whilePreparing = batch -> model.await(() -> batch != claimed || hasClaim[0]);
    runs.starts(
        () -> {
          Stream stream = runs.joins(memory);
          CoordinatedPass pass = runs.begins(stream, 100, 2);
          model.await(() -> hasClaim[0]);
          model.stops(stops.job);
          long began = model.nanos();
          runs.uses(pass, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(BOUNDS.beat().toNanos(), BOUNDS.beat().toNanos() + 2 * SLACK);
          pass.end();
          goesOn[0] = true;
          model.goesOn(stops.job);
          model.pause(STEP); // It shows that it goes on.
          runs.goesThrough(stream, 300);
        });
    stops.starts(
        () -> {
          Stream stream = stops.joins(memory);
          CoordinatedPass pass = stops.begins(stream, 200, 2);
          stops.uses(pass, 0, BATCHES);
          pass.end();
          stops.goesThrough(stream, 400);
        });
    model.run();
    assertThat(runs.ended && stops.ended).isTrue();
    assertThat(runs.alone() + stops.alone()).as("batches that did not come").isZero();
    assertThat(runs.counters().takeOvers.sum()).isEqualTo(1);
    assertThat(stops.counters().tooLate.sum()).isEqualTo(1);
    assertThat(preparedBy(runs, stops)).as("each of two passes once").isEqualTo(2 * BATCHES);
  }

  // ---- two pipelines

  /** Each waits where the other is not: one trains first and then validates, one the reverse. */
  @Test
  void jobsThatWaitForEachOtherInTwoPipelinesGoOnBeforeTheLease() throws Throwable {
    ModelMemory training = host.memory(Defect.NONE, 3);
    ModelMemory validation = host.memory(Defect.NONE, 3);
    List<Program> both = List.of(new Program(), new Program());
    int[] ready = {0};
    for (Program one : both) {
      one.starts(
          () -> {
            Stream trains = one.joins(training);
            Stream validates = one.joins(validation);
            ready[0]++;
            model.await(() -> ready[0] == 2);
            boolean first = one == both.get(0);
            for (int epoch = 1; epoch <= 3; epoch++) {
              for (Stream next : first ? List.of(trains, validates) : List.of(validates, trains)) {
                long began = model.nanos();
                one.goesThrough(next, 100 * epoch);
                assertThat(model.nanos() - began).as("epoch %d", epoch).isLessThan(LEASE);
              }
            }
            one.job.killed = true; // At its end, it is gone.
          });
    }
    model.run();
    assertThat(both).allMatch(one -> one.ended);
  }

  @Test
  void aJobThatValidatesWaitsForOneThatTrainsNoLongerThanTheLease() throws Throwable {
    ModelMemory training = host.memory(Defect.NONE, 3);
    ModelMemory validation = host.memory(Defect.NONE, 3);
    Program ahead = new Program();
    Program trains = new Program();
    int[] ready = {0};
    ahead.starts(
        () -> {
          Stream training1 = ahead.joins(training);
          Stream validation1 = ahead.joins(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          ahead.goesThrough(training1, 100);
          long began = model.nanos();
          ahead.goesThrough(validation1, 100);
          assertThat(model.nanos() - began).as("validation").isLessThan(LEASE + SLACK);
          assertThat(trains.ended).as("the other trains still").isFalse();
          ahead.goesThrough(training1, 200);
        });
    trains.starts(
        () -> {
          Stream training2 = trains.joins(training);
          Stream validation2 = trains.joins(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          CoordinatedPass pass = trains.begins(training2, 200, 1);
          for (int batch = 0; batch < BATCHES; batch++) {
            trains.uses(pass, batch, batch + 1);
            model.pause(LEASE / 2); // It gets on, slowly.
          }
          pass.end();
          trains.goesThrough(validation2, 200);
        });
    model.run();
    assertThat(ahead.ended && trains.ended).isTrue();
  }

  // ---- who does not come

  @Test
  void theFirstPassWaitsForTheJobsThatAreToCome() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    List<Program> three = List.of(new Program(), new Program(), new Program());
    for (Program one : three) {
      one.starts(
          () -> {
            model.pause(three.indexOf(one) * BOUNDS.start().toNanos() / 4);
            CoordinatedPass pass = one.begins(one.joins(memory), 100 * three.indexOf(one), 3);
            one.uses(pass, 0, BATCHES);
            pass.end();
          });
    }
    model.run();
    assertThat(three.stream().mapToLong(Program::alone).sum()).isZero();
    assertThat(preparedBy(three.toArray(new Program[0]))).isEqualTo(BATCHES);
    assertThat(three.get(0).words).containsExactly("Waits for 3 jobs, 1 are there.");
  }

  @Test
  void jobsThatAreAllThereWithDifferentPipelinesDoNotWaitForEachOther() throws Throwable {
    List<Program> programs = List.of(new Program(), new Program());
    for (Program program : programs) {
      ModelMemory memory = host.memory(Defect.NONE, BATCHES);
      program.starts(
          () -> {
            Stream stream = program.joins(memory);
            long began = model.nanos();
            CoordinatedPass pass = program.begins(stream, 100, 2);
            assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
            assertThat(stream.waitedInVain()).isTrue();
            program.uses(pass, 0, BATCHES);
            pass.end();
          });
    }
    model.run();
    for (Program program : programs) {
      assertThat(program.ended).isTrue();
      assertThat(program.words)
          .containsExactly(
              "1 of 2 jobs have this pipeline, the others wait with another one: the first pass"
                  + " begins without them.");
    }
  }

  @Test
  void theFirstPassBeginsWithoutTheJobsThatDoNotComeInTimeAndThatIsSaid() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program only = new Program();
    only.starts(
        () -> {
          Stream stream = only.joins(memory);
          long began = model.nanos();
          CoordinatedPass pass = only.begins(stream, 100, 3);
          long waited = model.nanos() - began;
          assertThat(waited).isBetween(BOUNDS.start().toNanos(), BOUNDS.start().toNanos() + SLACK);
          only.uses(pass, 0, BATCHES);
          pass.end();
          long again = model.nanos();
          only.goesThrough(stream, 200);
          assertThat(model.nanos() - again).as("only once").isLessThan(2 * SLACK);
        });
    model.run();
    assertThat(only.ended).isTrue();
    assertThat(only.alone()).isZero();
    assertThat(only.words)
        .containsExactly(
            "Waits for 3 jobs, 1 are there.",
            "1 of 3 jobs have come within 1 s: the first pass begins without the others.");
  }
}
