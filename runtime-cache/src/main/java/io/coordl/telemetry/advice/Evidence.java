package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The facts that the advice is based on.
 *
 * @param configuration the agent's effective arguments, including defaults
 * @param given arguments that the user gave
 * @param libraries the training libraries in use
 * @param verdicts whether policies, in force or not, can work on the job's data
 * @param usableCores number of cores that the job may use; 0 if unknown
 * @param hosts number of hosts that together cache the data set: this one and those it contacted
 */
public record Evidence(
    Figures totals,
    Epochs epochs,
    List<StoreStatisticsEvent> stores,
    Map<String, String> configuration,
    Map<String, String> given,
    List<LibraryEvent> libraries,
    List<VerdictEvent> verdicts,
    double usableCores,
    int hosts) {

  /** A store with fewer than one hit per this many admitted items gains nothing. */
  private static final int ITEMS_PER_HIT = 20;

  /**
   * A training thread that waits for at least this share of the preparation is assumed to do all of
   * it itself.
   */
  private static final double SERIAL_SHARE = 0.9;

  /** A share of the wall time below this is not worth a change. */
  public static final double WORTH_A_CHANGE = 0.05;

  /**
   * Returns the figures that the job is judged by: of its steady epochs, else of its first, else
   * its totals.
   */
  public Figures judged() {
    Figures ended = epochs.judged();
    return ended.batches > 0 ? ended : totals;
  }

  /** Whether the judged epochs are later ones, whose code is warm. */
  boolean isSteady() {
    return epochs.isSteady();
  }

  /** Returns the figures of the last judged epochs. */
  Figures last() {
    Figures last = epochs.last();
    return last.batches > 0 ? last : judged();
  }

  /** Names the judged epochs, to follow "of the time" or a time; empty for the whole job. */
  public String ofWhat() {
    return epochs.ofWhat();
  }

  /**
   * Returns the samples per second of the judged time; 0 if unknown, or if a profile slowed the job
   * down.
   */
  public double samplesPerSecond() {
    return isProfiled() ? 0 : judged().samplesPerSecond();
  }

  /** Returns the cost of work in parallel with the steps in the judged epochs. */
  public CoreLaw coreLaw() {
    return coreLaw(judged());
  }

  CoreLaw coreLaw(Figures figures) {
    return new CoreLaw(figures, usableCores);
  }

  /** Whether the job ran the phases of a profile. */
  public boolean isProfiled() {
    return isOn("profile");
  }

  /** Returns the bytes of raw items that all hosts may cache, assuming that they are alike. */
  public long capacityOfAllHosts() {
    return hosts * capacity(StoreStatisticsEvent.RAW);
  }

  /** Returns the bytes that this job may cache in one form. */
  long capacity(String form) {
    return stores.stream()
        .filter(store -> store.keeps(form))
        .mapToLong(store -> store.capacity)
        .sum();
  }

  boolean isCaching() {
    return configuration.containsKey("cache") ? isOn("cache") : keeps(StoreStatisticsEvent.RAW);
  }

  /** Whether decoded images or whole samples are cached, which avoids decoding again. */
  boolean keepsDecoded() {
    return keeps(StoreStatisticsEvent.DECODED)
        || isOn("decoded")
        || (keepsPrepared() && !preparedInVain());
  }

  /** Whether later epochs found no prepared sample, so caching samples saved no decoding. */
  private boolean preparedInVain() {
    return epochs.later().batches > 0 && !usesPrepared();
  }

  /** Whether the job has used prepared samples from memory. */
  boolean usesPrepared() {
    return stores.stream()
        .anyMatch(store -> store.keeps(StoreStatisticsEvent.PREPARED) && store.hits > 0);
  }

  boolean keepsPrepared() {
    return keeps(StoreStatisticsEvent.PREPARED)
        || (isOn("prepared") && !"check".equals(configuration.get("prepared")));
  }

  private boolean keeps(String form) {
    return stores.stream().anyMatch(store -> store.keeps(form));
  }

  /**
   * Returns why this argument has no effect on the job; null if it has one or if that is unknown.
   */
  @Nullable VerdictEvent refused(String argument) {
    List<VerdictEvent> all =
        verdicts.stream()
            .filter(
                verdict ->
                    argument.equals(verdict.policy) || argument.startsWith(verdict.policy + "="))
            .toList();
    Set<String> judged = epochs.judgedDatasets();
    List<VerdictEvent> ofJudged =
        all.stream().filter(verdict -> judged.contains(verdict.source)).toList();
    List<VerdictEvent> known = ofJudged.isEmpty() ? all : ofJudged;
    return known.isEmpty() || known.stream().anyMatch(verdict -> verdict.allowed)
        ? null
        : known.get(0);
  }

  /**
   * Returns the refusal whose remedy is to declare a class deterministic; null if that would be
   * wrong or change nothing.
   */
  @Nullable VerdictEvent declarable() {
    VerdictEvent refused = refused("prepared=share");
    return refused == null
            || refused.remedy == null
            || refused.remedy.isEmpty()
            || usesPrepared()
            || isOn("prep")
        ? null
        : refused;
  }

  /** Returns the number of jobs of the host that share memory, this one included. */
  long jobs() {
    return stores.stream().mapToLong(store -> store.jobs).max().orElse(1);
  }

  /**
   * Whether the training thread waits for nearly all of the preparation, because it does the
   * preparation itself.
   */
  boolean preparesItself() {
    Figures judged = judged();
    return judged.dataStall() >= SERIAL_SHARE * (judged.prepTime() + judged.fetchTime);
  }

  boolean isOn(String policy) {
    return !"off".equals(configuration.getOrDefault(policy, "off"));
  }

  /** Whether the user chose the number of prefetching threads. */
  boolean prefetchesByNumber() {
    return isOn("prefetch") && !"auto".equals(configuration.get("prefetch"));
  }

  /** Whether the job resumes an earlier one, which is impossible in epochs that jobs share. */
  boolean resumes() {
    return !"none".equals(configuration.getOrDefault("resume", "none"));
  }

  /** Whether a store did not cache items because it was full. */
  boolean isFull(String form) {
    return stores.stream().anyMatch(store -> store.keeps(form) && store.full);
  }

  /** Whether a store admitted items and is not full, but had almost no hits. */
  boolean keepsInVain(String form) {
    return stores.stream()
        .anyMatch(
            store ->
                store.keeps(form)
                    && !store.full
                    && store.admitted > 0
                    && store.hits + store.peer < store.admitted / ITEMS_PER_HIT);
  }

  /** Whether epochs after the first still read from storage, and waited for it. */
  boolean laterEpochsWaitForFetches() {
    Figures later = epochs.later();
    return later.storageItems > 0 && later.share(later.fetchStall) >= WORTH_A_CHANGE;
  }

  /**
   * False if the agent can prefetch for a library of the job, but a class of the program makes the
   * batches: nothing prepares those ahead, and the agent does not know their samples.
   */
  boolean batchesAreOfTheLibrary() {
    return !isPrefetched()
        || libraries.stream().anyMatch(library -> library.prefetched && epochs.areOf(library));
  }

  /** Whether prefetch=N works with a library of the job. */
  boolean isPrefetched() {
    return libraries.stream().anyMatch(library -> library.prefetched);
  }

  /** Whether prepared=share works with a library of the job, or none is known. */
  boolean isPrepared() {
    return libraries.isEmpty() || libraries.stream().anyMatch(library -> library.prepared);
  }

  /** Whether prep=coordinate works with a library of the job, or none is known. */
  boolean isCoordinated() {
    return libraries.isEmpty()
        || libraries.stream().anyMatch(library -> library.prepared && !library.alone);
  }

  /** Returns this text of the first library that has one, after a separator; empty if none has. */
  String textOf(String separator, Function<LibraryEvent, @Nullable String> text) {
    for (LibraryEvent library : libraries) {
      String found = text.apply(library);
      if (found != null && !found.isEmpty()) {
        return separator + found;
      }
    }
    return "";
  }
}
