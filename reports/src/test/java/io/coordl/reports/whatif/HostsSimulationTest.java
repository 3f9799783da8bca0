package io.coordl.reports.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.whatif.Coupling.Origins;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Compares the law with a simulation of several hosts, fetch by fetch: threads fetch and prepare in
 * turn; a network into each host and one storage for all serve one fetch at a time, in order. The
 * simulation uses none of the law's formulas.
 */
class HostsSimulationTest {
  private static final int SAMPLES = 2_000;
  private static final int DRAWS = 60;

  /** A thread of a host, and the time of its next fetch. */
  private static final class Worker {
    final int host;
    double nextFetch;

    Worker(int host, double nextFetch) {
      this.host = host;
      this.nextFetch = nextFetch;
    }
  }

  private record Rates(int hosts, int workers, double prep, double network, double storage) {}

  /** Returns the simulated nanoseconds per sample and host. */
  private static double simulate(Rates rates, Origins origins, Random random) {
    PriorityQueue<Worker> next =
        new PriorityQueue<>(Comparator.comparingDouble(one -> one.nextFetch));
    for (int i = 0; i < rates.hosts * rates.workers; i++) {
      next.add(new Worker(i % rates.hosts, rates.prep * random.nextDouble()));
    }
    double[] networkFree = new double[rates.hosts];
    double storageFree = 0;
    double began = 0;
    for (int fetch = 0; fetch < SAMPLES * rates.hosts; fetch++) {
      Worker worker = next.remove();
      if (fetch == SAMPLES * rates.hosts / 10) {
        began = worker.nextFetch; // The first tenth fills the queues.
      }
      double from = random.nextDouble();
      double done = worker.nextFetch;
      if (from >= origins.local() + origins.remote()) {
        done = Math.max(done, storageFree) + rates.storage;
        storageFree = done;
      } else if (from >= origins.local()) {
        done = Math.max(done, networkFree[worker.host]) + rates.network;
        networkFree[worker.host] = done;
      }
      worker.nextFetch = done + rates.prep * (0.8 + 0.4 * random.nextDouble());
      next.add(worker);
    }
    double ended = next.stream().mapToDouble(one -> one.nextFetch).min().orElseThrow();
    return (ended - began) / (0.9 * SAMPLES);
  }

  private static double between(Random random, double low, double high) {
    return low * Math.pow(high / low, random.nextDouble());
  }

  private static Rates drawn(Random random) {
    return new Rates(
        1 << random.nextInt(6),
        1 + random.nextInt(8),
        between(random, 100, 10_000),
        between(random, 10, 1_000),
        between(random, 10, 1_000));
  }

  /** Returns the law's time relative to the simulated time. */
  private static double lawToSimulated(Rates rates, Origins origins, Random random) {
    Costs costs = Costs.of(0, 0, rates.prep, 0, rates.storage, rates.storage, 0, 0, 0);
    Setup setup =
        Setup.of(rates.workers, Double.POSITIVE_INFINITY)
            .hit(origins.local())
            .remote(origins.remote(), rates.network, rates.network)
            .hosts(rates.hosts);
    return costs.nanos(setup) / simulate(rates, origins, random);
  }

  @Test
  void theLawHoldsIfHostsUseEitherNetworkOrStorage() {
    Random random = new Random(21);
    double[] errors = new double[DRAWS];
    for (int i = 0; i < DRAWS; i++) {
      Rates rates = drawn(random);
      Origins origins =
          i % 3 == 0
              ? Coupling.localityAware(rates.hosts, 1, 32)
              : i % 3 == 1
                  ? Coupling.partitioned(rates.hosts, 1)
                  : new Origins(random.nextDouble(), 0);
      errors[i] = Math.abs(lawToSimulated(rates, origins, random) - 1);
      assertThat(errors[i]).as("%s %s", rates, origins).isLessThan(0.15);
    }
    Arrays.sort(errors);
    assertThat(errors[DRAWS / 2]).isLessThan(0.02);
  }

  /**
   * Yang and Cong (HiPC'19) add the times of network and storage, although both may work at the
   * same time.
   */
  @Test
  void theLawIsPessimisticIfHostsUseBoth() {
    Random random = new Random(22);
    for (int i = 0; i < DRAWS; i++) {
      Rates rates = drawn(random);
      Origins origins = Coupling.partitioned(rates.hosts, random.nextDouble() / rates.hosts);

      assertThat(lawToSimulated(rates, origins, random))
          .as("%s %s", rates, origins)
          .isBetween(0.85, 2.0);
    }
  }
}
