package io.coordl.endtoend;

import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A job's recording is complete and agrees with its summaries. */
class RecordingIT {
  private static final String DJL_DATA = "ai.djl.basicdataset.cv.classification.ImageFolder";
  private static final String DL4J_DATA =
      "org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator";

  private static final List<String> PROMISED =
      List.of(
          "Fetch",
          "Batch",
          "DataStall",
          "Step",
          "Epoch",
          "Checkpoint",
          "StoreStatistics",
          "JobStatistics",
          "LatencyStatistics",
          "Layer",
          "Rewritten",
          "Configuration",
          "Environment");

  private static final List<String> TRAINING_TIMES =
      List.of(
          "batches",
          "samples",
          "updates",
          "compute",
          "stall",
          "fetchStall",
          "prepStall",
          "gcStall",
          "queueStall");

  private static final List<String> WORK =
      List.of(
          "fetchTime",
          "decodeTime",
          "transformTime",
          "otherTime",
          "items",
          "memoryItems",
          "peerItems",
          "storageItems",
          "memoryBytes",
          "peerBytes",
          "storageBytes");

  /** The job runs for 12 s. */
  @Test
  void epochsArePrintedWhileTheJobRuns() throws IOException, InterruptedException {
    Path directory = Workshop.empty("recording-epochs");
    ChildResult job =
        Workshop.program(Workshop.newestJdk(), Framework.DJL, "example.checkpoints.DjlModels")
            .args("paced", directory.toString(), "30", "3")
            .agent(Workshop.checkout().agentJar(), "record=off")
            .run()
            .orFail("job");
    assertThat(job.err())
        .containsPattern(
            "(?m)^\\[coordl\\] epochs 1 to \\d+: [\\d.,]+ samples/s, \\d+\\.\\d\\d s; data stall ");
  }

