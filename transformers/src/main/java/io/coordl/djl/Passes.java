package io.coordl.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import io.coordl.pipeline.Services;
import io.coordl.staging.Coordinator;
import io.coordl.thread.AgentThread;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The passes over data that this job is in, and what they have in common. Holds no iterable and no
 * data set. Thread-safe.
 */
final class Passes {
  final IterableFields fields;
  final Coordinator coordinator;

  /**
   * Held by whoever runs the program's code where the program expects one thread only: it gave the
   * iterable no executor, or one of a single thread.
   */
  final ReentrantLock oneThread = new ReentrantLock();

  private final int threads;
  private final Consumer<String> words;
  private final Set<String> said = ConcurrentHashMap.newKeySet();
  private final List<Pass> begun = new CopyOnWriteArrayList<>();
  private final Cleaner cleaner =
      Cleaner.create(action -> new AgentThread("coordl-passes", action));

  Passes(IterableFields fields, Services services) {
    this.fields = fields;
    this.coordinator = Objects.requireNonNull(services.coordinator());
    this.threads = services.threads();
    this.words = services.words();
  }

  /** A new pass over a data set; one that was left before its end is over. */
  Pass over(RandomAccessDataset dataset, Sampler sampler) {
    for (Pass pass : begun) {
      if (pass.isOver(dataset)) {
        pass.end();
      }
    }
    return new Pass(this, dataset, sampler);
  }

  /** From now on until {@link #ended}; ends at the latest when {@code iterable} is garbage. */
  void begun(Pass pass, DataIterable iterable) {
    begun.add(pass);
    cleaner.register(iterable, pass::end);
  }

  void ended(Pass pass) {
    begun.remove(pass);
  }

  /** A manager is about to close, and all below it. */
  void closing(NDManager manager) {
    for (Pass pass : begun) {
      if (pass.isBelow(manager)) {
        pass.end();
      }
    }
  }

  /**
   * Whether this thread is just making a batch: a pass that it needs for that is its own affair,
   * and cannot wait for another thread to make batches where only one may.
   */
  boolean isMakingBatch() {
    return oneThread.isHeldByCurrentThread() || Pass.isPreparing();
  }

  /** How many threads may call the program's code at once, if it gave the iterable this. */
  int threads(@Nullable ExecutorService executor) {
    int allowed = 1;
    if (executor instanceof ThreadPoolExecutor pool) {
      allowed = pool.getMaximumPoolSize();
    } else if (executor instanceof ForkJoinPool pool) {
      allowed = pool.getParallelism();
    }
    int wanted = executor == null ? 1 : Math.max(threads, allowed);
    return Math.max(1, Math.min(wanted, Runtime.getRuntime().availableProcessors()));
  }

  /** Tells the user, once. */
  void say(String sentence) {
    if (said.add(sentence)) {
      words.accept(sentence);
    }
  }
}
