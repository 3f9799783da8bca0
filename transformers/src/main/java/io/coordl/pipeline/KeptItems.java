package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import io.coordl.store.DecodedStore;
import java.nio.ByteBuffer;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code decoded=share}: decodes each item once and caches its array as it is before any random
 * transform. When the program is about to decode an item, an adapter looks it up here. On a hit,
 * the adapter creates an array from the bytes; on a miss, it passes the decoded array to {@link
 * #keep}. Thread-safe.
 */
public record KeptItems(DecodedStore store, @Nullable ItemPrefetcher prefetcher) {
  /** Returns the cached items; null if items are not cached. */
  public static @Nullable KeptItems of(Services services) {
    DecodedStore store = services.decoded();
    return store == null ? null : new KeptItems(store, services.items());
  }

  /**
   * Like {@link #of}, for items that a library returns as whole samples: without {@code
   * decoded=share}, {@code prepared=share} caches them.
   */
  public static @Nullable KeptItems ofSamples(Services services) {
    KeptItems decoded = of(services);
    Prepared prepared = services.prepared();
    return decoded != null || prepared == null
        ? decoded
        : new KeptItems(prepared.items, services.items());
  }

  /**
   * Returns the item that the program requests, after waiting for any prefetch of it; null if it
   * must not be cached.
   */
  public @Nullable DecodedItem item(String path) {
    if (prefetcher != null) {
      prefetcher.awaitIfFetching(path);
    }
    Producers.opens(path); // Cached or not, the program's result depends on the file.
    return store.item(path);
  }

  /** Returns the cached array of an item in this form; null if there is none. */
  public static @Nullable KeptArray find(DecodedItem item, DecodedForm form) {
    ByteBuffer found = item.find(form);
    return found == null ? null : KeptArray.read(found);
  }

  /**
   * Caches an array that took {@code nanos} to decode, if possible. Never throws, because the
   * program already has the array.
   *
   * @param array returns null if the array cannot be cached
   */
  public static void keep(
      DecodedItem item, DecodedForm form, long nanos, Supplier<@Nullable KeptArray> array) {
    item.addProducingTime(nanos);
    try {
      KeptArray kept = array.get();
      if (kept != null) {
        item.put(form, kept.bytes(), kept::writeTo);
      }
    } catch (Throwable t) {
      Bridge.fault("keeping an array", t);
    }
  }

  public interface Decoding {
    /** Decodes a file as the program would; the library's hooks cache the result. */
    void decode(String path) throws Exception;
  }

  /** Returns a decoder for the prefetcher; {@code form} returns null if items are not cached. */
  public ItemPrefetcher.Decoder decoder(Callable<@Nullable DecodedForm> form, Decoding decoding) {
    return new ItemPrefetcher.Decoder() {
      @Override
      public boolean isKept(String path) throws Exception {
        DecodedItem item = store.item(path);
        DecodedForm now = item == null ? null : form.call();
        return item != null && now != null && item.isKept(now);
      }

      @Override
      public boolean decode(String path) throws Exception {
        decoding.decode(path);
        return isKept(path);
      }
    };
  }
}
