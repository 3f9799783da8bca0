package io.coordl.store;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.OpenedFile;
import io.coordl.bridge.Origin;
import io.coordl.host.Closeables;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemKey;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An item read in pieces. A large file is read in blocks, each an item in the store; a small file
 * that stays open is one piece. If a piece is not cached and must not be admitted, only the
 * requested bytes are read from storage.
 *
 * <p>Old and new bytes are never mixed. After {@link #hold}, either the only piece is in memory, or
 * the file stays open and uncached pieces are read from it, even if its path now names another
 * file. If the program has the file open, that open file is read. Otherwise, without {@link #hold},
 * the file is opened when a piece is not in memory; reads throw if it has changed. The size does
 * not change after the open.
 */
final class PiecewiseItem extends OpenItem {
  private final ItemFile file;
  private final StampedItems store;
  private final StoreStatistics statistics;
  private final StoreGain gain;
  private final BooleanSupplier mayAdmit;
  private final int pieceBytes;
  private final boolean whole;

  private @Nullable RandomAccessFile storage;
  private boolean released;
  private volatile @Nullable ByteBuffer pinned;
  private volatile boolean changed;
  private volatile boolean usedPeer;
  private volatile boolean usedStorage;
  private volatile Piece last = NONE;

  private static final Piece NONE = new Piece(-1, false, null);

  /**
   * The last piece read; without content if it is read from storage. It is remembered until another
   * piece is read, so that small reads do not repeat the lookup or the wait for another job.
   */
  private record Piece(long number, boolean admit, @Nullable ByteBuffer content) {}

  /**
   * @param whole whether the file is one piece, under the file's own key
   * @param mayAdmit whether pieces read now may be admitted
   */
  PiecewiseItem(
      String path,
      ItemFile file,
      int pieceBytes,
      boolean whole,
      StampedItems store,
      StoreStatistics statistics,
      StoreGain gain,
      BooleanSupplier mayAdmit) {
    super(path, file.size());
    this.file = file;
    this.pieceBytes = pieceBytes;
    this.whole = whole;
    this.store = store;
    this.statistics = statistics;
    this.gain = gain;
    this.mayAdmit = mayAdmit;
  }

  @Override
  public @Nullable ByteBuffer fetchContent() throws IOException {
    ByteBuffer bytes = whole && !changed ? contentOrNull(0) : null;
    if (bytes == null) {
      return null;
    }
    statistics.bytes(Origin.MEMORY, size());
    return bytes.asReadOnlyBuffer();
  }

  @Override
  public boolean served() {
    return true;
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (position >= size()) {
      return -1;
    }
    ByteBuffer piece = changed ? null : contentOrNull(position / pieceBytes);
    int within = (int) (position % pieceBytes);
    if (piece == null) {
      int available = (int) Math.min(pieceBytes - within, size() - position);
      return readStorage(position, target, offset, Math.min(length, available));
    }
    int count = Math.min(length, piece.limit() - within);
    piece.get(within, target, offset, count);
    statistics.bytes(Origin.MEMORY, count);
    return count;
  }

  private @Nullable ByteBuffer contentOrNull(long number) throws IOException {
    try {
      return content(number);
    } catch (RuntimeException e) {
      Bridge.fault("block " + number + " of " + path(), e);
      return null;
    }
  }

  /**
   * Returns the bytes of a piece in memory, admitting it if allowed; null if the caller must read
   * storage.
   */
  private @Nullable ByteBuffer content(long number) throws IOException {
    Piece previous = last;
    boolean admit = mayAdmit.getAsBoolean();
    if (previous.number == number && (previous.content != null || previous.admit == admit)) {
      return previous.content;
    }
    ItemKey entry = file.entry(whole ? ItemKey.WHOLE : number);
    ByteBuffer content = pinned;
    if (content != null) {
      statistics.count(Outcome.HIT);
      gain.hit();
    } else if (admit) {
      int length = (int) Math.min(pieceBytes, size() - number * pieceBytes);
      Fetched fetched =
          store.fetch(
              entry,
              length,
              file.stamp(),
              (target, offset) -> load(number, length, target, offset));
      content = fetched.content();
      if (fetched.outcome() == Outcome.HIT) {
        gain.hit();
      }
      statistics.count(fetched.outcome());
      if (fetched.outcome() == Outcome.ADMITTED && number == 0) {
        gain.missed(file);
      }
      if (fetched.outcome() == Outcome.PEER) {
        usedPeer = true;
        statistics.bytes(Origin.PEER, length);
      }
    } else {
      content = store.find(entry, file.stamp());
      if (content != null) {
        statistics.count(Outcome.HIT);
        gain.hit();
      }
    }
    last = new Piece(number, admit, content);
    return content;
  }

  private boolean load(long number, int length, byte[] target, int offset) throws IOException {
    usedStorage = true;
    if (!readFully(number * pieceBytes, length, target, offset)) {
      return false;
    }
    statistics.bytes(Origin.STORAGE, length);
    OpenedFile own = own();
    FileDescriptor read = own == null ? storage().getFD() : own.descriptor();
    changed = !file.isThisFile(read) || (whole && !file.verify(target, offset));
    return !changed;
  }

  private boolean readFully(long position, int length, byte[] target, int offset)
      throws IOException {
    for (int done = 0; done < length; ) {
      int count = changed ? -1 : readFile(position + done, target, offset + done, length - done);
      if (count < 0) {
        return false;
      }
      done += count;
    }
    return true;
  }

  private int readStorage(long position, byte[] target, int offset, int length) throws IOException {
    usedStorage = true; // Even if the file cannot be opened: the program then reads its own stream.
    int count = readFile(position, target, offset, length);
    statistics.bytes(Origin.STORAGE, Math.max(0, count));
    return count;
  }

  /** Reads the program's open file if there is one. */
  private int readFile(long position, byte[] target, int offset, int length) throws IOException {
    OpenedFile own = own();
    if (own != null) {
      return own.read(position, target, offset, length);
    }
    RandomAccessFile from = storage();
    synchronized (from) {
      from.seek(position);
      return from.read(target, offset, length);
    }
  }

  private synchronized RandomAccessFile storage() throws IOException {
    RandomAccessFile opened = storage;
    if (opened == null) {
      if (released) {
        throw new IOException("Stream Closed");
      }
      opened = file.open();
      storage = opened;
    }
    return opened;
  }

  @Override
  public void hold() throws IOException {
    pinned = whole ? store.find(file.entry(ItemKey.WHOLE), file.stamp()) : null;
    if (pinned == null) {
      storage();
    }
  }

  @Override
  public boolean unchanged() {
    return file.unchanged();
  }

  @Override
  public boolean grown() {
    RandomAccessFile held;
    synchronized (this) {
      held = storage;
    }
    try {
      return held == null ? file.grown() : held.length() != size();
    } catch (IOException e) {
      return false; // Closed since.
    }
  }

  @Override
  public RandomAccessFile file() throws IOException {
    ByteBuffer bytes = pinned;
    return bytes == null ? storage() : file.reopen(bytes);
  }

  @Override
  public Origin origin() {
    if (usedStorage) {
      return Origin.STORAGE;
    }
    return usedPeer ? Origin.PEER : Origin.MEMORY;
  }

  @Override
  protected synchronized void release() {
    released = true;
    Closeables.closeQuietly(storage);
  }
}
