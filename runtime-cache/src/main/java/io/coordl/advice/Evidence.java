package io.coordl.advice;

import io.coordl.event.Figures;
import io.coordl.event.LibraryEvent;
import io.coordl.event.StoreStatisticsEvent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the advice looks at.
 *
 * @param configuration the agent's arguments in force, defaults among them
 * @param given those that the user gave
 * @param libraries the training libraries in use
 * @param hosts that hold the data set between them: this one, and those that it asked
 */
public record Evidence(
    Figures totals,
    Epochs epochs,
    List<StoreStatisticsEvent> stores,
    Map<String, String> configuration,
    Map<String, String> given,
    List<LibraryEvent> libraries,
    int hosts) {

  /** A store with fewer than one hit per this many admitted items gains nothing. */
  private static final int RARE = 20;

  /** A share of the wall time below this is not worth a change. */
  public static final double WORTH_A_CHANGE = 0.05;

  /** What the job is judged by: its steady epochs, else its first, else all that there is. */
  public Figures judged() {
    Figures ended = epochs.judged();
    return ended.batches > 0 ? ended : totals;
  }

  /** What the judged time is of, to go on after "of the time" or a time; empty: the whole job. */
  public String ofWhat() {
    return epochs.ofWhat();
  }

  /** How fast the job trains, by the judged time; 0 if not known, or if a profile held it up. */
  public double samplesPerSecond() {
    return profiled() ? 0 : judged().samplesPerSecond();
  }

  /** True if phases of a profile were made of the job. */
  public boolean profiled() {
    return isOn("profile");
  }

  /** Bytes that the hosts may keep of raw items, as far as they are alike. */
  public long capacityOfAllHosts() {
    return hosts * capacity(StoreStatisticsEvent.RAW);
  }

  /** Bytes that this job may keep of items in one form. */
  long capacity(String form) {
    return stores.stream()
        .filter(store -> store.keeps(form))
        .mapToLong(store -> store.capacity)
        .sum();
  }

  boolean caching() {
    return configuration.containsKey("cache") ? isOn("cache") : keeps(StoreStatisticsEvent.RAW);
  }

  /** True if images or whole samples were kept, so that decoding them again is not the matter. */
  boolean keepsDecoded() {
    return keeps(StoreStatisticsEvent.DECODED)
        || isOn("decoded")
        || (keepsPrepared() && !preparedInVain());
  }

  /** Whole samples that no later epoch finds spare it no decoding. */
  private boolean preparedInVain() {
    return epochs.later().batches > 0
        && stores.stream().noneMatch(s -> s.keeps(StoreStatisticsEvent.PREPARED) && s.hits > 0);
  }

  boolean keepsPrepared() {
    return keeps(StoreStatisticsEvent.PREPARED) || isOn("prepared");
  }

  private boolean keeps(String form) {
    return stores.stream().anyMatch(store -> store.keeps(form));
  }

  boolean isOn(String policy) {
    return !"off".equals(configuration.getOrDefault(policy, "off"));
  }

  /** True if the job is to go on where an earlier one was, which it cannot in epochs of several. */
  boolean resumes() {
    return !"none".equals(configuration.getOrDefault("resume", "none"));
  }

  /** True if a store had to turn items away. */
  boolean isFull(String form) {
    return stores.stream().anyMatch(store -> store.keeps(form) && store.full);
  }

  /** True if a store admitted what was read but had next to no hits. */
  boolean keepsInVain(String form) {
    return stores.stream()
        .anyMatch(
            store ->
                store.keeps(form)
                    && !store.full
                    && store.admitted > 0
                    && store.hits + store.peer < store.admitted / RARE);
  }

  /** True if epochs after the first still read from storage, and waited for it. */
  boolean laterEpochsWaitForFetches() {
    Figures later = epochs.later();
    return later.storageItems > 0 && later.share(later.fetchStall) >= WORTH_A_CHANGE;
  }

  /**
   * False where the agent prefetches for the library, but the program's own class makes the
   * batches: nothing prepares those ahead, and the agent knows none of their samples.
   */
  boolean batchesAreOfTheLibrary() {
    return !isPrefetched()
        || libraries.stream().anyMatch(library -> library.prefetched && epochs.areOf(library));
  }

  /** True if prefetch=N prepares the batches of the library. */
  boolean isPrefetched() {
    return libraries.stream().anyMatch(library -> library.prefetched);
  }

  /**
   * True if prepared=share and prep=coordinate work with a library of the job, or none is known.
   */
  boolean isPrepared() {
    return libraries.isEmpty() || libraries.stream().anyMatch(library -> library.prepared);
  }

  /** A text of the first library that has it, after a separator; empty if none has. */
  String said(String separator, Function<LibraryEvent, @Nullable String> text) {
    for (LibraryEvent library : libraries) {
      String found = text.apply(library);
      if (found != null && !found.isEmpty()) {
        return separator + found;
      }
    }
    return "";
  }
}
