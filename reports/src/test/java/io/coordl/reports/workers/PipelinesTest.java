package io.coordl.reports.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.cluster.InputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Virtual workers: the model of examples/cluster/workers.txt, all cuts of small models, and a
 * simulated pipeline.
 */
class PipelinesTest {
  private static final double GIB = 0x1p30;
  private static final Kind V = new Kind("V", 1, 12 * GIB);
  private static final Kind Q = new Kind("Q", 2.5, 6 * GIB);
  private static final double[] MILLIS = {4, 6, 5, 9, 8, 3, 2, 3};
  private static final double[] ACTIVATIONS = {1.2, 1.0, .9, .7, .6, .5, .3, .2};
  private static final double[] PARAMETERS = {.02, .04, .08, .10, .15, .20, .30, .40};
  private static final Pipelines.Settings FOUR = new Pipelines.Settings(4, 0, 3, null);

  private static List<Layer> model() {
    List<Layer> model = new ArrayList<>();
    for (int i = 0; i < MILLIS.length; i++) {
      model.add(new Layer("l" + i, MILLIS[i], PARAMETERS[i] * GIB, ACTIVATIONS[i] * GIB, 0));
    }
    return model;
  }

  private static VirtualWorker worker(String kinds) {
    return new VirtualWorker(kinds, kinds.chars().mapToObj(kind -> kind == 'V' ? V : Q).toList());
  }

  private static VirtualWorker.@Nullable Cut cut(String kinds, int inFlight) {
    return worker(kinds).cut(model(), inFlight, 3);
  }

  private static void assertRow(
      String kinds, double[] rates, List<Integer> at3, List<Integer> at4) {
    for (int inFlight = 1; inFlight <= 4; inFlight++) {
      assertThat(cut(kinds, inFlight).perSecond())
          .as("%s with %d in flight", kinds, inFlight)
          .isCloseTo(rates[inFlight - 1], within(0.005));
    }
    assertThat(cut(kinds, 3).layers()).isEqualTo(at3);
    assertThat(cut(kinds, 4).layers()).isEqualTo(at4);
  }

  @Test
  void theWorkedExampleOfVirtualWorkers() {
    List<Integer> vvvv = List.of(2, 2, 1, 3);
    assertRow("VVVV", new double[] {25, 50, 71.43, 71.43}, vvvv, vvvv);
    List<Integer> fewFirst = List.of(1, 1, 2, 4);
    assertRow("QQQQ", new double[] {10, 20, 25, 25}, fewFirst, fewFirst);
    assertRow(
        "VVQQ", new double[] {19.23, 38.46, 57.69, 50}, List.of(3, 2, 1, 2), List.of(1, 3, 1, 3));
    assertRow("QQVV", new double[] {18.18, 36.36, 54.55, 62.5}, fewFirst, fewFirst);
    List<Integer> mixed = List.of(2, 1, 3, 2);
    assertRow("VQVQ", new double[] {18.18, 36.36, 50, 50}, mixed, mixed);
    assertThat(cut("VVVV", 4).stageMillis()).containsExactly(10.0, 14.0, 8.0, 8.0);
    assertThat(cut("QQVV", 4).stageMillis()).containsExactly(10.0, 15.0, 14.0, 16.0);
    assertThat(cut("VVQQ", 3).stageMillis()).containsExactly(15.0, 17.0, 7.5, 12.5);
    assertThat(cut("QQVV", 4).bottleneck()).isEqualTo(3);
  }

