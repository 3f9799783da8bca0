package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Machine.Room;
import io.coordl.telemetry.event.EpochEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A container of 600 MiB, like one in which a job was killed, and larger ones. */
class MemoryWatchTest {
  private static final long MIB = 1 << 20;

  private final List<String> logged = new ArrayList<>();
  private final Container container = new Container();
  private final MemoryWatch watch =
      new MemoryWatch(container, () -> container.collected++, logged::add);

  /** The container's contents in MiB; the test changes them. */
  private static final class Container implements MemoryWatch.Gauge {
    private long limit = 600;
    private long used = 80;
    private long cache;
    private long anonymous = 60;
    private long events;
    private double stalled;
    private int collected;

    @Override
    public List<Room> rooms() {
      Room host = new Room(64 << 10 << 20, 50L << 10 << 20, 0, false, 0, 0);
      long available = (limit - used) * MIB;
      return List.of(host, new Room(limit * MIB, available, cache * MIB, true, events, stalled));
    }

    @Override
    public long anonymous() {
      return anonymous * MIB;
    }

    @Override
    public long heapGrowth() {
      return 80 * MIB;
    }
  }

  /** Holds {@code held} MiB and gives back at least what is requested, in pieces of 32 MiB. */
  private final class Holding implements MemoryWatch.Holder {
    private final boolean yields;
    private long held;
    private long pinned;

    Holding(boolean yields, long held) {
      this.yields = yields;
      this.held = held;
      container.used += held;
      watch.add(this);
    }

    @Override
    public String noun() {
      return "cache";
    }

    @Override
    public String argument() {
      return "cache.size";
    }

    @Override
    public boolean yields() {
      return yields;
    }

    @Override
    public long held() {
      return held * MIB;
    }

    @Override
    public long pinned() {
      return pinned * MIB;
    }

    @Override
    public long giveBack(long bytes) {
      long given = Math.min(held, 32 * (((bytes - 1) / MIB) / 32 + 1));
      held -= given;
      container.used -= given;
      return given * MIB;
    }
  }

  private static EpochEvent epoch(boolean trains, boolean complete) {
    EpochEvent epoch = new EpochEvent();
    epoch.batches = 10;
    epoch.updates = trains ? 10 : 0;
    epoch.complete = complete;
    return epoch;
  }

  private boolean isShort(long held) {
    return watch.isShort(false, held * MIB);
  }

  @Test
  void untilATrainingEpochEndsThreeQuartersAreLeftToTheProgram() {
    assertThat(isShort(18)).as("1/32 may be used").isFalse();
    assertThat(isShort(19)).isTrue();
    watch.ended(epoch(false, true));
    assertThat(isShort(19)).as("an evaluation shows nothing").isTrue();
    watch.ended(epoch(true, false));
    assertThat(isShort(19)).as("an epoch left early shows nothing either").isTrue();
    assertThat(watch.isLearning()).isTrue();
    watch.ended(epoch(true, true));
    assertThat(watch.isLearning()).isFalse();
    assertThat(isShort(19)).isFalse();
  }

  @Test
  void untilATrainingEpochEndsALargeContainerIsFilledExceptForEightGibibytes() {
    container.limit = 64 << 10;
    container.used = 64 << 10;
    container.used -= 8 << 10;
    container.used -= 256 + 80;
    assertThat(isShort(4096)).isFalse();
    container.used++;
    assertThat(isShort(4096)).isTrue();
  }

  @Test
  void afterATrainingEpochItsPeakNativeMemoryStaysReserved() {
    container.anonymous = 10_000;
    watch.check();
    container.anonymous = 9_900;
    watch.ended(epoch(true, true));
    // Reserve, heap growth, 1/16 (at most 512 MiB), 100 MiB freed since, 1/4 of native memory.
    long native4 = (10_000 * MIB - Runtime.getRuntime().totalMemory()) / 4 / MIB;
    container.limit = 64 << 10;
    long left = 256 + 80 + 512 + 100 + native4;
    container.used = container.limit - left - 200;
    assertThat(isShort(4096)).isFalse();
    container.used += 400;
    assertThat(isShort(4096)).isTrue();
  }

  @Test
  void pageCacheOfTheCachedFilesIsNotFree() {
    watch.ended(epoch(true, true));
    container.used = 600 - 80 - 19 - 38 - 100;
    assertThat(isShort(90)).isFalse();
    container.cache = 300;
    assertThat(isShort(90)).as("100 MiB left, 90 MiB of it page cache of cached files").isFalse();
    assertThat(isShort(110)).isTrue();
  }

