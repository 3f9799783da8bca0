package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** TUNE's guarantees on random clusters over several rounds, and single decisions of the placer. */
class PlacerTest {
  private static final int CLUSTERS = 10_000;
  private static final double TOLERANCE = 1e-5;

  @Test
  void tuneGivesEveryJobItsShareAndLetsNoJobWaitForFreeGpus() {
    int shrunk = 0;
    for (int seed = 0; seed < CLUSTERS; seed++) {
      Random random = new Random(seed);
      Cluster cluster = cluster(random);
      Placer placer = new Placer(cluster, Allocation.TUNE);
      List<Tenant> jobs = new ArrayList<>();
      for (int round = 0; round < 4; round++) {
        jobs.removeIf(job -> random.nextInt(4) == 0);
        int arriving = 1 + random.nextInt(8);
        for (int i = 0; i < arriving; i++) {
          jobs.add(job(cluster, random));
        }
        boolean keeps = random.nextBoolean();
        jobs.forEach(job -> job.before = keeps ? job.placement : null);
        placer.place(jobs);
        checkPromises(seed, cluster, placer.servers(), jobs);
        shrunk += (int) jobs.stream().filter(PlacerTest::holdsLessThanItCanUse).count();
      }
    }
    assertThat(shrunk).as("rounds in which a job was held to its share").isGreaterThan(CLUSTERS);
  }

  @Test
  void theNeighbourWithTheLargestExcessGivesBackFirst() throws Exception {
    Cluster cluster = Cluster.parse("1x4,cores=8,memory=80,storage=80");
    Tenant small = new Tenant(1, new double[] {3, 20, 0, 0}, cluster.perGpu(), false);
    Tenant large = new Tenant(1, new double[] {5, 20, 0, 0}, cluster.perGpu(), false);
    Tenant third = new Tenant(1, new double[] {2, 20, 0, 0}, cluster.perGpu(), false);

    new Placer(cluster, Allocation.TUNE).place(List.of(small, large, third));

    assertThat(small.placed().perGpu(Resource.CORES)).isEqualTo(3);
    assertThat(large.placed().perGpu(Resource.CORES)).isEqualTo(2);
    assertThat(third.placed().perGpu(Resource.CORES)).isEqualTo(2);
  }

  /**
   * The third job's share fits on the second job's server, so the first job retains all that it can
   * use.
   */
  @Test
  void noNeighbourGivesBackIfAShareIsFree() throws Exception {
    Cluster cluster = Cluster.parse("2x2,cores=4,memory=80,storage=80");
    Tenant first = new Tenant(1, new double[] {4, 20, 0, 0}, cluster.perGpu(), false);
    Tenant second = new Tenant(1, new double[] {2, 35, 0, 0}, cluster.perGpu(), false);
    Tenant third = new Tenant(1, new double[] {1, 60, 0, 0}, cluster.perGpu(), false);

    new Placer(cluster, Allocation.TUNE).place(List.of(first, second, third));

    assertThat(first.placed().perGpu(Resource.CORES)).isEqualTo(4);
    assertThat(third.placed().server(0)).isEqualTo(second.placed().server(0));
    assertThat(third.placed().perGpu(Resource.MEMORY)).isEqualTo(40);
  }

  @Test
  void withGreedyAJobThatDoesNotFitWaits() throws Exception {
    Cluster cluster = Cluster.parse("1x4,cores=8,memory=80,storage=80");
    Tenant first = new Tenant(1, new double[] {5, 20, 0, 0}, cluster.perGpu(), false);
    Tenant second = new Tenant(1, new double[] {4, 20, 0, 0}, cluster.perGpu(), false);
    Tenant third = new Tenant(1, new double[] {3, 20, 0, 0}, cluster.perGpu(), false);

    new Placer(cluster, Allocation.GREEDY).place(List.of(first, second, third));

    assertThat(first.placement).isNotNull();
    assertThat(second.placement).isNull();
    assertThat(third.placement).isNotNull();
  }

