package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.workers.WorkersReport;
import io.coordl.telemetry.event.LayerEvent;
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

/** {@code coordl whatif --workers} as users run it. */
class WorkersCommandTest {
  private static final Path EXAMPLES =
      Path.of(Files.isDirectory(Path.of("examples")) ? "examples" : "../examples", "cluster");

  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(Object... arguments) {
    String[] words = List.of(arguments).stream().map(Object::toString).toArray(String[]::new);
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Coordl.run(new PrintWriter(out), new PrintWriter(err), Terminal.NONE, words);
  }

  private JsonNode valid() {
    assertThat(
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(WorkersReport.class.getResourceAsStream("workers.schema.json"))
                .validate(out.toString(), InputFormat.JSON))
        .isEmpty();
    return JsonMapper.shared().readTree(out.toString());
  }

  private Path file(String... lines) throws Exception {
    return Files.writeString(folder.resolve("workers.txt"), String.join("\n", lines) + "\n");
  }

  @Test
  void theExampleOfUnequalWorkersPrintsATable() {
    assertThat(coordl("whatif", "--workers", EXAMPLES.resolve("workers.txt"))).isZero();
    assertThat(out.toString())
        .contains(
            "Unequal workers: a synchronous step of 128 samples",
            "Equal shares take 80 ms a step, the best shares 46 ms: 1.74x as fast (45.71 ms"
                + " with fractions of samples).",
            "Virtual workers: 4 minibatches in flight, distance D = 0",
            "Together 125 minibatches/s",
            "An update misses at most 6 minibatches.",
            "Measured    nothing: all inputs are given",
            "  nothing here was validated on several GPUs");

    assertThat(coordl("whatif", "--json", "--workers", EXAMPLES.resolve("workers.txt"))).isZero();
    JsonNode json = valid();
    assertThat(json.at("/shares/workers/2/bestSamples").asInt()).isEqualTo(18);
    assertThat(json.at("/shares/workers/2/worker/origin").asString()).isEqualTo("given");
    assertThat(json.at("/pipelines/perSecond").asDouble()).isEqualTo(125);
  }

  @Test
  void theExampleOfServersPrintsATable() {
    assertThat(coordl("whatif", "--workers", EXAMPLES.resolve("servers.txt"))).isZero();
    assertThat(out.toString())
        .contains(
            "Layers on servers: 4 workers, 553.43 MB sent by each in a step",
            "The layer fc6 alone determines the time: split it or move it; more servers do not"
                + " help.",
            "That is 95.0 GFLOP a step for the server, 189.92 ms: it pays.");

    assertThat(coordl("whatif", "--json", "--workers", EXAMPLES.resolve("servers.txt"))).isZero();
    JsonNode json = valid();
    assertThat(json.at("/placement/deciding").asString()).isEqualTo("fc6");
    assertThat(json.at("/placement/ways/1/millis").asDouble()).isBetween(1364.9, 1365.0);
  }

  @Test
  void aRecordingGivesTheSpeedOfItsWorker() throws Exception {
    Path recording = folder.resolve("profile.jfr");
    Recordings.record(
        recording,
        () -> {
          Profiles.emitSerial();
          layer(1, 1, "01Conv2d", 1_000_000, 0);
          layer(1, 2, "02Linear", 400_000_000, 9_216);
          layer(2, 1, "small", 1_000, 0);
        });
    Path file =
        file(
            "batch 64",
            "worker here",
            "worker there slower=2 # as bought",
            "worker other recording=profile.jfr",
            "server s link=10Gbit flops=500G");

    assertThat(coordl("whatif", recording, "--workers", file, "--json")).isZero();

    JsonNode json = valid();
    // The worker prepares its own batches: 2 ms of compute, 3 ms of prep, and 1 ms of fetch for
    // the 78 % of the samples that miss the page cache.
    assertThat(json.at("/shares/workers/0/worker/millisPerSample").asDouble())
        .isCloseTo(5.783, within(0.001));
    assertThat(json.at("/shares/workers/0/worker/origin").asString()).isEqualTo("measured");
    assertThat(json.at("/shares/workers/1/worker/millisPerSample").asDouble())
        .isCloseTo(7.783, within(0.001));
    assertThat(json.at("/shares/workers/1/worker/origin").asString()).isEqualTo("assumed");
    assertThat(json.at("/shares/workers/2/worker/origin").asString()).isEqualTo("measured");
    // 100 KB a sample, one every 5.8 ms.
    assertThat(json.at("/shares/workers/0/demandBytesPerSecond").asDouble())
        .isBetween(1.6e7, 1.8e7);
    assertThat(json.at("/placement/totalBytes").asDouble()).isEqualTo(401e6);
    assertThat(json.at("/placement/workers").asInt()).isEqualTo(3);
    assertThat(json.at("/placement/fullyConnected/activationBytes").asDouble())
        .isEqualTo(32 * 9_216 * 4);
    assertThat(json.at("/measured").toString())
        .contains(
            "here: 5.783 ms a sample, including preparation on the training thread",
            "there: 5.783 ms a sample, including preparation on the training thread; compute time"
                + " multiplied by slower=2",
            "2 layers with 401 MB of parameters in total",
            "185.04 ms for a step of 32 samples before communication");
  }

