package io.coordl.store;

import io.coordl.bridge.Origin;
import io.coordl.items.ItemFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An item as it was when the program requested it; finds and caches its decoded forms. Safe for
 * concurrent use.
 */
public final class DecodedItem {
  private final DecodedStore store;
  final ItemFile file;

  /** Time to read the file from storage; 0 if the file was in memory or the time is unknown. */
  final AtomicLong readNanos = new AtomicLong();

  final AtomicLong producingNanos = new AtomicLong();

  /** Whether this process is known to have requested the item before. */
  volatile boolean wasRequestedBefore;

  DecodedItem(DecodedStore store, ItemFile file) {
    this.store = store;
    this.file = file;
  }

  /** Adds time spent producing the decoded bytes, including reading the file. */
  public void addProducingTime(long nanos) {
    producingNanos.addAndGet(nanos);
  }

  /** Whether the file is unchanged, so that its decoded bytes belong to this item. */
  public boolean unchanged() {
    return file.unchanged();
  }

  /** Returns the bytes in this form, read-only from 0 to their length; null if not cached. */
  public @Nullable ByteBuffer find(DecodedForm form) {
    ByteBuffer content = store.items.find(file.entry(form.id()), file.stamp());
    if (content != null) {
      store.statistics.count(Outcome.HIT);
      store.gain.hit();
      store.statistics.bytes(Origin.MEMORY, content.remaining());
    }
    return content;
  }

  /** Whether the bytes in this form are cached, or cannot be cached yet; not counted as a hit. */
  public boolean isKept(DecodedForm form) {
    return store.arena.isOpening() || store.items.find(file.entry(form.id()), file.stamp()) != null;
  }

  /**
   * Admits the bytes if there is room and the file is unchanged; evicts nothing. May wait, for a
   * bounded time, for another thread or job that is admitting the same bytes.
   *
   * @param source puts exactly {@code length} bytes into the buffer, starting at its position;
   *     called at most once, on this thread
   */
  public void put(DecodedForm form, long length, Consumer<ByteBuffer> source) {
    Outcome outcome = admit(form, length, source);
    store.statistics.made(outcome, length);
    store.statistics.count(outcome);
    if (outcome == Outcome.ADMITTED) {
      store.gain.missed(file);
    }
  }

  private Outcome admit(DecodedForm form, long length, Consumer<ByteBuffer> source) {
    store.shortest.accumulateAndGet(length, Math::min);
    if (length > DecodedStore.MAX_BYTES) {
      return Outcome.FULL;
    }
    store.forms.decoded(this, length);
    if (!store.forms.admitsDecoded(this)) {
      return Outcome.SPARED;
    }
    Loader copy =
        (target, offset) -> {
          source.accept(ByteBuffer.wrap(target, offset, (int) length));
          return file.unchanged();
        };
    try {
      return store.items.fetch(file.entry(form.id()), (int) length, file.stamp(), copy).outcome();
    } catch (IOException e) {
      throw new IllegalStateException("copying within memory cannot fail", e);
    }
  }
}
