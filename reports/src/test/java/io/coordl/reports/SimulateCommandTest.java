package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.recording.ExitStatus;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SimulateCommandTest {
  private static final Path TABLES =
      Path.of(Files.isDirectory(Path.of("examples")) ? "examples" : "../examples", "cluster");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int simulate(String... arguments) {
    List<String> all = new ArrayList<>(List.of("simulate", "--models", TABLES + "/models.json"));
    Collections.addAll(all, arguments);
    return Coordl.run(
        new PrintWriter(out), new PrintWriter(err), Terminal.NONE, all.toArray(String[]::new));
  }

  private static Schema schema() throws Exception {
    try (InputStream file =
        Coordl.class.getResourceAsStream("/io/coordl/reports/cluster/simulate.schema.json")) {
      return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(file);
    }
  }

  @Test
  void theJsonHasTheReleasedSimulatorsTimes() throws Exception {
    int status =
        simulate(
            "--released",
            "--jobs",
            TABLES + "/static-100.csv",
            "--cluster",
            "4x8,cores=24,memory=500,storage=500",
            "--policy",
            "fifo",
            "--allocation",
            "tune",
            "--all-at-start",
            "--json");
    assertThat(status).as(err.toString()).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/jobs").size()).isEqualTo(100);
    assertThat(json.at("/jobs/3/id").asLong()).isEqualTo(3);
    assertThat(json.at("/jobs/3/jctSeconds").asDouble()).isEqualTo(17100.997);
    assertThat(json.at("/makespanSeconds").asDouble()).isEqualTo(39601);
  }

  @Test
  void severalRunsGetALineEach() throws Exception {
    String[] options = {
      "--load",
      "2",
      "--cluster",
      "4x8",
      "--measure",
      "20-59",
      "--seeds",
      "2",
      "--policy",
      "FIFO,srtf",
      "--allocation",
      "proportional,greedy,tune"
    };
    assertThat(simulate(options)).as(err.toString()).isZero();
    List<String> lines = out.toString().lines().toList();
    assertThat(lines).hasSize(10);
    assertThat(lines.get(0))
        .isEqualTo(
            "40 jobs (20 to 59 of a workload of 2 jobs an hour, seeds 1 to 2) on 4 servers, each"
                + " with 8 GPUs, 24 cores, 500 GiB, 500 MB/s");
    assertThat(lines.get(2)).matches("fifo +proportional +\\d+\\.\\d\\d \u00b1 \\d+\\.\\d\\d .*");
    assertThat(lines.get(7)).startsWith("srtf    tune ");
    assertThat(lines.get(8))
        .matches("fifo: mean JCT, proportional / tune: \\d\\.\\d\\d \u00b1 \\d\\.\\d\\d");

    out.getBuffer().setLength(0);
    List<String> withJson = new ArrayList<>(List.of(options));
    withJson.add("--json");
    assertThat(simulate(withJson.toArray(String[]::new))).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    assertThat(JsonMapper.shared().readTree(out.toString()).at("/runs").size()).isEqualTo(12);
  }

  @Test
  void eachLoadIsDrawn(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("loads.html");
    assertThat(
            simulate(
                "--load", "2,3", "--cluster", "4x8", "--measure", "20-29", "-o", page.toString()))
        .as(err.toString())
        .isZero();
    assertThat(Files.readString(page))
        .contains("\"name\":\"fifo tune, 2.0 jobs/h\"", "\"name\":\"fifo tune, 3.0 jobs/h\"");
  }

  @Test
  void theRunsAreDrawnOnAPage(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("page.html");
    String[] options = {
      "--load", "2", "--cluster", "4x8", "--measure", "20-29", "--seeds", "2", "-o", page.toString()
    };
    assertThat(simulate(options)).as(err.toString()).isZero();
    String html = Files.readString(page);
    assertThat(html)
        .contains("<title>CoorDL: 10 jobs (20 to 29 of a workload of 2 jobs an hour")
        .contains("\"name\":\"fifo tune\"")
        .contains("Only the first seed of each run is drawn")
        .doesNotContain("{{");
    assertThat(simulate(options)).isEqualTo(ExitStatus.UNWRITABLE.code());
    assertThat(err.toString()).contains("already exists");
    List<String> again = new ArrayList<>(List.of(options));
    again.add("--force");
    assertThat(simulate(again.toArray(String[]::new))).isZero();
    assertThat(Files.readString(page)).isEqualTo(html);
  }

  @Test
  void anOverloadedClusterHasNoMeans() {
    assertThat(simulate("--load", "50", "--cluster", "2x2", "--measure", "5-9", "--policy", "srtf"))
        .isZero();
    assertThat(out.toString().lines().skip(2))
        .singleElement()
        .asString()
        .startsWith("srtf    tune          overloaded: jobs wait forever (");
  }

  @Test
  void wrongInputGetsOneSentence() {
    String trace = TABLES + "/static-100.csv";
    refused("simulate needs either --jobs FILE.csv or --load JOBS", "--cluster", "4x8");
    refused(
        "simulate needs either --jobs FILE.csv or --load JOBS",
        "--cluster",
        "4x8",
        "--load",
        "3",
        "--jobs",
        trace);
    refused(
        "--released simulates traces only: pass --jobs FILE.csv",
        "--cluster",
        "4x8",
        "--load",
        "3",
        "--released");
    refused(
        "--all-at-start is for traces only: pass --jobs FILE.csv",
        "--cluster",
        "4x8",
        "--load",
        "3",
        "--all-at-start");
    refused(
        "--measure 9-1 is not a range of ids such as 4000-4999",
        "--cluster",
        "4x8",
        "--load",
        "3",
        "--measure",
        "9-1");
    refused(
        "a cluster of 4x0 has no GPU: expected at least 1x1", "--cluster", "4x0", "--jobs", trace);
    refused(
        "--multi-gpu draws jobs of 8 GPUs, but the cluster has 4",
        "--cluster",
        "2x2",
        "--load",
        "3",
        "--multi-gpu");
    refused(
        "a restart of 300.0 s is not shorter than a round of 300.0 s",
        "--cluster",
        "2x2",
        "--load",
        "3",
        "--restart",
        "300");
    refused(
        "--released accepts neither --measure nor --round nor --restart",
        "--cluster",
        "4x8",
        "--jobs",
        trace,
        "--released",
        "--round",
        "60");
    refused(
        "--measure 500-600: the trace has no such job",
        "--cluster",
        "4x8",
        "--jobs",
        trace,
        "--measure",
        "500-600");
    refused("there is no file none.csv", "--cluster", "4x8", "--jobs", "none.csv");
  }

  private void refused(String sentence, String... arguments) {
    err.getBuffer().setLength(0);
    assertThat(simulate(arguments)).isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString()).isEqualToIgnoringNewLines("coordl: " + sentence + "\n");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void jobsThatNeverArrivedAreUnfinished(@TempDir Path folder) throws Exception {
    Path trace = folder.resolve("late.csv");
    Files.writeString(
        trace,
        "job,model,arrival_s,iterations,gpus\n0,alexnet,0.0,3349,1\n1,gnmt,9000000,26435,1\n");
    assertThat(
            simulate("--jobs", trace.toString(), "--cluster", "4x8", "--measure", "0-0", "--json"))
        .as(err.toString())
        .isZero();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/jobs").size() + json.at("/unfinished").asInt()).isEqualTo(2);
  }

  /** Only job 1 is measured; job 0 finishes before it. */
  @Test
  void finishedJobsThatAreNotMeasuredAreNotUnfinished(@TempDir Path folder) throws Exception {
    Path trace = folder.resolve("trace.csv");
    Files.writeString(
        trace,
        "job,model,arrival_s,iterations,gpus\n0,alexnet,0.0,3349,1\n1,alexnet,9000,33490,1\n");
    assertThat(
            simulate("--jobs", trace.toString(), "--cluster", "4x8", "--measure", "1-1", "--json"))
        .as(err.toString())
        .isZero();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/jobs").size()).isEqualTo(1);
    assertThat(json.at("/unfinished").asInt()).isZero();
  }

  @Test
  void anUnknownPolicyIsAWrongCommandLine() {
    assertThat(simulate("--cluster", "4x8", "--load", "3", "--policy", "drf"))
        .isEqualTo(ExitStatus.USAGE.code());
    assertThat(err.toString()).contains("'drf'").contains("FIFO");
  }
}
