package io.coordl.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Items that are kept with a stamp: the time at which the inode of their file had last changed.
 *
 * <p>{@code chmod}, a hard link and a rename change that time and not a byte; a rewrite that sets
 * size and modification time to what they were changes it too. So an item is kept under what
 * identifies its file but for that time, which stands behind its bytes. Where it is another one,
 * the file is read once more and compared with what is kept:
 *
 * <ul>
 *   <li>The same bytes: that is noted under the new time, in an item without bytes, and the entry
 *       stays.
 *   <li>Others: they are kept under the new time.
 * </ul>
 *
 * <p>Notes and rewritten items lie on this host only. Safe for concurrent use, as the store is.
 */
final class StampedItems {
  static final int STAMP_BYTES = Long.BYTES;

  private static final long CONFIRMED = 1;
  private static final long REWRITTEN = 2;
  private static final int PIECE = 1 << 14;

  private final ItemStore store;
  private final ItemStore here;

  /**
   * @param store of all hosts, or {@code here}
   * @param here of this host
   */
  StampedItems(ItemStore store, ItemStore here) {
    this.store = store;
    this.here = here;
  }

  /** The bytes kept here of a file whose inode changed then; null if there are none. */
  @Nullable ByteBuffer find(ItemKey entry, long stamp) {
    ByteBuffer kept = here.find(entry);
    if (kept == null) {
      return null;
    }
    return isStamped(kept, stamp) ? bytes(kept) : findLater(kept, entry, stamp);
  }

  private @Nullable ByteBuffer findLater(ByteBuffer kept, ItemKey entry, long stamp) {
    return here.find(entry.with(stamp, CONFIRMED)) != null
        ? bytes(kept)
        : here.find(entry.with(stamp, REWRITTEN));
  }

  /** As {@link ItemStore#fetch}, of a file whose inode changed then. */
  Fetched fetch(ItemKey entry, int length, long stamp, Loader loader) throws IOException {
    Loader stamped =
        (target, at) -> {
          if (!loader.load(target, at)) {
            return false;
          }
          ByteBuffer.wrap(target).putLong(at + length, stamp);
          return true;
        };
    Fetched fetched = store.fetch(entry, length + STAMP_BYTES, stamped);
    ByteBuffer kept = fetched.content();
    if (kept == null) {
      return fetched;
    }
    if (isStamped(kept, stamp)) {
      return new Fetched(fetched.outcome(), bytes(kept));
    }
    ByteBuffer later = findLater(kept, entry, stamp);
    return later == null
        ? compare(kept, entry, length, stamp, loader)
        : new Fetched(fetched.outcome(), later);
  }

  private Fetched compare(ByteBuffer kept, ItemKey entry, int length, long stamp, Loader loader)
      throws IOException {
    byte[] now = ArenaStore.buffer(length);
    if (now == null) {
      return new Fetched(Outcome.FULL, null);
    }
    boolean[] differs = {false};
    Loader comparing =
        (target, at) -> {
          if (!loader.load(now, 0)) {
            return false;
          }
          differs[0] = !isOf(kept, now);
          return !differs[0];
        };
    Fetched confirmed = here.fetch(entry.with(stamp, CONFIRMED), 0, comparing);
    if (differs[0]) {
      return here.fetch(
          entry.with(stamp, REWRITTEN),
          length,
          (target, at) -> {
            System.arraycopy(now, 0, target, at, length);
            return true;
          });
    }
    return switch (confirmed.outcome()) {
      case HIT -> new Fetched(Outcome.HIT, bytes(kept));
      case ADMITTED -> new Fetched(Outcome.CONFIRMED, bytes(kept));
      default -> new Fetched(confirmed.outcome(), null);
    };
  }

  private static boolean isStamped(ByteBuffer kept, long stamp) {
    return kept.getLong(kept.limit() - STAMP_BYTES) == stamp;
  }

  private static ByteBuffer bytes(ByteBuffer kept) {
    return kept.slice(0, kept.limit() - STAMP_BYTES);
  }

  /** By copies, piece by piece: to compare the mapping itself may end the process. */
  private static boolean isOf(ByteBuffer kept, byte[] now) {
    byte[] piece = new byte[Math.min(PIECE, now.length)];
    for (int done = 0; done < now.length; ) {
      int count = Math.min(piece.length, now.length - done);
      kept.get(done, piece, 0, count);
      if (!Arrays.equals(piece, 0, count, now, done, done + count)) {
        return false;
      }
      done += count;
    }
    return kept.limit() == now.length + STAMP_BYTES;
  }
}
