package io.coordl.reports.workers;

import io.coordl.reports.cluster.InputException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Virtual workers that train one model together.
 *
 * @param inFlight minibatches in flight in each virtual worker
 * @param perSecond total minibatches per second; in the long run, each worker completes as many
 *     waves as the slowest
 * @param unequalPerSecond total minibatches per second if each worker trains at its own rate
 * @param stalenessMinibatches largest number of minibatches that an update may miss
 * @param hiddenPauseMillis longest pause of one worker for which no other waits
 * @param distances results for several distances, including {@code distance}; empty if the spread
 *     of the times is unknown
 */
public record Pipelines(
    int inFlight,
    int distance,
    double perSecond,
    double unequalPerSecond,
    int stalenessMinibatches,
    double hiddenPauseMillis,
    @Nullable Double demandBytesPerSecond,
    @Nullable Double spread,
    List<Distance> distances,
    List<Virtual> workers) {
  private static final int[] DISTANCES = {0, 1, 4, 32};

  /**
   * One virtual worker.
   *
   * @param cuts the best cut for each number of minibatches in flight (1, 2, ...) for which one
   *     fits
   * @param pushedBytesPerSecond bytes per second to the parameter servers; the same amount comes
   *     back
   */
  public record Virtual(
      String name,
      List<String> gpus,
      List<VirtualWorker.Cut> cuts,
      double perSecond,
      double pushedBytesPerSecond) {}

  /**
   * The result for a maximum distance, in waves, between the fastest and the slowest worker.
   *
   * @param efficiency rate as a share of the slowest worker's own rate
   */
  public record Distance(int distance, int stalenessMinibatches, double efficiency) {}

  /**
   * Settings of the training.
   *
   * @param inFlight minibatches in flight; null for the number with the highest rate
   * @param copies how many copies of the parameters training holds
   * @param spread relative spread of the time of a wave; null if unknown
   */
  record Settings(
      @Nullable Integer inFlight, int distance, double copies, @Nullable Double spread) {}

  static Pipelines of(
      List<VirtualWorker> workers,
      List<Layer> model,
      Settings settings,
      @Nullable Double minibatchBytes)
      throws InputException {
    int max = 1;
    for (VirtualWorker worker : workers) {
      if (worker.gpus().size() > model.size()) {
        throw new InputException(
            "the virtual worker '%s' has more GPUs (%d) than the model has layers (%d)"
                .formatted(worker.name(), worker.gpus().size(), model.size()));
      }
      max = Math.max(max, worker.gpus().size());
    }
    Integer requested = settings.inFlight();
    max = requested == null ? max : Math.max(max, requested);
    List<List<VirtualWorker.@Nullable Cut>> cuts = new ArrayList<>();
    for (VirtualWorker worker : workers) {
      List<VirtualWorker.@Nullable Cut> cutsOfWorker = new ArrayList<>();
      for (int inFlight = 1; inFlight <= max; inFlight++) {
        cutsOfWorker.add(worker.cut(model, inFlight, settings.copies()));
      }
      cuts.add(cutsOfWorker);
    }
    int inFlight = requested == null ? best(cuts, max) : requested;
    List<VirtualWorker.Cut> selected = selected(workers, cuts, inFlight);
    double slowest =
        selected.stream().mapToDouble(VirtualWorker.Cut::perSecond).min().orElseThrow();
    double parameters = model.stream().mapToDouble(Layer::parameterBytes).sum();
    List<Virtual> virtual = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      virtual.add(
          new Virtual(
              workers.get(i).name(),
              workers.get(i).gpus().stream().map(Kind::name).toList(),
              cuts.get(i).stream().filter(cut -> cut != null).toList(),
              selected.get(i).perSecond(),
              slowest / inFlight * parameters));
    }
    double all = workers.size() * slowest;
    return new Pipelines(
        inFlight,
        settings.distance(),
        all,
        selected.stream().mapToDouble(VirtualWorker.Cut::perSecond).sum(),
        Waves.staleness(inFlight, settings.distance()),
        settings.distance() * 1000.0 * inFlight / slowest,
        minibatchBytes == null ? null : (Double) (all * minibatchBytes),
        settings.spread(),
        distances(selected, settings),
        virtual);
  }

  /**
   * Returns the number of minibatches in flight for which the slowest worker is fastest; if several
   * are equally good, the smallest.
   */
  private static int best(List<List<VirtualWorker.@Nullable Cut>> cuts, int max) {
    int best = 1;
    double fastest = 0;
    for (int inFlight = 1; inFlight <= max; inFlight++) {
      double slowest = Double.POSITIVE_INFINITY;
      for (List<VirtualWorker.@Nullable Cut> cutsOfWorker : cuts) {
        VirtualWorker.Cut cut = cutsOfWorker.get(inFlight - 1);
        slowest = Math.min(slowest, cut == null ? 0 : cut.perSecond());
      }
      if (slowest > fastest) {
        fastest = slowest;
        best = inFlight;
      }
    }
    return best;
  }

  private static List<VirtualWorker.Cut> selected(
      List<VirtualWorker> workers, List<List<VirtualWorker.@Nullable Cut>> cuts, int inFlight)
      throws InputException {
    List<VirtualWorker.Cut> selected = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      VirtualWorker.Cut cut = cuts.get(i).get(inFlight - 1);
      if (cut == null) {
        throw new InputException(
            "the model does not fit into the GPUs of the virtual worker '%s' with %d minibatch%s in"
                    .formatted(workers.get(i).name(), inFlight, inFlight == 1 ? "" : "es")
                + " flight, wherever it is cut");
      }
      selected.add(cut);
    }
    return selected;
  }

  private static List<Distance> distances(List<VirtualWorker.Cut> selected, Settings settings) {
    Double spread = settings.spread();
    if (spread == null) {
      return List.of();
    }
    List<Double> millis = selected.stream().map(VirtualWorker.Cut::waveMillis).toList();
    TreeSet<Integer> all = new TreeSet<>(List.of(settings.distance()));
    for (int distance : DISTANCES) {
      all.add(distance);
    }
    return all.stream()
        .map(
            distance ->
                new Distance(
                    distance,
                    Waves.staleness(selected.get(0).inFlight(), distance),
                    Waves.efficiency(millis, spread, distance)))
        .toList();
  }
}