  @Test
  void explicitCollectionsAreReportedWithTheirCaller() throws IOException, InterruptedException {
    Path recording = Workshop.empty("recording-gc").resolve("job.jfr");
    Workshop.program(Workshop.newestJdk(), Framework.DL4J, "example.truth.Dl4jWaits")
        .jvmArgs("-Dtruth.collected=100000")
        .args("hand", "1", "1", "20", "3")
        .agent(Workshop.checkout().agentJar(), "summary=off,record=" + recording)
        .run()
        .orFail("job");
    assertThat(Summary.of(recording).total("gcStallNanos")).isPositive();
    assertThat(Summary.of(recording).total("explicitGcPausesNanos")).isPositive();
    assertThat(Summary.text(recording))
        .anyMatch(line -> line.matches("Try next +avoid calls of System.gc\\(\\): .*"))
        .anyMatch(line -> line.contains(", most of them by example.truth.SleepyIterator.next"));
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void theRecordingIsCompleteAndAgreesWithBothSummaries(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("recording-" + framework + "-" + jdk.version());
    Finished job =
        new Job(framework, jdk, directory, "job")
            .args("--checkpoint", directory.resolve("models").toString())
            .agent("cache=minio,cache.size=" + Pictures.all().bytes() / 2)
            .runWell();
    Map<String, List<RecordedEvent>> events = coordlEvents(job.recording());
    assertThat(events).containsKeys(PROMISED.toArray(new String[0])).doesNotContainKey("Fault");

    RecordedEvent environment = last(events.get("Environment"));
    assertThat(environment.getString("libraries")).matches(framework + " \\d[\\w.-]+");
    assertThat(environment.getString("agent")).matches("\\d.*");
    assertThat(environment.getLong("cores")).isPositive();
    for (String event : List.of("Epoch", "Batch")) {
      assertThat(events.get(event))
          .as(event)
          .extracting(of -> of.getString("dataset"))
          .containsOnly(framework == Framework.DJL ? DJL_DATA : DL4J_DATA);
    }
    RecordedEvent totals = last(events.get("JobStatistics"));
    assertBatchesAreJoined(events, job.batches().size());
    assertWaitsAddUp(events);
    assertEpochsAddUp(events.get("Epoch"), totals);
    assertThat(totals.getLong("batches")).isEqualTo(job.batches().size());
    assertSamplesAreCounted(events, totals);
    assertThat(events.get("Checkpoint")).hasSizeGreaterThanOrEqualTo(Job.EPOCHS);
    assertLayersMatchTheNetwork(framework, events.get("Layer"));
    assertSummariesAgree(job, last(events.get("StoreStatistics")));
  }

  /** The agent's data set of cached samples takes the place of the program's. */
  @Test
  void batchesOfCachedSamplesNameTheProgramsDataSet() throws IOException, InterruptedException {
    Finished job =
        new Job(Framework.DJL, Workshop.newestJdk(), Workshop.empty("recording-cached"), "job")
            .agent("prepared=share")
            .runWell();
    assertThat(job.result().err()).containsPattern("prepared cache .* [1-9][0-9,]* hits");
    assertThat(coordlEvents(job.recording()).get("Batch"))
        .extracting(of -> of.getString("dataset"))
        .containsOnly(DJL_DATA);
  }

  /** Each layer once, in order, with its parameters. */
  private static void assertLayersMatchTheNetwork(Framework framework, List<RecordedEvent> events)
      throws IOException {
    List<RecordedEvent> layers =
        events.stream().sorted(Comparator.comparing(layer -> layer.getLong("place"))).toList();
    assertThat(longs(layers, "model")).containsOnly(1L);
    assertThat(longs(layers, "place")).doesNotHaveDuplicates().contains(1L, (long) layers.size());
    assertThat(layers).allMatch(layer -> layer.getLong("bytes") == 4 * layer.getLong("parameters"));
    List<String> types = layers.stream().map(layer -> layer.getString("type")).toList();
    List<Long> parameters = longs(layers, "parameters");
    List<Long> inputs = longs(layers, "inputs");
    int last = layers.size() - 1;
    long classes;
    try (Stream<Path> folders = Files.list(Pictures.all().directory())) {
      classes = folders.filter(Files::isDirectory).count();
    }
    assertThat(parameters.get(last)).isEqualTo((inputs.get(last) + 1) * classes);
    if (framework == Framework.DL4J) {
      assertThat(types)
          .containsExactly("ConvolutionLayer", "ConvolutionLayer", "DenseLayer", "OutputLayer");
      assertThat(parameters.subList(0, 2))
          .containsExactly(5 * 5 * 3 * 8 + 8L, 3 * 3 * 8 * 16 + 16L);
      assertThat(parameters.get(2)).isEqualTo((inputs.get(2) + 1) * 32);
      assertThat(inputs.get(3)).isEqualTo(32);
      assertThat(inputs.subList(0, 2)).containsOnly(0L);
    } else {
      assertThat(types)
          .contains("Conv2d", "BatchNorm")
          .containsOnlyOnce("Linear")
          .endsWith("Linear");
      assertThat(inputs.subList(0, last)).containsOnly(0L);
      assertThat(layers.stream().map(layer -> layer.getString("layer")).toList())
          .doesNotHaveDuplicates()
          .allMatch(name -> name.matches("\\d+\\w+(/\\d+\\w+)*"));
    }
  }

  private static void assertBatchesAreJoined(Map<String, List<RecordedEvent>> events, int batches) {
    assertThat(events.get("DataStall")).hasSize(batches);
    List<Long> waitedFor = longs(events.get("DataStall"), "batch");
    assertThat(waitedFor).doesNotHaveDuplicates().doesNotContain(0L);
    assertThat(longs(events.get("Batch"), "batch")).containsExactlyInAnyOrderElementsOf(waitedFor);
    assertThat(longs(events.get("Step"), "batch")).containsExactlyInAnyOrderElementsOf(waitedFor);
    for (String part : List.of("Fetch", "Decode", "Transform")) {
      List<Long> of = longs(events.getOrDefault(part, List.of()), "batch");
      // Decodes and transforms under 1 ms have no event, nor have fetches under 0.1 ms.
      if (longest(events, part) > 1_010_000) {
        assertThat(of).as(part).isNotEmpty();
      }
      // Work outside a batch, such as DL4J's read of the first record, has no batch number.
      of.removeIf(batch -> batch == 0);
      assertThat(of).as(part).isSubsetOf(waitedFor);
    }
    assertThat(longs(events.get("Fetch"), "batch")).containsAnyElementsOf(waitedFor);
  }

  /** Returns the longest span of a kind, in nanoseconds. */
  private static long longest(Map<String, List<RecordedEvent>> events, String part) {
    return events.get("LatencyStatistics").stream()
        .filter(spans -> part.toLowerCase(Locale.ROOT).equals(spans.getString("kind")))
        .mapToLong(spans -> spans.getLong("maximum"))
        .max()
        .orElse(0);
  }

  /** Each picture counts once per epoch, however the library forms batches. */
  private static void assertSamplesAreCounted(
      Map<String, List<RecordedEvent>> events, RecordedEvent totals) throws IOException {
    long pictures = Pictures.all().files().size();
    assertThat(totals.getLong("samples")).isEqualTo(Job.EPOCHS * pictures);
    assertThat(longs(events.get("Epoch"), "samples")).hasSize(Job.EPOCHS).containsOnly(pictures);
    assertThat(longs(events.get("Batch"), "samples").stream().mapToLong(Long::longValue).sum())
        .isEqualTo(Job.EPOCHS * pictures);
  }

  private static void assertWaitsAddUp(Map<String, List<RecordedEvent>> events) {
    assertThat(events.get("DataStall"))
        .allSatisfy(
            wait ->
                assertThat(
                        wait.getLong("fetch")
                            + wait.getLong("prep")
                            + wait.getLong("gc")
                            + wait.getLong("queue"))
                    .isEqualTo(wait.getLong("wait")));
    Stream.of(events.get("Epoch"), events.get("JobStatistics"))
        .flatMap(List::stream)
        .forEach(
            span -> {
              assertThat(
                      span.getLong("fetchStall")
                          + span.getLong("prepStall")
                          + span.getLong("gcStall")
                          + span.getLong("queueStall"))
                  .isEqualTo(span.getLong("stall"));
              assertThat(
                      span.getLong("stall") + span.getLong("compute") + span.getLong("checkpoint"))
                  .isLessThanOrEqualTo(span.getLong("wall"));
            });
  }

  private static void assertEpochsAddUp(List<RecordedEvent> epochs, RecordedEvent totals) {
    // Not in order: an epoch that ended before the recording started is written late.
    assertThat(longs(epochs, "epoch")).containsExactlyInAnyOrder(1L, 2L, 3L);
    assertThat(epochs).allSatisfy(epoch -> assertThat(epoch.getBoolean("complete")).isTrue());
    assertThat(totals.getLong("epochs")).isEqualTo(Job.EPOCHS);
    Stream.of(TRAINING_TIMES, WORK)
        .flatMap(List::stream)
        .forEach(
            field ->
                assertThat(longs(epochs, field).stream().mapToLong(Long::longValue).sum())
                    .as(field)
                    .isEqualTo(totals.getLong(field)));
    // The examples save between epochs, which counts for the job but for no epoch.
    assertThat(totals.getLong("checkpoint")).isPositive();
    assertThat(longs(epochs, "checkpoint")).containsOnly(0L);
  }

  /** The summary at exit equals the one from the recording, to the last digit. */
  private static void assertSummariesAgree(Finished job, RecordedEvent store)
      throws IOException, InterruptedException {
    Summary summary = Summary.of(job.recording());
    String atExit = String.join("\n", job.agentLines());
    String wall = seconds(summary.total("wallNanos"));
    assertThat(atExit)
        .contains(
            "%s samples/s from the second epoch on; %d epochs, %d batches, %s s from the first"
                .formatted(
                    rate(summary.samplesPerSecond()),
                    summary.total("epochs"),
                    summary.total("batches"),
                    wall))
        .containsPattern("compute +" + seconds(summary.total("computeNanos")) + " s")
        .containsPattern("data stall +" + seconds(summary.total("stallNanos")) + " s")
        .contains(
            "fetch %s s, prep %s s, GC %s s, queueing %s s"
                .formatted(
                    seconds(summary.total("fetchStallNanos")),
                    seconds(summary.total("prepStallNanos")),
                    seconds(summary.total("gcStallNanos")),
                    seconds(summary.total("queueStallNanos"))))
        .containsPattern("checkpoints +" + seconds(summary.total("checkpointNanos")) + " s")
        .containsPattern(
            "items: %d from storage .*, %d from memory"
                .formatted(summary.total("storageItems"), summary.total("memoryItems")))
        .containsPattern(
            "raw cache \\(process\\): %d items, .*; %d hits, %d misses, %d not cached"
                .formatted(
                    summary.store("items"),
                    summary.store("hits"),
                    summary.store("misses"),
                    summary.store("bypassed")))
        .contains("recording: " + job.recording());
    assertThat(summary.store("hits")).isEqualTo(store.getLong("hits"));

    assertThat(String.join("\n", Summary.text(job.recording())))
        .contains(summary.total("epochs") + " epochs, " + summary.total("batches") + " batches")
        .contains(
            "\nSpeed       " + rate(summary.samplesPerSecond()) + " samples/s from the second")
        .contains("% of " + wall + " s wall")
        .containsPattern("compute +" + seconds(summary.total("computeNanos")) + " ")
        .containsPattern("data stall +" + seconds(summary.total("stallNanos")) + " ")
        .contains(summary.store("hits") + " hits of ");
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void theAgentRecordsIntoTheUsersRecording(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("joined-" + framework + "-" + jdk.version());
    Path own = directory.resolve("own.jfr");
    Finished job =
        new Job(framework, jdk, directory, "job")
            .jvmArgs("-XX:StartFlightRecording=filename=" + own)
            .agentAsGiven("cache=minio")
            .runWell();
    assertThat(recordingsIn(directory)).containsExactly(own);
    Map<String, List<RecordedEvent>> events = coordlEvents(own);
    assertThat(events).containsKeys("Batch", "DataStall", "Step", "Epoch", "Rewritten");
    assertThat(events.get("DataStall")).hasSize(job.batches().size());
    assertThat(last(events.get("JobStatistics")).getLong("batches"))
        .isEqualTo(job.batches().size());
    assertThat(Summary.of(own).total("batches")).isEqualTo(job.batches().size());
    assertThat(job.agentLines()).contains("recording: the recording that was already running");
  }

  private static List<Path> recordingsIn(Path directory) throws IOException {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(path -> path.toString().endsWith(".jfr")).toList();
    }
  }

  private static Map<String, List<RecordedEvent>> coordlEvents(Path recording) throws IOException {
    String prefix = "io.coordl.";
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().startsWith(prefix))
        .collect(groupingBy(event -> event.getEventType().getName().substring(prefix.length())));
  }

  private static RecordedEvent last(List<RecordedEvent> events) {
    return events.stream()
        .reduce((a, b) -> a.getStartTime().isAfter(b.getStartTime()) ? a : b)
        .orElseThrow();
  }

  private static List<Long> longs(List<RecordedEvent> events, String field) {
    return new ArrayList<>(events.stream().map(event -> event.getLong(field)).toList());
  }

  private static String rate(double perSecond) {
    String digits = perSecond >= 100 ? "%,.0f" : perSecond >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, digits, perSecond);
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.2f", nanos / 1e9);
  }
}
