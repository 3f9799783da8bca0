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
 * The jobs of a group get their batches even if another job is late, hangs, is stopped or never
 * starts. Runs the production protocol in a {@link Model} whose time passes only when all jobs
 * wait, so waits are exact.
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

  /** Margin for pauses between attempts and for a few steps of the programs. */
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

    void start(Runnable script) {
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
    PipelineSession join(ModelMemory memory) {
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

    SharedEpoch begin(PipelineSession session, int first, int jobs) {
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

    /** Uses batches, with a pause of one {@code STEP} after each; skips those not staged. */
    void use(SharedEpoch epoch, int from, int to) {
      for (int batch = from; batch < to; batch++) {
        ByteBuffer staged = Batches.take(epoch, batch);
        if (staged != null) {
          assertThat(items(staged)).isEqualTo(epoch.order().items(batch));
        }
        model.pause(STEP);
      }
    }

    /** Runs a whole epoch; returns the first item of its order. */
    int runEpoch(PipelineSession session, int first) {
      SharedEpoch epoch = begin(session, first, 1);
      use(epoch, 0, BATCHES);
      epoch.end();
      return epoch.order().items(0)[0];
    }

    StagingCounters counters() {
      return sessions.get(0).counters;
    }

    /** Batches the program prepared locally, in all pipelines. */
    long preparedLocally() {
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
  void aJobThatJoinsBeforeAnySlotIsReusedSharesTheCurrentEpoch() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 1);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    early.start(
        () -> {
          SharedEpoch epoch = early.begin(early.join(memory), 100, 1);
          early.use(epoch, 0, 3);
          midway[0] = true;
          early.use(epoch, 3, BATCHES);
          epoch.end();
        });
    late.start(
        () -> {
          model.await(() -> midway[0]);
          assertThat(late.runEpoch(late.join(memory), 200)).isEqualTo(100);
        });
    model.run();
    assertThat(preparedBy(early, late)).isEqualTo(BATCHES);
    assertThat(early.preparedLocally() + late.preparedLocally()).isZero();
    assertThat(late.logged).isEmpty();
  }

  @Test
  void anEpochLeftEarlyStillCountsAsShared() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 2 * BATCHES);
    Program first = new Program();
    Program second = new Program();
    first.start(
        () -> {
          PipelineSession session = first.join(memory);
          first.use(first.begin(session, 100, 2), 0, BATCHES / 2);
          assertThat(session.statistics("g", "p").sharedEpochs).isEqualTo(1);
          assertThat(session.statistics("g", "p").epochs).isEqualTo(1);
        });
    second.start(
        () -> {
          PipelineSession session = second.join(memory);
          second.runEpoch(session, 200);
          assertThat(session.statistics("g", "p").sharedEpochs).isEqualTo(1);
        });
    model.run();
    assertThat(first.ended && second.ended).isTrue();
  }

  /**
   * The late job begins the next epoch, with its own order, immediately if slots are free. The
   * other job joins that epoch later.
   */
  @Test
  void aJobThatJoinsMidEpochSharesTheNextOneWithoutLosingOrRepeatingABatch() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] ahead = {false};
    early.start(
        () -> {
          PipelineSession session = early.join(memory);
          SharedEpoch epoch = early.begin(session, 100, 1);
          early.use(epoch, 0, 4);
          midway[0] = true;
          model.await(() -> ahead[0]);
          early.use(epoch, 4, BATCHES);
          epoch.end();
          assertThat(early.runEpoch(session, 300)).as("the order it adopts").isEqualTo(200);
        });
    late.start(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begin(late.join(memory), 200, 1);
          assertThat(epoch.order().items(0)).as("its own order").startsWith(200);
          late.use(epoch, 0, 2);
          ahead[0] = true;
          late.use(epoch, 2, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(late.logged).singleElement().asString().contains("partway through an epoch");
    assertThat(early.preparedLocally() + late.preparedLocally())
        .as("batches prepared locally")
        .isZero();
    assertThat(preparedBy(early, late)).as("each of two epochs once").isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateJobThatGoesAheadDelaysNobody() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.start(
        () -> {
          PipelineSession session = early.join(memory);
          SharedEpoch epoch = early.begin(session, 100, 1);
          early.use(epoch, 0, 2);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.use(epoch, 2, BATCHES);
          epoch.end();
          assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
          early.runEpoch(session, 300);
        });
    late.start(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begin(late.join(memory), 200, 1);
          there[0] = true;
          late.use(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.preparedLocally() + late.preparedLocally())
        .as("batches prepared locally")
        .isZero();
    assertThat(preparedBy(early, late)).as("each of two epochs once").isEqualTo(2 * BATCHES);
  }

  /** Otherwise jobs still in the older epoch would have no slots. */
  @Test
  void aNewerEpochLeavesHalfOfTheSlotsToTheOlderOne() throws Throwable {
    int slots = 4; // Fewer than BATCHES: otherwise the late job would share the current epoch.
    ModelMemory memory = host.memory(Defect.NONE, slots);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] counted = {false};
    early.whilePreparing = batch -> model.await(() -> batch < BATCHES - 1 || counted[0]);
    early.start(
        () -> {
          PipelineSession session = early.join(memory);
          SharedEpoch epoch = early.begin(session, 100, 1);
          early.use(epoch, 0, BATCHES - 1);
          midway[0] = true;
          early.use(epoch, BATCHES - 1, BATCHES);
          epoch.end();
          early.runEpoch(session, 300);
        });
    late.start(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begin(late.join(memory), 200, 1);
          model.pause(20 * STEP);
          assertThat(slotsOfNewestEpoch(memory)).isEqualTo(slots / 2);
          counted[0] = true;
          late.use(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.preparedLocally() + late.preparedLocally())
        .as("batches prepared locally")
        .isZero();
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
    first.start(
        () -> {
          PipelineSession session = first.join(memory);
          model.await(() -> joined[0]);
          first.runEpoch(session, 100);
          first.runEpoch(session, 200);
        });
    second.start(
        () -> {
          PipelineSession session = second.join(memory);
          joined[0] = true;
          model.pause(LEASE / 2);
          assertThat(second.runEpoch(session, 300)).isEqualTo(100);
          assertThat(second.runEpoch(session, 400)).isEqualTo(200);
        });
    model.run();
    assertThat(first.preparedLocally() + second.preparedLocally()).isZero();
    assertThat(preparedBy(first, second)).isEqualTo(2 * BATCHES);
  }

  @Test
  void aLateHungJobIsWaitedForAtMostOneLease() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program early = new Program();
    Program late = new Program();
    boolean[] midway = {false};
    boolean[] there = {false};
    early.start(
        () -> {
          PipelineSession session = early.join(memory);
          SharedEpoch epoch = early.begin(session, 100, 1);
          early.use(epoch, 0, 4);
          midway[0] = true;
          model.await(() -> there[0]);
          long began = model.nanos();
          early.use(epoch, 4, BATCHES);
          epoch.end();
          early.runEpoch(session, 300);
          early.runEpoch(session, 400);
          assertThat(model.nanos() - began).as("waited").isLessThan(LEASE + 2 * SLACK);
          assertThat(late.ended).as("before the other continues").isFalse();
        });
    late.start(
        () -> {
          model.await(() -> midway[0]);
          SharedEpoch epoch = late.begin(late.join(memory), 200, 1);
          there[0] = true;
          model.pause(LONG); // Its program hangs; the agent's threads do not.
          late.use(epoch, 0, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(early.ended && late.ended).isTrue();
    assertThat(early.preparedLocally()).isZero();
  }

  // ---- stopped jobs

  /** Missing heartbeats reveal the stopped job; its lease is longer. */
  @Test
  void othersContinueBeforeTheLeaseOfAStoppedJobEnds() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 3);
    Program running = new Program();
    Program stopped = new Program();
    boolean[] inside = {false};
    running.start(
        () -> {
          PipelineSession session = running.join(memory);
          SharedEpoch epoch = running.begin(session, 100, 2);
          model.await(() -> inside[0]);
          model.stop(stopped.job);
          long began = model.nanos();
          running.use(epoch, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(TIMEOUTS.beat().toNanos(), TIMEOUTS.beat().toNanos() + 2 * SLACK);
          epoch.end();
          assertThat(running.counters().now().dropped).isEqualTo(1);
          model.resume(stopped.job);
        });
    stopped.start(
        () -> {
          SharedEpoch epoch = stopped.begin(stopped.join(memory), 200, 2);
          stopped.use(epoch, 0, 1);
          inside[0] = true;
          model.pause(STEP);
          stopped.use(epoch, 1, BATCHES);
          epoch.end();
        });
    model.run();
    assertThat(running.ended && stopped.ended).isTrue();
    assertThat(running.preparedLocally()).isZero();
  }

  @Test
  void aStoppedJobsClaimIsTakenOverAndItsLatePublishIsHarmless() throws Throwable {
    int claimed = 3;
    ModelMemory memory = host.memory(Defect.NONE, BATCHES + 2);
    Program running = new Program();
    Program stopped = new Program();
    boolean[] claimHeld = {false};
    boolean[] resumed = {false};
    stopped.whilePreparing =
        batch -> {
          if (batch == claimed && !claimHeld[0]) {
            claimHeld[0] = true;
            model.await(() -> resumed[0]);
          }
        };
    // Ensures that the stopped job gets the claim.
    running.whilePreparing = batch -> model.await(() -> batch != claimed || claimHeld[0]);
    running.start(
        () -> {
          PipelineSession session = running.join(memory);
          SharedEpoch epoch = running.begin(session, 100, 2);
          model.await(() -> claimHeld[0]);
          model.stop(stopped.job);
          long began = model.nanos();
          running.use(epoch, 0, BATCHES);
          assertThat(model.nanos() - began)
              .as("waited")
              .isBetween(TIMEOUTS.beat().toNanos(), TIMEOUTS.beat().toNanos() + 2 * SLACK);
          epoch.end();
          resumed[0] = true;
          model.resume(stopped.job);
          model.pause(STEP); // The resumed job sends heartbeats again.
          running.runEpoch(session, 300);
        });
    stopped.start(
        () -> {
          PipelineSession session = stopped.join(memory);
          SharedEpoch epoch = stopped.begin(session, 200, 2);
          stopped.use(epoch, 0, BATCHES);
          epoch.end();
          stopped.runEpoch(session, 400);
        });
    model.run();
    assertThat(running.ended && stopped.ended).isTrue();
    assertThat(running.preparedLocally() + stopped.preparedLocally())
        .as("batches prepared locally")
        .isZero();
    assertThat(running.counters().now().takeOvers).isEqualTo(1);
    assertThat(stopped.counters().now().tooLate).isEqualTo(1);
    assertThat(preparedBy(running, stopped)).as("each of two epochs once").isEqualTo(2 * BATCHES);
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
      one.start(
          () -> {
            PipelineSession trains = one.join(training);
            PipelineSession validates = one.join(validation);
            ready[0]++;
            model.await(() -> ready[0] == 2);
            boolean first = one == both.get(0);
            for (int epoch = 1; epoch <= 3; epoch++) {
              for (PipelineSession next :
                  first ? List.of(trains, validates) : List.of(validates, trains)) {
                long began = model.nanos();
                one.runEpoch(next, 100 * epoch);
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
    ahead.start(
        () -> {
          PipelineSession training1 = ahead.join(training);
          PipelineSession validation1 = ahead.join(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          ahead.runEpoch(training1, 100);
          long began = model.nanos();
          ahead.runEpoch(validation1, 100);
          assertThat(model.nanos() - began).as("validation").isLessThan(LEASE + SLACK);
          assertThat(trains.ended).as("the other still trains").isFalse();
          ahead.runEpoch(training1, 200);
        });
    trains.start(
        () -> {
          PipelineSession training2 = trains.join(training);
          PipelineSession validation2 = trains.join(validation);
          ready[0]++;
          model.await(() -> ready[0] == 2);
          SharedEpoch epoch = trains.begin(training2, 200, 1);
          for (int batch = 0; batch < BATCHES; batch++) {
            trains.use(epoch, batch, batch + 1);
            model.pause(LEASE / 2); // Slow, but making progress.
          }
          epoch.end();
          trains.runEpoch(validation2, 200);
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
      one.start(
          () -> {
            model.pause(three.indexOf(one) * TIMEOUTS.start().toNanos() / 4);
            SharedEpoch epoch = one.begin(one.join(memory), 100 * three.indexOf(one), 3);
            one.use(epoch, 0, BATCHES);
            epoch.end();
          });
    }
    model.run();
    assertThat(three.stream().mapToLong(Program::preparedLocally).sum()).isZero();
    assertThat(preparedBy(three.toArray(new Program[0]))).isEqualTo(BATCHES);
    assertThat(three.get(0).logged).containsExactly("Waiting for 3 jobs; joined so far: 1.");
  }

  @Test
  void jobsThatAllRunDifferentPipelinesDoNotWaitForEachOther() throws Throwable {
    List<Program> programs = List.of(new Program(), new Program());
    for (Program program : programs) {
      ModelMemory memory = host.memory(Defect.NONE, BATCHES);
      program.start(
          () -> {
            PipelineSession session = program.join(memory);
            long began = model.nanos();
            SharedEpoch epoch = program.begin(session, 100, 2);
            assertThat(model.nanos() - began).as("waited").isLessThan(SLACK);
            assertThat(session.waitedInVain()).isTrue();
            program.use(epoch, 0, BATCHES);
            epoch.end();
          });
    }
    model.run();
    for (Program program : programs) {
      assertThat(program.ended).isTrue();
      assertThat(program.logged)
          .containsExactly(
              "Only 1 of 2 jobs joined this pipeline; the others are waiting at a different one."
                  + " The first epoch begins without them.");
    }
  }

  @Test
  void theFirstEpochBeginsWithoutJobsThatAreTooLateAndThatIsLogged() throws Throwable {
    ModelMemory memory = host.memory(Defect.NONE, 4);
    Program only = new Program();
    only.start(
        () -> {
          PipelineSession session = only.join(memory);
          long began = model.nanos();
          SharedEpoch epoch = only.begin(session, 100, 3);
          long waited = model.nanos() - began;
          assertThat(waited)
              .isBetween(TIMEOUTS.start().toNanos(), TIMEOUTS.start().toNanos() + SLACK);
          only.use(epoch, 0, BATCHES);
          epoch.end();
          long again = model.nanos();
          only.runEpoch(session, 200);
          assertThat(model.nanos() - again).as("only once").isLessThan(2 * SLACK);
        });
    model.run();
    assertThat(only.ended).isTrue();
    assertThat(only.preparedLocally()).isZero();
    assertThat(only.logged)
        .containsExactly(
            "Waiting for 3 jobs; joined so far: 1.",
            "1 of 3 jobs arrived within 1 s: the first epoch begins without the others.");
  }
}
