package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** With auto, the agent chooses the policies, and every loss stays bit for bit the same. */
class AutoIT {
  private static final int SAMPLES = 1600;

  /** Batches of an epoch. */
  private static final int BATCHES = SAMPLES / 32;

  /** More batches than the library prepares while caching begins. */
  private static final int AHEAD = 8;

  private static final Pattern LOSS = Pattern.compile("loss \\S+");

  /** Long enough for auto to measure a loader. */
  private static final String LONG = "-Depochs=12";

  @ParameterizedTest(name = "{1} on {0}")
  @MethodSource("jobs")
  void everyLossIsTheSame(Jdk jdk, Framework framework) throws IOException, InterruptedException {
    Finished plain = Job.plain(framework, jdk);
    String name = "auto-" + framework + "-" + jdk.version();
    Finished chosen = new Job(framework, jdk, Workshop.empty(name), "auto").agent("auto").runWell();
    assertThat(chosen.differenceFrom(plain)).isEmpty();
    assertThat(chosen.result().err()).contains("auto: ").doesNotContain("did nothing");
  }

  /**
   * The program only loads data, except for a hand-written training loop at the end. Its data sets
   * use series of features, rows of a table, long call chains, lambdas, the library's tables and
   * random crops.
   */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everydayDataSetsAreCached(Jdk jdk) throws IOException, InterruptedException {
    String kinds = "features,records,deep,lambda,csv,crops,by-hand";
    ChildResult kept = auto(jdk, () -> PreparedIT.samples(jdk, kinds), "djl");
    assertThat(kept.err()).contains("auto: cached data from ");
    assertThat(changes(jdk, "djl"))
        .contains("data is cached")
        .anyMatch(
            change -> change.startsWith("samples of example.prepared.Everyday$OfFeatures are"))
        .anyMatch(change -> change.startsWith("samples of example.prepared.Everyday$OfRecords are"))
        .anyMatch(change -> change.startsWith("samples of example.prepared.Everyday$Deep are"))
        .anyMatch(change -> change.matches("samples of .*Deep are kept prepared .stage 2 of 2."))
        .anyMatch(change -> change.startsWith("samples of ai.djl.basicdataset.tabular.CsvDataset"));
    assertThat(kept.err()).containsPattern("decoded cache \\(\\w+\\): [1-9]\\d* items");
  }

  /** Pictures and tables, in the same batches in each epoch, and batches saved in files. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everydayReadersAreCached(Jdk jdk) throws IOException, InterruptedException {
    ChildResult kept = auto(jdk, () -> PreparedIT.records(jdk, "images,csv,saved"), "dl4j");
    assertThat(PreparedIT.figure(kept, 2)).isPositive();
    assertThat(kept.err())
        .containsPattern("next: [1-9]\\d* batches were loaded, but none was trained on")
        .doesNotContain("no training batch was seen", "auto caches for such jobs");
  }

  /**
   * Each batch made since caching began is cached, also in the middle of an epoch: of a table, of
   * sequences, and of transformed records in a hand-written loop. When caching begins depends on
   * the speed of the machine, so the recording tells.
   */
  @ParameterizedTest(name = "DL4J {0}")
  @CsvSource({"csv, table", "sequences, frames", "words, words"})
  void batchesAreCachedFromTheMiddleOfAnEpoch(String program, String kind)
      throws IOException, InterruptedException {
    Jdk jdk = Workshop.newestJdk();
    Path data = Workshop.empty("auto-" + kind).resolve("data");
    Workshop.program(jdk, Framework.DL4J, "example.training.TrainingData")
        .args(kind, data.toString(), Integer.toString(SAMPLES))
        .run()
        .orFail("The writer of training data");
    Program training =
        () ->
            Workshop.program(jdk, Framework.DL4J, "example.training.Dl4jTraining")
                .args(program, data.toString(), "3");
    List<String> losses = losses(training.of().run().orFail(program));
    Path recording = recording(jdk, kind);
    Files.deleteIfExists(recording);
    ChildResult cached =
        training
            .of()
            .agent(Workshop.checkout().agentJar(), "auto,record=" + recording)
            .run()
            .orFail(program + " with auto");
    assertThat(losses).hasSize(3);
    assertThat(losses(cached)).isEqualTo(losses);
    long requests = 3L * BATCHES - batchesBeforeCaching(recording);
    assertThat(PreparedIT.figure(cached, 2))
        .isBetween(requests - BATCHES - AHEAD, requests - BATCHES + AHEAD);
    assertThat(cached.err()).doesNotContain("fault");
  }

  private static long batchesBeforeCaching(Path recording) throws IOException {
    List<RecordedEvent> events = RecordingFile.readAllEvents(recording);
    Instant begin =
        events.stream()
            .filter(event -> event.getEventType().getName().equals("io.coordl.Tuning"))
            .filter(event -> event.getString("change").equals("data is cached"))
            .map(RecordedEvent::getStartTime)
            .findFirst()
            .orElseThrow();
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl.Batch"))
        .filter(event -> event.getEndTime().isBefore(begin))
        .count();
  }

  private static List<String> losses(ChildResult result) {
    return LOSS.matcher(result.out()).results().map(MatchResult::group).toList();
  }

  private interface Program {
    ChildJvm of() throws IOException;
  }

  private static Path recording(Jdk jdk, String name) {
    return Workshop.directory("auto-kinds-" + jdk.version()).resolve(name + ".jfr");
  }

  private static ChildResult auto(Jdk jdk, Program program, String name)
      throws IOException, InterruptedException {
    Path recording = recording(jdk, name);
    Files.deleteIfExists(recording);
    ChildResult plain = program.of().jvmArgs(LONG).run().orFail("Without the agent");
    ChildResult kept =
        program
            .of()
            .jvmArgs(LONG)
            .agent(Workshop.checkout().agentJar(), "auto,record=" + recording)
            .run()
            .orFail("auto");
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault");
    return kept;
  }

  private static List<String> changes(Jdk jdk, String name) throws IOException {
    return RecordingFile.readAllEvents(recording(jdk, name)).stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl.Tuning"))
        .map(event -> event.getString("change"))
        .toList();
  }

  static Stream<Arguments> jobs(TestInfo test) {
    return Stream.of(Framework.values())
        .flatMap(framework -> Workshop.jdks(test).map(jdk -> Arguments.of(jdk, framework)));
  }
}