  @Test
  void aJobMovesForAllItCanUseOnlyIfThatPays() throws Exception {
    Cluster cluster = Cluster.parse("2x2,cores=4,memory=80,storage=80");
    for (boolean pays : new boolean[] {true, false}) {
      Tenant moving = new Tenant(1, new double[] {4, 20, 0, 0}, cluster.perGpu(), pays);
      Tenant neighbour = new Tenant(1, new double[] {2, 20, 0, 0}, cluster.perGpu(), false);
      moving.before = new Placement(new int[] {0}, new int[] {1}, moving.share);
      neighbour.before = new Placement(new int[] {0}, new int[] {1}, neighbour.share);

      new Placer(cluster, Allocation.TUNE).place(List.of(neighbour, moving));

      assertThat(moving.placed().server(0)).isEqualTo(pays ? 1 : 0);
      assertThat(moving.placed().perGpu(Resource.CORES)).isEqualTo(pays ? 4 : 2);
    }
  }

  private static Cluster cluster(Random random) {
    return new Cluster(
        1 + random.nextInt(6),
        1 + random.nextInt(9),
        1 + random.nextInt(64),
        8 + random.nextInt(600),
        20 + random.nextInt(600),
        40);
  }

  private static Tenant job(Cluster cluster, Random random) {
    double[] fair = cluster.perGpu();
    int gpus = 1 + random.nextInt(Math.min(cluster.gpus(), random.nextBoolean() ? 1 : 12));
    double[] ideal = new double[Resource.COUNT];
    for (int r = 0; r < Resource.NETWORK; r++) {
      double most = cluster.perServer(r) / Math.min(gpus, cluster.gpusPerServer());
      ideal[r] = Math.min(most, fair[r] * 4 * random.nextDouble());
    }
    return new Tenant(gpus, ideal, fair, random.nextBoolean());
  }

  private static void checkPromises(int seed, Cluster cluster, Servers servers, List<Tenant> jobs) {
    double[][] held = new double[cluster.servers()][Resource.COUNT];
    int[] gpus = new int[cluster.servers()];
    for (Tenant job : jobs) {
      Placement placement = job.placement;
      if (placement == null) {
        assertThat(job.gpus)
            .as("cluster %d: a job waits for GPUs that are free", seed)
            .isGreaterThan(servers.freeGpus());
        continue;
      }
      int count = 0;
      for (int i = 0; i < placement.spread(); i++) {
        count += placement.gpus(i);
        gpus[placement.server(i)] += placement.gpus(i);
        for (int r = 0; r < Resource.COUNT; r++) {
          held[placement.server(i)][r] += placement.gpus(i) * placement.perGpu(r);
        }
      }
      assertThat(count).as("cluster %d: GPUs of a job", seed).isEqualTo(job.gpus);
      for (int r = 0; r < Resource.COUNT; r++) {
        assertThat(placement.perGpu(r))
            .as("cluster %d: a job has less than its share", seed)
            .isGreaterThanOrEqualTo(job.share[r]);
      }
    }
    for (int server = 0; server < cluster.servers(); server++) {
      assertThat(gpus[server]).isLessThanOrEqualTo(cluster.gpusPerServer());
      for (int r = 0; r < Resource.COUNT; r++) {
        assertThat(held[server][r])
            .as("cluster %d: more is held than server %d has", seed, server)
            .isLessThanOrEqualTo(cluster.perServer(r) * (1 + TOLERANCE));
      }
    }
    assertThat(Arrays.stream(gpus).sum()).isEqualTo(cluster.gpus() - servers.freeGpus());
  }

  private static boolean holdsLessThanItCanUse(Tenant job) {
    return job.placement != null
        && job.placement.perGpu() == job.share
        && !Arrays.equals(job.share, job.ideal);
  }
}
