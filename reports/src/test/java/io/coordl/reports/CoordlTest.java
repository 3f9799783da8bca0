package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.recording.ChildJob;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.Summary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CoordlTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(Object... arguments) {
    String[] words = List.of(arguments).stream().map(Object::toString).toArray(String[]::new);
    return Coordl.run(new PrintWriter(out), new PrintWriter(err), Terminal.NONE, words);
  }

  private Path job() throws Exception {
    return Recordings.record(folder.resolve("job.jfr"), Recordings::emitJob);
  }

  @Test
  void theSummaryShowsTheFiguresOfTheJob() throws Exception {
    Path job = job();

    assertThat(coordl("summary", job)).as(err.toString()).isZero();

    assertThat(out.toString().lines().skip(1).toList())
        .containsExactly(
            "Speed       107 samples/s from the second epoch on",
            "Program     my.Train --epochs 3 (pid "
                + ProcessHandle.current().pid()
                + "), DJL 0.35.1, 3 epochs, 300 batches",
            "Where the time went         seconds  % of 130.00 s wall",
            "  compute                     76.00     58.5 %",
            "  data stall                  51.00     39.2 %",
            "    fetch                     42.00     32.3 %",
            "    prep                       6.00      4.6 %",
            "    GC                         0.75      0.6 %",
            "    queueing                   2.25      1.7 %",
            "  checkpoint                   3.00      2.3 %",
            "Epoch           wall s compute s   stall s   fetch s    prep s  files opened",
            "  1              70.00     26.00     43.00     40.00      2.00         1,000",
            "  2              30.00     25.00      4.00      1.00      2.00             0",
            "  3              30.00     25.00      4.00      1.00      2.00             0",
            "Store       raw, process: 256.0 MiB of 1.0 GiB used (25.0 %), 1,000 items, 2,000 hits"
                + " of 3,000 (66.7 %)",
            "Prep group  search: 2 of 3 epochs shared (1 while no other job took part), 20 batches"
                + " from the group, 10 prepared for the group, 3 prepared locally; this job's"
                + " threads wait mostly for job 4711 (1.00 s); 1 more: see --json",
            "Items       3,000 fetched: 2,000 from memory (190.7 MiB), 1,000 from storage"
                + " (95.4 MiB; one file opened for each)",
            "p50 / p99   fetch 2.0 ms / 40.0 ms, decode 3.0 ms / 5.0 ms",
            "Try next    decode each image once with"
                + " -javaagent:coordl-agent.jar=cache=minio,decoded=share: 4.00 s from the second"
                + " epoch on were spent waiting for preparation (on all threads: decode 14.00 s,"
                + " transforms 10.00 s, other 6.00 s); a cache of raw bytes will not help here;"
                + " predicted: at most 1.15x faster.");
    assertThat(out.toString().lines().findFirst()).contains("CoorDL summary of " + job);
    assertThat(err.toString()).isEmpty();
  }

  /** Three epochs with two evaluations between them, as in a DJL job with a validation set. */
  private static void emitWithValidation() {
    Recordings.emitEpoch(1, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
    Recordings.emitEvaluation(2);
    Recordings.emitEpoch(3, 30 * Recordings.SECOND, 1 * Recordings.SECOND);
    Recordings.emitEvaluation(4);
    Recordings.emitEpoch(5, 29 * Recordings.SECOND, 1 * Recordings.SECOND);
  }

  @Test
  void evaluationsDoNotCountAsEpochs() throws Exception {
    Path file = Recordings.record(folder.resolve("validation.jfr"), CoordlTest::emitWithValidation);

    assertThat(coordl("summary", file)).isZero();
    List<String> lines = out.toString().lines().toList();
    assertThat(lines.get(2)).contains("3 epochs, 2 evaluations, 340 batches");
    assertThat(lines)
        .filteredOn(line -> line.matches("  (\\d|eval\\. \\d) .*"))
        .extracting(line -> line.substring(0, 22).strip().replaceAll(" +", " "))
        .containsExactly("1 70.00", "2 30.00", "3 29.00", "eval. 2 8.00");

    out.getBuffer().setLength(0);
    assertThat(coordl("summary", "--json", file)).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/totals/epochs").asLong()).isEqualTo(3);
    assertThat(json.at("/totals/evaluations").asLong()).isEqualTo(2);
    assertThat(json.at("/epochs/1/kind").asString()).isEqualTo("evaluation");
    assertThat(json.at("/epochs/2/kind").asString()).isEqualTo("epoch");
    assertThat(json.at("/epochs/2/number").asLong()).isEqualTo(2);
  }

  @Test
  void decodedImagesCountAsServedFromMemory() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("decoded.jfr"),
            () -> {
              Recordings.emitColdEpoch(1, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
              Recordings.emitDecodedStore(1_200);
            });

    assertThat(coordl("summary", file)).isZero();

    assertThat(out.toString().lines())
        .anyMatch(
            line ->
                line.contains("0 from memory (0 bytes), 1,000 from storage")
                    && line.endsWith("opened for each); 1,200 decoded images from memory"));
  }

  @Test
  void totalsSmallerThanTheEpochsDoNotCount() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("terminated.jfr"),
            () -> {
              Recordings.emitEpoch(1, 74 * Recordings.SECOND, 40 * Recordings.SECOND);
              Recordings.emitTotals(1, 100, 68 * Recordings.SECOND, 40 * Recordings.SECOND);
            });

    assertThat(coordl("summary", file)).isZero();

    assertThat(out.toString().lines())
        .anyMatch(line -> line.endsWith("% of 74.00 s wall"))
        .anyMatch(line -> line.startsWith("  1              74.00"))
        .noneMatch(line -> line.contains("68.00"));
  }

  @Test
  void theLongestSummaryHasAtMostTwentyLines() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("long.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitEpoch(4, Recordings.SECOND, 0);
              Recordings.emitEvaluation(5);
              Recordings.emitPeer("node1:7801", 700, 2);
              Recordings.emitFault("a\nb\tc", "java.io.IOException: " + "x".repeat(1_000));
            });

    assertThat(coordl("summary", "--no-progress", file)).isZero();

    List<String> lines = out.toString().lines().toList();
    assertThat(lines).hasSizeLessThanOrEqualTo(20);
    assertThat(lines)
        .anyMatch(
            line ->
                line.startsWith(
                        "Prep group  search: 2 of 3 epochs shared (1 while no other job took part),"
                            + " 20 batches")
                    && line.contains("wait mostly for job 4711")
                    && line.endsWith("1 more: see --json"))
        .anyMatch(line -> line.startsWith("Faults      1 fault inside the agent"))
        .anyMatch(line -> line.startsWith("  4  "))
        .noneMatch(line -> line.startsWith("  3  "))
        .allMatch(line -> line.length() < 320);
  }

  @Test
  void theSummaryOfSeveralHostsShowsWhereItemsCameFrom() throws Exception {
    Path file = Recordings.record(folder.resolve("peers.jfr"), Recordings::emitPartitionedJob);

    assertThat(coordl("summary", file)).isZero();

    assertThat(out.toString().lines())
        .hasSizeLessThanOrEqualTo(20)
        .contains(
            "Epoch           wall s compute s   stall s   fetch s    prep s  files opened"
                + "  memory / peers / storage",
            "  1              70.00     26.00     43.00     40.00      2.00         1,000"
                + "    0 /   0 / 100 %",
            "  2              30.00     23.00      6.00      3.00      2.00           100"
                + "   30 /  60 /  10 %",
            "Items       3,000 fetched: 600 from memory (57.2 MiB), 1,200 from other hosts"
                + " (114.4 MiB), 1,200 from storage (114.4 MiB; one file opened for each)",
            "Peers       2 hosts queried: 1,200 items found (114.4 MiB, 1.0 ms each), 404 kept"
                + " there, 2 late, 6 failed",
            "p50 / p99   peer found 1.0 ms / 4.0 ms");

    out.getBuffer().setLength(0);
    assertThat(coordl("summary", "--json", file)).isZero();

    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/epochs/1/peerItems").asLong()).isEqualTo(600);
    assertThat(json.at("/totals/peerBytes").asLong()).isEqualTo(120_000_000L);
    assertThat(json.at("/stores/0/peer").asLong()).isEqualTo(1_200);
    assertThat(json.at("/stores/0/peerBytes").asLong()).isEqualTo(120_000_000L);
    assertThat(json.at("/peers/0/peer").asString()).isEqualTo("node1:7801");
    assertThat(json.at("/peers/0/found").asLong()).isEqualTo(700);
    assertThat(json.at("/peers/0/receivedBytes").asLong()).isEqualTo(70_000_000L);
    assertThat(json.at("/peers/0/lostTimeNanos").asLong()).isEqualTo(2_000_000_000L);
    assertThat(json.at("/peers/1/late").asLong()).isZero();
  }

  @Test
  void theJsonMatchesItsSchema() throws Exception {
    assertThat(coordl("summary", "--json", job())).isZero();

    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/schemaVersion").asInt()).isEqualTo(2);
    assertThat(json.at("/speed/samplesPerSecond").asDouble()).isEqualTo(6_400 / 60.0);
    assertThat(json.at("/speed/of").asString()).isEqualTo("from the second epoch on");
    assertThat(json.at("/totals/samples").asLong()).isEqualTo(9_600);
    assertThat(json.at("/epochs/2/samples").asLong()).isEqualTo(3_200);
    assertThat(json.at("/epochs/2/samplesPerSecond").asDouble()).isEqualTo(3_200 / 30.0);
    assertThat(json.at("/program/pid").asLong()).isEqualTo(ProcessHandle.current().pid());
    assertThat(json.at("/totals/origin").asString()).isEqualTo("job");
    assertThat(json.at("/totals/wallNanos").asLong()).isEqualTo(130_000_000_000L);
    assertThat(json.at("/totals/fetchStallNanos").asLong()).isEqualTo(42_000_000_000L);
    assertThat(json.at("/epochs/1/stallNanos").asLong()).isEqualTo(4_000_000_000L);
    assertThat(json.at("/epochs/0/storageBytes").asLong()).isEqualTo(100_000_000L);
    assertThat(json.at("/stores/0/capacityBytes").asLong()).isEqualTo(1L << 30);
    assertThat(json.at("/stores/0/hitRatio").asDouble()).isEqualTo(2.0 / 3);
    assertThat(json.at("/stagings/0/pipeline").asString()).isEqualTo("a1");
    assertThat(json.at("/stagings/0/taken").asLong()).isEqualTo(20);
    assertThat(json.at("/stagings/0/waitedForSlowestNanos").asLong()).isEqualTo(1_000_000_000L);
    assertThat(json.at("/stagings/1/capacityBytes").asLong()).isEqualTo(1L << 30);
    assertThat(json.at("/latencies/1/kind").asString()).isEqualTo("fetch");
    assertThat(json.at("/latencies/1/p99Nanos").asLong()).isEqualTo(40_000_000L);
    assertThat(json.at("/next/finding").asString()).isEqualTo("prepBound");
  }

  @Test
  void theJsonOfAJobWithoutFiguresMatchesItsSchema() throws Exception {
    Path file = Recordings.record(folder.resolve("fetches.jfr"), () -> Recordings.emitFetches(3));

    assertThat(coordl("summary", "--json", file)).isZero();

    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/next/finding").asString()).isEqualTo("nothingMeasured");
    assertThat(json.at("/program/mainClass").isMissingNode()).isTrue();
  }

  @Test
  void withoutBatchSizesNoSpeedIsShown() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("unsized.jfr"),
            () -> {
              Recordings.emitEpoch(1, 70 * Recordings.SECOND, 40 * Recordings.SECOND);
              Recordings.emitUnsizedEpoch(2, 30 * Recordings.SECOND);
            });

    assertThat(coordl("summary", file)).isZero();
    assertThat(out.toString()).doesNotContain("samples/s").doesNotContain("Speed");

    out.getBuffer().setLength(0);
    assertThat(coordl("summary", "--json", file)).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/speed").isMissingNode()).isTrue();
    assertThat(json.at("/totals/samples").isMissingNode()).isTrue();
    assertThat(json.at("/epochs/0/samples").asLong()).isEqualTo(3_200);
    assertThat(json.at("/epochs/1/samples").isMissingNode()).isTrue();
    assertThat(json.at("/epochs/1/samplesPerSecond").isMissingNode()).isTrue();
  }

  @Test
  void theSchemaRefusesUnknownFields() {
    assertThat(schema().validate("{\"schemaVersion\": 1, \"extra\": 1}", InputFormat.JSON))
        .isNotEmpty();
  }

  @Test
  void afterACrashTheEpochsReplaceMissingTotals() throws Exception {
    Path dead = ChildJob.die(folder.resolve("dead.jfr"));

    assertThat(coordl("summary", "--json", dead)).isZero();

    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/recording/endsEarly").asBoolean()).isTrue();
    assertThat(json.at("/totals/origin").asString()).isEqualTo("epochs");
    assertThat(json.at("/totals/wallNanos").asLong()).isEqualTo(100_000_000_000L);
    assertThat(json.at("/totals/batches").asLong()).isEqualTo(200);

    assertThat(coordl("summary", dead)).isZero();

    assertThat(out.toString())
        .contains("dead.jfr (ends early: its JVM was killed, or kept running)")
        .contains("2 epochs, 200 batches (sum of the finished epochs)");
  }

  @Test
  void anUnreadableFileGetsOneSentenceAndAnExitCode() throws Exception {
    Path text = Files.writeString(folder.resolve("@notes.txt"), "no recording");

    assertThat(coordl("summary", text)).isEqualTo(3);

    assertThat(err.toString())
        .isEqualTo(
            "coordl: " + text + " is not a Flight Recorder recording." + System.lineSeparator());
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void theReportIsASingleFile() throws Exception {
    Path page = folder.resolve("report.html");

    assertThat(coordl("report", job(), "-o", page)).as(err.toString()).isZero();

    assertThat(page).content().startsWith("<!DOCTYPE html>").contains("\"recordings\":[{");
    assertThat(out.toString()).isEqualTo(page + System.lineSeparator());
    assertThat(folder.toFile().list()).containsExactlyInAnyOrder("job.jfr", "report.html");
  }

  @Test
  void anUnwritableReportGetsOneSentenceAndAnExitCode() throws Exception {
    Path job = job();
    Path there = Files.writeString(folder.resolve("there.html"), "mine");
    Path nowhere = folder.resolve("no/report.html");

    assertThat(coordl("report", job, "-o", there)).isEqualTo(74);
    assertThat(coordl("report", job, "-o", nowhere)).isEqualTo(74);
    assertThat(coordl("report", job, "-o", folder)).isEqualTo(74);
    assertThat(coordl("report", job, "-o", "-")).isEqualTo(74);
    assertThat(coordl("report", job, "-o", "/proc/x.html")).isEqualTo(74);
    assertThat(coordl("report", job, "-o", job, "--force")).isEqualTo(74);
    assertThat(coordl("report", folder.resolve("no.jfr"), "-o", there, "--force")).isEqualTo(1);

    assertThat(err.toString().lines())
        .containsExactly(
            "coordl: "
                + there
                + " already exists: name another file, or overwrite it with --force.",
            "coordl: "
                + nowhere
                + " cannot be written: there is no directory "
                + nowhere.getParent()
                + "; create it first.",
            "coordl: " + folder + " is a directory: name the file to write in it.",
            "coordl: - is not a file, and this command does not write to stdout: name a file.",
            "coordl: /proc/x.html cannot be written: no file can be created in /proc"
                + " (NoSuchFileException).",
            "coordl: " + job + " is the recording itself: name another file to write.",
            "coordl: " + folder.resolve("no.jfr") + " does not exist.");
    assertThat(there).hasContent("mine");
    assertThat(coordl("report", job, "-o", there, "--force")).isZero();
    assertThat(there).content().startsWith("<!DOCTYPE html>");
    assertThat(coordl("report", job)).isZero();
    Path beside = Path.of(job.toString().replace(".jfr", ".html"));
    assertThat(beside).content().startsWith("<!DOCTYPE html>");
    assertThat(coordl("report", job)).isEqualTo(74); // The page exists.
  }

  @Test
  void thePlusMinusSignFitsTheTerminalsCharset() {
    assertThat(written(StandardCharsets.UTF_8)).isEqualTo("1 \u00b1 2 \u00fc");
    assertThat(written(StandardCharsets.ISO_8859_1)).isEqualTo("1 \u00b1 2 \u00fc");
    assertThat(written(StandardCharsets.US_ASCII)).isEqualTo("1 +- 2 ?");
  }

  private static String written(Charset charset) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintWriter writer = Coordl.writer(bytes, false, charset)) {
      writer.println("1 \u00b1 2 \u00fc");
    }
    return bytes.toString(charset).strip();
  }

  @Test
  void theWindowsScriptHasTheSameJvmOptions() throws IOException {
    Pattern option = Pattern.compile("-X[\\w:+]+");
    assertThat(options(option, Path.of("distribution/src/coordl.bat")))
        .isEqualTo(options(option, Path.of("src/main/scripts/coordl")))
        .hasSize(4);
  }

  private static Set<String> options(Pattern option, Path script) throws IOException {
    return option
        .matcher(Files.readString(script))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toSet());
  }

  @Test
  void severalRecordingsGetALineEachSlowestFirst() throws Exception {
    Path several = Files.createDirectory(folder.resolve("several"));
    Recordings.record(several.resolve("a.jfr"), Recordings::emitJob);
    Recordings.record(
        several.resolve("b.jfr"),
        () -> {
          Recordings.emitEpoch(1, 99 * Recordings.SECOND, Recordings.SECOND);
          Recordings.emitTotals(1, 100, 99 * Recordings.SECOND, Recordings.SECOND);
        });

    assertThat(coordl("summary", several)).as(err.toString()).isZero();
    assertThat(out.toString().lines().toList())
        .hasSize(3)
        .satisfies(lines -> assertThat(lines.get(1)).startsWith("     32.3 ").endsWith("b.jfr"))
        .satisfies(
            lines ->
                assertThat(lines.get(2)).startsWith("      107 ").endsWith("a.jfr  cache=minio"));

    out.getBuffer().setLength(0);
    assertThat(coordl("summary", "--json", several)).isZero();
    JsonNode all = JsonMapper.shared().readTree(out.toString());
    assertThat(all).hasSize(2);
    all.forEach(one -> assertThat(schema().validate(one.toString(), InputFormat.JSON)).isEmpty());

    Path page = folder.resolve("all.html");
    assertThat(coordl("report", several, "-o", page)).as(err.toString()).isZero();
    assertThat(page).content().contains("\"a.jfr\"", "\"b.jfr\"");

    Files.writeString(several.resolve("broken.jfr"), "no recording");
    assertThat(coordl("summary", several)).isEqualTo(3);
    assertThat(out.toString()).contains("a.jfr", "b.jfr");
    assertThat(coordl("report", several, "-o", page, "--force")).isEqualTo(3);
    assertThat(page)
        .content()
        .contains("\"a.jfr\"", "\"b.jfr\"")
        .contains("broken.jfr is not a Flight Recorder recording")
        .contains("\"The others are compared with b.jfr.\"");
    assertThat(err.toString().split("broken.jfr is not a Flight Recorder recording", -1))
        .hasSize(3);
    Path broken = several.resolve("broken.jfr");
    assertThat(coordl("report", broken, several.resolve("b.jfr"), "-o", page, "--force"))
        .isEqualTo(3);
    assertThat(page)
        .content()
        .contains("broken.jfr is not a Flight Recorder recording")
        .contains("\"This page shows only b.jfr and compares nothing.\"");
    assertThat(coordl("report", broken, "-o", page, "--force")).isEqualTo(3);
    Path lines = folder.resolve("two\nlines.html");
    assertThat(coordl("report", several.resolve("a.jfr"), "-o", lines)).isZero();
    assertThat(out.toString()).endsWith("two lines.html" + System.lineSeparator());
    assertThat(coordl("report", several.resolve("a.jfr"), "-o", lines)).isEqualTo(74);
    assertThat(err.toString()).contains("two lines.html already exists");
    assertThat(coordl("summary", Files.createDirectory(folder.resolve("empty")))).isEqualTo(1);
    assertThat(err.toString()).contains("is a directory without recordings");
  }

  @Test
  void aFullDiskIsNotReportedAsADamagedRecording() throws Exception {
    Path file = Recordings.record(folder.resolve("many.jfr"), () -> Recordings.emitFetches(10_000));
    // The temporary files that are renamed when they are complete.
    for (String name : List.of("many.json", "many.html")) {
      String part = "." + name + "." + ProcessHandle.current().pid();
      Files.createSymbolicLink(folder.resolve(part), Path.of("/dev/full"));
    }

    assertThat(coordl("export", file, "-o", folder.resolve("many.json"))).isEqualTo(74);
    assertThat(coordl("report", file, "-o", folder.resolve("many.html"))).isEqualTo(74);
    assertThat(err.toString().lines())
        .hasSize(2)
        .allMatch(line -> line.endsWith(" cannot be written: No space left on device."));
    assertThat(folder).isDirectoryNotContaining("glob:**.{json,html}");
  }

  @Test
  void thePageShowsTheSlowestOfManyRecordings() throws Exception {
    Path many = Files.createDirectory(folder.resolve("many"));
    for (int rank = 1; rank <= 8; rank++) {
      long wall = 100 * Recordings.SECOND / rank;
      Recordings.record(
          many.resolve("rank" + rank + ".jfr"),
          () -> {
            Recordings.emitEpoch(1, wall, Recordings.SECOND);
            Recordings.emitTotals(1, 100, wall, Recordings.SECOND);
          });
    }
    Path page = folder.resolve("many.html");

    assertThat(coordl("report", many, "-o", page)).as(err.toString()).isZero();

    Matcher data =
        Pattern.compile("(?s)id=\"data\">(.*?)</script>").matcher(Files.readString(page));
    assertThat(data.find()).isTrue();
    JsonNode report = JsonMapper.shared().readTree(data.group(1));
    assertThat(report.at("/recordings").valueStream().map(one -> one.get("name").asString()))
        .containsExactly(
            "rank1.jfr", "rank2.jfr", "rank3.jfr", "rank4.jfr", "rank5.jfr", "rank6.jfr");
    assertThat(report.at("/compared/0").asString())
        .isEqualTo(
            "These are the slowest 6 of 8: coordl summary shows the speed and the waits of all.");
    assertThat(report.at("/advised/recording").asInt()).isZero();
    assertThat(report.at("/advised/as").asString()).isEqualTo("slowest");
  }

  @Test
  void dumpingAMissingJobGetsOneSentenceAndAnExitCode() {
    assertThat(coordl("dump", 99_999_999)).isEqualTo(1);
    assertThat(err.toString().strip()).isEqualTo("coordl: there is no process 99999999 here.");
    assertThat(coordl("dump", "mine")).isEqualTo(2);
    assertThat(err.toString()).contains("'mine' is not a long");
  }

  @Test
  void aWrongCommandLineExitsWithTwo() {
    assertThat(coordl()).isEqualTo(2);
    assertThat(coordl("summary")).isEqualTo(2);
    assertThat(coordl("compare", "a.jfr")).isEqualTo(2);
    assertThat(coordl("summary", "--yaml", "a.jfr")).isEqualTo(2);
    assertThat(coordl("sumary", "a.jfr")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean").doesNotContain("\tat ");
  }

  private Path recorded(String name, String prefetch, double millis) throws Exception {
    return Recordings.record(
        folder.resolve(name),
        () -> {
          Recordings.emitConfiguration("prefetch", prefetch);
          double[] nanos = new double[100];
          Arrays.setAll(nanos, i -> millis * (1e6 + 1e4 * (i * 7 % 11)));
          Recordings.emitSteps(1, nanos);
          Recordings.emitEpoch(1, 100 * Recordings.SECOND, 0);
          Recordings.emitTotals(1, 100, 100 * Recordings.SECOND, 0);
        });
  }

  @Test
  void runsBeforeTheDashesAreComparedWithThoseAfter() throws Exception {
    Path one = recorded("a1.jfr", "off", 30);
    Path two = recorded("a2.jfr", "off", 30.3);
    Path three = recorded("b1.jfr", "2", 10);
    Path four = recorded("b2.jfr", "2", 10.1);

    assertThat(coordl("compare", one, two, "--", three, four)).as(err.toString()).isZero();
    assertThat(out.toString()).contains(" are 3.00x as fast as ", ", by 2 and 2 runs");
    out.getBuffer().setLength(0);
    assertThat(coordl("compare", "--json", one, "--", three)).isZero();
    JsonNode compared = JsonMapper.shared().readTree(out.toString());
    // Each side has one more run of the same kind in the directory, so four runs count.
    assertThat(compared.at("/comparisons/0/equalRuns/runs").asInt()).isEqualTo(4);
    assertThat(compared.at("/comparisons/0/timesAsFast/from").asString()).isEqualTo("steps");

    assertThat(coordl("compare", one, one, "--", three)).isEqualTo(2);
    assertThat(err.toString()).contains("a1.jfr is named twice on one side");
    assertThat(coordl("compare", one, two, "--")).isEqualTo(2);
    assertThat(coordl("compare", "--", one, two)).isEqualTo(2);
    assertThat(err.toString()).contains("those after -- with those before it");
    assertThat(coordl("compare", one, three, "--", four)).isEqualTo(9);
    assertThat(err.toString())
        .contains("the runs of one side must be alike: prefetch=2 (was off); --different");
    assertThat(coordl("compare", "--different", one, three, "--", four)).isZero();
  }

  @Test
  void differentJobsAreNotCompared() throws Exception {
    Path one = recorded("one.jfr", "off", 30);
    Path other =
        Recordings.record(
            folder.resolve("other.jfr"),
            () -> {
              Recordings.emitDoubleSizeEpoch(1, Recordings.SECOND);
              Recordings.emitOtherTotals(1, Recordings.SECOND);
            });

    assertThat(coordl("compare", one, other)).isEqualTo(9);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .contains("is not of the same job as", "main class=my.Other (was my.Train)");
    assertThat(coordl("compare", one, other, "--different")).isZero();
    assertThat(out.toString()).contains("x as fast");
    Path page = folder.resolve("both.html");
    assertThat(coordl("report", one, other, "-o", page)).as(err.toString()).isZero();
    assertThat(page)
        .content()
        .contains(
            "so their speeds are not compared: data set=my.OtherImages (was my.Images), main"
                + " class=my.Other");
  }

  @Test
  void helpNamesCommandsAndExitCodes() {
    assertThat(coordl("--help")).isZero();
    assertThat(coordl("help", "summary")).isZero();
    assertThat(coordl("--version")).isZero();
    assertThat(coordl("generate-completion")).isZero();
    assertThat(out.toString())
        .contains("Usage: coordl [-hV] COMMAND", "Usage: coordl summary", "FILE.jfr")
        .contains("  0   success", "  2   the command line is wrong")
        .contains("  4   the recording is damaged or cut off", "141   the reader of the output")
        .contains("coordl (not packaged)", "complete -F _complete_coordl");
  }

  /** A new sub-command gets all this, except its description, without code of its own. */
  @Test
  void everyCommandHasHelpVersionAndExitCodes() {
    CommandLine commandLine = Coordl.commandLine(Terminal.NONE);
    Map<String, CommandLine> commands = new HashMap<>(commandLine.getSubcommands());
    // Both are picocli's own.
    commands.remove("help");
    commands.remove("generate-completion");
    assertThat(commands).containsKey("summary");
    commands.forEach(
        (name, command) -> {
          assertThat(command.getCommandSpec().findOption("--help")).as(name).isNotNull();
          assertThat(command.getCommandSpec().findOption("--version")).as(name).isNotNull();
          assertThat(command.getUsageMessage())
              .as(name)
              .contains("Exit codes:", "141   the reader");
          assertThat(command.getCommandSpec().usageMessage().description()).as(name).isNotEmpty();
          assertThat(command.getUsageMessage().lines())
              .as(name)
              .allMatch(line -> line.length() <= 80);
        });
  }

  @Test
  void helpIsTheSameWithOnlyItsCommandRegistered() {
    CommandLine all = Coordl.commandLine(Terminal.NONE);

    assertThat(coordl("--help")).isZero();
    assertThat(out.toString()).isEqualTo(all.getUsageMessage());
    assertThat(all.getSubcommands()).hasSizeGreaterThan(9);
    all.getSubcommands()
        .forEach(
            (name, command) ->
                assertThat(
                        Coordl.commandLine(Terminal.NONE, name)
                            .getSubcommands()
                            .get(name)
                            .getUsageMessage())
                    .isEqualTo(command.getUsageMessage()));
  }

  @Test
  void aWrongOptionGetsASuggestionAndAPointerToHelp() {
    assertThat(coordl("summary", "--jsn", "a.jfr")).isEqualTo(2);

    assertThat(err.toString().lines())
        .containsExactly(
            "coordl: Unknown option: '--jsn'",
            "Possible solutions: --json",
            "Try 'coordl summary --help' for more information.");
  }

  @Test
  void coloursAndWidthFollowTheTerminal() {
    Map<String, String> xterm = Map.of("TERM", "xterm", "COLUMNS", "100");
    assertThat(terminal(xterm, true)).isEqualTo(new Terminal(true, 100));
    assertThat(terminal(xterm, false)).isEqualTo(new Terminal(false, 100));
    assertThat(terminal(Map.of("TERM", "xterm", "NO_COLOR", "1"), true).colours()).isFalse();
    assertThat(terminal(Map.of("TERM", "xterm", "NO_COLOR", ""), true).colours()).isTrue();
    assertThat(terminal(Map.of("TERM", "dumb"), true).colours()).isFalse();
    assertThat(terminal(Map.of(), true)).isEqualTo(new Terminal(false, 90));
    assertThat(terminal(Map.of("COLUMNS", "wide"), false)).isEqualTo(Terminal.NONE);
    assertThat(terminal(Map.of("COLUMNS", "3"), true)).isEqualTo(new Terminal(false, 55));
    assertThat(terminal(Map.of("COLUMNS", "999"), true)).isEqualTo(new Terminal(false, 999));
    assertThat(new Terminal(false, 999).columns()).isEqualTo(120);
    assertThat(new Terminal(false, 90).columns()).isEqualTo(90);
  }

  private static Terminal terminal(Map<String, String> environment, boolean terminal) {
    return Terminal.of(environment, terminal, new Terminal.Size(40, 90));
  }

  @Test
  void aTerminalGetsColoursAndLinesThatFitIt() throws Exception {
    Path job = job();
    assertThat(coordl("summary", job)).isZero();
    String plain = out.toString();
    out.getBuffer().setLength(0);

    Terminal terminal = new Terminal(true, 70);
    for (List<String> command :
        List.of(
            List.of("summary", job.toString()),
            List.of("summary", job.toString(), job.toString()),
            List.of("compare", job.toString(), job.toString()),
            List.of("whatif", job.toString()))) {
      int before = out.getBuffer().length();
      assertThat(
              Coordl.run(
                  new PrintWriter(out),
                  new PrintWriter(err),
                  terminal,
                  command.toArray(String[]::new)))
          .as("%s: %s", command, err)
          .isZero();
      assertThat(out.getBuffer().substring(before)).as("%s", command).contains("\u001b[");
    }
    String dressed = out.toString().replaceAll("\u001b\\[\\d+m", "");
    // No word is lost, and a line exceeds the width only if a single word is too long.
    assertThat(dressed.replaceAll("\\s+", " ")).startsWith(plain.replaceAll("\\s+", " "));
    assertThat(dressed.lines())
        .allMatch(line -> line.length() <= 70 || !line.strip().substring(0, 30).contains(" "));
    assertThat(dressed).contains("(25.0 %), 1,000\n            items, 2,000 hits");
    assertThat(out.toString())
        .contains("\u001b[32mTry next    ", "\u001b[1mSpeed\u001b[0m       107");
  }

  @Test
  void linesBeyondTheTerminalAreCutAndCounted() {
    List<String> lines = List.of("first", "second", "third", "fourth");

    assertThat(Terminal.Size.parse("5 4\n").clip(lines))
        .containsExactly("firs", "seco", "thir", "four");
    assertThat(Terminal.Size.parse("4 80").clip(lines))
        .containsExactly(
            "first", "second", "... 2 more lines: to show less, name a job or a group");
    assertThat(Terminal.Size.parse("0 0").clip(lines)).isEqualTo(lines);
    assertThat(Terminal.Size.parse("stty: standard input").clip(lines)).isEqualTo(lines);
  }

  @Test
  void everyExitStatusHasItsOwnCode() {
    List<Integer> codes = Arrays.stream(ExitStatus.values()).map(ExitStatus::code).toList();
    assertThat(codes).doesNotHaveDuplicates();
  }

  @Test
  void theProgressBarIsErased() {
    try (ProgressBar bar = new ProgressBar(new PrintWriter(err), true)) {
      bar.accept(0.5);
      bar.accept(0.501);
    }
    assertThat(err.toString())
        .isEqualTo(
            "\r[" + "#".repeat(20) + " ".repeat(20) + "] 50 %" + "\r" + " ".repeat(48) + "\r");
  }

  private static Schema schema() {
    InputStream text = Summary.class.getResourceAsStream("summary.schema.json");
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(text);
  }
}
