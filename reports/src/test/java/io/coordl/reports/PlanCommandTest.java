package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PlanCommandTest {
  private static final Path MODELS =
      Path.of(Files.isDirectory(Path.of("examples")) ? "examples" : "../examples")
          .resolve("cluster/models.json");
  private static final String POOL =
      """
      pools:
        - gpu: v100
          servers: 2
          gpusPerServer: 8
          cores: 24
          memory: 500GiB
          storage: 500MB/s
      """;

  @TempDir Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int plan(String cluster, String... arguments) throws Exception {
    Path file = directory.resolve("cluster.yaml");
    Files.writeString(file, cluster);
    List<String> all = new ArrayList<>(List.of("plan", file.toString()));
    Collections.addAll(all, arguments);
    return Coordl.run(
        new PrintWriter(out, true),
        new PrintWriter(err, true),
        Terminal.NONE,
        all.toArray(String[]::new));
  }

  private static String job(String model, String... more) {
    return String.join(",", MODELS + "#" + model, String.join(",", more)).replaceAll(",$", "");
  }

  private static Schema schema() throws Exception {
    try (InputStream file =
        Coordl.class.getResourceAsStream("/io/coordl/reports/plan/plan.schema.json")) {
      return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(file);
    }
  }

  @Test
  void theJsonComparesTheAllocationsAndPlacesTheJobs() throws Exception {
    int status = plan(POOL, job("alexnet", "count=3"), job("gnmt", "gpus=4"), "--json");

    assertThat(status).as(err.toString()).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode pool = JsonMapper.shared().readTree(out.toString()).at("/pools/0");
    assertThat(pool.at("/jobs").size()).isEqualTo(4);
    assertThat(pool.at("/jobs/0/name").asString()).isEqualTo("alexnet-1");
    assertThat(pool.at("/jobs/0/speed").asDouble()).isGreaterThan(1.9);
    assertThat(pool.at("/jobs/3/servers/0/gpus").asInt()).isEqualTo(4);
    assertThat(pool.at("/compared/0/speeds").asDouble()).isEqualTo(4);
    assertThat(pool.at("/compared/3/ofBound").asDouble()).isEqualTo(1);
    assertThat(pool.at("/compared/2/ofBound").asDouble()).isBetween(0.9, 1.000001);
  }

  @Test
  void aJobWithoutFreeGpusWaits() throws Exception {
    assertThat(plan(POOL, job("gnmt", "gpus=12"), job("lstm", "gpus=8"), job("alexnet"))).isZero();

    assertThat(out.toString()).contains("lstm").containsPattern("lstm +8 +waits");
    assertThat(out.toString()).contains("the bound");
  }

  @Test
  void aRecordingCanBePlannedAsAJob() throws Exception {
    Path recording = directory.resolve("mine.jfr");
    Recordings.record(recording, Profiles::emitSerial);

    assertThat(plan(POOL, recording + ",memory=20GiB", "--json")).as(err.toString()).isZero();

    JsonNode job = JsonMapper.shared().readTree(out.toString()).at("/pools/0/jobs/0");
    assertThat(job.at("/name").asString()).isEqualTo("mine");
    assertThat(job.at("/memoryGib").asDouble()).isBetween(20.0, 21.0);
  }

  @Test
  void aLongNameDoesNotEndInAHyphen() throws Exception {
    String name = "x".repeat(55);

    assertThat(plan(POOL, job("alexnet", "name=" + name + "-y"), "--json")).isZero();

    assertThat(JsonMapper.shared().readTree(out.toString()).at("/pools/0/jobs/0/name").asString())
        .isEqualTo(name);
  }

  // ---- bad input: one sentence with the line and the value

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpusPerServer: 8|gpusPerServer: 0|line 4: gpusPerServer is '0', not a whole number",
        "servers: 2|servers: 200000|line 3: servers is '200000'",
        "memory: 500GiB|memory: 500MB/s|line 6: memory is '500MB/s': a size such as 500GiB",
        "storage: 500MB/s|storage: 500GiB|line 7: storage is '500GiB': a rate such as 500MB/s",
        "cores: 24|cores: 24GiB|line 5: cores is '24GiB': a number of cores",
        "cores: 24|cores: -3|line 5: cores is '-3'",
        "cores: 24|colours: 24|line 5: 'colours' is not one of gpu, servers,",
        "cores: 24|servers: 24|line 5: 'servers' appears twice",
        "cores: 24|cores: [24]|line 5: a single value was expected",
        "pools:|pool:|line 1: 'pool' is not one of pools",
        "  - gpu|  gpu|line 3, is not YAML: mapping values are not allowed here",
        "cores: 24|cores: 'a|is not YAML",
      })
  void aWrongClusterFileGetsOneSentence(String right, String wrong, String sentence)
      throws Exception {
    String expected = sentence;
    assertThat(plan(POOL.replace(right, wrong), job("gnmt")))
        .isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains("cluster.yaml", expected);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aClusterFileWithoutPoolsGetsOneSentence() throws Exception {
    for (String cluster : List.of("pools: 7\n", "pools: []\n", "{}\n", "\n")) {
      assertThat(plan(cluster, job("gnmt"))).isEqualTo(ExitStatus.BAD_INPUT.code());
    }
    assertThat(err.toString().lines())
        .hasSize(4)
        .allMatch(line -> line.contains("'pools:' with a list of servers was expected"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "#gnmt,gpus=17|the job 'gnmt' needs 17 GPUs, but the cluster has 16 of its type",
        "#gnmt,gpus=0|gpus is '0', not a whole number",
        "#gnmt,gpus=2,gpus=3|gpus is given twice",
        "#gnmt,gpu=a100|the job 'gnmt' requests the GPU 'a100', but the cluster has [v100]",
        "#gnmt,memory=70GiB|the job 'gnmt' needs 70.0 GiB besides its cache; its proportional"
            + " share",
        "#gnmt,memory=7MB/s|memory is '7MB/s': a size such as 500GiB was expected",
        "#gnmt,cores=7|'cores=7' is not one of gpus=",
        "#nomodel|'nomodel' is not a model of the file",
        "''|no model is named",
      })
  void aWrongJobGetsOneSentence(String job, String sentence) throws Exception {
    assertThat(plan(POOL, MODELS + (job == null ? "" : job.replace("''", ""))))
        .isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains(sentence);
  }

  @Test
  void theUpperBoundIsNotAcceptedAsAPlan() throws Exception {
    assertThat(plan(POOL, job("gnmt"), "--allocation", "opt"))
        .isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString()).contains("--allocation opt is a bound");
  }

  @Test
  void aRecordingThatIsTooShortGetsOneSentence() throws Exception {
    Path recording = directory.resolve("short.jfr");
    Recordings.record(recording, () -> Recordings.emitTotals(1, 100, 70, 40));

    assertThat(plan(POOL, recording.toString())).isEqualTo(5);
    assertThat(err.toString())
        .contains("short.jfr contains too little: the recording needs a complete epoch");
  }

  @Test
  void ifOneFileExistsNoneIsWritten() throws Exception {
    Path plan = directory.resolve("plan");
    Files.createDirectories(plan);
    Files.writeString(plan.resolve("gnmt-job.yaml"), "mine");

    int status = plan(POOL, job("alexnet"), job("gnmt"), "-o", plan.toString());

    assertThat(status).isEqualTo(ExitStatus.UNWRITABLE.code());
    assertThat(err.toString()).contains("already exists");
    try (var files = Files.list(plan)) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void aRecordedJobWithoutItsOwnMemoryIsNotWritten() throws Exception {
    Path recording = directory.resolve("mine.jfr");
    Recordings.record(recording, Profiles::emitSerial);
    Path plan = directory.resolve("plan");

    assertThat(plan(POOL, recording.toString(), "-o", plan.toString()))
        .isEqualTo(ExitStatus.BAD_INPUT.code());

    assertThat(err.toString()).contains("the job 'mine' has no memory=SIZE");
    assertThat(plan).doesNotExist();
  }
}
