package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The hyper-parameter search example: its jobs and final table. */
class SearchIT {
  static List<Framework> frameworks() {
    return Workshop.first(1, List.of(Framework.DL4J, Framework.DJL));
  }

  @ParameterizedTest
  @MethodSource("frameworks")
  void twoJobsShareTheirBatchesAndPrintATable(Framework framework)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("search-" + framework);
    ChildResult search =
        Job.search(
            framework,
            Workshop.newestJdk(),
            directory,
            List.of("--lr", "0.001,0.01", "--agent", Workshop.checkout().agentJar().toString()));
    assertThat(search.exit()).as(search.out() + search.err()).isZero();
    assertThat(search.out().lines().filter(line -> line.startsWith("lr ")))
        .hasSize(2 * Job.EPOCHS)
        .anyMatch(line -> line.startsWith("lr 0.001  epoch 1: "))
        .anyMatch(line -> line.startsWith("lr 0.01  epoch 3: "));
    assertThat(search.out().lines())
        .anyMatch(line -> line.matches(" +0\\.001 +[0-9.]+ +[0-9.]+ +[0-9.]+ *"))
        .anyMatch(line -> line.matches(" +0\\.01 +[0-9.]+ +[0-9.]+ +[0-9.]+ *"))
        .anyMatch(line -> line.matches(" +all +[0-9.]+ *"));
    int pictures = Pictures.all().files().size();
    assertThat(directory.resolve("search-logs/0.01.log")).isRegularFile();
    long opened = 0;
    for (String rate : List.of("0.001", "0.01")) {
      opened += Summary.of(directory.resolve("search-logs/" + rate + ".jfr")).total("storageItems");
    }
    // Three epochs and three evaluations. Separate jobs would open twice as many files; a few more
    // than the minimum may be opened, because a job may prepare a late batch itself.
    int passes = 2 * Job.EPOCHS;
    assertThat(opened)
        .isGreaterThanOrEqualTo((long) passes * pictures)
        .isLessThan((long) passes * pictures * 3 / 2);
  }

  @Test
  void aFailedJobHasARowAndTheOthersContinue() throws IOException, InterruptedException {
    Path directory = Workshop.empty("search-failing");
    ChildResult search =
        Job.search(Framework.DL4J, Workshop.newestJdk(), directory, List.of("--lr", "0.001,quick"));
    assertThat(search.exit()).isEqualTo(1);
    assertThat(search.out().lines())
        .anyMatch(line -> line.matches(" +0\\.001 +[0-9.]+ +[0-9.]+ +[0-9.]+ *"))
        .anyMatch(
            line ->
                line.matches(" +quick +- +- +[0-9.]+ +exit status 2, see search-logs.quick.log"));
    assertThat(Files.readString(directory.resolve("search-logs/quick.log")))
        .contains("--lr is quick, expected a number.");
  }

  @Test
  void badOptionsAreReportedInOneSentence() throws IOException, InterruptedException {
    Path directory = Workshop.empty("search-options");
    ChildResult search =
        Job.search(
            Framework.DL4J, Workshop.newestJdk(), directory, List.of("--agent", "nowhere.jar"));
    assertThat(search.exit()).isEqualTo(2);
    assertThat(search.err())
        .startsWith("--agent is nowhere.jar, expected coordl-agent.jar.\nusage:");
  }
}
