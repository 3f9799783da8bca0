package io.coordl.store;

import io.coordl.host.Contents.Header;
import io.coordl.host.LateFile;
import io.coordl.host.Liveness;
import io.coordl.host.Machine;
import io.coordl.host.MappedLength;
import io.coordl.host.MemoryWatch;
import io.coordl.host.SharedFile;
import io.coordl.items.ItemKey;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Items in an append-only arena, used by one process or by all jobs of a group: the MinIO cache of
 * the CoorDL paper (section 4.1), which admits until it is full and never evicts. Because nothing
 * is evicted, it needs no free list and no LRU order, only a pointer that moves forward and an
 * index in which one compare-and-set decides each word.
 *
 * <h2>Protocol</h2>
 *
 * <p>The index is a list of tables ({@link ArenaDescriptor}), each an open-addressing table of
 * one-word slots. To look up: walk the key's probe run in each table, the newest first, up to its
 * first empty slot. To admit:
 *
 * <ol>
 *   <li>CAS the empty slot at the end of the run in the newest table to CLAIMED. The word carries
 *       the owner and 40 bits of the key, so a visible claim is complete.
 *   <li>Search all tables again: if the key is also elsewhere (a table was appended since the
 *       lookup), abandon this claim. Of two claimants, at least one sees the other.
 *   <li>Read the item from storage; move the tail by its length; write header and bytes there.
 *   <li>CAS the slot from <em>this claim</em> to READY, with the offset of the item.
 * </ol>
 *
 * <p>A slot changes EMPTY -> CLAIMED -> READY. It becomes ABANDONED if the claimant gives up or the
 * item turns out to be damaged, and may then be CLAIMED again for the same key. It never becomes
 * empty or another key's slot, so a thread may wait at a key's slot. A thread that finds a claim
 * waits up to {@link #PATIENCE}, then reads storage itself. So an item is normally read once,
 * whichever job requests it first. A claim whose owner is dead is taken over by CAS.
 *
 * <h2>Memory order</h2>
 *
 * <p>An item is written before the CAS to READY (release); a reader loads the slot with a volatile
 * read (acquire) and then sees the whole item. The item is written by write(2) before the CAS in
 * program order, into the same pages that are mapped. It never changes again, so views of it are
 * handed out without copies or reference counts.
 *
 * <h2>State after kill -9</h2>
 *
 * <ul>
 *   <li>Before the claim: nothing. Between the claim and READY: a claim with a dead owner, which
 *       the next job that requests the item takes over. If the tail had moved, the item's bytes are
 *       lost. No reader ever sees them, because no slot points there.
 *   <li>Between the claim and the count of taken slots, or READY and the count of items: a count
 *       that is one too low. The fill limit of three quarters allows for that.
 *   <li>While a table is appended: the table's bytes are lost unless it was published (TABLES). The
 *       right to append (GROWER) has a dead owner; the next job takes it over.
 * </ul>
 *
 * <p>The kernel reports whether a job is dead ({@link Liveness}): it releases locks when the last
 * thread is gone, so a dead job writes nothing later. A job that left normally but has a slow
 * thread is harmless too: its CAS to READY fails once another job owns the claim.
 *
 * <h2>Damage by another program of this user</h2>
 *
 * <p>Another program may truncate the file. Admitting an item checks the length of the file before
 * each write and each change of a word ({@link MappedLength}). A read past the end throws, at the
 * latest when the operation settles before it returns ({@link MappedLength#settle}). Either way
 * this process finds and admits nothing from then on, logs that once, and reads storage. Views
 * handed out earlier fail in their readers, which then read the item's file. If the file is
 * truncated in the microsecond between the check and an atomic change, the JVM crashes. Bytes
 * overwritten in place are noticed only in items that this process has not checked yet.
 *
 * <h2>Space</h2>
 *
 * <p>The file has the length of the budget from the start, but takes memory only where it was
 * written; items and tables are both written by write(2) ({@link MappedMemory}). If tmpfs is full,
 * that write fails: the program gets the item from the heap, REFUSING is set, and the items already
 * cached stay. The mapping is never accessed where nothing was written. Free memory may have shrunk
 * since start-up, so it is re-checked after each 32nd part of the budget, at least every 32 MiB.
 * While memory is short, this process admits nothing.
 *
 * <h2>Giving memory back</h2>
 *
 * <p>A never-evicting cache must not get the job killed. If memory is short ({@link MemoryWatch}),
 * the store of one process permanently stops admitting and gives back segments, the newest first.
 * They leave the arena, so no new view is made. A segment is unmapped, and its memory freed, only
 * when the garbage collector finds no view of it. So there are no reader counts, and no reader
 * loses the bytes that it reads. A view that the program retains, such as that of a mapped file,
 * pins a whole segment in memory, so segments are small ({@link PrivateMemory}). Entries that point
 * into a segment given back are no longer found ({@link GivenBackException}). Addresses are not
 * reused.
 *
 * <p>A file that several jobs map cannot be given back in part, so the store of a group is given
 * back whole: a job sets GIVEN_BACK, each job leaves when it sees the flag, the last job removes
 * the file, and the kernel frees the memory after the last mapping is gone.
 *
 * <h2>Memory per item</h2>
 *
 * <p>An item takes 24 bytes of header, at most 7 of padding, and its share of the index. A table is
 * appended when the newest is three quarters full; tables double from 4,096 to 2,097,152 slots (16
 * MiB) and then stay at that size. The worst case is just after doubling: all n = 0.75 s items are
 * in tables of s slots in total, and a new table of s + 4,096 slots is still empty. The index then
 * takes 8 * 2 s / 0.75 s = 21.4 bytes per item. The sum is 24 + 7 + 21.4 = 52.4 bytes, plus 40 KiB
 * once. With 14 million items (ImageNet-22k) there are 9 doubling tables and 8 of 16 MiB. They take
 * 10.7 to 12 bytes per item, so the sum is below 43. On the heap, each process that verifies items
 * has one bit per slot: another 0.2 to 0.4 bytes per item.
 *
 * <h2>Trade-offs</h2>
 *
 * <ul>
 *   <li>A checksum over an item costs about as much as reading it once more, so each process checks
 *       an item when it first finds it, and trusts the memory from then on.
 *   <li>A process writes sequentially through one file descriptor; writes run at memory speed, so
 *       storage remains the bottleneck.
 *   <li>Bytes lost to killed writers and to abandoned claims stay lost until the store is deleted.
 *   <li>A lookup of an absent key probes every table: one cache miss each, 17 for 14 million items.
 *       That takes a few microseconds, and the storage read that follows takes a hundred.
 * </ul>
 *
 * <p>Thread-safe. {@link #find} is wait-free except for the first check of an item; {@link #fetch}
 * may read storage, or wait for another thread's read for at most {@link #PATIENCE}.
 */
public final class ArenaStore implements ItemStore, MemoryWatch.Holder, Closeable {
  /** Maximum time that a miss waits for another thread or job that is reading the item. */
  public static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long FIRST_PAUSE_NANOS = 50_000;
  private static final long LAST_PAUSE_NANOS = 1_000_000;
  private static final long NO_SLOT = ArenaMemory.NO_ROOM;
  private static final long LOST_RACE = -2;
  private static final long TABLE_FULL = Long.MIN_VALUE;

  /** Free memory is re-checked after at most this many bytes. */
  private static final long MAX_UNCHECKED = 32 << 20;

  private static final int CHECKS = 32;

  private static final int PIECE = 1 << 14;

  /** Re-check interval while memory is short. */
  private static final long RECHECK_NANOS = 1_000_000_000;

  /** The smallest arena that is worth creating. */
  static final long MIN_CAPACITY = 1 << 20;

  /** The program needs direct buffers too, so the cache takes only 1 / DIRECT_PART of the limit. */
  static final int DIRECT_PART = 8;

  public static final Path SHARED_MEMORY = Path.of("/dev/shm");

  // Set when the store opens; until then they describe an arena without capacity.
  ArenaMemory memory;
  @Nullable SharedFile<ArenaMemory> shared;
  private long job;
  private LongPredicate alive;
  private long capacity;

  private final String group;
  private @Nullable LateFile late;
  private final AtomicReferenceArray<AtomicLongArray> verified =
      new AtomicReferenceArray<>(ArenaDescriptor.MAX_TABLES);
  private final Object growing = new Object();

  /** Number of items that this process found damaged. */
  final LongAdder corrupt = new LongAdder();

  /** Number of claims of killed jobs that this process took over. */
  final LongAdder takenOver = new LongAdder();

  /** True before the store opens and after it closes. */
  private volatile boolean closed;

  /** True while memory is short: other jobs, or this program, may need it. */
  private volatile boolean tight;

  /** True once the index is full and there is no room for another table. */
  private volatile boolean indexFull;

  private volatile Gauge gauge = Machine::isTight;
  private final AtomicLong nextMeasurement = new AtomicLong();

  /** Memory is re-checked when this many bytes are taken. */
  private final AtomicLong nextCheck = new AtomicLong();

  /** Measures whether memory is short. */
  interface Gauge {
    /** Whether memory is short now; {@code before} is the previous result. */
    boolean isShort(boolean before);

    /** Returns the reason why nothing is admitted; {@code has} describes what is cached. */
    default String why(String has) {
      return "The machine is short of memory: the cache keeps its contents, "
          + has
          + "; nothing more is admitted until memory is free again.";
    }
  }

  /** Whether memory is given back under pressure, because the user set no budget. */
  private volatile boolean yields;

  /** The argument that sets the budget. */
  private volatile String argument = "cache.size";

  /** Bytes given back; if there are any, nothing is admitted. */
  private final AtomicLong givenBack = new AtomicLong();

  /** Bytes that were not given back. */
  private volatile long kept = Long.MAX_VALUE;

  /** Tables that were not given back. */
  private volatile int tablesLeft = ArenaDescriptor.MAX_TABLES;

  private final UserLog log;
  private final AtomicBoolean loggedRefusal = new AtomicBoolean();
  private final AtomicBoolean loggedDamage = new AtomicBoolean();
  private boolean left;

  /** Creates a store that no other job shares, or one that has not opened yet. */
  private ArenaStore(ArenaMemory memory, String group, UserLog log) {
    this(memory, null, 1, number -> false, group, log);
  }

  /** Creates the store of job {@code job} over formatted memory; {@code alive} tests other jobs. */
  ArenaStore(
      ArenaMemory memory,
      @Nullable SharedFile<ArenaMemory> shared,
      long job,
      LongPredicate alive,
      String group,
      UserLog log) {
    this.log = log;
    this.memory = memory;
    this.shared = shared;
    this.job = job;
    this.alive = alive;
    this.group = group;
    this.capacity = memory.capacity();
  }

  /** Returns the maximum bytes that a job admits before it re-checks whether memory is short. */
  private long unchecked() {
    return Math.max(1, Math.min(MAX_UNCHECKED, capacity / CHECKS));
  }

  /**
   * Opens a store of this process alone, in unnamed files in {@code directory} that vanish with the
   * process; in direct buffers if the directory cannot be used or has too little room. Returns null
   * and logs the reason if the budget is too small or there is no memory.
   */
  public static @Nullable ArenaStore openProcess(Path directory, ByteBudget budget, UserLog log) {
    long wanted = budget.resolve(Machine.freeMemory(), log);
    if (wanted < MIN_CAPACITY) {
      log.say(tooSmall(wanted));
      return null;
    }
    ArenaStore made = openProcess(directory, wanted, log);
    if (made != null) {
      made.yields = !budget.isNamed();
    }
    return made;
  }

  private static @Nullable ArenaStore openProcess(Path directory, long wanted, UserLog log) {
    long room = Machine.freeSpace(directory);
    long direct = Math.min(wanted, Runtime.getRuntime().maxMemory() / DIRECT_PART);
    try {
      if (Files.isDirectory(directory)) {
        SharedFile.sweep(directory, Machine.user(), ArenaContents.HERE, log);
      }
      if (room >= direct) {
        long user = Machine.user();
        if (room < wanted) {
          log.say("The cache takes at most %s: %s has no more room.", new Bytes(room), directory);
        }
        ArenaMemory memory = new PrivateMemory(directory, user, clamp(Math.min(room, wanted)));
        format(memory);
        return new ArenaStore(memory, "", log);
      }
      log.say(
          "%s has room for only %s bytes: the cache uses direct buffers, at most %s bytes,"
              + " because they count towards the program's limit for direct buffers.",
          directory, room, direct);
    } catch (IOException e) {
      log.say(
          "%s cannot be used (%s): the cache uses direct buffers.",
          directory, SharedFile.reason(e));
    } catch (RuntimeException e) {
      log.say(directory + " cannot be used (" + e + "): the cache uses direct buffers.");
    }
    return openDirect(direct, log);
  }

  /** Creates a store that opens later, or never. */
  static ArenaStore unopened(String group, UserLog log) {
    ArenaStore store = new ArenaStore(new DirectMemory(0), group, log);
    store.closed = true;
    return store;
  }

  static @Nullable ArenaStore openDirect(long capacity, UserLog log) {
    ArenaMemory memory = new DirectMemory(clamp(Math.max(MIN_CAPACITY, capacity)));
    try {
      format(memory);
      return new ArenaStore(memory, "", log);
    } catch (IOException e) {
      log.say("There is no memory for the cache (" + e.getMessage() + "): nothing is cached.");
      return null;
    }
  }

  /**
   * Opens the store that all jobs of this user in {@code group} share. The first job creates it
   * with its own budget; later jobs join it with that budget. Never waits: while another job has
   * the file locked, this store finds and admits nothing.
   *
   * @return null, with a line in {@code log}, if the budget is below the minimum
   * @throws IOException with a sentence for the user if the group's file cannot be used, or if
   *     there is no memory to create it
   */
  public static @Nullable ArenaStore openHost(
      Path directory, String group, ByteBudget budget, UserLog log) throws IOException {
    if (budget.bytes() >= 0 && budget.bytes() < MIN_CAPACITY) {
      log.say(tooSmall(budget.bytes()));
      return null;
    }
    long user = Machine.user();
    SharedFile.sweep(directory, user, ArenaContents.HERE, log);
    Path path = SharedFile.path(directory, user, group, ArenaContents.HERE);
    AtomicBoolean made = new AtomicBoolean();
    LongSupplier capacity =
        () -> {
          made.set(true);
          return clamp(
              budget.resolve(Math.min(Machine.freeMemory(), Machine.freeSpace(directory)), log));
        };
    ArenaStore store = unopened(group, log);
    SharedFile.Opening<ArenaMemory> opening =
        new SharedFile.Opening<>(path, user, ArenaContents.HERE, capacity, log);
    LateFile.Attempt attempt =
        () -> {
          SharedFile<ArenaMemory> file = opening.now();
          if (file != null) {
            store.take(file, budget, made.get());
          }
          return file != null;
        };
    if (!attempt.tryOpen()) {
      String without = ArenaContents.HERE.header().without();
      store.late = new LateFile("the store " + path, without, attempt, log);
    }
    return store;
  }

  /** Opens the store in this file; only the budget of the job that created the file applies. */
  private void take(SharedFile<ArenaMemory> file, ByteBudget budget, boolean made) {
    memory = file.memory();
    shared = file;
    job = file.job();
    alive = file.liveness()::alive;
    capacity = memory.capacity();
    if (made && budget.isNamed()) {
      memory.set(ArenaDescriptor.NAMED, 1);
    }
    yields = memory.get(ArenaDescriptor.NAMED) == 0;
    closed = false;
    if (!made && budget.bytes() > 0 && clamp(budget.bytes()) != capacity) {
      log.say(
          "The store of group %s was created with %s bytes, which applies to all its jobs: this"
              + " job's %s is ignored.",
          group, capacity, budget.text());
    }
  }

  private static String tooSmall(long budget) {
    return String.format(
        "The cache's budget is %s bytes, below the minimum of 1m (%s bytes): nothing is cached.",
        budget, MIN_CAPACITY);
  }

  private static long clamp(long capacity) {
    return Math.min(capacity, ArenaDescriptor.MAX_CAPACITY) & -4096L;
  }

  /** Formats an empty arena, except for the header that every shared file has. */
  static void format(ArenaMemory memory) throws IOException {
    memory.begin(ArenaDescriptor.HEADER_BYTES + ArenaDescriptor.tableBytes(0));
    memory.set(ArenaDescriptor.tableOffset(0), ArenaDescriptor.HEADER_BYTES);
    memory.set(ArenaDescriptor.TABLES, 1);
  }

  @Override
  public @Nullable ByteBuffer find(ItemKey key) {
    if (closed) {
      return null;
    }
    try {
      long slot = locate(key);
      ByteBuffer content = slot == NO_SLOT ? null : content(slot, key);
      settle();
      return content;
    } catch (GivenBackException e) {
      return null;
    } catch (IndexOutOfBoundsException | InternalError e) {
      damaged(e);
      return null;
    }
  }

  /** Settles pending faults; only a file that has a name can be damaged by another program. */
  private void settle() {
    if (memory.hasName()) {
      MappedLength.settle();
    }
  }

  /**
   * Closes the store after an error in its memory. A value read from damaged memory may be
   * anything, so it may cause any exception. If the memory is sound, the exception is a bug in the
   * agent and is rethrown.
   */
  private void damaged(Throwable e) {
    Throwable cause;
    try { // A second error may be pending and arrive at the first instruction.
      MappedLength.settle();
      if (e instanceof IndexOutOfBoundsException ours) {
        memory.check();
        throw ours;
      }
      cause = e;
    } catch (InternalError another) {
      cause = e instanceof InternalError ? e : another;
    }
    boolean leaving;
    synchronized (growing) {
      leaving = left; // Then this store's own close removed the memory.
      closed = true;
    }
    if (!leaving && !loggedDamage.getAndSet(true)) {
      log.say(
          "The memory of the cache was damaged by another program (%s): nothing is cached any more,"
              + " and storage is read.",
          cause.getMessage());
    }
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    return fetch(key, length, loader, PATIENCE);
  }

  /**
   * Like {@link #fetch(ItemKey, int, Loader)}, but waits at most {@code patience} for another
   * thread's read of the item; after that the outcome is {@link Outcome#BUSY}.
   */
  public Fetched fetch(ItemKey key, int length, Loader loader, Duration patience)
      throws IOException {
    try {
      Fetched fetched = fetchHere(key, length, loader, patience);
      settle();
      return fetched;
    } catch (GivenBackException e) {
      return new Fetched(Outcome.FULL, null);
    } catch (IndexOutOfBoundsException | InternalError e) {
      damaged(e);
      return new Fetched(Outcome.FULL, null);
    }
  }

  private Fetched fetchHere(ItemKey key, int length, Loader loader, Duration patience)
      throws IOException {
    long begun = 0;
    long pause = FIRST_PAUSE_NANOS;
    long claim = ArenaDescriptor.claimed(job, key);
    while (!closed) {
      long slot = locate(key);
      if (slot == NO_SLOT) {
        if (!hasRoom(length)) {
          return new Fetched(Outcome.FULL, null);
        }
        slot = claimEmpty(key, claim);
        if (slot == NO_SLOT) {
          return new Fetched(Outcome.FULL, null);
        }
        if (slot == LOST_RACE) {
          continue;
        }
      } else {
        long word = memory.get(slot);
        if (ArenaDescriptor.isReady(word)) {
          ByteBuffer content = content(slot, key);
          if (content != null) {
            return new Fetched(Outcome.HIT, content);
          }
          continue;
        }
        if (ArenaDescriptor.isClaimed(word) && ownerAlive(word)) {
          long now = System.nanoTime();
          begun = begun == 0 ? now : begun;
          if (now - begun >= patience.toNanos() || Thread.currentThread().isInterrupted()) {
            return new Fetched(Outcome.BUSY, null);
          }
          LockSupport.parkNanos(this, pause);
          pause = Math.min(LAST_PAUSE_NANOS, pause * 2);
          continue;
        }
        if (!hasRoom(length)) {
          return new Fetched(Outcome.FULL, null);
        }
        if (!memory.compareAndSet(slot, word, claim)) {
          continue;
        }
        if (ArenaDescriptor.isClaimed(word)) {
          takenOver.increment();
        }
      }
      if (isElsewhere(key, slot)) {
        memory.compareAndSet(slot, claim, ArenaDescriptor.abandoned(key));
        continue;
      }
      return fill(slot, claim, key, length, loader);
    }
    return new Fetched(Outcome.FULL, null);
  }

  private boolean ownerAlive(long claimed) {
    long owner = ArenaDescriptor.owner(claimed);
    return owner == job || alive.test(owner);
  }

  private Fetched fill(long slot, long claim, ItemKey key, int length, Loader loader)
      throws IOException {
    boolean published = false;
    try {
      byte[] item = buffer(ArenaDescriptor.ITEM_HEADER_BYTES + length);
      if (item == null) {
        return new Fetched(Outcome.FULL, null);
      }
      if (!loader.load(item, ArenaDescriptor.ITEM_HEADER_BYTES)) {
        return new Fetched(Outcome.CHANGED, null);
      }
      ByteBuffer header = ByteBuffer.wrap(item).order(ByteOrder.nativeOrder());
      header.putLong(ArenaDescriptor.ITEM_KEY_HIGH, key.high());
      header.putLong(ArenaDescriptor.ITEM_KEY_LOW, key.low());
      header.putInt(ArenaDescriptor.ITEM_LENGTH, length);
      header.putInt(ArenaDescriptor.ITEM_CHECKSUM, checksum(header, length));
      ByteBuffer own =
          ByteBuffer.wrap(item, ArenaDescriptor.ITEM_HEADER_BYTES, length)
              .slice()
              .asReadOnlyBuffer();
      long at = append(item);
      if (at == NO_SLOT) {
        return new Fetched(Outcome.FULL, own);
      }
      markVerified(tableOf(slot), slot);
      published = memory.compareAndSet(slot, claim, ArenaDescriptor.ready(at, key));
      if (!published) {
        return new Fetched(Outcome.BUSY, own);
      }
      memory.getAndAdd(ArenaDescriptor.ITEMS, 1);
      return new Fetched(
          Outcome.ADMITTED, memory.view(at + ArenaDescriptor.ITEM_HEADER_BYTES, length));
    } finally {
      if (!published) {
        memory.compareAndSet(slot, claim, ArenaDescriptor.abandoned(key));
      }
    }
  }

  /**
   * Allocates an array; returns null if the heap has no room for it, because the program's own call
   * may need less.
   */
  public static byte @Nullable [] buffer(int length) {
    try {
      return new byte[length];
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  /** Whether another thread or job is reading the item now; if so, it may soon be found. */
  public boolean isAwaited(ItemKey key) {
    long word =
        guarded(
            () -> {
              long slot = closed ? NO_SLOT : locate(key);
              return slot == NO_SLOT ? ArenaDescriptor.EMPTY : memory.get(slot);
            });
    return ArenaDescriptor.isClaimed(word) && ownerAlive(word);
  }

  /**
   * Whether another job still prevents the store from opening; until it opens, prefetching is
   * useless.
   */
  boolean isOpening() {
    return closed && late != null && late.isTrying();
  }

  /** Whether an item of this length would be admitted now. */
  public boolean hasRoom(long length) {
    if (closed) {
      return false;
    }
    if (givenBack.get() > 0) {
      return false;
    }
    boolean refusing = word(ArenaDescriptor.REFUSING) != 0;
    if (refusing || isTight()) {
      logRefusal(refusing);
      return false;
    }
    return !closed && fits(length);
  }

  private boolean fits(long length) {
    long bytes = ArenaDescriptor.ITEM_HEADER_BYTES + length;
    return length <= ArenaDescriptor.MAX_ITEM_BYTES && query(here -> here.fits(bytes) ? 1 : 0) > 0;
  }

  /**
   * Whether there will never be room for another item of this length. False if there may be room
   * once the store opens or memory is no longer short.
   */
  public boolean isFull(long length) {
    boolean opening = late != null && late.isTrying(); // Read before the fields that opening sets.
    return !opening
        && (closed
            || indexFull
            || givenBack.get() > 0
            || word(ArenaDescriptor.REFUSING) != 0
            || !fits(length));
  }

  /** Reads a word of the header; 0 if the memory is damaged or not open yet. */
  long word(long at) {
    return query(here -> here.get(at));
  }

  private long query(ToLongFunction<ArenaMemory> access) {
    ArenaMemory here = memory;
    return loggedDamage.get() || here.capacity() == 0 ? 0 : guarded(() -> access.applyAsLong(here));
  }

  /** Returns the result of an access to the memory; 0 if the memory is damaged. */
  private long guarded(LongSupplier access) {
    try {
      long word = access.getAsLong();
      settle();
      return word;
    } catch (GivenBackException e) {
      return 0;
    } catch (IndexOutOfBoundsException | InternalError e) {
      damaged(e);
      return 0;
    }
  }

  private void logRefusal(boolean full) {
    if (!loggedRefusal.getAndSet(true)) {
      String has = new Bytes(used()) + " of " + new Bytes(capacity);
      log.say(
          full
              ? "There is no memory left for the cache's budget: the cache keeps its contents, "
                  + has
                  + "; nothing more is admitted."
              : gauge.why(has));
    }
  }

  private boolean isTight() {
    long now = System.nanoTime();
    long next = nextMeasurement.get();
    if (tight && now - next >= 0 && nextMeasurement.compareAndSet(next, now + RECHECK_NANOS)) {
      measure();
    }
    return tight;
  }

  private void measure() {
    tight = gauge.isShort(tight);
    nextMeasurement.set(System.nanoTime() + RECHECK_NANOS);
  }

  /** Measures with {@code other} immediately and from now on. */
  void measureBy(Gauge other) {
    gauge = other;
    measure();
  }

  private long append(byte[] item) {
    try {
      long at = memory.allocate(item.length);
      if (at != NO_SLOT) {
        memory.write(at, item, 0, item.length);
        long used = memory.used();
        long next = nextCheck.get();
        if (used >= next && nextCheck.compareAndSet(next, used + unchecked())) {
          measure();
        }
      }
      return at;
    } catch (IOException e) {
      refuse();
      return NO_SLOT;
    }
  }

  private void refuse() {
    if (!closed) {
      memory.set(ArenaDescriptor.REFUSING, 1);
    }
  }

  // ---- index

  private int tables() {
    return Math.min(tablesLeft, (int) memory.get(ArenaDescriptor.TABLES));
  }

  /** Returns the key's ready slot, else a claimed, else an abandoned one; else {@link #NO_SLOT}. */
  private long locate(ItemKey key) {
    long claimed = NO_SLOT;
    long abandoned = NO_SLOT;
    for (int table = tables() - 1; table >= 0; table--) {
      long slot = probe(table, key);
      if (slot >= 0) {
        long word = memory.get(slot);
        if (ArenaDescriptor.isReady(word)) {
          return slot;
        }
        if (ArenaDescriptor.isAbandoned(word)) {
          abandoned = abandoned == NO_SLOT ? slot : abandoned;
        } else {
          claimed = claimed == NO_SLOT ? slot : claimed;
        }
      }
    }
    return claimed == NO_SLOT ? abandoned : claimed;
  }

  /** Whether the key is claimed or ready in a table other than that of {@code mine}. */
  private boolean isElsewhere(ItemKey key, long mine) {
    int own = tableOf(mine);
    for (int table = tables() - 1; table >= 0; table--) {
      long slot = table == own ? NO_SLOT : probe(table, key);
      if (slot >= 0 && !ArenaDescriptor.isAbandoned(memory.get(slot))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Walks the key's probe run. Returns its slot; or {@code -1 - slot} for the empty slot that ends
   * the run; or {@link #TABLE_FULL}. The run has one end, so of two threads that miss the key in
   * this table, one wins that slot and the other finds the key there.
   */
  private long probe(int table, ItemKey key) {
    long offset = memory.get(ArenaDescriptor.tableOffset(table));
    int mask = ArenaDescriptor.slots(table) - 1;
    int at = (int) key.high() & mask;
    for (int i = 0; i <= mask; i++, at = (at + 1) & mask) {
      long slot = offset + 8L * at;
      long word = memory.get(slot);
      if (word == ArenaDescriptor.EMPTY) {
        return -1 - slot;
      }
      if (ArenaDescriptor.tagMatches(word, key) && keyMatches(word, key)) {
        return slot;
      }
    }
    return TABLE_FULL;
  }

  private boolean keyMatches(long word, ItemKey key) {
    if (!ArenaDescriptor.isReady(word)) {
      return true;
    }
    long item = ArenaDescriptor.itemOffset(word);
    if (item + ArenaDescriptor.ITEM_HEADER_BYTES > memory.end()) {
      return false;
    }
    return memory.get(item + ArenaDescriptor.ITEM_KEY_HIGH) == key.high()
        && memory.get(item + ArenaDescriptor.ITEM_KEY_LOW) == key.low();
  }

  /**
   * Claims the empty slot at the end of the key's run in the newest table; appends a table if that
   * one has reached its fill limit. Returns {@link #NO_SLOT} if there is no room, and {@link
   * #LOST_RACE} if the caller must search again, because another thread took the slot or a table
   * was appended.
   */
  private long claimEmpty(ItemKey key, long claim) {
    int table = tables() - 1;
    if (table < 0) {
      throw new InternalError("its index is gone"); // The file was truncated and extended again.
    }
    long fill = ArenaDescriptor.tableFill(table);
    if (memory.get(fill) >= ArenaDescriptor.fillLimit(table)) {
      return grow(table) ? LOST_RACE : NO_SLOT;
    }
    long end = probe(table, key);
    if (end == TABLE_FULL) {
      return NO_SLOT;
    }
    long slot = -1 - end;
    if (end >= 0 || !memory.compareAndSet(slot, ArenaDescriptor.EMPTY, claim)) {
      return LOST_RACE;
    }
    memory.getAndAdd(fill, 1);
    return slot;
  }

  /**
   * Appends a table after {@code last}; false if there is no room, or if another job takes too long
   * to append it.
   */
  private boolean grow(int last) {
    synchronized (growing) {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (tables() - 1 == last) {
        long grower = memory.get(ArenaDescriptor.GROWER);
        boolean free = grower == 0 || grower == job;
        if (!free && alive.test(grower)) {
          if (System.nanoTime() - deadline >= 0) {
            return false;
          }
          LockSupport.parkNanos(this, FIRST_PAUSE_NANOS);
        } else if (memory.compareAndSet(ArenaDescriptor.GROWER, grower, job)) {
          try {
            boolean grown = tables() - 1 != last || appendTable(last + 1);
            if (!grown) {
              indexFull = true;
            }
            return grown;
          } finally {
            memory.compareAndSet(ArenaDescriptor.GROWER, job, 0);
          }
        }
      }
      return true;
    }
  }

  private boolean appendTable(int table) {
    if (table == ArenaDescriptor.MAX_TABLES) {
      return false;
    }
    long bytes = ArenaDescriptor.tableBytes(table);
    long at;
    try {
      at = memory.allocate(bytes);
      if (at == NO_SLOT) {
        return false;
      }
      memory.writeZeros(at, bytes);
    } catch (IOException e) {
      refuse();
      return false;
    }
    memory.set(ArenaDescriptor.tableOffset(table), at);
    memory.set(ArenaDescriptor.tableFill(table), 0);
    memory.set(ArenaDescriptor.TABLES, table + 1L);
    return true;
  }

  // ---- content

  /** Returns the bytes behind a slot; null if it is not READY, or if the checksum is wrong. */
  private @Nullable ByteBuffer content(long slot, ItemKey key) {
    long word = memory.get(slot);
    if (!ArenaDescriptor.isReady(word)) {
      return null;
    }
    long item = ArenaDescriptor.itemOffset(word);
    int length = memory.getInt(item + ArenaDescriptor.ITEM_LENGTH);
    int table = tableOf(slot);
    if (isVerified(table, slot)) {
      return memory.view(item + ArenaDescriptor.ITEM_HEADER_BYTES, length);
    }
    if (verify(item, length)) {
      markVerified(table, slot);
      return memory.view(item + ArenaDescriptor.ITEM_HEADER_BYTES, length);
    }
    if (memory.compareAndSet(slot, word, ArenaDescriptor.abandoned(key))) {
      corrupt.increment();
    }
    return null;
  }

  private boolean verify(long item, int length) {
    if (length < 0
        || length > ArenaDescriptor.MAX_ITEM_BYTES
        || item + ArenaDescriptor.ITEM_HEADER_BYTES + length > memory.end()) {
      return false;
    }
    ByteBuffer whole = memory.view(item, ArenaDescriptor.ITEM_HEADER_BYTES + length);
    return checksum(whole, length) == memory.getInt(item + ArenaDescriptor.ITEM_CHECKSUM);
  }

  /**
   * Computes the checksum of copied pieces. If the memory behind {@code item} is gone, copying
   * throws, but the JVM's checksum intrinsic would crash the process.
   */
  private static int checksum(ByteBuffer item, int length) {
    CRC32C crc = new CRC32C();
    byte[] piece = new byte[Math.max(ArenaDescriptor.ITEM_HEADER_BYTES, Math.min(PIECE, length))];
    item.get(0, piece, 0, ArenaDescriptor.ITEM_CHECKSUM);
    crc.update(piece, 0, ArenaDescriptor.ITEM_CHECKSUM);
    for (int done = 0; done < length; ) {
      int count = Math.min(piece.length, length - done);
      item.get(ArenaDescriptor.ITEM_HEADER_BYTES + done, piece, 0, count);
      crc.update(piece, 0, count);
      done += count;
    }
    return (int) crc.getValue();
  }

  private boolean isVerified(int table, long slot) {
    AtomicLongArray bits = verified.get(table);
    int at = index(table, slot);
    return bits != null && (bits.get(at >>> 6) & 1L << at) != 0;
  }

  private void markVerified(int table, long slot) {
    AtomicLongArray bits = verified.get(table);
    if (bits == null) {
      AtomicLongArray fresh = new AtomicLongArray(ArenaDescriptor.slots(table) / 64);
      AtomicLongArray raced = verified.compareAndExchange(table, null, fresh);
      bits = raced == null ? fresh : raced;
    }
    int at = index(table, slot);
    long bit = 1L << at;
    if ((bits.get(at >>> 6) & bit) == 0) {
      bits.getAndAccumulate(at >>> 6, bit, (was, set) -> was | set);
    }
  }

  /** Causes items to be checked again when next found, as in a process that has just joined. */
  void forgetChecks() {
    for (int table = 0; table < verified.length(); table++) {
      verified.set(table, null);
    }
  }

  private int tableOf(long slot) {
    for (int table = tables() - 1; table > 0; table--) {
      if (index(table, slot) >= 0) {
        return table;
      }
    }
    if (tablesLeft < ArenaDescriptor.MAX_TABLES && index(0, slot) < 0) {
      throw new GivenBackException(); // It was given back after the slot was read.
    }
    return 0;
  }

  /** Returns the index of the slot in the table; -1 if it belongs to another table. */
  private int index(int table, long slot) {
    long within = slot - memory.get(ArenaDescriptor.tableOffset(table));
    return within >= 0 && within < ArenaDescriptor.tableBytes(table) ? (int) (within >>> 3) : -1;
  }

  // ---- memory pressure

  /**
   * Lets {@code watch} request memory back and stop the store from growing.
   *
   * @param size the argument that sets the store's budget
   */
  public void yieldTo(MemoryWatch watch, String size) {
    argument = size;
    gauge =
        new Gauge() {
          @Override
          public boolean isShort(boolean before) {
            return yields ? watch.isShort(before, used()) : Machine.isTight(before);
          }

          @Override
          public String why(String has) {
            return yields && watch.isLearning()
                ? "The cache keeps "
                    + has
                    + " until an epoch with training has shown how much memory the program needs"
                    + " (a budget set with "
                    + size
                    + "=SIZE is used immediately)."
                : Gauge.super.why(has);
          }
        };
    measure();
    watch.add(this);
  }

  @Override
  public String noun() {
    return "cache";
  }

  @Override
  public String argument() {
    return argument;
  }

  @Override
  public boolean yields() {
    return yields;
  }

  @Override
  public long held() {
    return closed ? 0 : used();
  }

  /** Leaves the store if another job has requested that all jobs give it back. */
  @Override
  public boolean follow() {
    boolean requested = shared != null && !closed && word(ArenaDescriptor.GIVEN_BACK) != 0;
    if (requested) {
      log.say("Another job of group %s is short of memory: the cache is given back.", group);
      leave();
    }
    return requested;
  }

  @Override
  public long pinned() {
    return memory.pinned();
  }

  @Override
  public long giveBack(long bytes) {
    long held = held();
    if (held == 0) {
      return 0;
    }
    if (shared == null) {
      int from = memory.newest(bytes);
      if (from > 0) {
        cut(from);
        long given = Math.max(0, held - kept); // More may have been taken since.
        givenBack.addAndGet(given);
        return given;
      }
    }
    if (shared != null) {
      guarded(() -> memory.getAndAdd(ArenaDescriptor.GIVEN_BACK, 1));
    }
    return leave();
  }

  /** Drops this segment and all later ones, and the tables that end in them. */
  private void cut(int from) {
    long start = from * memory.stride();
    int left = 0;
    for (int tables = tables(); left < tables; left++) {
      long table = memory.get(ArenaDescriptor.tableOffset(left));
      if (table + ArenaDescriptor.tableBytes(left) > start) {
        break;
      }
    }
    tablesLeft = left;
    memory.giveBack(from);
    kept = memory.left(from);
  }

  /** Closes the store and gives all of it back; returns the bytes that it held. */
  private long leave() {
    long held = used();
    synchronized (growing) {
      if (left) {
        return 0;
      }
      left = true;
      closed = true;
    }
    givenBack.addAndGet(held);
    memory.giveBack(0);
    if (shared != null) {
      shared.close();
    }
    return held;
  }

  // ---- state

  /** Returns the budget in bytes, including the index. */
  public long capacity() {
    return capacity;
  }

  /** Returns the bytes taken, including the index and bytes lost to killed jobs. */
  public long used() {
    return Math.min(kept, query(ArenaMemory::used));
  }

  /** Returns the bytes ever taken, including those given back. */
  long taken() {
    return kept == Long.MAX_VALUE ? used() : kept + givenBack.get();
  }

  /** Returns the share, from 0 to 1, of the bytes ever taken that was not given back. */
  double keptShare() {
    return kept == Long.MAX_VALUE ? 1 : (double) kept / taken();
  }

  /** Returns the bytes given back because memory was short or the store had no hits. */
  public long givenBack() {
    return givenBack.get();
  }

  public long items() {
    return word(ArenaDescriptor.ITEMS);
  }

  /**
   * Counts an admitted item and its bytes in the words of its form, which begin at {@code items}.
   */
  void count(long items, int length) {
    long taken = ArenaDescriptor.align(ArenaDescriptor.ITEM_HEADER_BYTES + length);
    guarded(
        () -> {
          memory.getAndAdd(items, 1);
          return memory.getAndAdd(items + ArenaDescriptor.BYTES, taken);
        });
  }

  /** Returns the rates from which the preferred form of an item was chosen; null until then. */
  @Nullable Rates rates() {
    return word(ArenaDescriptor.RATES_STATE) != ArenaDescriptor.RATES_WRITTEN
        ? null
        : new Rates(
            word(ArenaDescriptor.RAW_BYTES),
            word(ArenaDescriptor.DECODED_BYTES),
            word(ArenaDescriptor.READ_NANOS),
            word(ArenaDescriptor.DECODE_NANOS));
  }

  /**
   * Publishes the rates that determine the preferred form of an item, unless a job has already done
   * so. If a job is killed while it writes them, no form is ever preferred.
   */
  void choose(Rates rates) {
    if (closed) {
      return;
    }
    try {
      if (memory.compareAndSet(ArenaDescriptor.RATES_STATE, 0, 1)) {
        memory.set(ArenaDescriptor.RAW_BYTES, rates.rawBytes());
        memory.set(ArenaDescriptor.DECODED_BYTES, rates.decodedBytes());
        memory.set(ArenaDescriptor.READ_NANOS, rates.readNanos());
        memory.set(ArenaDescriptor.DECODE_NANOS, rates.decodeNanos());
        memory.set(ArenaDescriptor.RATES_STATE, ArenaDescriptor.RATES_WRITTEN);
      }
      MappedLength.settle();
    } catch (GivenBackException e) {
      // Nothing is cached any more, so the choice does not matter.
    } catch (InternalError e) {
      damaged(e);
    }
  }

  /** Whether other processes may use the store. */
  boolean isShared() {
    return !group.isEmpty();
  }

  /** Returns the number of live jobs that use the store, including this one. */
  public long jobs() {
    return shared == null ? 1 : shared.liveness().count(word(Header.JOBS));
  }

  /**
   * Leaves the store: nothing is found or admitted here any more, and the last job of a group
   * deletes the file. Buffers handed out stay readable.
   */
  @Override
  public void close() {
    if (late != null) {
      late.close(); // The store does not open after this.
    }
    synchronized (growing) {
      if (left) {
        return;
      }
      left = true;
      closed = true;
    }
    if (shared == null) {
      memory.close();
    } else {
      shared.close();
    }
  }

  /** Leaves the store permanently; other jobs of the group continue to use it. */
  public void giveBack() {
    if (held() > 0) {
      leave();
    } else {
      close();
    }
  }

  /** Waits until the store is open or this job has stopped trying; for tests. */
  void awaitOpening() throws InterruptedException {
    if (late != null) {
      late.join();
    }
  }
}
