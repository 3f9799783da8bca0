package io.coordl.reports.workers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * GPUs that run a model as a pipeline of consecutive layers, after HetPipe (Park et al., USENIX ATC
 * 2020). Several minibatches are in flight; each visits a stage once, for forward and backward
 * together.
 *
 * @param gpus kind of each stage's GPU, in the order of the stages
 */
record VirtualWorker(String name, List<Kind> gpus) {

  /**
   * The model, cut into stages.
   *
   * @param inFlight minibatches in flight at a time
   * @param layers number of layers of each stage
   * @param stageMillis time of each stage for a minibatch
   * @param bottleneck index of the slowest stage, from 0
   * @param perSecond minibatches a second
   */
  public record Cut(
      int inFlight,
      List<Integer> layers,
      List<Double> stageMillis,
      int bottleneck,
      double perSecond) {
    double waveMillis() {
      return 1000 * inFlight / perSecond;
    }
  }

  /**
   * Returns the cut whose slowest stage is fastest; if that is true of several cuts, the one whose
   * stages have the shortest total time.
   *
   * @param copies number of copies of the parameters that training holds: weights, gradients,
   *     optimizer
   * @return null if no cut fits into the memory of the GPUs
   */
  @Nullable Cut cut(List<Layer> model, int inFlight, double copies) {
    double slowest = best(model, inFlight, copies, Double.POSITIVE_INFINITY, true, new int[0][0]);
    if (slowest == Double.POSITIVE_INFINITY) {
      return null;
    }
    int[][] begins = new int[gpus.size()][model.size() + 1];
    double sum = best(model, inFlight, copies, slowest, false, begins);
    List<Integer> layers = new ArrayList<>();
    List<Double> millis = new ArrayList<>();
    int end = model.size();
    for (int stage = gpus.size() - 1; stage >= 0; stage--) {
      int begin = begins[stage][end];
      layers.add(0, end - begin);
      millis.add(0, millis(model, stage, begin, end));
      end = begin;
    }
    int bottleneck = 0;
    for (int stage = 1; stage < millis.size(); stage++) {
      if (millis.get(stage) > millis.get(bottleneck)) {
        bottleneck = stage;
      }
    }
    return new Cut(
        inFlight, layers, millis, bottleneck, 1000 * Math.min(1 / slowest, inFlight / sum));
  }

  /**
   * Returns a minimum over the cuts whose stages take at most {@code limit} each: of the slowest
   * stage's time if {@code minimizeSlowest}, otherwise of the total time of the stages. Dynamic
   * programming: cuts the first layers into the first stages and adds one stage at a time.
   *
   * @param begins receives each stage's first layer, by stage and by the layer that follows the
   *     stage's last; ignored if empty
   */
  private double best(
      List<Layer> model,
      int inFlight,
      double copies,
      double limit,
      boolean minimizeSlowest,
      int[][] begins) {
    int layers = model.size();
    double[] before = new double[layers + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    for (int stage = 0; stage < gpus.size(); stage++) {
      double[] now = new double[layers + 1];
      Arrays.fill(now, Double.POSITIVE_INFINITY);
      for (int end = stage + 1; end <= layers; end++) {
        double parameters = 0;
        double activations = 0;
        double sum = 0;
        for (int begin = end - 1; begin >= stage; begin--) {
          Layer layer = model.get(begin);
          parameters += layer.parameterBytes();
          activations += layer.activationBytes();
          sum += layer.millis() == null ? 0 : layer.millis();
          if (!fits(stage, copies * parameters, activations, inFlight)) {
            break;
          }
          double millis = sum * gpus.get(stage).slowdown();
          double all = minimizeSlowest ? Math.max(before[begin], millis) : before[begin] + millis;
          if (millis <= limit && all <= now[end]) {
            now[end] = all;
            if (begins.length > 0) {
              begins[stage][end] = begin;
            }
          }
        }
      }
      before = now;
    }
    return before[layers];
  }

  private double millis(List<Layer> model, int stage, int begin, int end) {
    double sum = 0;
    for (Layer layer : model.subList(begin, end)) {
      sum += layer.millis() == null ? 0 : layer.millis();
    }
    return sum * gpus.get(stage).slowdown();
  }

  /**
   * Returns whether a stage fits in memory. An early stage may hold the activations of more
   * minibatches than a late one.
   */
  private boolean fits(int stage, double parameters, double activations, int inFlight) {
    Double memory = gpus.get(stage).memoryBytes();
    return memory == null
        || parameters + Math.min(inFlight, gpus.size() - stage) * activations <= memory;
  }
}
