package io.coordl.pipeline;

import io.coordl.log.OnceLog;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Applies the policies to the epochs of one library. Each policy is a decorator over {@link
 * LibraryEpoch}: own, kept, staged, prefetched. {@link #choose} decides which one serves an epoch.
 * Thread-safe.
 */
public final class EpochEngine {
  /** What serves an epoch, or one batch of it; null if the library's own call makes the batches. */
  @FunctionalInterface
  public interface Chosen<T> {
    @Nullable T get() throws CannotShareException, IOException;
  }

  /** A policy of a library; returns {@code next} if it cannot serve the epoch, or the batch. */
  @FunctionalInterface
  public interface Decorator<T> {
    @Nullable T around(Chosen<T> next) throws CannotShareException, IOException;
  }

  private final String library;
  private final @Nullable EpochCoordinator group;
  private final @Nullable PreparedSamples samples;
  private final @Nullable Prepared prepared;
  private final @Nullable BatchPrefetcher prefetcher;
  private final Worths worths = new Worths();
  private final OnceLog log;

  /**
   * Applies the policies in force.
   *
   * @param library its name, for the user
   * @param samples for {@code prepared=share}; null if nothing of the library is kept
   * @param prefetcher for {@code prefetch=N}; null if nothing of the library is prefetched
   */
  public EpochEngine(
      String library,
      Services services,
      @Nullable PreparedSamples samples,
      @Nullable BatchPrefetcher prefetcher) {
    this.library = library;
    this.samples = samples;
    this.prepared = services.prepared();
    this.group = services.group() == null ? null : new EpochCoordinator(library, services);
    this.prefetcher = prefetcher;
    this.log = new OnceLog(services.log());
  }

  /**
   * The rule of precedence: staged, else kept, else own; prefetching wraps whichever won. A batch
   * that is kept as a whole comes first, since nobody needs to prepare it again. The phases of a
   * profile come before this rule: they ask the program's iterator ({@link ProfiledBatches}).
   *
   * @param keepsBatches whether whole batches are kept, not samples
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

  /** For {@code prep=coordinate}; null if that is not in force. */
  public @Nullable EpochCoordinator group() {
    return group;
  }

  /** Whether units are to be kept now, if possible. */
  public boolean keeps() {
    return samples != null && samples.areKept();
  }

  /** Whether batches are prefetched. */
  public boolean prefetches() {
    return prefetcher != null;
  }

  /** Whether batches of that kind are worth keeping or making early. */
  public Worth worth(String kind) {
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
                            ? BatchPrefetcher.leaves(why)
                            : PreparedSamples.leaves("batches of " + kind, why))));
  }

  /** Logs once that an epoch is left to the library, and why. */
  public void leave(CannotShareException what) {
    if (group != null) {
      group.leave(what);
    } else {
      String policy = samples == null ? "prefetch" : "prepared=share";
      log.once(policy + " leaves " + what.getMessage() + " to " + library + ".");
    }
  }

  // ---- sources of whole batches

  /** Batches that are kept. */
  public @Nullable EpochSource kept(LibraryEpoch epoch, Worth worth) {
    return begun(new KeptBatches(Objects.requireNonNull(samples), epoch, worth));
  }

  /** Batches of the group. */
  public @Nullable EpochSource staged(LibraryEpoch epoch) {
    CoordinatedEpoch shared = new CoordinatedEpoch(Objects.requireNonNull(group), epoch);
    return begun(new StagedBatches(shared, epoch));
  }

  /** Batches that this job makes instead of the library. */
  public @Nullable EpochSource own(LibraryEpoch epoch, Worth worth) {
    return begun(new OwnBatches(epoch, worth));
  }

  private static @Nullable EpochSource begun(EpochSource source) {
    return source.begin() ? source : null;
  }

  /** Batches of {@code source}, each made before it is requested. */
  public EpochSource prefetched(EpochSource source, LibraryEpoch epoch) {
    return new PrefetchedBatches(source, epoch, Objects.requireNonNull(prefetcher));
  }
}
