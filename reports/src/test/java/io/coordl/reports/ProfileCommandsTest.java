package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.differential.Differential;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code coordl diff} and {@code coordl whatif} as users run them. */
class ProfileCommandsTest {
  private static final int WIDTH = 100;

  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(Object... arguments) {
    String[] words = List.of(arguments).stream().map(Object::toString).toArray(String[]::new);
    return Coordl.run(new PrintWriter(out), new PrintWriter(err), Terminal.NONE, words);
  }

  private Path record(String name, Runnable events) throws Exception {
    return Recordings.record(folder.resolve(name), events);
  }

  private static Schema schema(Class<?> report, String name) {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(report.getResourceAsStream(name));
  }

  private JsonNode validWhatIf() {
    assertThat(
            schema(WhatIf.class, "whatif.schema.json").validate(out.toString(), InputFormat.JSON))
        .isEmpty();
    return JsonMapper.shared().readTree(out.toString());
  }

  private JsonNode validDifferential() {
    assertThat(
            schema(Differential.class, "differential.schema.json")
                .validate(out.toString(), InputFormat.JSON))
        .isEmpty();
    return JsonMapper.shared().readTree(out.toString());
  }

  @Test
  void theProfileIsATable() throws Exception {
    assertThat(coordl("diff", record("all.jfr", Profiles::emitSerial))).isZero();

    assertThat(out.toString().lines().skip(1).limit(15).toList())
        .containsExactly(
            "Program     my.Train --epochs 3, DJL 0.35.1, prepares on the training thread",
            "Phase               workers  warm-up     steps     a sample          ±   samples/s",
            "  ingestion               0        5       100       2.0 ms    20.0 us   500 ± 5",
            "  cached                  0        5       100       5.0 ms    50.0 us   200 ± 2",
            "  cold                    0        5       100       6.0 ms    60.0 us   167 ± 2",
            "  fetch                   1        5       100       1.0 ms    10.0 us   1,000 ± 10",
            "  prep                    1        5       100       3.0 ms    30.0 us   333 ± 3",
            "  prep                    2        5       100       1.5 ms    15.0 us   667 ± 7",
            "Where an epoch's time goes          from phases       live   difference",
            "  compute                          33.3 ± 0.5 %     33.3 %         +0.0",
            "  prep stall                       48.3 ± 1.0 %     50.0 %         +1.7",
            "  fetch stall                      16.7 ± 1.2 %     12.5 %         -4.2",
            "  GC stall                          1.7 ± 0.0 %      1.7 %         +0.0",
            "  queueing                                    -      2.5 %            -",
            "  checkpoint                                  -      0.0 %            -");
    assertThat(out.toString())
        .contains(
            "Rates       ingestion G 500 ± 5, prep P 333 ± 3, fetch F 1,000 ± 10 samples/s",
            "Limit       the largest part is prep stall");
  }

  @Test
  void theJsonOfDiffMatchesItsSchema() throws Exception {
    assertThat(coordl("diff", "--json", record("all.jfr", Profiles::emitSerial))).isZero();

    JsonNode json = validDifferential();
    assertThat(json.at("/ingestionRate/value").asDouble()).isEqualTo(500);
    assertThat(json.at("/shares/1/part").asString()).isEqualTo("prepStall");
    assertThat(json.at("/limit").asString()).isEqualTo("prepStall");
  }

  @Test
  void threeRecordingsAreComparedAndAnOrdinaryOneIsShownBesideThem() throws Exception {
    Path ingestion = record("i.jfr", () -> Profiles.emitPhase("ingestion", 1, 2e6, 0, 0));
    Path cached = record("p.jfr", () -> Profiles.emitPhase("cached", 1, 2e6, 0, 0));
    Path cold = record("c.jfr", () -> Profiles.emitPhase("cold", 1, 8e6, 0, 0));
    Path job = record("job.jfr", Recordings::emitJob);

    assertThat(coordl("diff", "--json", "--live", job, ingestion, cached, cold)).isZero();

    JsonNode json = validDifferential();
    assertThat(json.at("/live/of").asString()).isEqualTo("job");
    assertThat(json.at("/missing/0/figure").asString()).isEqualTo("prep rate P");
    assertThat(json.at("/shares/2/share/value").asDouble()).isEqualTo(0.75);
  }