  @Test
  void aModelThatDoesNotFitHasNoCut() {
    assertThat(cut("V", 1).perSecond()).isCloseTo(25, within(0.001));
    assertThat(cut("Q", 1)).isNull();
    assertThatThrownBy(() -> Pipelines.of(List.of(worker("Q")), model(), FOUR, null))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "the model does not fit into the GPUs of the virtual worker 'Q' with 4 minibatches in"
                + " flight, wherever it is cut");
  }

  @Test
  void allWorkersMakeAsManyWavesAsTheSlowest() throws Exception {
    Pipelines nodes = Pipelines.of(List.of(worker("VVVV"), worker("QQQQ")), model(), FOUR, 2e6);
    assertThat(nodes.perSecond()).isCloseTo(50, within(0.001));
    assertThat(nodes.unequalPerSecond()).isCloseTo(96.43, within(0.005));
    assertThat(nodes.demandBytesPerSecond()).isCloseTo(1e8, within(1e3));
    assertThat(nodes.workers().get(0).pushedBytesPerSecond())
        .isCloseTo(25 / 4.0 * 1.29 * GIB, within(1e5));
    Pipelines equal = Pipelines.of(List.of(worker("QQVV"), worker("QQVV")), model(), FOUR, null);
    assertThat(equal.perSecond()).isCloseTo(125, within(0.001));
  }

  @Test
  void theFastestNumberInFlightIsChosen() throws Exception {
    Pipelines.Settings any = new Pipelines.Settings(null, 0, 3, null);
    assertThat(Pipelines.of(List.of(worker("VVQQ")), model(), any, null).inFlight()).isEqualTo(3);
    assertThat(Pipelines.of(List.of(worker("QQVV")), model(), any, null).inFlight()).isEqualTo(4);
  }

  @Test
  void noOtherCutIsFaster() {
    Random random = new Random(3);
    for (int round = 0; round < 300; round++) {
      List<Layer> model = new ArrayList<>();
      for (int i = 0; i < 7; i++) {
        model.add(
            new Layer("l" + i, 1.0 + random.nextInt(9), random.nextInt(4), random.nextInt(5), 0));
      }
      List<Kind> gpus = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        gpus.add(new Kind("k" + i, 1 + random.nextInt(3), 15.0 + random.nextInt(40)));
      }
      int inFlight = 1 + random.nextInt(4);
      VirtualWorker.Cut found = new VirtualWorker("w", gpus).cut(model, inFlight, 3);
      double[] best = bestOfAll(model, gpus, inFlight);
      if (found == null) {
        assertThat(best[0]).as("round %d", round).isInfinite();
        continue;
      }
      assertThat(found.stageMillis().get(found.bottleneck()))
          .as("round %d", round)
          .isEqualTo(best[0]);
      double sum = found.stageMillis().stream().mapToDouble(Double::doubleValue).sum();
      assertThat(sum).as("round %d", round).isCloseTo(best[1], within(1e-9));
    }
  }

  private static double[] bestOfAll(List<Layer> model, List<Kind> gpus, int inFlight) {
    double[] best = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
    for (int first = 1; first < model.size() - 1; first++) {
      for (int second = first + 1; second < model.size(); second++) {
        int[] cuts = {0, first, second, model.size()};
        double slowest = 0;
        double sum = 0;
        boolean fits = true;
        for (int stage = 0; stage < 3; stage++) {
          double millis = 0;
          double bytes = 0;
          for (Layer layer : model.subList(cuts[stage], cuts[stage + 1])) {
            millis += layer.millis() * gpus.get(stage).slowdown();
            bytes +=
                3 * layer.parameterBytes()
                    + Math.min(inFlight, 3 - stage) * layer.activationBytes();
          }
          fits &= bytes <= gpus.get(stage).memoryBytes();
          slowest = Math.max(slowest, millis);
          sum += millis;
        }
        if (fits && (slowest < best[0] || (slowest == best[0] && sum < best[1]))) {
          best = new double[] {slowest, sum};
        }
      }
    }
    return best;
  }

  /** A minibatch starts when one of those in flight has left the last stage. */
  @Test
  void aSimulatedPipelineIsAsFast() {
    for (String kinds : List.of("VVVV", "QQQQ", "VVQQ", "QQVV", "VQVQ")) {
      for (int inFlight = 1; inFlight <= 4; inFlight++) {
        VirtualWorker.Cut cut = cut(kinds, inFlight);
        int minibatches = 400;
        double[] left = new double[minibatches];
        double[] free = new double[4];
        for (int i = 0; i < minibatches; i++) {
          double at = i < inFlight ? 0 : left[i - inFlight];
          for (int stage = 0; stage < 4; stage++) {
            at = Math.max(at, free[stage]) + cut.stageMillis().get(stage);
            free[stage] = at;
          }
          left[i] = at;
        }
        // After the pipeline has filled, over a whole number of waves.
        double millis = (left[minibatches - 1] - left[minibatches - 1 - 60]) / 60;
        assertThat(millis)
            .as("%s with %d in flight", kinds, inFlight)
            .isCloseTo(1000 / cut.perSecond(), within(1e-3));
      }
    }
  }

  @Test
  void noWorkerIsFurtherAheadThanTheDistance() {
    double[][] times = {{1, 1, 1, 1}, {1, 5, 1, 1}};
    // In lockstep, all wait for the pause.
    assertThat(Waves.makespan(times, 0)).isEqualTo(8);
    double[][] turns = {{1, 5, 1, 1}, {1, 1, 5, 1}};
    assertThat(Waves.makespan(turns, 0)).isEqualTo(12);
    assertThat(Waves.makespan(turns, 1)).isEqualTo(8);
    assertThat(Waves.makespan(turns, 4)).isEqualTo(8);
    assertThat(Waves.staleness(4, 0)).isEqualTo(6);
    assertThat(Waves.staleness(4, 4)).isEqualTo(22);
  }

  @Test
  void distanceHidesVariationButNotSlowness() throws Exception {
    assertThat(Waves.efficiency(List.of(10.0, 10.0, 10.0), 0, 0)).isCloseTo(1, within(1e-9));
    double lockstep = Waves.efficiency(List.of(10.0, 10.0, 10.0), 0.3, 0);
    double ahead = Waves.efficiency(List.of(10.0, 10.0, 10.0), 0.3, 32);
    assertThat(lockstep).isBetween(0.7, 0.85);
    assertThat(ahead).isGreaterThan(0.97);
    Pipelines.Settings far = new Pipelines.Settings(4, 32, 3, 0.1);
    Pipelines nodes = Pipelines.of(List.of(worker("VVVV"), worker("QQQQ")), model(), far, null);
    assertThat(nodes.perSecond()).isCloseTo(50, within(0.001));
    assertThat(nodes.hiddenPauseMillis()).isCloseTo(32 * 160, within(0.01));
    assertThat(nodes.distances())
        .extracting(Pipelines.Distance::distance)
        .containsExactly(0, 1, 4, 32);
  }
}
