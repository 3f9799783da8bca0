package io.coordl.pipeline;

import io.coordl.purity.PurityAnalyzer;
import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Applies the policies to the epochs of one library. Each policy decorates the job's own {@link
 * LibraryEpoch}, whose batches are then staged by the group, kept in the cache, or prefetched.
 * {@link #choose} decides which policy serves an epoch. Thread-safe.
 */
public final class EpochEngine {
  /** Serves an epoch, or one batch of it; null if the library's own call prepares the batches. */
  @FunctionalInterface
  public interface Chosen<T> {
    @Nullable T get() throws CannotShareException, IOException;
  }

  /** A policy. If it cannot serve the epoch or batch, it returns the result of {@code next}. */
  @FunctionalInterface
  public interface Decorator<T> {
    @Nullable T around(Chosen<T> next) throws CannotShareException, IOException;
  }

  /** An epoch about to begin, whose batches the agent can prepare instead of the library. */
  public interface Beginning {
    /** Returns the name of the class that best describes the data set to the user. */
    String name();

    /** Returns the number of batches. */
    int batches();

    /** Returns the account that decides whether prefetching or caching batches pays off. */
    Worth worth();

    /** Whether batches may be prefetched. */
    boolean mayRunEarly();

    /**
     * Returns why this job must not prepare the batches or, if {@code keeps}, must not cache them;
     * null if it may.
     */
    @Nullable String reasonToLeave(boolean keeps);

    /** Whether the items of batches that are not cached are cached one by one. */
    default boolean keepsItems() {
      return false;
    }

    /** Returns the program's objects that run when batches are prepared. */
    List<Object> parts();

    /** Returns the epoch as this job prepares it. */
    LibraryEpoch ofJob() throws CannotShareException, IOException;

    /**
     * Returns the epoch as a group shares it. It refers to no object whose garbage collection ends
     * the epoch.
     */
    LibraryEpoch ofGroup() throws CannotShareException, IOException;
  }

  private final String library;
  private final PurityAnalyzer code;
  private final @Nullable EpochCoordinator group;
  private final @Nullable PreparedSamples samples;
  private final @Nullable Prepared prepared;
  private final @Nullable BatchPrefetcher prefetcher;
  private final Worths worths = new Worths();
  private final OnceLog log;

  /**
   * Applies the policies in force.
   *
   * @param library the library's name, for the user
   * @param code decides which code of the program may run early, and whether its results may be
   *     cached
   */
  public EpochEngine(String library, Services services, PurityAnalyzer code) {
    this.library = library;
    this.code = code;
    this.prepared = services.prepared();
    this.samples = prepared == null ? null : new PreparedSamples(services, code);
    this.group = services.group() == null ? null : new EpochCoordinator(library, services);
    this.prefetcher = services.prefetcher() == null ? null : new BatchPrefetcher(services, code);
    this.log = new OnceLog(services.log());
  }

  /**
   * Applies the precedence: staged, else kept, else own; prefetching wraps the result. If whole
   * batches are cached, kept precedes staged, because no job needs to prepare a cached batch again.
   * A profile bypasses this rule, because it calls the program's iterator ({@link
   * ProfiledBatches}).
   *
   * @param keepsBatches whether whole batches, not samples, are cached
   */
  public static <T> @Nullable T choose(
      boolean keepsBatches,
      Decorator<T> prefetched,
      Decorator<T> staged,
      Decorator<T> kept,
      Chosen<T> own)
      throws CannotShareException, IOException {
    Chosen<T> won =
        keepsBatches
            ? () -> kept.around(() -> staged.around(own))
            : () -> staged.around(() -> kept.around(own));
    return prefetched.around(won);
  }

  /** Returns the coordinator of {@code prep=coordinate}; null if that is not in force. */
  public @Nullable EpochCoordinator group() {
    return group;
  }

  /**
   * Whether a policy may serve an epoch.
   *
   * @param early whether the batches of the epoch may be prefetched
   */
  public boolean serves(boolean early) {
    return group != null || keeps() || (early && prefetcher != null);
  }

  private boolean keeps() {
    return samples != null && samples.areKept();
  }

  /** Whether this job caches batches that it prepares itself. */
  public boolean keepsBatches() {
    return mayKeepBatches() && keeps();
  }

  /** Whether this job may begin to cache batches that it prepares itself. */
  public boolean mayKeepBatches() {
    return group == null && samples != null;
  }

  /**
   * Whether to call {@link #reportBatches}: {@code prepared=share} is on, but caches nothing now.
   */
  public boolean wantsReports() {
    return samples != null && !keeps();
  }

  /**
   * Reports on the batches of a data set whose items can be cached one by one. If only the items
   * can be cached, {@code auto} need not wait for the next epoch before it caches them.
   *
   * @param leavesBatches whether the batches cannot be cached
   */
  public void reportBatches(boolean leavesBatches) {
    if (samples != null) {
      samples.recordUnplanned(leavesBatches);
    }
  }

  /**
   * Returns the account that decides whether batches of this kind are worth caching or prefetching.
   *
   * @param name the name of the class that best describes their data set to the user
   */
  public Worth worth(String kind, String name) {
    Prepared kept = prepared;
    return worths.of(
        kind,
        () ->
            new Worth(
                "batch",
                kept == null ? () -> Integer.MAX_VALUE : kept::epochs,
                System::nanoTime,
                why ->
                    log.once(
                        kept == null
                            ? BatchPrefetcher.leavesMessage(why)
                            : PreparedSamples.leavesMessage("batches of " + name, why))));
  }

  /** Logs once which part the library runs itself. */
  public void leave(CannotShareException what) {
    if (group != null) {
      group.leave(what);
    } else {
      String policy = samples == null ? "prefetch" : "prepared=share";
      log.once(policy + " leaves " + what.getMessage() + " to " + library + ".");
    }
  }

  // ---- epochs whose batches the agent prepares

  /** Begins the source of an epoch's batches; returns null if the library prepares them. */
  public @Nullable EpochSource begin(Beginning beginning) throws CannotShareException, IOException {
    BatchPrefetcher early = group == null && beginning.mayRunEarly() ? prefetcher : null;
    return choose(
        true,
        next -> prefetched(next.get(), early),
        next -> orElse(staged(beginning), next),
        next -> orElse(keeps() ? made(beginning, true) : null, next),
        () -> early == null ? null : made(beginning, false));
  }

  private static @Nullable EpochSource orElse(
      @Nullable EpochSource source, Chosen<EpochSource> next)
      throws CannotShareException, IOException {
    return source == null ? next.get() : source;
  }

  private static @Nullable EpochSource prefetched(
      @Nullable EpochSource source, @Nullable BatchPrefetcher early) {
    return source == null || early == null ? source : new PrefetchedBatches(source, early);
  }

  private @Nullable EpochSource staged(Beginning beginning)
      throws CannotShareException, IOException {
    if (group == null) {
      return null;
    }
    LibraryEpoch epoch = beginning.ofGroup();
    return begun(new StagedBatches(new CoordinatedEpoch(group, epoch), epoch));
  }

  /** Returns a source of batches that this job prepares, and caches if {@code keeps}. */
  private @Nullable EpochSource made(Beginning beginning, boolean keeps)
      throws CannotShareException, IOException {
    Worth worth = beginning.worth();
    if (!worth.paysOff()) {
      return null;
    }
    long start = System.nanoTime();
    String reason = beginning.reasonToLeave(keeps);
    if (reason != null) {
      log.once(
          keeps
              ? PreparedSamples.leavesMessage(beginning.name(), beginning.keepsItems(), reason)
              : BatchPrefetcher.leavesMessage(beginning.name(), reason));
      return null;
    }
    LibraryEpoch epoch = beginning.ofJob();
    EpochSource source;
    if (keeps) {
      source = begun(new KeptBatches(Objects.requireNonNull(samples), epoch, worth));
    } else {
      boolean runs = code.reasonToLeave(beginning.parts()) == null;
      source = runs ? begun(new OwnBatches(epoch, worth)) : null;
    }
    worth.begun(System.nanoTime() - start, beginning.batches());
    return source;
  }

  private static @Nullable EpochSource begun(EpochSource source) {
    return source.begin() ? source : null;
  }
}
