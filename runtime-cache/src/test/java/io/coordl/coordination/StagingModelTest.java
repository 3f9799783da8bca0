package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.coordination.Model.Action;
import io.coordl.coordination.Model.Event;
import io.coordl.coordination.Model.Plan;
import io.coordl.coordination.ModelMemory.Defect;
import io.coordl.testing.Full;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model check of the production protocol: at every access to shared memory, another thread may run,
 * or a job may be stopped or killed. Two jobs of two threads each run two epochs of three batches
 * with two to four slots; a killed job is replaced by another, which becomes the same participant.
 * Explores every single switch, a kill and a stop at every step, and random runs with up to four
 * switches, one stop and one kill. Two planted defects prove that the check finds defects.
 */
@Tag("slow")
class StagingModelTest {
  private static final int EPOCHS = 2;
  private static final int BATCHES = 3;
  private static final int BATCH = 2;

  /** Too long for a running job to time out: time passes only when all jobs wait. */
  private static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofMillis(100),
          Duration.ofMillis(200),
          Duration.ofMillis(400),
          Duration.ofMillis(300),
          Duration.ofSeconds(1));

  /** One run of a plan, with its checks. */
  private static final class Run {
    private final boolean successor;
    private final Model model;
    private final ModelHost host;
    private final ModelMemory memory;
    private final List<StagingCounters> counters = new ArrayList<>();
    private final AtomicInteger finished = new AtomicInteger();

    Run(Defect defect, int slots, boolean successor, Plan plan) {
      this.successor = successor;
      this.model = new Model(plan);
      this.host = new ModelHost(model, TIMEOUTS);
      this.memory = host.memory(defect, slots);
    }

    int run() throws Throwable {
      startJob();
      startJob();
      boolean[] followed = {!successor};
      model.onKill(
          job -> {
            if (!followed[0]) {
              followed[0] = true;
              startJob();
            }
          });
      model.run();
      long survivors = model.jobs().stream().filter(job -> !job.killed).count();
      assertThat(finished.get()).as("jobs that finished").isGreaterThanOrEqualTo((int) survivors);
      return model.steps();
    }

    private void startJob() {
      Model.Job job = model.job();
      model.start(job, () -> live(job));
    }

    /** A program with its agent. */
    private void live(Model.Job job) {
      PipelineSession session = host.join(job, memory, line -> {}, blocked -> {});
      counters.add(session.counters);
      Set<Integer> ordersUsed = new HashSet<>();
      for (int number = 0; number < EPOCHS; number++) {
        int first = Math.toIntExact(job.number) * 100 + number * 10;
        int[] items = new int[BATCHES * BATCH];
        for (int i = 0; i < items.length; i++) {
          items[i] = first * 10 + i;
        }
        SharedEpoch epoch = session.begin(BatchOrder.evenly(items, BATCH), 1);
        if (epoch == null) {
          // Another job was stopped while it created the epoch.
          counters.get(0).count(sum -> sum.late++);
          continue;
        }
        BatchOrder order = epoch.order();
        assertThat(order.items).hasSize(items.length);
        assertThat(ordersUsed.add(order.items(0)[0])).as("no epoch twice").isTrue();
        epoch.prepareWith((batch, wanted) -> batch(wanted), 1);
        for (int batch = 0; batch < order.batches(); batch++) {
          use(epoch, order, batch);
        }
        epoch.end();
      }
      finished.incrementAndGet();
    }

    private void use(SharedEpoch epoch, BatchOrder order, int batch) {
      try {
        epoch.use(
            batch,
            bytes -> {
              check(order, batch, bytes);
              memory.get(StagingDescriptor.SLOT_BYTES); // Others may run during the read.
              check(order, batch, bytes);
              return bytes;
            });
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void check(BatchOrder order, int batch, ByteBuffer bytes) {
      for (int item : order.items(batch)) {
        assertThat(bytes.getInt()).as("item of batch %d", batch).isEqualTo(item);
      }
      bytes.rewind();
    }

    private PreparedBatch batch(int[] items) {
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return 4L * BATCH;
        }

        @Override
        public void writeTo(ByteBuffer target) {
          for (int item : items) {
            target.putInt(item);
            memory.get(StagingDescriptor.SLOT_BYTES); // Others may run during the write.
          }
        }

        @Override
        public void close() {}
      };
    }

    long prepared() {
      return counters.stream().mapToLong(one -> one.now().prepared).sum();
    }

    long alone() {
      return counters.stream().mapToLong(Batches::alone).sum();
    }
  }

  private static final Plan NOTHING = new Plan(Map.of());

  private static int run(Defect defect, int slots, Plan plan) {
    Run run = new Run(defect, slots, true, plan);
    try {
      return run.run();
    } catch (Throwable t) {
      throw new AssertionError(slots + " slots, " + plan + ": " + t, t);
    }
  }

  private static int steps(int slots) {
    return run(Defect.NONE, slots, NOTHING);
  }

  @Test
  void undisturbedJobsPrepareEachBatchOnceBetweenThem() throws Throwable {
    for (int slots = 2; slots <= 4; slots++) {
      Run run = new Run(Defect.NONE, slots, false, NOTHING);
      run.run();
      assertThat(run.alone()).as("%d slots", slots).isZero();
      assertThat(run.prepared()).as("%d slots", slots).isEqualTo((long) EPOCHS * BATCHES);
    }
  }

  @Test
  void oneSwitchAtEveryStep() {
    int runs = 0;
    for (int slots = 2; slots <= 4; slots += 2) {
      int steps = steps(slots);
      for (int step = 0; step < steps; step++) {
        for (int other = 1; other < 4; other++) {
          run(Defect.NONE, slots, new Plan(Map.of(step, new Event(Action.SWITCH, other))));
          runs++;
        }
      }
    }
    System.out.println(runs + " runs with one switch");
  }

  @Test
  void oneKillOrStopAtEveryStep() {
    int runs = 0;
    for (int slots = 2; slots <= (Full.ON ? 4 : 2); slots += 2) {
      int steps = steps(slots);
      for (int step = 0; step < steps; step++) {
        run(Defect.NONE, slots, new Plan(Map.of(step, new Event(Action.KILL, 1))));
        run(Defect.NONE, slots, new Plan(Map.of(step, new Event(Action.STOP, 1))));
        runs += 2;
      }
    }
    System.out.println(runs + " runs with one kill or one stop");
  }

  private static Plan random(SplittableRandom random, int steps) {
    Map<Integer, Event> events = new HashMap<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      events.put(random.nextInt(steps), new Event(Action.SWITCH, 1 + random.nextInt(4)));
    }
    if (random.nextBoolean()) {
      events.put(random.nextInt(steps), new Event(Action.STOP, 1 + random.nextInt(4)));
    }
    if (random.nextBoolean()) {
      events.put(random.nextInt(steps), new Event(Action.KILL, 1));
    }
    return new Plan(events);
  }

  private static int explore(Defect defect) {
    int runs = Integer.getInteger("coordl.model.runs", 4000);
    SplittableRandom random = new SplittableRandom(Long.getLong("coordl.seed", 1));
    int steps = steps(2);
    for (int i = 0; i < runs; i++) {
      run(defect, 2 + random.nextInt(3), random(random, steps + steps / 2));
    }
    return runs;
  }

  @Test
  void randomRunsWithSeveralEvents() {
    System.out.println(explore(Defect.NONE) + " runs with up to six events");
  }

  @Test
  void ignoredHoldersAreDetected() {
    assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> explore(Defect.HOLDERS_UNSEEN)))
        .hasMessageContaining("item of batch");
  }

  @Test
  void stoppedJobsMistakenForDeadAreDetected() {
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(() -> explore(Defect.STOPPED_IS_DEAD)))
        .hasMessageContaining("item of batch");
  }
}
