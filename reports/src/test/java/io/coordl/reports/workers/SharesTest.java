package io.coordl.reports.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.cluster.InputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Checks the batch shares of unequal workers: in the example of examples/cluster/workers.txt, in
 * special cases, and against every possible division of small batches.
 */
class SharesTest {
  private static List<Worker> workers(double fixed, double... millis) {
    return DoubleStream.of(millis)
        .mapToObj(one -> worker("w" + one, fixed, one, null, null))
        .toList();
  }

  private static Worker worker(
      String name, double fixed, double millis, @Nullable Double supply, @Nullable Integer most) {
    return new Worker(name, fixed, millis, supply, most, Origin.GIVEN);
  }

  private static List<Integer> best(Shares shares) {
    return shares.workers().stream().map(Shares.Share::bestSamples).toList();
  }

  @Test
  void theWorkedExampleOfBatchShares() throws Exception {
    Shares shares = Shares.of(workers(0, 1, 1, 2.5, 2.5), 128, 1000.0);
    assertThat(shares.equalStepMillis()).isEqualTo(80);
    assertThat(shares.idealStepMillis()).isCloseTo(45.714, within(0.001));
    assertThat(best(shares)).containsExactly(46, 46, 18, 18);
    assertThat(shares.bestStepMillis()).isEqualTo(46);
    assertThat(shares.straggler()).isNull();
    Shares.Share first = shares.workers().get(0);
    assertThat(first.demandPerSecond()).isCloseTo(1000, within(1e-9));
    assertThat(first.demandBytesPerSecond()).isCloseTo(1e6, within(1e-6));
    assertThat(first.weight()).isEqualTo(46 / 128.0);

    Shares fixed = Shares.of(workers(10, 1, 1, 2.5, 2.5), 128, null);
    assertThat(fixed.equalStepMillis()).isEqualTo(90);
    assertThat(fixed.bestStepMillis()).isEqualTo(56);
  }

  @Test
  void aStragglerCostsItsTimeBeyondTheNextWorker() throws Exception {
    Shares shares = Shares.of(workers(0, 1, 2, 5), 30, null);
    assertThat(shares.straggler()).isEqualTo("w5.0");
    assertThat(shares.stragglerCostMillis()).isEqualTo(30);
  }

  @Test
  void aWorkerWithSlowSupplyIsSlow() throws Exception {
    // At 500 samples a second, b's host supplies a sample every 2 ms, although computing it takes
    // only 1 ms.
    List<Worker> workers = List.of(worker("a", 0, 1, null, null), worker("b", 0, 1, 500.0, null));
    Shares shares = Shares.of(workers, 30, null);
    assertThat(shares.equalStepMillis()).isEqualTo(30);
    assertThat(best(shares)).containsExactly(20, 10);
    assertThat(shares.bestStepMillis()).isEqualTo(20);
  }

  @Test
  void memoryLimitsTheShares() throws Exception {
    List<Worker> workers = List.of(worker("a", 0, 1, null, 10), worker("b", 0, 9, null, 30));
    Shares shares = Shares.of(workers, 40, null);
    assertThat(shares.equalStepMillis()).isNull();
    assertThat(shares.workers().get(0).equalMillis()).isNull();
    assertThat(best(shares)).containsExactly(10, 30);
    assertThatThrownBy(() -> Shares.of(workers, 41, null))
        .isInstanceOf(InputException.class)
        .hasMessage("the workers' memory holds 40 samples, fewer than the batch of 41");
  }

  @Test
  void noOtherWholeSharesAreFaster() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < 500; round++) {
      List<Worker> workers = new ArrayList<>();
      int batch = 1 + random.nextInt(24);
      for (int i = 0; i < 3; i++) {
        workers.add(
            worker(
                "w" + i,
                random.nextInt(4) * random.nextInt(10),
                0.5 + random.nextInt(8),
                random.nextBoolean() ? null : 50.0 + random.nextInt(500),
                random.nextBoolean() ? null : batch / 3 + 1 + random.nextInt(9)));
      }
      Shares shares = Shares.of(workers, batch, null);
      assertThat(best(shares).stream().mapToInt(Integer::intValue).sum()).isEqualTo(batch);
      double fastest = Double.POSITIVE_INFINITY;
      for (int a = 0; a <= batch; a++) {
        for (int b = 0; a + b <= batch; b++) {
          int c = batch - a - b;
          if (workers.get(0).holds(a) && workers.get(1).holds(b) && workers.get(2).holds(c)) {
            double step =
                Math.max(
                    workers.get(0).millis(a),
                    Math.max(workers.get(1).millis(b), workers.get(2).millis(c)));
            fastest = Math.min(fastest, step);
          }
        }
      }
      assertThat(shares.bestStepMillis()).as("round %d", round).isCloseTo(fastest, within(1e-9));
      assertThat(shares.idealStepMillis()).isLessThanOrEqualTo(fastest + 1e-9);
    }
  }
}
