package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.testing.Full;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The usual model check on the other JDKs of this machine. */
class StagingModelIT {
  @Test
  void theProtocolHoldsOnOtherJdks() throws Exception {
    String reason =
        "StagingModelTest checks the protocol on this JDK; this test needs -Pfull to check others";
    if (!Full.ON) {
      System.out.println("skipped: " + reason);
    }
    Assumptions.assumeTrue(Full.ON, reason);
    for (Path java : Launchers.others()) {
      Process process =
          new ProcessBuilder(
                  java.toString(),
                  "-ea",
                  "-cp",
                  System.getProperty("java.class.path"),
                  StagingModelRuns.class.getName())
              .redirectErrorStream(true)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      System.out.print(output);
      assertThat(process.waitFor()).as("%s: %s", java, output).isZero();
      assertThat(output).contains("6 tests on JDK ");
    }
  }
}
