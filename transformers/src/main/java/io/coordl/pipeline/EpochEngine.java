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
  /**
   * What a library can offer for one epoch, each begun when it is asked for; null if it is not in
   * force or cannot serve the epoch.
   */
  public interface Sources<T> {
    /** Whether the units of {@link #kept} are whole batches. */
    boolean keepsBatches();

    @Nullable T kept() throws CannotShareException, IOException;

    @Nullable T staged() throws CannotShareException, IOException;

    /** Null if the library's own call makes the batches. */
    @Nullable T own() throws CannotShareException, IOException;

    /** Prefetches from a source, if that is in force. */
    T prefetched(T source);
  }

  private final String library;
  private final @Nullable EpochCoordinator group;
  private final @Nullable PreparedSamples samples;
  private final @Nullable Prepared prepared;
  private final @Nullable Prefetcher prefetcher;
  private final Worths worths = new Worths();
  private final OnceLog log;

  /**
   * Applies the policies in force.
   *
   * @param library its name, for the user
   * @param samples for {@code prepared=share}; null if nothing of the library is kept
   */
  public EpochEngine(String library, Services services, @Nullable PreparedSamples samples) {
    this.library = library;
    this.samples = samples;
    this.prepared = services.prepared();
    this.group = services.group() == null ? null : new EpochCoordinator(library, services);
    this.prefetcher = services.prefetcher();
    this.log = new OnceLog(services.log());
  }

  /**
   * The rule of precedence: staged, else kept, else own; prefetching wraps whichever won. A batch
   * that is kept as a whole comes before all of them, since it need not be prepared again; a staged
   * batch is made of kept samples. The phases of a profile ask the program's iterator, and so come
   * before this rule.
   *
   * @return null if the library's own call makes the batches
   */
  public static <T> @Nullable T choose(Sources<T> of) throws CannotShareException, IOException {
    T won = of.keepsBatches() ? of.kept() : null;
    if (won == null) {
      won = of.staged();
    }
    if (won == null && !of.keepsBatches()) {
      won = of.kept();
    }
    if (won == null) {
      won = of.own();
    }
    return won == null ? null : of.prefetched(won);
  }

  /** For {@code prep=coordinate}; null if that is not in force. */
  public @Nullable EpochCoordinator group() {
    return group;
  }

  /** Whether units are to be kept now, if possible. */
  public boolean keeps() {
    return samples != null && samples.areKept();
  }

  /** For {@code prefetch=N}; null if that is not in force. */
  public @Nullable Prefetcher prefetcher() {
    return prefetcher;
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

  /** Batches that are kept, whose making is measured by {@code worth}. */
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
