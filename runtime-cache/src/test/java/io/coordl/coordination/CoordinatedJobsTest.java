package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.coordination.Model.Plan;
import io.coordl.coordination.ModelMemory.Defect;
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
 * Guarantees to the jobs of a group when another is late, hangs, is stopped or never starts. Runs
 * the production protocol in a {@link Model} whose time passes only when all jobs wait, so waits
 * are exact.
 */
class CoordinatedJobsTest {
  private static final int BATCHES = 6;
  private static final int BATCH = 2;
  private static final long STEP = Duration.ofMillis(5).toNanos();
  private static final long LONG = Duration.ofSeconds(5).toNanos();

  private static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofMillis(300),
          Duration.ofMillis(200),
          Duration.ofMillis(400),
          Duration.ofMillis(50),
          Duration.ofSeconds(1));

  private static final long LEASE = TIMEOUTS.lease().toNanos();

  /** Pauses between attempts, and a few steps of the programs. */
  private static final long SLACK = Duration.ofMillis(60).toNanos();

  private final Model model = new Model(new Plan(Map.of()));
  private final ModelHost host = new ModelHost(model, TIMEOUTS);

  /** A job and its training program. */
  private final class Program {
    private final Model.Job job = model.job();
    private final List<String> logged = new ArrayList<>();
    private final List<PipelineSession> sessions = new ArrayList<>();
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

    /**
     * Joins a pipeline of the job; while the job waits in one, it reports itself blocked in the
     * others.
     */
    PipelineSession joins(ModelMemory memory) {
      int number = sessions.size();
      PipelineSession session =
          host.join(
              job,
              memory,
              logged::add,
              blocked -> {
                for (PipelineSession other : sessions) {
                  if (other != sessions.get(number)) {
                    other.blockedElsewhere(blocked);
                  }
                }
              });
      sessions.add(session);
      return session;
    }

    SharedEpoch begins(PipelineSession session, int first, int jobs) {
      int[] items = IntStream.range(first, first + BATCHES * BATCH).toArray();
      SharedEpoch epoch = session.begin(BatchOrder.evenly(items, BATCH), jobs);
      assertThat(epoch).as("an epoch").isNotNull();
      assertThat(epoch.order().batches()).isEqualTo(BATCHES);
      epoch.prepareWith(
          (batch, wanted) -> {
            whilePreparing.accept(batch);
            return new Prepared(wanted);
          },
          1);
      return epoch;
    }

    /** Uses batches, one step each; batches that are not staged must be prepared locally. */
    void uses(SharedEpoch epoch, int from, int to) {
      for (int batch = from; batch < to; batch++) {
        ByteBuffer staged = Batches.take(epoch, batch);
        if (staged != null) {
          assertThat(items(staged)).isEqualTo(epoch.order().items(batch));
        }
        model.pause(STEP);
      }
    }

    /** Runs a whole epoch; returns the first item of its order. */
    int goesThrough(PipelineSession session, int first) {
      SharedEpoch epoch = begins(session, first, 1);
      uses(epoch, 0, BATCHES);
      epoch.end();
      return epoch.order().items(0)[0];
    }

    StagingCounters counters() {
      return sessions.get(0).counters;
    }

    /** Batches the program prepared locally, in all pipelines. */
    long alone() {
      return sessions.stream().mapToLong(session -> Batches.alone(session.counters)).sum();
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
    return Arrays.stream(programs).mapToLong(one -> one.counters().now().prepared).sum();
  }

  // ---- late jobs

  @Test
  void aJobThatComesBeforeAnySlotIsReusedSharesTheCurrentEpoch() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    early.starts(
        () -> {
          SharedEpoch epoch = early.begins(early.joins(memory), 100, 1);
          early.uses(epoch, 0, 3);
          midway[0] = true;
          early.uses(epoch, 3, BATCHES);
          epoch.end();
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          assertThat(late.goesThrough(late.joins(memory), 200)).isEqualTo(100);
        });
    model.run();
    assertThat(preparedBy(early, late)).isEqualTo(BATCHES);
    assertThat(early.alone() + late.alone()).isZero();
    assertThat(late.logged).isEmpty();
  }

  @Test
  void anEpochLeftEarlyStillCountsAsShared() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 2 * BATCHES);
    Program first = new Program();
    Program second = new Program();
    first.starts(
        () -> {
          PipelineSession session = first.joins(memory);
          first.uses(first.begins(session, 100, 2), 0, BATCHES / 2);
          assertThat(session.statistics("g", "p").sharedEpochs).isEqualTo(1);
          assertThat(session.statistics("g", "p").epochs).isEqualTo(1);
        });
    second.starts(
        () -> {
          PipelineSession session = second.joins(memory);
          second.goesThrough(session, 200);
          assertThat(session.statistics("g", "p").sharedEpochs).isEqualTo(1);
        });
    model.run();
    assertThat(first.ended && second.ended).isTrue();
  }

  /** The late job's order becomes the next epoch's, which it begins at once if slots are free. */
  @Test
  void aJobThatComesMidEpochSharesTheNextOneWithoutLosingOrRepeatingABatch() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] ahead = {false};
    early.starts(
        () -> {
          PipelineSession session = early.joins(memory);
          SharedEpoch epoch = early.begins(session, 100, 1);
          early.uses(epoch, 0, 4);
          midway[0] = true;
          model.await(() -> ahead[0]);
          early.uses(epoch, 4, BATCHES);
          epoch.end();
          assertThat(early.goesThrough(session, 300)).as("the order it adopts").isEqualTo(200);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begins(late.joins(memory), 200, 1);
          assertThat(epoch.order().items(0)).as("its own order").startsWith(200);
          late.uses(epoch, 0, 2);
          ahead[0] = true;
          late.uses(epoch, 2, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(late.logged).singleElement().asString().contains("partway through an epoch");
    assertThat(early.alone() + late.alone()).as("batches prepared locally").isZero();
    assertThat(preparedBy(early, late)).as("each of two epochs once").isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateJobThatGoesAheadDelaysNobody() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.starts(
        () -> {
          PipelineSession session = early.joins(memory);
          SharedEpoch epoch = early.begins(session, 100, 1);
          early.uses(epoch, 0, 2);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.uses(epoch, 2, BATCHES);
          epoch.end();
          assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
          early.goesThrough(session, 300);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begins(late.joins(memory), 200, 1);
          there[0] = true;
          late.uses(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.alone() + late.alone()).as("batches prepared locally").isZero();
    assertThat(preparedBy(early, late)).as("each of two epochs once").isEqualTo(2 * BATCHES);
  }

  /** Otherwise jobs still in the older epoch would have no slots. */
  @Test
  void aNewerEpochLeavesHalfOfTheSlotsToTheOlderOne() throws Throwable {
    int slots = 4; // Fewer than batches: otherwise the late job would share the current epoch.
    ModelMemory memory = host.memory(Defect.NONE, slots);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] counted = {false};
    early.whilePreparing = batch -> model.await(() -> batch < BATCHES - 1 || counted[0]);
    early.starts(
        () -> {
          PipelineSession session = early.joins(memory);
          SharedEpoch epoch = early.begins(session, 100, 1);
          early.uses(epoch, 0, BATCHES - 1);
          midway[0] = true;
          early.uses(epoch, BATCHES - 1, BATCHES);
          epoch.end();
          early.goesThrough(session, 300);
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begins(late.joins(memory), 200, 1);
          model.pause(20 * STEP);
          assertThat(slotsOfNewestEpoch(memory)).isEqualTo(slots / 2);
          counted[0] = true;
          late.uses(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.alone() + late.alone()).as("batches prepared locally").isZero();
  }

  private static long slotsOfNewestEpoch(ModelMemory memory) {
    long newest = 0;
    long count = 0;
    for (int slot = 0; slot < StagingDescriptor.MAX_SLOTS; slot++) {
      long word = memory.peek(StagingDescriptor.slot(slot));
      int state = StagingDescriptor.state(word);
      if (state == StagingDescriptor.READY || state == StagingDescriptor.FILLING) {
        long epoch = StagingDescriptor.epoch(word);
        count = epoch > newest ? 1 : epoch == newest ? count + 1 : count;
        newest = Math.max(newest, epoch);
      }
    }
    return count;
  }

  /** Otherwise each job would run its own epoch and prepare all of it. */
  @Test
  void aJobThatFinishedAnEpochWaitsForJobsYetToEnterIt() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    Program first = new Program();
    Program second = new Program();
    boolean[] joined = {false};
    first.starts(
        () -> {
          PipelineSession session = first.joins(memory);
          model.await(() -> joined[0]);
          first.goesThrough(session, 100);
          first.goesThrough(session, 200);
        });
    second.starts(
        () -> {
          PipelineSession session = second.joins(memory);
          joined[0] = true;
          model.pause(LEASE / 2);
          assertThat(second.goesThrough(session, 300)).isEqualTo(100);
          assertThat(second.goesThrough(session, 400)).isEqualTo(200);
        });
    model.run();
    assertThat(first.alone() + second.alone()).isZero();
    assertThat(preparedBy(first, second)).isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateHungJobIsWaitedForAtMostOneLease() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.starts(
        () -> {
          PipelineSession session = early.joins(memory);
          SharedEpoch epoch = early.begins(session, 100, 1);
          early.uses(epoch, 0, 4);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.uses(epoch, 4, BATCHES);
          epoch.end();
          early.goesThrough(session, 300);
          early.goesThrough(session, 400);
          assertThat(model.nanos() - began).as("waited").isLessThan(LEASE + 2 * SLACK);
          assertThat(late.ended).as("before the other continues").isFalse();
        });
    late.starts(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begins(late.joins(memory), 200, 1);
          there[0] = true;
          model.pause(LONG); // Its program hangs; the agent's threads do not.
          late.uses(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.ended && late.ended).isTrue();
    assertThat(early.alone()).isZero();
  }

  // ---- stopped jobs

  /** Its longer lease ends with its heartbeats. */
  @Test
  void aStoppedJobIsNotWaitedForUntilItsLeaseEnds() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program runs = new Program();
    Program stops = new Program();
    boolean[] inside = {false};
    runs.starts(
        () -> {
          PipelineSession session = runs.joins(memory);
          SharedEpoch epoch = runs.begins(session, 100, 2);
          model.await(() -> inside[0]);
          model.stops(stops.job);
          long began = model.nanos();
          runs.uses(epoch, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(TIMEOUTS.beat().toNanos(), TIMEOUTS.beat().toNanos() + 2 * SLACK);
          epoch.end();
          assertThat(runs.counters().now().dropped).isEqualTo(1);
          model.goesOn(stops.job);
        });
    stops.starts(
        () -> {
          SharedEpoch epoch = stops.begins(stops.joins(memory), 200, 2);
          stops.uses(epoch, 0, 1);
          inside[0] = true;
          model.pause(STEP);
          stops.uses(epoch, 1, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(runs.ended && stops.ended).isTrue();
    assertThat(runs.alone()).isZero();
  }

  @Test
  void aStoppedJobsClaimIsTakenOverAndItsLatePublishIsHarmless() throws Throwable {
    int claimed = 3;
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 2);
    Program runs = new Program();
    Program stops = new Program();
    boolean[] claimHeld = {false};
    boolean[] resumed = {false};
    stops.whilePreparing =
        batch -> {
          if (batch == claimed && !claimHeld[0]) {
            claimHeld[0] = true;
            model.await(() -> resumed[0]);
          }
        };
    // Ensures that the stopped job gets the claim.
    runs.whilePreparing = batch -> model.await(() -> batch != claimed || claimHeld[0]);
    runs.starts(
        () -> {
          PipelineSession session = runs.joins(memory);
          SharedEpoch epoch = runs.begins(session, 100, 2);
          model.await(() -> claimHeld[0]);
          model.stops(stops.job);
          long began = model.nanos();
          runs.uses(epoch, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(TIMEOUTS.beat().toNanos(), TIMEOUTS.beat().toNanos() + 2 * SLACK);
          epoch.end();
          resumed[0] = true;
          model.goesOn(stops.job);
          model.pause(STEP); // It sends heartbeats again.
          runs.goesThrough(session, 300);
        });
    stops.starts(
        () -> {
          PipelineSession session = stops.joins(memory);
          SharedEpoch epoch = stops.begins(session, 200, 2);
          stops.uses(epoch, 0, BATCHES);
          epoch.end();
          stops.goesThrough(session, 400);
        });
    model.run();
    assertThat(runs.ended && stops.ended).isTrue();
    assertThat(runs.alone() + stops.alone()).as("batches prepared locally").isZero();
    assertThat(runs.counters().now().takeOvers).isEqualTo(1);
    assertThat(stops.counters().now().tooLate).isEqualTo(1);
    assertThat(preparedBy(runs, stops)).as("each of two epochs once").isEqualTo(2 * BATCHES);
  }

  // ---- two pipelines

  /** Each waits in a pipeline where the other is not: one trains first, one validates first. */
  @Test
  void jobsThatWaitForEachOtherInTwoPipelinesContinueBeforeTheLease() throws Throwable {
    ModelMemory training = host.memory(Defect.NONE, 3);
    ModelMemory validation = host.memory(Defect.NONE, 3);
    List<Program> both = List.of(new Program(), new Program());
    int[] ready = {0};
    for (Program one : both) {
      one.starts(
          () -> {
            PipelineSession trains = one.joins(training);
            PipelineSession validates = one.joins(validation);
            ready[0]++;
            model.await(() -> ready[0] == 2);
            boolean first = one == both.get(0);
            for (int epoch = 1; epoch <= 3; epoch++) {
              for (PipelineSession next :
                  first ? List.of(trains, validates) : List.of(validates, trains)) {
                long began = model.nanos();
                one.goesThrough(next, 100 * epoch);
                assertThat(model.nanos() - began).as("epoch %d", epoch).isLessThan(LEASE);
              }
            }
            one.job.killed = true; // The job has ended.
          });
    }
    model.run();
    assertThat(both).allMatch(one -> one.ended);
  }

  @Test
  void aJobThatValidatesWaitsForOneThatTrainsAtMostOneLease() throws Throwable {
    ModelMemory training = host.memory(Defect.NONE, 3);
    ModelMemory validation = host.memory(Defect.NONE, 3);
    Program ahead = new Program();
    Program trains = new Program();
    int[] ready = {0};
    ahead.starts(
        () -> {
          PipelineSession training1 = ahead.joins(training);
          PipelineSession validation1 = ahead.joins(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          ahead.goesThrough(training1, 100);
          long began = model.nanos();
          ahead.goesThrough(validation1, 100);
          assertThat(model.nanos() - began).as("validation").isLessThan(LEASE + SLACK);
          assertThat(trains.ended).as("the other still trains").isFalse();
          ahead.goesThrough(training1, 200);
        });
    trains.starts(
        () -> {
          PipelineSession training2 = trains.joins(training);
          PipelineSession validation2 = trains.joins(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          SharedEpoch epoch = trains.begins(training2, 200, 1);
          for (int batch = 0; batch < BATCHES; batch++) {
            trains.uses(epoch, batch, batch + 1);
            model.pause(LEASE / 2); // Slow, but making progress.
          }
          epoch.end();
          trains.goesThrough(validation2, 200);
        });
    model.run();
    assertThat(ahead.ended && trains.ended).isTrue();
  }

  // ---- missing jobs

  @Test
  void theFirstEpochWaitsForAllExpectedJobs() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    List<Program> three = List.of(new Program(), new Program(), new Program());
    for (Program one : three) {
      one.starts(
          () -> {
            model.pause(three.indexOf(one) * TIMEOUTS.start().toNanos() / 4);
            SharedEpoch epoch = one.begins(one.joins(memory), 100 * three.indexOf(one), 3);
            one.uses(epoch, 0, BATCHES);
            epoch.end();
          });
    }
    model.run();
    assertThat(three.stream().mapToLong(Program::alone).sum()).isZero();
    assertThat(preparedBy(three.toArray(new Program[0]))).isEqualTo(BATCHES);
    assertThat(three.get(0).logged).containsExactly("Waiting for 3 jobs; 1 have joined so far.");
  }

  @Test
  void jobsThatAllRunDifferentPipelinesDoNotWaitForEachOther() throws Throwable {
    List<Program> programs = List.of(new Program(), new Program());
    for (Program program : programs) {
      ModelMemory memory = host.memory(Defect.NONE, BATCHES);
      program.starts(
          () -> {
            PipelineSession session = program.joins(memory);
            long began = model.nanos();
            SharedEpoch epoch = program.begins(session, 100, 2);
            assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
            assertThat(session.waitedInVain()).isTrue();
            program.uses(epoch, 0, BATCHES);
            epoch.end();
          });
    }
    model.run();
    for (Program program : programs) {
      assertThat(program.ended).isTrue();
      assertThat(program.logged)
          .containsExactly(
              "1 of 2 jobs have this pipeline; the others are waiting at a different one. The first"
                  + " epoch begins without them.");
    }
  }

  @Test
  void theFirstEpochBeginsWithoutJobsThatAreTooLateAndThatIsLogged() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program only = new Program();
    only.starts(
        () -> {
          PipelineSession session = only.joins(memory);
          long began = model.nanos();
          SharedEpoch epoch = only.begins(session, 100, 3);
          long waited = model.nanos() - began;
          assertThat(waited)
              .isBetween(TIMEOUTS.start().toNanos(), TIMEOUTS.start().toNanos() + SLACK);
          only.uses(epoch, 0, BATCHES);
          epoch.end();
          long again = model.nanos();
          only.goesThrough(session, 200);
          assertThat(model.nanos() - again).as("only once").isLessThan(2 * SLACK);
        });
    model.run();
    assertThat(only.ended).isTrue();
    assertThat(only.alone()).isZero();
    assertThat(only.logged)
        .containsExactly(
            "Waiting for 3 jobs; 1 have joined so far.",
            "1 of 3 jobs arrived within 1 s: the first epoch begins without the others.");
  }
}
