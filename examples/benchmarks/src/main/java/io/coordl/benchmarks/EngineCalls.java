package io.coordl.benchmarks;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Counts the calls that a program makes into its library's engine, with the method timing of Flight
 * Recorder: calls of DJL's {@code JniUtils}, or of ND4J's {@code NativeOpExecutioner}. Not safe for
 * concurrent use.
 */
final class EngineCalls {
  /** First JDK whose Flight Recorder counts calls (JEP 520). */
  private static final int FIRST = 25;

  private static final String TIMING = "jdk.MethodTiming";

  private final Path recording;

  /**
   * Creates a counter.
   *
   * @param recording temporary file; overwritten by each count
   */
  EngineCalls(Path recording) {
    this.recording = recording;
  }

  /** Returns a JDK that can count calls; empty if none is installed. */
  static Optional<Jdk> jdk() {
    return Jdks.all().stream().filter(jdk -> jdk.feature() >= FIRST).findFirst();
  }

  /** Runs a program, which must use a JDK like {@link #jdk}; returns the number of its calls. */
  long count(ChildJvm program, Example library) throws IOException, InterruptedException {
    String engine =
        library == Example.DJL
            ? "ai.djl.pytorch.jni.JniUtils"
            : "org.nd4j.linalg.cpu.nativecpu.ops.NativeOpExecutioner";
    Files.deleteIfExists(recording);
    program
        .jvmArgs(
            "-XX:StartFlightRecording:settings=default,filename="
                + recording
                + ",method-timing="
                + engine
                + ","
                + TIMING
                + "#period=endChunk")
        .run()
        .orFail("The program");
    Map<String, Long> calls = new HashMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      if (event.getEventType().getName().equals(TIMING)) {
        calls.merge(event.getValue("method").toString(), event.getLong("invocations"), Math::max);
      }
    }
    return calls.values().stream().mapToLong(Long::longValue).sum();
  }
}
