package io.coordl.host;

import io.coordl.host.Machine.Room;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Prevents the agent's memory from getting the job killed: the kernel reclaims page cache but not
 * shared memory, and kills processes that exceed a container's limit.
 *
 * <ul>
 *   <li><b>Reserve.</b> Until a training epoch is complete, or two have been left early, it is
 *       unknown how much native memory the program needs. Until then, a store whose budget the user
 *       has not set leaves free three quarters of a control group's limit, or a quarter of the
 *       host's memory, but at most 8 GiB. Later it leaves free a sixteenth of the limit (at most
 *       512 MiB), a quarter of the program's peak native memory, and the difference between the
 *       process's peak and current memory. This rule does not apply to a store below a 32nd of a
 *       limit.
 *   <li><b>Page cache</b> that may contain the same files as the store does not count as free.
 *   <li><b>Yielding.</b> A thread checks the memory up to a hundred times a second, more often when
 *       less is left. Below an eighth of a limit (at most 1 GiB), stores admit nothing. Stores give
 *       back whole segments if free memory is below a sixteenth (at most 512 MiB), or falls towards
 *       it, or if the kernel reports that the job stalls or hits its limit. These segments are not
 *       filled again, because that would thrash.
 * </ul>
 *
 * <p>A budget set by the user is not reduced; memory pressure is then logged once.
 *
 * <p>Safe for concurrent use. {@link #isShort} reads some small files and never waits.
 */
public final class MemoryWatch implements Closeable {
  /** While the program's needs are unknown, a store may take 1 / TAKEN_PART of a group's limit. */
  private static final int TAKEN_PART = 4;

  /**
   * While the program's needs are unknown, a store leaves free 1 / LEFT_PART of a host's memory.
   */
  private static final int LEFT_PART = 4;

  /** Most programs use less native memory than this. */
  private static final long MAX_UNKNOWN = 8L << 30;

  private static final int FLOOR_PART = 32;

  private static final int LOW_PART = 16;
  private static final long MAX_LOW = 512L << 20;

  /** The program's memory growth is extrapolated for this many checks. */
  private static final int FORESEEN_CHECKS = 2;

  /** Memory is short if all threads stall on it for this percentage of the time. */
  private static final double STALLED = 10;

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long LAST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Spare bytes per nanosecond of pause: no program takes 8 GB in a second. */
  private static final int BYTES_PER_NANO = 8;

  /** A component that holds memory. */
  public interface Holder {
    /** Returns its name for the user, such as "cache". */
    String noun();

    /** Returns the argument that sets its budget. */
    String argument();

    /** Whether it gives memory back under pressure, because the user has not set its budget. */
    boolean yields();

    /** Returns the bytes that it holds. */
    long held();

    /**
     * Gives back what is no longer needed, or everything if another job has requested that. Called
     * at least once a second.
     *
     * @return whether the garbage collector must run to free it
     */
    default boolean follow() {
      return false;
    }

    /**
     * Permanently gives back at least this many bytes, if it holds them, and takes no more from now
     * on. The memory is freed once the garbage collector finds that nothing reads from it.
     *
     * @return bytes given back
     */
    long giveBack(long bytes);

    /**
     * Returns the bytes given back that stay in memory because the program still reads from them.
     */
    default long pinned() {
      return 0;
    }
  }

  /** Measures memory; tests substitute it. */
  interface Gauge {
    List<Room> rooms();

    /** Returns the bytes of the heap and of native memory. */
    long anonymous();

    long heapGrowth();
  }

  private static final Gauge REAL =
      new Gauge() {
        @Override
        public List<Room> rooms() {
          return Machine.rooms();
        }

        @Override
        public long anonymous() {
          return Machine.anonymous();
        }

        @Override
        public long heapGrowth() {
          return Machine.heapGrowth();
        }
      };

  private final Gauge gauge;
  private final Runnable collect;
  private final UserLog log;
  private final List<Holder> holders = new CopyOnWriteArrayList<>();
  private final Thread thread = new AgentThread("coordl-memory", this::run);
  private boolean started;
  private volatile boolean closed;

  /** Whether the program's needs are known. */
  private volatile boolean known;

  private int incomplete;

  /** Peak bytes of the process, excluding memory backed by files. */
  private volatile long peak;

  // Used by the watching thread only.
  private Room last = new Room(0, 0);
  private long events = -1;
  private boolean warned;

  private final AtomicLong totalGiven = new AtomicLong();

  /** Creates a watch whose thread starts with the first holder. */
  public MemoryWatch(UserLog log) {
    this(REAL, System::gc, log);
  }

  MemoryWatch(Gauge gauge, Runnable collect, UserLog log) {
    this.gauge = gauge;
    this.collect = collect;
    this.log = log;
  }

  public synchronized void add(Holder holder) {
    holders.add(holder);
    if (!started && !closed && gauge == REAL) {
      started = true;
      thread.start();
    }
  }

  /** Called at the end of each epoch: one with training shows what the program needs. */
  public synchronized void ended(EpochEvent epoch) {
    if (epoch.updates > 0 && epoch.batches > 0 && (epoch.complete || ++incomplete > 1)) {
      measure();
      known = true;
    }
  }

  /** Whether it is still unknown how much memory the program needs. */
  public boolean isLearning() {
    return !known;
  }

  /**
   * Whether a holder without a budget set by the user must not take more now.
   *
   * @param before the previous result
   * @param held bytes that the holder has
   */
  public boolean isShort(boolean before, long held) {
    long heap = gauge.heapGrowth();
    long now = known ? measure() : 0;
    for (Room room : gauge.rooms()) {
      long left = held < room.limit() / FLOOR_PART ? 0 : reserve(room, now) + files(room, held);
      if (room.isTight(before, heap + left) || room.available() < 2 * low(room)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Caps a budget that the user has not set at a sixteenth of each control group's limit. Used for
   * memory that cannot be given back while it is in use.
   */
  public long bounded(long budget) {
    long bound = budget;
    for (Room room : gauge.rooms()) {
      bound = room.group() ? Math.min(bound, room.limit() / LOW_PART) : bound;
    }
    return bound;
  }

  /** Returns the bytes of page cache that may duplicate files in the store. */
  private static long files(Room room, long held) {
    return Math.min(room.cache(), held);
  }

  private long reserve(Room room, long anonymous) {
    if (known) {
      long growth = Math.max(0, peak - Runtime.getRuntime().totalMemory());
      return low(room) + growth / 4 + Math.max(0, peak - anonymous);
    }
    long share = room.group() ? room.limit() - room.limit() / TAKEN_PART : room.limit() / LEFT_PART;
    return Math.min(MAX_UNKNOWN, share);
  }

  private static long low(Room room) {
    return Math.min(MAX_LOW, room.limit() / LOW_PART);
  }

  private long measure() {
    long now = gauge.anonymous();
    synchronized (this) {
      peak = Math.max(peak, now);
    }
    return now;
  }

  private void run() {
    while (!closed) {
      try {
        LockSupport.parkNanos(this, check());
      } catch (Throwable t) {
        AgentThread.survive(t);
      }
    }
  }

  /**
   * Checks the memory, requests some back if memory is short, and returns the pause in nanoseconds
   * until the next check.
   */
  long check() {
    boolean followed = false;
    for (Holder holder : holders) {
      followed |= holder.follow();
    }
    if (followed) {
      collect.run(); // A segment is freed only when its last view is garbage.
    }
    measure();
    List<Room> rooms = gauge.rooms();
    Room room = rooms.stream().min(Comparator.comparingLong(MemoryWatch::spare)).orElseThrow();
    long falling = room.limit() == last.limit() ? last.available() - room.available() : 0;
    long foreseen = FORESEEN_CHECKS * Math.max(0, falling);
    last = room;
    long eventsNow = rooms.stream().mapToLong(Room::events).sum();
    boolean hasNewEvents = events >= 0 && eventsNow > events;
    events = eventsNow;
    boolean nearLimit = hasNewEvents && room.available() < 2 * low(room);
    boolean stalls = rooms.stream().anyMatch(MemoryWatch::stalls);
    if (spare(room) < foreseen || nearLimit || stalls) {
      // Before the memory is freed, the program may take as much again.
      relieve(room, Math.max(2 * low(room), 2 * low(room) + foreseen - room.available()));
    }
    long pause = Math.max(0, spare(room)) / BYTES_PER_NANO;
    return Math.max(FIRST_PAUSE_NANOS, Math.min(LAST_PAUSE_NANOS, pause));
  }

  private static long spare(Room room) {
    return room.available() - low(room);
  }

  private static boolean stalls(Room room) {
    return room.stalled() >= STALLED && room.available() < room.limit() / 4;
  }

  /** Requests this many bytes back, from the largest holder first. */
  private void relieve(Room room, long bytes) {
    long left = bytes;
    Comparator<Holder> bySize = Comparator.comparingLong(Holder::held);
    for (Holder holder : holders.stream().sorted(bySize.reversed()).toList()) {
      if (left > 0 && holder.yields()) {
        long bytesGiven = holder.giveBack(left);
        left -= bytesGiven;
        if (bytesGiven > 0) {
          totalGiven.addAndGet(bytesGiven);
          say(room, "the %s gives back %s and is not filled again.", holder.noun(), bytesGiven);
        }
      }
    }
    if (left < bytes) {
      collect.run();
    }
    for (Holder holder : holders) {
      if (!warned && !holder.yields() && holder.held() > 0) {
        warned = true;
        say(
            room,
            "the %s keeps %s, because "
                + holder.argument()
                + " sets a budget; with auto, it would give memory back.",
            holder.noun(),
            holder.held());
      }
    }
  }

  private void say(Room room, String what, String noun, long bytes) {
    log.say(
        "Memory is short, %s of %s left: " + what,
        mebibytes(room.available()),
        mebibytes(room.limit()),
        noun,
        mebibytes(bytes));
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%d MiB", bytes >> 20);
  }

  /** Describes for the summary how much was given back; empty if nothing. */
  public String summary() {
    long bytes = totalGiven.get();
    if (bytes == 0) {
      return "";
    }
    long pinned = holders.stream().mapToLong(Holder::pinned).sum();
    return "memory was short: "
        + mebibytes(bytes)
        + " of cached data were given back"
        + (pinned >> 20 == 0 ? "" : ", but the program still keeps " + mebibytes(pinned));
  }

  /** Stops watching. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
