package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FewerCoresTest {
  /** The job is prep-bound only below eight cores, so halving costs nothing down to eight. */
  @Test
  void numbersOfCoresAreHalvedUntilTheSpeedDrops() {
    List<Integer> measured = new ArrayList<>();
    double before = 0;
    for (int cores = 32; cores > 0; ) {
      measured.add(cores);
      double speed = Math.min(cores, 8);
      if (cores == 1) {
        break;
      }
      cores = FewerCores.next(cores, before, speed);
      before = speed;
    }
    assertThat(measured).containsExactly(32, 16, 8, 4, 3, 2, 1);
  }

  @Test
  void theProgramRunsInACpuSet() {
    List<Integer> cpus = FewerCores.parse("0-2,5,8-9");

    assertThat(cpus).containsExactly(0, 1, 2, 5, 8, 9);
    assertThat(FewerCores.prefix(cpus, 4)).containsExactly("taskset", "-c", "0,1,2,5");
    assertThat(FewerCores.file(Path.of("out", "job.jfr"), 4))
        .isEqualTo(Path.of("out", "job-4-cores.jfr"));
  }
}
