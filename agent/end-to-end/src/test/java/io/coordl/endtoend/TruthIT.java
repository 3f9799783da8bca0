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

/** The stalls that the agent reports match the waits that programs measure themselves. */
class TruthIT {
  /**
   * The program and the agent read the clock a few instructions apart. On a busy machine, a context
   * switch in between changes only one of the measurements, so one attempt may fail by chance. A
   * wrong attribution fails all attempts.
   */
  private static final int ATTEMPTS = 3;

  /** One loop of each kind; these also run without -Pfull. */
  private static final Set<String> ONE_OF_EACH_KIND =
      Set.of("fit", "samediff-timed", "easytrain-pool", "lambda", "collector", "forward");

  static Stream<KnownWaits> programs() {
    return KnownWaits.all().stream()
        .filter(program -> Workshop.FULL || ONE_OF_EACH_KIND.contains(program.name()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("programs")
  void dataStallEqualsTheProgramsOwnMeasurement(KnownWaits program)
      throws IOException, InterruptedException {
    List<KnownWaits.Accounts> attempts = new ArrayList<>();
    while (attempts.size() < ATTEMPTS && attempts.stream().noneMatch(KnownWaits.Accounts::agree)) {
      attempts.add(
          program.measure(Workshop.checkout(), Workshop.newestJdk(), Workshop.directory("truth")));
    }
    assertThat(attempts).anyMatch(KnownWaits.Accounts::agree);
  }

  /** The program and the agent measure the same run, so a busy machine affects both. */
  @Test
  void fetchAndPrepStallEqualTheProgramsOwnMeasurement() throws IOException, InterruptedException {
    KnownWaits.Split split =
        KnownWaits.reading()
            .split(
                Workshop.checkout(), Workshop.newestJdk(), Workshop.directory("truth-of-fetching"));
    assertThat(split.trueShare())
        .as("otherwise this proves nothing: %s", split)
        .isBetween(0.02, 0.98);
    assertThat(split.share()).as("%s", split).isCloseTo(split.trueShare(), within(0.05));
    assertThat(split.prepShare()).as("%s", split).isCloseTo(1 - split.trueShare(), within(0.1));
  }
}
