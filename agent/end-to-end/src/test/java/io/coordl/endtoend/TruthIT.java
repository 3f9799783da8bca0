package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.harness.KnownWaits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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

  /** Of every kind of loop one, which runs without -Pfull too. */
  private static final Set<String> OF_EACH_KIND =
      Set.of("fit", "samediff-timed", "easytrain-pool", "lambda", "collector", "forward");

  static Stream<KnownWaits> programs() {
    return KnownWaits.all().stream()
        .filter(program -> Workshop.FULL || OF_EACH_KIND.contains(program.name()));
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

  /** Both accounts are of one run, so that a busy machine is in both of them. */
  @Test
  void fetchAndPrepStallAreWhatTheProgramMeasuredInTheSameRun()
      throws IOException, InterruptedException {
    KnownWaits.Split split =
        KnownWaits.reading()
            .split(
                Workshop.checkout(), Workshop.newestJdk(), Workshop.directory("truth-of-fetching"));
    assertThat(split.trueShare()).as("else this tells nothing: %s", split).isBetween(0.02, 0.98);
    assertThat(split.share()).as("%s", split).isCloseTo(split.trueShare(), within(0.05));
    assertThat(split.prepShare()).as("%s", split).isCloseTo(1 - split.trueShare(), within(0.1));
  }

  private static boolean agree(KnownWaits.Accounts accounts) {
    return Math.abs(accounts.error()) <= KnownWaits.LIMIT;
  }
}
