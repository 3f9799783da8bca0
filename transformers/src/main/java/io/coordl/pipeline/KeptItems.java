package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.cache.DecodedForm;
import io.coordl.cache.DecodedItem;
import io.coordl.cache.DecodedStore;
import java.nio.ByteBuffer;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code decoded=share}: the array that an item becomes before any random transform, made once and
 * kept. An adapter asks for the item when the program is about to decode it, makes its array of the
 * bytes if they are found, and gives them here if they are not. Thread-safe.
 */
public record KeptItems(DecodedStore store, @Nullable ItemPrefetcher prefetcher) {
  /** Null if none are kept. */
  public static @Nullable KeptItems of(Services services) {
    DecodedStore store = services.decoded();
    return store == null ? null : new KeptItems(store, services.items());
  }

  /** An item that the program asks for, once no thread of ours is at it; null if it is none. */
  public @Nullable DecodedItem item(String path) {
    if (prefetcher != null) {
      prefetcher.ask(path);
    }
    Producers.opens(path); // Kept or not, what the program gets depends on the file.
    return store.item(path);
  }

  /** What is kept of an item in this form; null if nothing is. */
  public static @Nullable KeptArray find(DecodedItem item, DecodedForm form) {
    ByteBuffer found = item.find(form);
    return found == null ? null : KeptArray.read(found);
  }

  /**
   * Keeps an array that took {@code nanos} to make, if that can be. Never throws: the program has
   * it.
   *
   * @param array null for what cannot be kept
   */
  public static void keep(
      DecodedItem item, DecodedForm form, long nanos, Supplier<@Nullable KeptArray> array) {
    item.made(nanos);
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
    /** Decodes a file as the program would; the library's hooks keep it. */
    void decode(String path) throws Exception;
  }

  /** Decodes items for the prefetcher; {@code form} gives null if they are not kept. */
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
