package io.coordl.reports.recording;

import io.coordl.telemetry.event.AgentEvents;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.EventStream;

/** A job in its own JVM, which ends normally or dies while it records. */
public final class ChildJob {
  static {
    AgentEvents.register();
  }

  private ChildJob() {}

  /** The step event of another version of the agent, with a fractional time. */
  @Name("io.coordl.Step")
  static final class OtherStep extends Event {
    long batch;
    long epoch;
    double compute;
    long checkpoint;
  }

  /** The data stall event of another version of the agent, with only one of its fields. */
  @Name("io.coordl.DataStall")
  static final class OtherStall extends Event {
    long fetch;
  }

  /** The epoch event of another version of the agent, with only one of its fields. */
  @Name("io.coordl.Epoch")
  static final class OtherEpoch extends Event {
    long epoch;
  }

  /** The configuration event of a later version of the agent, with an additional field. */
  @Name("io.coordl.Configuration")
  static final class NewerConfiguration extends Event {
    String key;
    String value;
    String origin;
    long since;
  }

  /** The host event of another version of the agent, with a string in place of a number. */
  @Name("io.coordl.Host")
  static final class OtherHost extends Event {
    String cores;
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "record" -> Recordings.record(Path.of(arguments[1]), Recordings::emitJob);
      case "recordOtherVersion" -> emitOtherVersion(Path.of(arguments[1]));
      case "recordFractions" -> emitFractions(Path.of(arguments[1]));
      case "recordOtherStall" -> emitOtherStall(Path.of(arguments[1]));
      case "recordNewerVersion" -> emitNewerVersion(Path.of(arguments[1]));
      case "recordOtherType" -> emitOtherType(Path.of(arguments[1]));
      case "die" -> die();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void emitOtherVersion(Path file) throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(OtherEpoch.class);
      recording.start();
      OtherEpoch event = new OtherEpoch();
      event.epoch = 1;
      event.commit();
      recording.dump(file);
    }
  }

  private static void emitFractions(Path file) throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(OtherStep.class).withThreshold(Duration.ZERO);
      recording.start();
      Recordings.emitBatches(1, 3, "/data");
      OtherStep event = new OtherStep();
      event.begin();
      event.batch = 1;
      event.epoch = 1;
      event.compute = 5.75 * Recordings.MILLISECOND;
      event.checkpoint = Recordings.MILLISECOND;
      event.commit();
      recording.dump(file);
    }
  }

  private static void emitNewerVersion(Path file) throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(NewerConfiguration.class);
      recording.start();
      NewerConfiguration event = new NewerConfiguration();
      event.key = "cache";
      event.value = "minio";
      event.origin = "argument";
      event.since = 2;
      event.commit();
      recording.dump(file);
    }
  }

  private static void emitOtherStall(Path file) throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(OtherStall.class).withThreshold(Duration.ZERO);
      recording.start();
      new OtherStall().commit();
      recording.dump(file);
    }
  }

  private static void emitOtherType(Path file) throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(OtherHost.class);
      recording.start();
      OtherHost event = new OtherHost();
      event.cores = "two";
      event.commit();
      recording.dump(file);
    }
  }

  private static void die() throws Exception {
    Recordings.start();
    Recordings.emitEpoch(1, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
    Recordings.nextChunk();
    Recordings.emitTotals(1, 100, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
    Recordings.nextChunk();
    Recordings.emitEpoch(2, 30 * Recordings.SECOND, Recordings.SECOND);
    // JFR notifies a stream in this JVM of a flush only once the flushed events are on disk.
    try (var stream = EventStream.openRepository()) {
      var seen = new CountDownLatch(1);
      stream.setStartTime(Instant.EPOCH);
      stream.onEvent(
          "io.coordl.Epoch",
          event -> {
            if (event.getLong("epoch") == 2) {
              seen.countDown();
            }
          });
      stream.startAsync();
      seen.await();
    }
    Runtime.getRuntime().halt(9);
  }

  static Path record(Path file) throws Exception {
    run(List.of("record", file.toString()), List.of());
    return file;
  }

  static Path recordFractions(Path file) throws Exception {
    run(List.of("recordFractions", file.toString()), List.of());
    return file;
  }

  static Path recordOtherStall(Path file) throws Exception {
    run(List.of("recordOtherStall", file.toString()), List.of());
    return file;
  }

  static Path recordOtherVersion(Path file) throws Exception {
    run(List.of("recordOtherVersion", file.toString()), List.of());
    return file;
  }

  static Path recordNewerVersion(Path file) throws Exception {
    run(List.of("recordNewerVersion", file.toString()), List.of());
    return file;
  }

  static Path recordOtherType(Path file) throws Exception {
    run(List.of("recordOtherType", file.toString()), List.of());
    return file;
  }

  /** Runs a job that dies, and joins all its chunks in one file. */
  public static Path die(Path file) throws Exception {
    Path repository = file.resolveSibling("repository");
    run(List.of("die"), List.of("-XX:FlightRecorderOptions=repository=" + repository));
    try (Stream<Path> files = Files.walk(repository);
        var out = Files.newOutputStream(file)) {
      for (Path chunk : files.filter(Files::isRegularFile).sorted().toList()) {
        Files.copy(chunk, out);
      }
    }
    return file;
  }

  private static void run(List<String> arguments, List<String> options) throws Exception {
    Java.run(
        Stream.of(options, List.of(ChildJob.class.getName()), arguments)
            .flatMap(List::stream)
            .toList());
  }
}
