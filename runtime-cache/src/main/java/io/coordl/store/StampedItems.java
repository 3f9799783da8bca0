package io.coordl.store;

import io.coordl.items.ItemKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Items stored with a stamp: the change time of their file's inode.
 *
 * <p>{@code chmod}, a hard link and a rename change that time but no byte; a rewrite that restores
 * size and modification time changes the time too. So an item's key is its file's identity without
 * that time, which is stored after the item's bytes. If the time differs, the file is read once
 * more and compared with the stored bytes:
 *
 * <ul>
 *   <li>Same bytes: the entry stays, and a confirmation, an item without bytes, records the new
 *       time.
 *   <li>Different bytes: they are stored under the new time.
 * </ul>
 *
 * <p>Confirmations and rewritten items are stored on this host only. Safe for concurrent use.
 */
public final class StampedItems {
  static final int STAMP_BYTES = Long.BYTES;

  private static final long CONFIRMED = 1;
  private static final long REWRITTEN = 2;
  private static final int PIECE = 1 << 14;

  private final ItemStore store;
  private final ItemStore here;

  /**
   * @param store store of all hosts, or {@code here}
   * @param here store of this host
   */
  StampedItems(ItemStore store, ItemStore here) {
    this.store = store;
    this.here = here;
  }

  /** Returns the bytes stored here for a file with this change time; null if there are none. */
  @Nullable ByteBuffer find(ItemKey entry, long stamp) {
    ByteBuffer stored = here.find(entry);
    if (stored == null) {
      return null;
    }
    return isStamped(stored, stamp) ? bytes(stored) : findLater(stored, entry, stamp);
  }

  private @Nullable ByteBuffer findLater(ByteBuffer stored, ItemKey entry, long stamp) {
    return here.find(entry.with(stamp, CONFIRMED)) != null
        ? bytes(stored)
        : here.find(entry.with(stamp, REWRITTEN));
  }

  /** Like {@link ItemStore#fetch}, for a file with this change time. */
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
    ByteBuffer stored = fetched.content();
    if (stored == null) {
      return fetched;
    }
    if (isStamped(stored, stamp)) {
      return new Fetched(fetched.outcome(), bytes(stored));
    }
    ByteBuffer later = findLater(stored, entry, stamp);
    return later == null
        ? compare(stored, entry, length, stamp, loader)
        : new Fetched(fetched.outcome(), later);
  }

  private Fetched compare(ByteBuffer stored, ItemKey entry, int length, long stamp, Loader loader)
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
          differs[0] = !isOf(stored, now);
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
      case HIT -> new Fetched(Outcome.HIT, bytes(stored));
      case ADMITTED -> new Fetched(Outcome.CONFIRMED, bytes(stored));
      default -> new Fetched(confirmed.outcome(), null);
    };
  }

  private static boolean isStamped(ByteBuffer stored, long stamp) {
    return stored.getLong(stored.limit() - STAMP_BYTES) == stamp;
  }

  private static ByteBuffer bytes(ByteBuffer stored) {
    return stored.slice(0, stored.limit() - STAMP_BYTES);
  }

  /** Compares copied pieces: comparing the mapping itself could crash the process. */
  private static boolean isOf(ByteBuffer stored, byte[] now) {
    byte[] piece = new byte[Math.min(PIECE, now.length)];
    for (int done = 0; done < now.length; ) {
      int count = Math.min(piece.length, now.length - done);
      stored.get(done, piece, 0, count);
      if (!Arrays.equals(piece, 0, count, now, done, done + count)) {
        return false;
      }
      done += count;
    }
    return stored.limit() == now.length + STAMP_BYTES;
  }
}
