package io.coordl.reports.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Layers on servers: VGG-16 as in examples/cluster/servers.txt, AlexNet, ResNet-50, and all
 * placements of small models.
 */
class PlacementTest {
  private static final double TEN_GBIT = 1.25e9;
  private static final Placement.Job JOB = new Placement.Job(4, TEN_GBIT, 32, 4, null);
  private static final long[] VGG = {
    1792, 36928, 73856, 147584, 295168, 590080, 590080, 1180160, 2359808, 2359808, 2359808, 2359808,
    2359808, 102764544, 16781312, 4097000
  };

  private static List<Server> servers(double... gbit) {
    return Arrays.stream(gbit).mapToObj(rate -> new Server("s", rate * 1e9 / 8, 500e9)).toList();
  }

  private static List<Layer> vgg() {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < VGG.length; i++) {
      long inputs = i == 13 ? 25088 : i > 13 ? 4096 : 0;
      layers.add(new Layer("l" + i, null, 4.0 * VGG[i], 0, inputs));
    }
    return layers;
  }

  private static void assertWays(Placement placement, double largest, double greedy, double lp) {
    assertThat(placement.ways())
        .extracting(Placement.Way::name)
        .containsExactly("greedy", "round robin", "LP bound");
    Placement.Way packed = placement.ways().get(0);
    double most =
        packed.serverBytes().stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    assertThat(most / 1e6).isCloseTo(largest, within(0.01));
    assertThat(packed.millis()).isCloseTo(greedy, within(0.05));
    assertThat(placement.ways().get(2).millis()).isCloseTo(lp, within(0.05));
    assertThat(placement.deciding()).isEqualTo("l13");
  }

  @Test
  void theWorkedExampleOfWholeTensors() {
    Placement.Job job = new Placement.Job(4, null, 32, 4, null);
    assertWays(Placement.of(vgg(), servers(10, 10), job), 411.06, 1315.4, 885.5);
    Placement three = Placement.of(vgg(), servers(10, 10, 10), job);
    assertWays(three, 411.06, 1315.4, 590.3);
    Placement.Way inTurn = three.ways().get(1);
    assertThat(inTurn.millis()).isCloseTo(1365.0, within(0.06));
    assertThat(inTurn.serverBytes())
        .anySatisfy(bytes -> assertThat(bytes / 1e6).isCloseTo(426.55, within(0.01)));
    assertWays(Placement.of(vgg(), servers(10, 10, 10, 10), job), 411.06, 1315.4, 442.7);
    Placement unequal = Placement.of(vgg(), servers(10, 10, 25), job);
    assertWays(unequal, 411.06, 526.2, 393.6);
    assertThat(unequal.ways().get(0).serverBytes().get(0) / 1e6).isCloseTo(71.1, within(0.2));
    assertThat(unequal.ways().get(0).serverBytes().get(1) / 1e6).isCloseTo(71.3, within(0.2));
  }

  private static Placement atOneServer(long convolutions, long full, long cut) {
    List<Layer> layers =
        List.of(
            new Layer("conv", null, 4.0 * convolutions, 0, 0),
            new Layer("fc", null, 4.0 * full, 0, cut));
    return Placement.of(layers, servers(10), JOB);
  }

  private static void assertMoved(
      Placement placement, double[] megabytes, double[] millis, double gflop, double added) {
    Placement.FullyConnected kept = placement.fullyConnected();
    assertThat(placement.totalBytes() / 1e6).isCloseTo(megabytes[0], within(0.005));
    assertThat(kept.way().serverBytes().get(0) / 1e6).isCloseTo(megabytes[1], within(0.005));
    assertThat(placement.ways().get(0).millis()).isCloseTo(millis[0], within(0.06));
    assertThat(kept.way().millis()).isCloseTo(millis[1], within(0.05));
    assertThat(kept.flops() / 1e9).isCloseTo(gflop, within(0.05));
    assertThat(kept.serverMillis()).isCloseTo(added, within(0.06));
  }

  @Test
  void theWorkedExampleOfFullyConnectedLayersAtTheServer() {
    Placement alexnet = atOneServer(2_469_696, 58_631_144, 9_216);
    assertMoved(alexnet, new double[] {244.40, 11.06}, new double[] {782.1, 35.4}, 45.0, 90.1);
    assertThat(alexnet.fullyConnected().pays()).isTrue();
    Placement vgg = atOneServer(14_714_688, 123_642_856, 25_088);
    assertMoved(vgg, new double[] {553.43, 62.07}, new double[] {1771.0, 198.6}, 95.0, 189.9);
    Placement resnet = atOneServer(23_508_032, 2_049_000, 2_048);
    assertMoved(resnet, new double[] {102.23, 94.29}, new double[] {327.1, 301.7}, 1.6, 3.1);
    assertThat(resnet.fullyConnected().pays()).isTrue();
  }

  @Test
  void aStepTakesBetweenTheLongerTimeAndTheSum() {
    Placement.Job computing = new Placement.Job(4, null, 32, 4, 500.0);
    Placement.Way greedy = Placement.of(vgg(), servers(10, 10), computing).ways().get(0);
    assertThat(greedy.stepMillis()).isCloseTo(1315.4, within(0.05));
    assertThat(greedy.stepMillisWithoutOverlap()).isCloseTo(1815.4, within(0.05));
  }

  @Test
  void theLinkOfAWorkerCounts() {
    Placement.Job slow = new Placement.Job(4, TEN_GBIT / 10, 32, 4, null);
    assertThat(Placement.of(vgg(), servers(10, 10), slow).ways().get(2).millis())
        .isCloseTo(553.43 / 125 * 1000, within(0.1));
  }

  @Test
  void greedyIsWithinAThirdOfTheBestPlacement() {
    Random random = new Random(11);
    for (int round = 0; round < 100; round++) {
      List<Layer> layers =
          LongStream.range(0, 2 + random.nextInt(8))
              .mapToObj(i -> new Layer("l" + i, null, 1 + random.nextInt(1000), 0, 0))
              .toList();
      int count = 2 + random.nextInt(2);
      double[] rates = new double[count];
      Arrays.fill(rates, 10);
      Placement.Job job = new Placement.Job(4, null, 1, 4, null);
      Placement placement = Placement.of(layers, servers(rates), job);
      double best = best(layers, new double[count], 0) * 4 / TEN_GBIT * 1000;
      assertThat(placement.ways().get(0).millis())
          .isBetween(best * (1 - 1e-9), best * 4 / 3 + 1e-9);
      assertThat(placement.ways().get(1).millis()).isGreaterThanOrEqualTo(best * (1 - 1e-9));
      assertThat(placement.ways().get(2).millis()).isLessThanOrEqualTo(best * (1 + 1e-9));
    }
  }

  private static double best(List<Layer> layers, double[] loads, int layer) {
    if (layer == layers.size()) {
      return Arrays.stream(loads).max().orElseThrow();
    }
    double best = Double.POSITIVE_INFINITY;
    for (int server = 0; server < loads.length; server++) {
      loads[server] += layers.get(layer).parameterBytes();
      best = Math.min(best, best(layers, loads, layer + 1));
      loads[server] -= layers.get(layer).parameterBytes();
    }
    return best;
  }
}
