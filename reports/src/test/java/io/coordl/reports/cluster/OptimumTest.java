package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The linear program, and how close TUNE comes to its bound. */
class OptimumTest {
  private static final int MIXES = 100;

  /** The share of the bound that TUNE may lose. */
  private static final double LOSS = 0.1;

  /**
   * Mixes that lose more. All have jobs of several GPUs: the bound spreads their cores over all
   * servers, a placement only over the servers of each job.
   */
  private static final Set<Integer> MISSES = Set.of(6, 24, 27, 33, 48, 60, 69, 79, 93, 97);

  private static Optimum.Point point(double cores, double memory, double speed) {
    return new Optimum.Point(new double[] {cores, memory, 0, 0}, speed);
  }

  /** Two jobs of one GPU on one server of 6 cores; a core gives the second twice the gain. */
  @Test
  void coresGoToTheJobThatGainsMost() throws Exception {
    Cluster cluster = Cluster.parse("1x2,cores=6,memory=100,storage=100");
    Optimum.Solution solution =
        Optimum.of(
            cluster,
            List.of(
                new Optimum.JobClass(1, 1, 1, List.of(point(2, 10, 1), point(4, 10, 1.5))),
                new Optimum.JobClass(1, 1, 1, List.of(point(2, 10, 1), point(5, 10, 2.5)))));

    // 2 of the 6 cores are left after 2 + 2: two thirds of the second's step from 2 to 5.
    assertThat(solution.total()).isCloseTo(1 + 1 + 1.5 * 2 / 3, within(1e-9));
    assertThat(solution.means().get(0).perGpu()[Resource.CORES]).isCloseTo(2, within(1e-9));
    assertThat(solution.means().get(1).perGpu()[Resource.CORES]).isCloseTo(4, within(1e-9));
  }

  /**
   * The two free cores make the first job 50 % faster or the second 60 %; in the other case, 100 %
   * or 150 %.
   */
  @ParameterizedTest
  @CsvSource({"10,15,1,1.6", "0.1,0.2,10,25"})
  void speedsCountRelativeToTheProportionalShare(
      double first, double faster, double second, double fasterSecond) throws Exception {
    Cluster cluster = Cluster.parse("1x2,cores=6,memory=100,storage=100");
    Optimum.Solution solution =
        Optimum.of(
            cluster,
            List.of(
                new Optimum.JobClass(
                    1, 1, first, List.of(point(2, 10, first), point(4, 10, faster))),
                new Optimum.JobClass(
                    1, 1, second, List.of(point(2, 10, second), point(4, 10, fasterSecond)))));

    assertThat(solution.means().get(1).speed()).isCloseTo(fasterSecond, within(1e-6));
    assertThat(solution.total()).isCloseTo(1 + fasterSecond / second, within(1e-6));
  }

  /** Taking cores from the first would give the second more than the first loses. */
  @Test
  void noJobFallsBelowItsProportionalShare() throws Exception {
    Cluster cluster = Cluster.parse("1x2,cores=4,memory=100,storage=100");
    Optimum.Solution solution =
        Optimum.of(
            cluster,
            List.of(
                new Optimum.JobClass(1, 1, 1, List.of(point(1, 10, 0.9), point(2, 10, 1))),
                new Optimum.JobClass(1, 1, 1, List.of(point(2, 10, 1), point(3, 10, 2)))));

    assertThat(solution.means().get(0).speed()).isCloseTo(1, within(1e-6));
    assertThat(solution.total()).isCloseTo(2, within(1e-6));
  }

  @Test
  void memoryIsALimitToo() throws Exception {
    Cluster cluster = Cluster.parse("1x2,cores=100,memory=100,storage=100");
    Optimum.Solution solution =
        Optimum.of(
            cluster,
            List.of(new Optimum.JobClass(2, 1, 1, List.of(point(2, 50, 1), point(2, 100, 2)))));

    assertThat(solution.total()).isCloseTo(2, within(1e-9));
  }

  @Test
  void aProgramWithoutSolutionGetsOneSentence() throws Exception {
    Cluster cluster = Cluster.parse("1x2,cores=4,memory=100,storage=100");

    assertThatThrownBy(
            () ->
                Optimum.of(
                    cluster, List.of(new Optimum.JobClass(2, 1, 1, List.of(point(3, 10, 1))))))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no allocation gives each of 2 jobs");
  }

  @Test
  void onlyEfficientPointsAreKept() {
    assertThat(
            Optimum.Point.efficient(
                List.of(point(2, 10, 1), point(3, 10, 1), point(3, 10, 2), point(2, 20, 1.5))))
        .extracting(Optimum.Point::speed)
        .containsExactly(2.0, 1.5, 1.0);
  }

  /** One mix: jobs of random models that fill the GPUs of a random cluster. */
  private record Mix(String name, Cluster cluster, List<Sharing.Request> jobs) {
    static Mix of(int seed, ModelTable models) {
      Random random = new Random(seed);
      int servers = 4 + random.nextInt(13);
      int coresPerGpu = 3 + random.nextInt(4);
      Cluster cluster = new Cluster(servers, 8, 8 * coresPerGpu, 500, 500, 40);
      boolean multiGpu = random.nextBoolean();
      int image = random.nextInt(101);
      int language = random.nextInt(101 - image);
      List<Sharing.Request> jobs = new ArrayList<>();
      int free = cluster.gpus();
      while (free > 0) {
        int drawn = random.nextInt(100);
        List<JobModel> task =
            models.forWorkloads(
                drawn < image ? "image" : drawn < image + language ? "language" : "speech");
        int gpus = multiGpu ? Math.min(free, 1 << random.nextInt(4)) : 1;
        jobs.add(
            new Sharing.Request(models, task.get(random.nextInt(task.size())).name(), gpus, 0));
        free -= gpus;
      }
      String name =
          "mix %d (%d x 8 GPUs, %d cores a GPU, image/language/speech %d/%d/%d, %s)"
              .formatted(
                  seed,
                  servers,
                  coresPerGpu,
                  image,
                  language,
                  100 - image - language,
                  multiGpu ? "1 to 8 GPUs" : "1 GPU");
      return new Mix(name, cluster, jobs);
    }

    double speeds(Allocation allocation) throws InputException {
      return new Sharing(cluster, jobs)
          .by(allocation).stream().mapToDouble(Sharing.Share::speed).sum();
    }
  }

  @Test
  void tuneIsWithinATenthOfTheBoundExceptForKnownMixes() throws Exception {
    ModelTable models = Tables.models();
    Set<Integer> missed = new TreeSet<>();
    double sum = 0;
    for (int seed = 1; seed <= MIXES; seed++) {
      Mix mix = Mix.of(seed, models);
      double bound = mix.speeds(Allocation.OPT);
      double share = mix.speeds(Allocation.TUNE) / bound;
      assertThat(share).as(mix.name()).isLessThanOrEqualTo(1 + 1e-6);
      assertThat(mix.speeds(Allocation.PROPORTIONAL) / bound).as(mix.name()).isLessThan(1 + 1e-6);
      sum += share;
      if (share < 1 - LOSS) {
        missed.add(seed);
        System.out.printf(Locale.ROOT, "TUNE has %.3f of the bound: %s%n", share, mix.name());
      }
    }
    System.out.printf(Locale.ROOT, "TUNE has %.3f of the bound on average%n", sum / MIXES);
    assertThat(missed).isEqualTo(MISSES);
  }
}