  @Test
  void everyQuestionIsAnsweredInColumnsThatFit() throws Exception {
    Path workers = record("all.jfr", Profiles::emitWorkers);

    assertThat(coordl("whatif", workers)).as(err.toString()).isZero();

    List<String> lines = out.toString().lines().toList();
    assertThat(lines.stream().skip(1)).allMatch(line -> line.length() <= WIDTH);
    assertThat(lines)
        .contains(
            "1  Best size of a MinIO cache",
            "9  Several hosts with a partitioned cache",
            "10  Samples to the hosts that cache them")
        .anyMatch(line -> line.startsWith("   x* = 71 ± 1 % of the data set (681.2 MiB): 1,000"))
        .contains("   Try: -javaagent:coordl-agent.jar=cache=minio,cache.size=477m")
        .anyMatch(line -> line.matches(" +cache +MinIO +random replacement +least recently used"))
        .anyMatch(line -> line.matches(" +50 % +769 ± 6 +623 ± 5 +560 ± 4"))
        .contains("   speed in samples/s; today: 50 %, 590 ± 33")
        .anyMatch(line -> line.matches(" +hosts +other hosts +if assigned by cache +storage"))
        .anyMatch(
            line -> line.startsWith("   - the network gives each host 1.2 GiB/s (10 Gbit/s by"));
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void theJsonOfWhatIfMatchesItsSchema() throws Exception {
    Path serial = record("all.jfr", Profiles::emitSerial);

    assertThat(coordl("whatif", "--json", serial)).isZero();

    JsonNode json = validWhatIf();
    assertThat(json.at("/answers").size()).isEqualTo(12);
    assertThat(json.at("/answers/0/plot/series/0/points").size()).isEqualTo(21);
    assertThat(json.at("/answers/8/question").asString()).isEqualTo("hosts");
    assertThat(json.at("/answers/8/figure").isMissingNode()).isFalse();
    assertThat(json.at("/answers/9/plot/y/unit").asString()).isEqualTo("share");
    assertThat(json.at("/pipeline/checks/1/predictedNanos/value").asDouble()).isEqualTo(6e6);
  }

  @Test
  void jsonIsAsciiWhateverARecordingContains() throws Exception {
    Path named =
        record(
            "all.jfr",
            () -> {
              Profiles.emitSerial();
              HostEvent host = Profiles.host(4, 500_000_000L, 200_000_000L, 2e6);
              host.storageAccess = "\u00e4";
              host.commit();
              PhaseEvent fetch = Profiles.phase("fetch", 2, 1e6, 1e6, 0);
              fetch.note = "\u00f6";
              fetch.commit();
            });

    assertThat(coordl("whatif", "--json", named)).isZero();
    assertThat(coordl("diff", "--json", named)).isZero();

    assertThat(out.toString()).contains("(\\u00E4)", "\"\\u00F6\"").matches("(?s)\\p{ASCII}*");
  }

  @Test
  void theJsonOfOrdinaryAndEmptyRecordingsMatchesTheSchema() throws Exception {
    assertThat(coordl("whatif", "--json", record("job.jfr", Recordings::emitJob))).isZero();
    assertThat(validWhatIf().at("/pipeline/origin").asString()).isEqualTo("recording");

    out.getBuffer().setLength(0);
    assertThat(coordl("whatif", "--json", record("f.jfr", () -> Recordings.emitFetches(3))))
        .isZero();
    JsonNode nothing = validWhatIf();
    assertThat(nothing.at("/answers").size()).isEqualTo(12);
    nothing
        .at("/answers")
        .forEach(answer -> assertThat(answer.at("/figure").isMissingNode()).isTrue());
  }

  @ParameterizedTest
  @CsvSource({
    "--cache,35%,cacheSize,4",
    "--cores,16,cores,1",
    "--gpu,2.5,gpu,1",
    "--storage,500MB,storage,1",
    "--jobs,4,jobs,1",
    "--hosts,8,hosts,2",
    "--network,1.2GB/s,hosts,2"
  })
  void anOptionSelectsItsQuestions(String option, String value, String question, int answered)
      throws Exception {
    Path serial = record("all.jfr", Profiles::emitSerial);

    assertThat(coordl("whatif", "--json", option, value, serial)).as(err.toString()).isZero();

    JsonNode answers = validWhatIf().at("/answers");
    assertThat(answers.size()).isEqualTo(answered);
    assertThat(answers.at("/0/question").asString()).isEqualTo(question);
    assertThat(answers.at("/0/figure").isMissingNode()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "--cache,0%",
    "--cache,120%",
    "--cache,much",
    "--storage,-1",
    "--storage,5x",
    "--jobs,0",
    "--cores,1.5",
    "--gpu,0",
    "--gpu,NaN",
    "--compute-cores,-1",
    "--compute-cores,NaN"
  })
  void aWrongValueGetsOneSentenceAndExitsWithTwo(String option, String value) throws Exception {
    assertThat(coordl("whatif", option, value, folder.resolve("all.jfr"))).isEqualTo(2);

    assertThat(err.toString().lines().findFirst().orElseThrow())
        .startsWith("coordl: Invalid value for option '" + option + "'")
        .contains("'");
    assertThat(err.toString()).doesNotContain("\tat ", "Exception");
  }

  @Test
  void incomparableRecordingsGetOneSentence() throws Exception {
    Path text = Files.writeString(folder.resolve("notes.txt"), "no recording");
    Path job = record("short.jfr", () -> Recordings.emitEpoch(1, Recordings.SECOND, 0));

    assertThat(coordl("diff", text)).isEqualTo(3);
    assertThat(coordl("whatif", text)).isEqualTo(3);
    assertThat(coordl("diff", job)).isEqualTo(5);
    assertThat(coordl("diff", job, job, job)).isEqualTo(5);
    assertThat(err.toString().lines()).hasSize(4).allMatch(line -> line.startsWith("coordl: "));
    assertThat(coordl("diff", job, job)).isEqualTo(2);
    assertThat(coordl("diff")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void helpNamesTheQuestions() {
    assertThat(coordl("help", "whatif")).isZero();
    assertThat(coordl("help", "diff")).isZero();
    assertThat(out.toString())
        .contains("--cache=SIZE", "or 35% of", "--network=RATE", "Exit codes:");
  }
}
