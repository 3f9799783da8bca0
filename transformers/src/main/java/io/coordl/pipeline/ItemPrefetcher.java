package io.coordl.pipeline;

import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.host.AgentThread;
import io.coordl.store.MinioCache;
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
 * Fetches items of upcoming batches into the stores, on daemon threads of the agent, and changes
 * nothing else. The program's own call then finds the item there, or reads it as before. Failures
 * are not reported here, because the program's own call encounters them too.
 *
 * <p>Bounded: an epoch offers at most {@link #WINDOW} items, or one batch, ahead of the program.
 * Prefetching stops once the stores are full. Requests whose iterator is garbage-collected are
 * dropped.
 */
public final class ItemPrefetcher implements Closeable {
  /** Maximum number of items offered ahead of the program, unless one batch has more. */
  public static final int WINDOW = 256;

  private static final int MAX_QUEUED = 8 * WINDOW;

  /** Prefetching stops after this many consecutive items that could not be cached. */
  private static final int MAX_UNCACHED = 32;

  /** How long the program waits for an item before it fetches the item itself. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Decodes an item as the program will, so that its pixels are cached. Runs on agent threads. */
  public interface Decoder {
    /** Whether the item's pixels are already cached. */
    boolean isKept(String path) throws Exception;

    /** Decodes one item and returns whether its pixels are now cached. */
    boolean decode(String path) throws Exception;
  }

  private final @Nullable MinioCache raw;
  private final BooleanSupplier decodes;
  private final IntSupplier count;
  private final ThreadPoolExecutor threads;

  /** Items offered but neither fetched nor requested yet. */
  private final Set<String> offered = ConcurrentHashMap.newKeySet();

  private final ConcurrentHashMap<String, Fetching> inProgress = new ConcurrentHashMap<>();
  private final LongAdder fetched = new LongAdder();
  private final AtomicInteger undecoded = new AtomicInteger();
  private final AtomicInteger unfetched = new AtomicInteger();

  /**
   * Creates a prefetcher without starting a thread.
   *
   * @param count the current limit of threads; 0 while fetching does not pay off
   * @param raw the store of {@code cache=minio}; null if there is none
   * @param decodes whether a store of decoded items has room
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

  /**
   * Whether an offered item would be fetched.
   *
   * @param decoder whether the item has a decoder
   */
  public boolean isWorthwhile(boolean decoder) {
    return count.getAsInt() > 0
        && ((decoder && isDecoding()) || (raw != null && unfetched.get() < MAX_UNCACHED));
  }

  private boolean isDecoding() {
    return decodes.getAsBoolean() && undecoded.get() < MAX_UNCACHED;
  }

  /**
   * Wraps an epoch's elements and offers their items as soon as they are known.
   *
   * @param maxAhead maximum number of elements to read ahead
   * @param paths returns the items of an element; must not throw
   * @param decoder null if items are only to be fetched
   */
  public <T> PeekingIterator<T> peek(
      Iterator<T> own, int maxAhead, Function<T, List<String>> paths, @Nullable Decoder decoder) {
    Object user = new Object(); // Lives as long as the iterator, whose listener holds it.
    return new PeekingIterator<>(
        own,
        maxAhead,
        element -> {
          if (isWorthwhile(decoder != null)) {
            paths.apply(element).forEach(path -> offer(path, decoder, user));
          }
        });
  }

  /**
   * Queues an item to be fetched.
   *
   * @param path the path that the program will use
   * @param decoder null if the item can only be fetched
   * @param user the request is dropped once this object is garbage-collected
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
      offered.remove(path); // The queue is full, the job is ending, or no thread can be started.
    }
  }

  /** Resizes the pool; surplus threads end after their current item. */
  private void resize(int now) {
    if (now > 0 && now != threads.getMaximumPoolSize()) {
      synchronized (threads) {
        // The core size must never exceed the maximum size.
        threads.setCorePoolSize(Math.min(now, threads.getMaximumPoolSize()));
        threads.setMaximumPoolSize(now);
        threads.setCorePoolSize(now);
      }
    }
  }

  private void fetch(String path, @Nullable Decoder decoder, @Nullable ClassLoader loader) {
    Fetching mine = new Fetching(Thread.currentThread(), new CountDownLatch(1));
    if (inProgress.putIfAbsent(path, mine) != null) {
      return;
    }
    if (!offered.remove(path) || !Producers.enter()) {
      end(path, mine); // The program has fetched it already, or the agent is off.
      return;
    }
    if (raw != null) {
      raw.prefetchesHere();
    }
    // The library's look-ups then give the same results as on the program's thread.
    Thread.currentThread().setContextClassLoader(loader);
    long span = Spans.enter(SpanKind.PRODUCER, null);
    boolean decoding = decoder != null && isDecoding();
    try {
      if (decoder != null && decoding) {
        if (!decoder.isKept(path)) {
          count(undecoded, decoder.decode(path));
        }
      } else if (raw != null && unfetched.get() < MAX_UNCACHED && !raw.isKept(path)) {
        count(unfetched, raw.prefetch(path));
      }
    } catch (Throwable t) {
      // The program's own call encounters the failure, too.
      count(decoding ? undecoded : unfetched, false);
    } finally {
      Spans.exit(span, null);
      Thread.currentThread().setContextClassLoader(null);
      Producers.exit();
      end(path, mine);
    }
  }

  private void end(String path, Fetching mine) {
    inProgress.remove(path, mine);
    mine.done.countDown();
  }

  private void count(AtomicInteger uncached, boolean kept) {
    if (kept) {
      fetched.increment();
      uncached.set(0);
    } else {
      uncached.incrementAndGet();
    }
  }

  /**
   * Called when the program requests an item. If an agent thread is fetching it, waits for that
   * thread, with a timeout, so that the item is not decoded twice. An interrupt does not end the
   * wait, and is restored afterwards.
   */
  public void awaitIfFetching(String path) {
    offered.remove(path);
    Fetching other = inProgress.get(path);
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
