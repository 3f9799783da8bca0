package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.benchmarks.KnownWaits;
import io.coordl.benchmarks.TruthBenchmark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs that know how long their training thread waited hear the same from the agent. */
class TruthIT {
  /**
   * What a busy machine's scheduler does between the program's clock reading and the agent's, a few
   * instructions apart, is in one account and not in the other. That differs from run to run; an
   * error of the attribution is there in every run, and fails all attempts.
   */
  private static final int ATTEMPTS = 3;

  static Stream<KnownWaits> programs() {
    return KnownWaits.all().stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("programs")
  void dataStallIsWhatTheProgramKnowsThatItWaited(KnownWaits program)
      throws IOException, InterruptedException {
    List<KnownWaits.Accounts> attempts = new ArrayList<>();
    while (attempts.size() < ATTEMPTS && attempts.stream().noneMatch(TruthIT::agree)) {
      attempts.add(
          program.measure(Workshop.checkout(), Workshop.newestJdk(), Workshop.directory("truth")));
    }
    assertThat(attempts).anyMatch(TruthIT::agree);
  }

  private static boolean agree(KnownWaits.Accounts accounts) {
    return Math.abs(accounts.error()) <= TruthBenchmark.LIMIT;
  }
}
