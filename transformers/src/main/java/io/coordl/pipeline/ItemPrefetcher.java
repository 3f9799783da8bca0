package io.coordl.pipeline;

import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.cache.MinioCache;
import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Fetches items of upcoming batches into the stores, on daemon threads of the agent, and touches
 * nothing else: the program's own call finds the item there, or does what it did before. What fails
 * here is met by the program's own call, so nothing is said of it.
 *
 * <p>Bounded: an epoch offers {@link #WINDOW} items more than the program has used, what the stores
 * have no room for is soon no longer tried, and what will not be asked for any more (the iterator
 * is garbage) is dropped.
 */
public final class ItemPrefetcher implements Closeable {
  /** Items of an epoch that are known before they are used. */
  public static final int WINDOW = 256;

  private static final int MAX_QUEUED = 8 * WINDOW;

  /** After so many items in a row of which nothing could be kept, no more are tried. */
  private static final int MAX_IN_VAIN = 32;

  /** Of a program that waits for an item; then it fetches the item itself. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Decodes an item as the program will, so that its pixels are kept. On threads of the agent. */
  public interface Decoder {
    /** Whether the item's pixels are kept already. */
    boolean isKept(String path) throws Exception;

    /** Decodes one item; whether its pixels are kept now. */
    boolean decode(String path) throws Exception;
  }

  private final @Nullable MinioCache raw;
  private final BooleanSupplier decodes;
  private final IntSupplier count;
  private final ThreadPoolExecutor threads;

  /** Offered, and neither fetched nor asked for since. */
  private final Set<String> offered = ConcurrentHashMap.newKeySet();

  private final ConcurrentHashMap<String, Fetching> underWay = new ConcurrentHashMap<>();
  private final LongAdder fetched = new LongAdder();
  private final AtomicInteger decodedInVain = new AtomicInteger();
  private final AtomicInteger fetchedInVain = new AtomicInteger();

  /**
   * Starts no thread yet.
   *
   * @param count how many there may be now; 0 while fetching is not worth it
   * @param raw for {@code cache=minio}
   * @param decodes whether there is a store of decoded items that has room
   */
  public ItemPrefetcher(IntSupplier count, @Nullable MinioCache raw, BooleanSupplier decodes) {
    this.count = count;
    this.raw = raw;
    this.decodes = decodes;
    this.threads = Prefetcher.threads(1, MAX_QUEUED, "coordl-items-");
  }

  long fetched() {
    return fetched.sum();
  }

  /** Whether an item offered with a decoder, or without, would be fetched. */
  public boolean isWorthwhile(boolean decoder) {
    return count.getAsInt() > 0
        && ((decoder && isDecoding()) || (raw != null && fetchedInVain.get() < MAX_IN_VAIN));
  }

  private boolean isDecoding() {
    return decodes.getAsBoolean() && decodedInVain.get() < MAX_IN_VAIN;
  }

  /**
   * The elements of an epoch, whose items are offered as soon as they are known.
   *
   * @param most elements that are known before they are used
   * @param paths the items of an element; must not throw
   * @param decoder null if items are only to be fetched
   */
  public <T> PeekingIterator<T> peek(
      Iterator<T> own, int most, Function<T, List<String>> paths, @Nullable Decoder decoder) {
    Object user = new Object(); // Lives as long as the iterator, whose listener holds it.
    return new PeekingIterator<>(
        own,
        most,
        element -> {
          if (isWorthwhile(decoder != null)) {
            paths.apply(element).forEach(path -> offer(path, decoder, user));
          }
        });
  }

  /**
   * Fetches an item soon.
   *
   * @param path as the program will write it
   * @param decoder null if it can only be fetched
   * @param user dropped if that is garbage by then
   */
  public void offer(String path, @Nullable Decoder decoder, Object user) {
    WeakReference<Object> asker = new WeakReference<>(user);
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    offered.add(path);
    try {
      resize(count.getAsInt());
      threads.execute(
          () -> {
            if (asker.refersTo(null)) {
              offered.remove(path);
            } else {
              fetch(path, decoder, loader);
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      offered.remove(path); // Too many wait already, the job ends, or no thread can be started.
    }
  }

  /** Threads too many end once they have fetched their item. */
  private void resize(int now) {
    if (now > 0 && now != threads.getMaximumPoolSize()) {
      synchronized (threads) {
        // Neither bound may pass the other.
        threads.setCorePoolSize(Math.min(now, threads.getMaximumPoolSize()));
        threads.setMaximumPoolSize(now);
        threads.setCorePoolSize(now);
      }
    }
  }

  private void fetch(String path, @Nullable Decoder decoder, @Nullable ClassLoader loader) {
    Fetching mine = new Fetching(Thread.currentThread(), new CountDownLatch(1));
    if (underWay.putIfAbsent(path, mine) != null) {
      return;
    }
    if (!offered.remove(path) || !Producers.enter()) {
      end(path, mine); // The program was first, or the agent is off.
      return;
    }
    if (raw != null) {
      raw.prefetchesHere();
    }
    // Whatever the library looks up by it, it finds what the program's thread finds.
    Thread.currentThread().setContextClassLoader(loader);
    long span = Spans.enter(SpanKind.PRODUCER, null);
    boolean decoding = decoder != null && isDecoding();
    try {
      if (decoder != null && decoding) {
        if (!decoder.isKept(path)) {
          count(decodedInVain, decoder.decode(path));
        }
      } else if (raw != null && fetchedInVain.get() < MAX_IN_VAIN && !raw.isKept(path)) {
        count(fetchedInVain, raw.prefetch(path));
      }
    } catch (Throwable t) {
      // The program's own call will say what is wrong with the item.
      count(decoding ? decodedInVain : fetchedInVain, false);
    } finally {
      Spans.exit(span, null);
      Thread.currentThread().setContextClassLoader(null);
      Producers.exit();
      end(path, mine);
    }
  }

  private void end(String path, Fetching mine) {
    underWay.remove(path, mine);
    mine.done.countDown();
  }

  private void count(AtomicInteger inVain, boolean kept) {
    if (kept) {
      fetched.increment();
      inVain.set(0);
    } else {
      inVain.incrementAndGet();
    }
  }

  /**
   * The program asks for an item: it is left to it, unless a thread of the agent is fetching it.
   * Then it is nearly there and would else be decoded twice, so this waits, boundedly. An interrupt
   * neither ends the wait nor is lost.
   */
  public void ask(String path) {
    offered.remove(path);
    Fetching other = underWay.get(path);
    if (other != null && other.thread != Thread.currentThread()) {
      AgentThread.await(other.done, PATIENCE);
    }
  }

  @Override
  public void close() {
    threads.getQueue().clear();
    Prefetcher.end(threads);
  }

  private record Fetching(Thread thread, CountDownLatch done) {}
}
