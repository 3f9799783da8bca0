package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.items.ItemKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model check of the production protocol: at every access to memory, another job may run, or the
 * current job may be killed. Three jobs fetch the same item; two of them fetch another item first,
 * so that the table fills and a new one is appended. Explores every single switch, every single
 * kill, kills after a switch, and random runs of up to four switches and two kills.
 *
 * <p>In every run, an item that is found is complete, is stored once, is read once plus at most
 * once per killed job, and is served to the last job.
 */
class ArenaModelTest {
  private static final int CAPACITY = 1 << 18;
  private static final int LENGTH = 100;
  private static final ItemKey WANTED = ItemKey.of("/wanted", LENGTH, 0, ItemKey.WHOLE);
  private static final ItemKey OTHER = ItemKey.of("/other", LENGTH, 0, ItemKey.WHOLE);

  /** A job that runs this many steps is waiting for another, which must run. */
  private static final int PATIENCE = 500;

  private final ExecutorService pool = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    pool.shutdownNow();
  }

  /** Event for the job about to take a step: a kill, or a switch to another job. */
  private record Event(boolean kill, int next) {}

  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("killed", null, false, false);
    }
  }

  /** A job on its own thread; one job runs at a time. */
  private static final class Job {
    private final int number;
    private final Semaphore turn = new Semaphore(0);
    private boolean killed;
    private boolean ended;

    Job(int number) {
      this.number = number;
    }
  }

  /** One run of a plan, with its checks. */
  private final class Run {
    private final Map<Integer, Event> plan;
    private final List<Job> jobs = new ArrayList<>();
    private final Memory memory = new Memory(this);
    private final Map<ItemKey, Integer> reads = new HashMap<>();
    private final Semaphore over = new Semaphore(0);
    private Job current;
    private Throwable failure;
    private int steps;
    private int since;
    private int kills;

    Run(Map<Integer, Event> plan) {
      this.plan = plan;
    }

    int run() throws Exception {
      ArenaStore.format(memory);
      // One more item fills the first table.
      memory.set(ArenaDescriptor.tableFill(0), ArenaDescriptor.fillLimit(0) - 1);
      start(WANTED);
      start(OTHER, WANTED);
      start(OTHER, WANTED);
      current = jobs.get(0);
      current.turn.release();
      assertThat(over.tryAcquire(Waits.LONG.toSeconds(), TimeUnit.SECONDS))
          .as("%s finishes", plan)
          .isTrue();
      current = null;
      if (failure != null) {
        throw new AssertionError(plan.toString(), failure);
      }
      check();
      return steps;
    }

    private void start(ItemKey... keys) {
      Job job = new Job(jobs.size() + 1);
      jobs.add(job);
      pool.execute(
          () -> {
            try {
              job.turn.acquire();
              ArenaStore store = store(job.number);
              for (ItemKey key : keys) {
                fetch(store, key);
              }
            } catch (Killed e) {
              // A kill undoes none of the job's steps.
            } catch (Throwable t) {
              failure = t;
            }
            job.ended = true;
            passOn(1);
          });
    }

    private ArenaStore store(long job) {
      return new ArenaStore(
          memory,
          null,
          job,
          number -> number > jobs.size() || !jobs.get((int) number - 1).killed,
          "model",
          line -> {});
    }

    private Fetched fetch(ArenaStore store, ItemKey key) throws IOException {
      Fetched fetched =
          store.fetch(
              key,
              LENGTH,
              (target, offset) -> {
                reads.merge(key, 1, Integer::sum);
                step();
                System.arraycopy(bytes(key), 0, target, offset, LENGTH);
                return true;
              },
              Duration.ZERO);
      if (fetched.content() != null) {
        assertThat(Items.bytes(fetched.content())).isEqualTo(bytes(key));
      } else {
        assertThat(fetched.outcome()).isEqualTo(Outcome.BUSY);
      }
      return fetched;
    }

    private void check() throws IOException {
      ArenaStore last = store(jobs.size() + 1L);
      for (ItemKey key : List.of(WANTED, OTHER)) {
        ByteBuffer found = last.find(key);
        if (kills == 0) {
          assertThat(found).as("%s: nothing is lost", plan).isNotNull();
        }
        assertThat(fetch(last, key).outcome())
            .as("%s", plan)
            .isEqualTo(found == null ? Outcome.ADMITTED : Outcome.HIT);
        assertThat(reads.get(key)).as("%s: reads", plan).isBetween(1, 1 + kills);
        assertThat(ready(key)).as("%s: stored once", plan).isEqualTo(1);
      }
      if (kills == 0) {
        assertThat(last.items()).as("%s: items", plan).isEqualTo(2);
      }
    }

    private int ready(ItemKey key) {
      int ready = 0;
      for (int table = 0; table < memory.get(ArenaDescriptor.TABLES); table++) {
        long offset = memory.get(ArenaDescriptor.tableOffset(table));
        for (int slot = 0; slot < ArenaDescriptor.slots(table); slot++) {
          long word = memory.get(offset + 8L * slot);
          boolean found =
              ArenaDescriptor.isReady(word)
                  && memory.get(ArenaDescriptor.itemOffset(word) + ArenaDescriptor.ITEM_KEY_HIGH)
                      == key.high();
          ready += found ? 1 : 0;
        }
      }
      return ready;
    }

    /** Called before each access; does nothing if no job runs. */
    void step() {
      Job job = current;
      if (job == null) {
        return;
      }
      if (job.killed) {
        throw new Killed(); // A killed process runs no cleanup.
      }
      Event event = plan.get(steps++);
      since++;
      if (event != null && event.kill) {
        job.killed = true;
        kills++;
        throw new Killed();
      }
      if (event != null || since > PATIENCE) {
        passOn(event == null ? 1 : event.next);
        job.turn.acquireUninterruptibly();
      }
    }

    /** Runs the {@code next}th job after the current one, or the next that has not finished. */
    private void passOn(int next) {
      since = 0;
      int from = current.number - 1;
      for (int i = 0; i < jobs.size(); i++) {
        Job job = jobs.get((from + next + i) % jobs.size());
        if (!job.ended) {
          current = job;
          job.turn.release();
          return;
        }
      }
      over.release();
    }
  }

  /** The memory of one run. */
  private static final class Memory extends ArenaMemory {
    private final ByteBuffer bytes =
        ByteBuffer.allocateDirect(CAPACITY).order(ByteOrder.nativeOrder());
    private final Run run;

    Memory(Run run) {
      super(CAPACITY);
      this.run = run;
    }

    @Override
    void check(long at) {}

    @Override
    void giveBack(int from) {}

    @Override
    int number(long at) {
      return 0;
    }

    @Override
    int within(long at) {
      return (int) at;
    }

    @Override
    ByteBuffer segment(int number) {
      run.step();
      return bytes;
    }

    @Override
    long stride() {
      return CAPACITY;
    }

    @Override
    long segmentBytes() {
      return CAPACITY;
    }

    /** Writes in two halves: a job may be killed between them. */
    @Override
    void write(long at, byte[] source, int offset, int length) {
      int half = length / 2;
      run.step();
      bytes.put((int) at, source, offset, half);
      run.step();
      bytes.put((int) at + half, source, offset + half, length - half);
    }

    @Override
    public void close() {}
  }

  private static byte[] bytes(ItemKey key) {
    byte[] bytes = new byte[LENGTH];
    new SplittableRandom(key.high()).nextBytes(bytes);
    return bytes;
  }

  @Test
  void everySwitchAndEveryKillLeavesItemsCompleteAndStoredOnce() throws Exception {
    int steps = new Run(Map.of()).run();
    assertThat(steps).isGreaterThan(50);
    int limit = 2 * steps;
    for (int at = 0; at < limit; at++) {
      for (int next = 1; next < 3; next++) {
        new Run(Map.of(at, new Event(false, next))).run();
        new Run(Map.of(at, new Event(true, next))).run();
        // Kills a job while others may be working on the same item.
        new Run(Map.of(at / 2, new Event(false, next), at + 1, new Event(true, 1))).run();
      }
    }
  }

  @Test
  @Tag("slow")
  void randomSwitchesAndKillsLeaveItemsCompleteAndStoredOnce() throws Exception {
    int steps = new Run(Map.of()).run();
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 4000; i++) {
      Map<Integer, Event> plan = new HashMap<>();
      int kills = random.nextInt(3);
      for (int event = kills + random.nextInt(1, 5); event > 0; event--) {
        plan.put(random.nextInt(2 * steps), new Event(event <= kills, random.nextInt(1, 3)));
      }
      new Run(plan).run();
    }
  }
}
