package io.coordl.reports.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the formula for the moved samples with the algorithm of Yang and Cong (HiPC'19). */
class BalancingTest {
  /** Samples moved, and messages: pairs of a host with surplus and one with a deficit. */
  private record Result(int moved, int messages) {}

  private static final int NOBODY = -1;

  /**
   * One global batch of {@code batch} samples per host, each cached by a random host or by none.
   */
  private static Result balance(Random random, int hosts, int batch, double kept) {
    int[] has = new int[hosts];
    int fromStorage = 0;
    for (int i = 0; i < hosts * batch; i++) {
      int keeper = random.nextDouble() < kept ? random.nextInt(hosts) : NOBODY;
      if (keeper == NOBODY) {
        fromStorage++;
      } else {
        has[keeper]++;
      }
    }
    PriorityQueue<int[]> surplus = new PriorityQueue<>(Comparator.comparingInt(one -> -one[0]));
    PriorityQueue<int[]> deficit = new PriorityQueue<>(Comparator.comparingInt(one -> -one[0]));
    for (int of : has) {
      (of > batch ? surplus : deficit).add(new int[] {Math.abs(of - batch)});
    }
    int moved = 0;
    int messages = 0;
    while (!surplus.isEmpty()) {
      int[] from = surplus.remove();
      int[] to = deficit.remove();
      int count = Math.min(from[0], to[0]);
      moved += count;
      messages++;
      from[0] -= count;
      to[0] -= count;
      if (from[0] > 0) {
        surplus.add(from);
      }
      if (to[0] > 0) {
        deficit.add(to);
      }
    }
    // The remaining deficits are the samples that no host caches.
    assertThat(deficit.stream().mapToInt(one -> one[0]).sum()).isEqualTo(fromStorage);
    return new Result(moved, messages);
  }

  @ParameterizedTest
  @CsvSource({
    "2,32,1",
    "4,8,1",
    "16,32,1",
    "64,64,1",
    "256,32,1",
    "16,32,0.9",
    "8,128,0.5",
    "3,1,1"
  })
  void theFormulaMatchesTheMeanOfSimulatedBatches(int hosts, int batch, double kept) {
    Random random = new Random(11);
    int batches = 200_000 / (hosts * batch) + 200;
    double[] shares = new double[batches];
    for (int i = 0; i < batches; i++) {
      shares[i] = (double) balance(random, hosts, batch, kept).moved() / (hosts * batch);
    }
    double mean = Arrays.stream(shares).average().orElseThrow();
    double spread =
        Math.sqrt(
            Arrays.stream(shares).map(share -> (share - mean) * (share - mean)).sum()
                / (batches - 1.0)
                / batches);

    assertThat(Balancing.moved(hosts, batch, kept)).isCloseTo(mean, within(5 * spread + 1e-12));
  }

  /** Yang and Cong's medians are 6.9, 4.8 and 3.4 % for local batches of 32, 64 and 128. */
  @ParameterizedTest
  @CsvSource({"32,0.069", "64,0.048", "128,0.034"})
  void theMedianMatchesThePaper(int batch, double paper) {
    Random random = new Random(12);
    for (int hosts : new int[] {16, 32, 64}) {
      double[] shares = new double[400];
      for (int i = 0; i < shares.length; i++) {
        shares[i] = (double) balance(random, hosts, batch, 1).moved() / (hosts * batch);
      }
      Arrays.sort(shares);

      assertThat(shares[shares.length / 2]).as(hosts + " hosts").isCloseTo(paper, within(0.002));
      assertThat(Balancing.moved(hosts, batch, 1)).isCloseTo(paper, within(0.002));
    }
  }

  /** The figures of docs/design/locality-aware.md. */
  @Test
  void theFiguresInTheDocsFollowFromTheFormula() {
    assertThat(Balancing.moved(64, 32, 1)).isCloseTo(0.070, within(0.0005));
    assertThat(Balancing.moved(64, 64, 1)).isCloseTo(0.049, within(0.0005));
    assertThat(Balancing.moved(64, 128, 1)).isCloseTo(0.035, within(0.0005));
    double gigabit = 125e6 / 100e3;
    assertThat(gigabit / Coupling.partitioned(64, 1).remote()).isCloseTo(1_270, within(5.0));
    assertThat(gigabit / Coupling.localityAware(64, 1, 32).remote())
        .isCloseTo(17_900, within(50.0));
  }

  @Test
  void fewerMessagesThanHostsAreSent() {
    Random random = new Random(13);
    for (int i = 0; i < 100; i++) {
      // Each message settles at least one host, the last one two.
      assertThat(balance(random, 32, 32, 1).messages()).isLessThan(32);
    }
  }

  @Test
  void samplesThatNoHostKeepsLeaveRoomForSurplus() {
    assertThat(Balancing.moved(1, 32, 1)).isZero();
    assertThat(Balancing.moved(16, 32, 0)).isZero();
    assertThat(Balancing.moved(16, 32, 0.5)).isLessThan(1e-3);
    assertThat(Balancing.moved(16, 32, 0.9)).isLessThan(Balancing.moved(16, 32, 1));
  }
}
