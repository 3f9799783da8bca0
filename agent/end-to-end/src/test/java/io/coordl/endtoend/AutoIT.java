package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** With auto the agent chooses the policies, and every loss stays the same to the bit. */
class AutoIT {
  @ParameterizedTest(name = "{1} on {0}")
  @MethodSource("jobs")
  void everyLossIsTheSame(Jdk jdk, Framework framework) throws IOException, InterruptedException {
    Finished plain = Job.plain(framework, jdk);
    String name = "auto-" + framework + "-" + jdk.version();
    Finished chosen = new Job(framework, jdk, Workshop.empty(name), "auto").agent("auto").runWell();
    assertThat(chosen.differenceFrom(plain)).isEmpty();
    assertThat(chosen.result().err()).contains("auto: ").doesNotContain("did nothing");
  }

  static Stream<Arguments> jobs(TestInfo test) {
    return Stream.of(Framework.values())
        .flatMap(framework -> Workshop.jdks(test).map(jdk -> Arguments.of(jdk, framework)));
  }
}
