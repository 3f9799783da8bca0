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
 * {@code decoded=share}: decodes each item once and keeps the array that precedes any random
 * transform. When the program is about to decode an item, an adapter looks it up here. If the bytes
 * are found, the adapter makes its array from them; if not, it passes them here to be kept.
 * Thread-safe.
 */
public record KeptItems(DecodedStore store, @Nullable ItemPrefetcher prefetcher) {
  /** Null if no items are kept. */
  public static @Nullable KeptItems of(Services services) {
    DecodedStore store = services.decoded();
    return store == null ? null : new KeptItems(store, services.items());
  }

  /**
   * The item that the program requests, after waiting for any prefetch of it; null if it is not an
   * item.
   */
  public @Nullable DecodedItem item(String path) {
    if (prefetcher != null) {
      prefetcher.ask(path);
    }
    Producers.opens(path); // Kept or not, the program's result depends on the file.
    return store.item(path);
  }

  /** The kept array of an item in this form; null if there is none. */
  public static @Nullable KeptArray find(DecodedItem item, DecodedForm form) {
    ByteBuffer found = item.find(form);
    return found == null ? null : KeptArray.read(found);
  }

  /**
   * Keeps an array that took {@code nanos} to make, if possible. Never throws, since the program
   * already has the array.
   *
   * @param array null if it cannot be kept
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
    /** Decodes a file as the program would; the library's hooks keep the result. */
    void decode(String path) throws Exception;
  }

  /** Decodes items for the prefetcher; {@code form} returns null if they are not kept. */
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