  @Test
  void admissionStopsBeforeMemoryIsGivenBack() {
    watch.ended(epoch(true, true));
    Holding cache = new Holding(true, 140);
    container.used = 600 - 70;
    watch.check();
    assertThat(watch.isShort(false, 0)).isTrue();
    assertThat(cache.held).isEqualTo(140);
    assertThat(logged).isEmpty();
    assertThat(watch.summary()).isEmpty();
  }

  @Test
  void nearTheLimitWholeSegmentsAreGivenBackAndThatIsLogged() {
    Holding small = new Holding(true, 10);
    Holding cache = new Holding(true, 140);
    container.used = 600 - 30;
    watch.check();
    assertThat(cache.held).as("at least an eighth of the limit").isEqualTo(140 - 96);
    assertThat(small.held).isEqualTo(10);
    assertThat(container.collected).isEqualTo(1);
    assertThat(logged)
        .containsExactly(
            "Memory is short, 30 MiB of 600 MiB left: the cache gives back 96 MiB and is not"
                + " filled again.");
    watch.check();
    assertThat(container.collected).as("there is enough").isEqualTo(1);
    container.used = 600;
    watch.check();
    assertThat(cache.held).isZero();
    assertThat(small.held).isZero();
    container.used = 600;
    watch.check();
    assertThat(container.collected).as("nothing is left to collect").isEqualTo(2);
    assertThat(watch.summary())
        .isEqualTo("memory was short: 150 MiB of cached data were given back");
    cache.pinned = 3;
    assertThat(watch.summary()).endsWith("were given back, but the program still keeps 3 MiB");
  }

  @Test
  void aBurstIsAnticipated() {
    Holding cache = new Holding(true, 140);
    container.used = 300;
    watch.check();
    container.used = 300 + 130;
    watch.check();
    assertThat(cache.held).as("170 MiB left, falling by 130 MiB per check").isLessThan(140);
  }

  @Test
  void aLimitHitIsPressureOnlyIfLittleIsLeft() {
    Holding cache = new Holding(true, 140);
    container.used = 300;
    container.events = 5;
    watch.check();
    container.events = 6; // The page cache hit the limit.
    watch.check();
    assertThat(cache.held).isEqualTo(140);
    container.used = 600 - 70;
    container.events = 7;
    container.limit = 600;
    MemoryWatch fresh = new MemoryWatch(container, () -> {}, logged::add);
    fresh.add(cache);
    fresh.check();
    assertThat(cache.held).as("earlier hits are unknown").isEqualTo(140);
    container.events = 8;
    fresh.check();
    assertThat(cache.held).isLessThan(140);
  }

  @Test
  void aJobThatStallsForMemoryGetsMemoryBack() {
    Holding cache = new Holding(true, 140);
    container.used = 300;
    container.stalled = 20;
    watch.check();
    assertThat(cache.held).as("half is free: the stall has another cause").isEqualTo(140);
    container.used = 460;
    container.stalled = 9;
    MemoryWatch fresh = new MemoryWatch(container, () -> {}, logged::add);
    fresh.add(cache);
    fresh.check();
    assertThat(cache.held).isEqualTo(140);
    container.stalled = 10;
    fresh.check();
    assertThat(cache.held).isLessThan(140);
  }

  @Test
  void anExplicitBudgetIsKeptWithOneWarning() {
    Holding named = new Holding(false, 140);
    container.used = 590;
    watch.check();
    watch.check();
    assertThat(named.held).isEqualTo(140);
    assertThat(container.collected).isZero();
    assertThat(logged)
        .containsExactly(
            "Memory is short, 10 MiB of 600 MiB left: the cache keeps 140 MiB, because"
                + " cache.size sets a budget; with auto, it would give memory back.");
  }

  @Test
  void memoryIsCheckedMoreOftenTheLessIsLeft() {
    container.limit = 64 << 10;
    assertThat(watch.check()).isEqualTo(1_000_000_000);
    container.limit = 600;
    assertThat(watch.check()).isBetween(50_000_000L, 70_000_000L);
    container.used = 560;
    assertThat(watch.check()).isEqualTo(10_000_000);
  }

  @Test
  void aBudgetThatCannotYieldIsAtMostASixteenthOfTheLimit() {
    assertThat(watch.bounded(10 * MIB)).isEqualTo(10 * MIB);
    assertThat(watch.bounded(100 * MIB)).isEqualTo(600 * MIB / 16);
  }
}