  private static void layer(long model, long place, String name, long bytes, long inputs) {
    LayerEvent layer = new LayerEvent();
    layer.model = model;
    layer.place = place;
    layer.layer = name;
    layer.type = "Block";
    layer.parameters = bytes / 4;
    layer.bytes = bytes;
    layer.inputs = inputs;
    layer.commit();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          woker a ms=1 | 1: 'woker' is not one of batch, kind, layer, links, memory, server, virtual, waves, worker
          batch | 1: 'batch' needs a value after it
          batch 12.5 | 1: batch is '12.5', not a whole number of at least 1
          batch 0 | 1: batch is '0', not a whole number of at least 1
          batch 8 ms=2 | 1: 'ms=2' is one word too many
          worker ms=1 | 1: 'worker' needs a name after it
          worker a ms=-1 | 1: ms is '-1', not a number above 0
          worker a ms=0 | 1: ms is '0', not a number above 0
          worker a ms=1ms | 1: ms is '1ms', not a number above 0
          worker a ms=NaN | 1: ms is 'NaN', not a number above 0
          worker a speed=1 | 1: 'speed=1' is not one of ms=, fixed=, slower=, supply=, most=, memory=, recording=
          worker a ms=1 ms=2 | 1: ms appears twice
          worker a ms=1 slower=2 | 1: ms= and slower= both give the time of a sample
          worker a | 1: the time of a sample is missing: give ms=, recording=FILE.jfr, or slower= and a recording of another worker
          worker a ms=1 memory=6 | 1: memory is '6', not a size with its unit, such as 6GiB or 150MB
          worker a ms=1 memory=6GiB | 1: memory= needs a line 'memory fixed=SIZE sample=SIZE': the memory of the model and of each sample
          worker a ms=1 memory=6GiB most=3 | 1: most= and memory= both give the number of samples
          server s | 1: server s needs link=, such as link=10Gbit
          server s link=10 | 1: link is '10', not a rate above 0 with its unit, such as 10Gbit or 1.2GB/s
          worker a ms=1;worker a ms=2 | 2: worker a is already on line 1
          kind V memory=1GiB;layer l ms=1;virtual x V,W | 3: 'W' is not a GPU that a 'kind' line describes
          """)
  void wrongLinesGetASentence(String lines, String sentence) throws Exception {
    Path file = file(lines.split(";"));
    assertThat(coordl("whatif", "--workers", file)).isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString().strip()).isEqualTo("coordl: " + file + ", line " + sentence);
    assertThat(out.toString()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          # nothing | FILE describes nothing: it is empty or contains only comments
          batch 8 | FILE has nothing to predict: expected 'worker', 'virtual' or 'server' lines
          worker a ms=1 | FILE has workers but no line 'batch N' (samples in a step, over all workers)
          batch 9;worker a ms=1 most=8 | the workers' memory holds 8 samples, fewer than the batch of 9
          kind V;virtual x V | FILE has virtual workers but no 'layer NAME ms=...' lines
          kind V;layer l parameters=1MB;virtual x V | FILE: the layer 'l' needs ms= to be cut into stages
          kind V;layer l ms=1;virtual x V,V | the virtual worker 'x' has more GPUs (2) than the model has layers (1)
          kind V memory=1MiB;layer l ms=1 parameters=1GB;virtual x V | the model does not fit into the GPUs of the virtual worker 'x' with 1 minibatch in flight, wherever it is cut
          server s link=1Gbit | FILE has servers but no layers: give 'layer NAME parameters=SIZE' lines, or a recording
          server s link=1Gbit;layer l parameters=1MB | FILE has servers but not the number of workers: add a line 'links workers=N'
          server s link=1Gbit;layer l parameters=1MB inputs=9;links workers=2 | FILE: for fully connected layers, add the number of samples in a worker's step: 'links batch=N'
          """)
  void wrongFilesGetASentence(String lines, String sentence) throws Exception {
    Path file = file(lines.split(";"));
    assertThat(coordl("whatif", "--workers", file)).isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString().strip())
        .isEqualTo("coordl: " + sentence.replace("FILE", file.toString()));
  }

  @Test
  void otherQuestionsAndMissingFilesGetASentence() throws Exception {
    assertThat(coordl("whatif")).isEqualTo(ExitStatus.USAGE.code());
    assertThat(err.toString())
        .contains("Missing required parameter: 'FILE.jfr', or --workers FILE.");
    Path none = folder.resolve("none.txt");
    assertThat(coordl("whatif", "--workers", none)).isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString().strip()).isEqualTo("coordl: there is no file " + none);
    assertThat(coordl("whatif", "--workers", none, "--gpu", "2"))
        .isEqualTo(ExitStatus.USAGE.code());
    assertThat(err.toString())
        .contains("--workers cannot be combined with other questions: leave them out.");
    Path recording = folder.resolve("plain.jfr");
    Recordings.record(recording, Profiles::emitSerial);
    Path servers = file("server s link=1Gbit", "links workers=2");
    assertThat(coordl("whatif", recording, "--workers", servers))
        .isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString()).contains(recording + " names no layers (none were seen");
  }
}
