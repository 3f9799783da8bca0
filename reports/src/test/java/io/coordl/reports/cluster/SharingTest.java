package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Promises of a plan on random clusters with random jobs of the Synergy paper's models, and two
 * small examples.
 */
class SharingTest {
  private static final int CLUSTERS = 300;
  private static final double TOLERANCE = 1e-5;

  private record Case(Cluster cluster, List<Sharing.Request> jobs) {
    static Case of(int seed, ModelTable models) {
      Random random = new Random(seed);
      Cluster cluster =
          new Cluster(
              1 + random.nextInt(6),
              1 + random.nextInt(8),
              4 + random.nextInt(60),
              60 + random.nextInt(600),
              500,
              40);
      List<String> names = List.copyOf(models.names());
      List<Sharing.Request> jobs = new ArrayList<>();
      for (int i = 1 + random.nextInt(30); i > 0; i--) {
        int gpus = 1 + random.nextInt(Math.min(8, cluster.gpus()));
        jobs.add(
            new Sharing.Request(
                models,
                names.get(random.nextInt(names.size())),
                gpus,
                random.nextInt(3) * gpus * cluster.perGpu()[Resource.MEMORY] / 8));
      }
      return new Case(cluster, jobs);
    }
  }

  @Test
  void tuneGivesEachJobItsShareWithinTheServersResources() throws Exception {
    ModelTable models = Tables.models();
    int between = 0;
    for (int seed = 0; seed < CLUSTERS; seed++) {
      Case of = Case.of(seed, models);
      Cluster cluster = of.cluster();
      List<Sharing.Share> shares = new Sharing(cluster, of.jobs()).by(Allocation.TUNE);
      double[][] held = new double[cluster.servers()][Resource.NETWORK];
      int[] gpus = new int[cluster.servers()];
      int free = cluster.gpus();
      for (int i = 0; i < shares.size(); i++) {
        Sharing.Share share = shares.get(i);
        if (share.waits()) {
          continue;
        }
        int ofJob = of.jobs().get(i).gpus();
        assertThat(share.speed()).as("seed %d, job %d", seed, i).isGreaterThan(1 - TOLERANCE);
        between += share.speed() > 1.01 && share.speed() < 1.5 ? 1 : 0;
        for (Sharing.Part part : share.parts()) {
          gpus[part.server()] += part.gpus();
          free -= part.gpus();
          double[] whole = {share.cores(), share.memoryGib(), share.storageMbs()};
          for (int r = 0; r < whole.length; r++) {
            held[part.server()][r] += whole[r] * part.gpus() / ofJob;
          }
        }
        assertThat(share.parts().stream().mapToInt(Sharing.Part::gpus).sum()).isEqualTo(ofJob);
      }
      for (int server = 0; server < held.length; server++) {
        assertThat(gpus[server]).isLessThanOrEqualTo(cluster.gpusPerServer());
        for (int r = 0; r < Resource.NETWORK; r++) {
          assertThat(held[server][r])
              .as("seed %d, server %d, resource %d", seed, server, r)
              .isLessThanOrEqualTo(cluster.perServer(r) * (1 + TOLERANCE));
        }
      }
      for (int i = 0; i < shares.size(); i++) {
        if (shares.get(i).waits()) {
          assertThat(of.jobs().get(i).gpus()).as("seed %d, job %d", seed, i).isGreaterThan(free);
        }
      }
    }
    assertThat(between).as("jobs that the leftovers made faster").isGreaterThan(CLUSTERS / 10);
  }

  private static ModelTable byCores(List<Double> cores, List<Double> speeds) {
    return ModelTable.of(
        "mine",
        DemandTable.of(
            1,
            1,
            1,
            cores,
            List.of(1.0),
            List.of(1.0),
            speeds.stream().map(speed -> List.of(List.of(speed))).toList(),
            0));
  }

  /**
   * TUNE gives each job its 2 cores, because 5 for the first would not leave enough for the second.
   * Two cores are left. Giving both to the first job raises its speed by 1.0; giving one to each
   * job raises the speeds by 0.1 and 0.3.
   */
  @Test
  void theStepThatGainsMostComesFirst() throws Exception {
    Cluster cluster = Cluster.parse("1x3,cores=6,memory=60,storage=100");
    ModelTable first = byCores(List.of(2.0, 3.0, 4.0, 5.0), List.of(10.0, 11.0, 20.0, 30.0));
    ModelTable second = byCores(List.of(2.0, 3.0), List.of(10.0, 13.0));

    List<Sharing.Share> shares =
        new Sharing(
                cluster,
                List.of(
                    new Sharing.Request(first, "mine", 1, 0),
                    new Sharing.Request(second, "mine", 1, 0)))
            .by(Allocation.TUNE);

    assertThat(shares).extracting(Sharing.Share::cores).containsExactly(4.0, 2.0);
    assertThat(shares).extracting(Sharing.Share::speed).containsExactly(2.0, 1.0);
  }

  /** Memory that the job itself needs cannot store items. */
  @Test
  void aJobsOwnMemoryHoldsNoItems() throws Exception {
    ModelTable models =
        ModelTable.of(
            "mine",
            DemandTable.of(
                1,
                1,
                50,
                List.of(1.0, 4.0),
                List.of(0.0, 50.0),
                List.of(1.0),
                List.of(
                    List.of(List.of(10.0), List.of(10.0)), List.of(List.of(10.0), List.of(40.0))),
                0));
    Cluster cluster = Cluster.parse("1x2,cores=8,memory=60,storage=100");

    Sharing.Share share =
        new Sharing(cluster, List.of(new Sharing.Request(models, "mine", 1, 10)))
            .by(Allocation.TUNE)
            .get(0);

    assertThat(share.memoryGib()).isEqualTo(60);
    // Its share of 30 GiB holds 20 GiB of its 50 GiB of items: 10 + 20 / 50 x 30 samples/s.
    assertThat(share.speed()).isCloseTo(40.0 / 22, within(1e-9));
  }
}
