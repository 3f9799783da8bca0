package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.List;
import java.util.Map;

/** Builds evidence like that of recorded jobs. */
public final class FakeEvidence {
  public static final long SECOND = 1_000_000_000L;

  private FakeEvidence() {}

  public static Epochs only(EpochEvent figures) {
    return epochs(epoch(1, "ai.djl.training.dataset.DataIterable", figures));
  }

  public static EpochEvent epoch(long updates, String source, Figures figures) {
    EpochEvent epoch = new EpochEvent();
    epoch.add(figures);
    epoch.updates = updates;
    epoch.source = source;
    epoch.complete = true;
    return epoch;
  }

  public static Epochs epochs(EpochEvent... all) {
    Epochs epochs = new Epochs();
    List.of(all).forEach(epochs::add);
    return epochs;
  }

  /** Evidence of a job whose whole configuration was given as arguments. */
  public static Evidence evidence(
      Figures totals,
      Epochs epochs,
      List<StoreStatisticsEvent> stores,
      Map<String, String> given,
      String frameworks,
      int hosts) {
    return new Evidence(
        totals, epochs, stores, given, given, libraries(frameworks), List.of(), 0, hosts);
  }

  public static Evidence evidence(Figures totals, Epochs epochs, Map<String, String> given) {
    return evidence(totals, epochs, List.of(), given, "DJL", 1);
  }

  /** The same evidence with this number of cores and these verdicts. */
  public static Evidence with(Evidence evidence, double cores, VerdictEvent... verdicts) {
    return new Evidence(
        evidence.totals(),
        evidence.epochs(),
        evidence.stores(),
        evidence.configuration(),
        evidence.given(),
        evidence.libraries(),
        List.of(verdicts),
        cores,
        evidence.hosts());
  }

  public static VerdictEvent refused(String policy, String reason, String remedy) {
    VerdictEvent verdict = new VerdictEvent();
    verdict.policy = policy;
    verdict.source = "ai.djl.training.dataset.DataIterable";
    verdict.reason = reason;
    verdict.remedy = remedy;
    return verdict;
  }

  /**
   * Returns DJL (the agent prefetches for it), DL4J (it prepares ahead) or another library; an
   * empty list for an empty name.
   */
  public static List<LibraryEvent> libraries(String name) {
    LibraryEvent library = new LibraryEvent();
    library.name = name;
    library.prepared = !name.equals("declared loop");
    switch (name) {
      case "DJL" -> {
        library.packages = "ai.djl.";
        library.prefetched = true;
        library.howToPrepareAhead = "in DJL with optPrefetchNumber(..) of the data set";
      }
      case "DL4J" -> {
        library.packages = "org.deeplearning4j.,org.nd4j.";
        library.preparesAhead = true;
        library.callsGc = "ND4J with togglePeriodicGc(false), JavaCPP near maxphysicalbytes";
      }
      default -> {
        return name.isEmpty() ? List.of() : List.of(library);
      }
    }
    return List.of(library);
  }

  /** An epoch of 100 s with these stalls and checkpoints, in seconds; it reads 3 GiB. */
  public static EpochEvent figures(long fetch, long prep, long gc, long queue, long checkpoint) {
    long stall = fetch + prep + gc + queue;
    EpochEvent figures = new EpochEvent();
    figures.wall = 100 * SECOND;
    figures.batches = 100;
    figures.compute = (100 - stall - checkpoint) * SECOND;
    figures.stall = stall * SECOND;
    figures.fetchStall = fetch * SECOND;
    figures.prepStall = prep * SECOND;
    figures.gcStall = gc * SECOND;
    figures.queueStall = queue * SECOND;
    figures.checkpoint = checkpoint * SECOND;
    figures.fetchTime = fetch * SECOND;
    figures.decodeTime = prep * SECOND;
    figures.items = 1_000;
    figures.storageItems = 1_000;
    figures.storageBytes = 3L << 30;
    return figures;
  }

  public static StoreStatisticsEvent store(boolean full) {
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.store = "raw";
    store.full = full;
    store.capacity = 1L << 30;
    return store;
  }

  public static StoreStatisticsEvent decoded(boolean full) {
    StoreStatisticsEvent store = store(full);
    store.store = "decoded";
    return store;
  }

  public static StoreStatisticsEvent prepared(boolean full) {
    StoreStatisticsEvent store = store(full);
    store.store = "prepared";
    return store;
  }

  /** Two cores, kept busy by the steps and their preparation; hardly any waits for batches. */
  public static EpochEvent overlapping() {
    EpochEvent figures = figures(0, 4, 0, 0, 0);
    figures.decodeTime = 80 * SECOND;
    figures.prepCoreWait = 24 * SECOND;
    figures.cpu = 190 * SECOND;
    figures.coreWait = 90 * SECOND;
    figures.computeCoreWait = 25 * SECOND;
    return figures;
  }
}
