package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DemandCommandTest {
  @TempDir Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(String... arguments) {
    out.getBuffer().setLength(0);
    return Coordl.run(
        new PrintWriter(out, true), new PrintWriter(err, true), Terminal.NONE, arguments);
  }

  private static Schema schema() throws Exception {
    try (InputStream file =
        Coordl.class.getResourceAsStream("/io/coordl/reports/demand/demand.schema.json")) {
      return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(file);
    }
  }

  /** Epochs of 3.1 s and 1,000 items: per item 2 ms compute, 1 ms prep and 0.1 ms fetch. */
  private static void emitOrdinary(long cpu) {
    for (int i = 1; i <= 3; i++) {
      EpochEvent epoch = new EpochEvent();
      epoch.epoch = i;
      epoch.updates = 100;
      epoch.source = "ai.djl.training.dataset.DataIterable";
      epoch.complete = true;
      epoch.batches = 100;
      epoch.items = 1_000;
      epoch.samples = 1_000;
      epoch.storageItems = 1_000;
      epoch.storageBytes = 100_000_000;
      epoch.compute = 2 * Recordings.SECOND;
      epoch.stall = 1_100 * Recordings.MILLISECOND;
      epoch.prepStall = Recordings.SECOND;
      epoch.fetchStall = 100 * Recordings.MILLISECOND;
      epoch.wall = 3_100 * Recordings.MILLISECOND;
      epoch.fetchTime = 100 * Recordings.MILLISECOND;
      epoch.decodeTime = Recordings.SECOND;
      epoch.cpu = cpu;
      epoch.commit();
    }
    EnvironmentEvent host = new EnvironmentEvent();
    host.cores = 8;
    host.commit();
  }

  @Test
  void theJsonOfAProfileMatchesItsSchemaAndFeedsASimulation() throws Exception {
    Path recording = Recordings.record(directory.resolve("mine.jfr"), Profiles::emitWorkers);

    assertThat(coordl("demand", recording.toString(), "--json")).as(err.toString()).isZero();

    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
    JsonNode demand = JsonMapper.shared().readTree(out.toString());
    assertThat(demand.at("/origin").asString()).isEqualTo("profile");
    assertThat(demand.at("/table/cores/0").asDouble()).isEqualTo(0.25);
    Path json = directory.resolve("mine.json");
    Files.writeString(json, out.toString());
    Path trace = directory.resolve("trace.csv");
    Files.writeString(trace, "job,model,arrival_s,iterations,gpus\n0,mine,0,10000,1\n");
    String[] simulate = {
      "simulate",
      "--models",
      json.toString(),
      "--jobs",
      trace.toString(),
      "--cluster",
      "1x1,cores=8,memory=100,storage=200",
      "--json"
    };
    assertThat(coordl(simulate)).as(err.toString()).isZero();
    double seconds =
        JsonMapper.shared().readTree(out.toString()).at("/jobs/0/jctSeconds").asDouble();
    // 10,000 steps of 32 samples, at about 1,000 samples a second.
    assertThat(seconds).isBetween(320.0, 335.0);
    assertThat(
            coordl(
                java.util.stream.Stream.concat(
                        java.util.Arrays.stream(simulate), java.util.stream.Stream.of("--released"))
                    .toArray(String[]::new)))
        .isEqualTo(ExitStatus.BAD_INPUT.code());
    assertThat(err.toString()).contains("--released takes no recorded jobs");
  }

  @Test
  void theTextNamesTheKnee() throws Exception {
    Path recording = Recordings.record(directory.resolve("mine.jfr"), Profiles::emitWorkers);

    assertThat(coordl("demand", recording.toString())).as(err.toString()).isZero();

    assertThat(out.toString())
        .contains("% of the speed of 8 cores with every item in memory")
        .contains("samples/s by cores and memory for items", "samples/s by cores and MB/s")
        .contains("Measured on 8 cores with every item in memory: ")
        .doesNotContain("--quota");
    assertThat(coordl("demand", recording.toString(), "--quota")).isZero();
    assertThat(out.toString()).contains("numbers of cores are quotas on a host with more cores");
  }

  @Test
  void anOrdinaryRecordingShowsTheCoresOfAStepAndWhatIsMissing() throws Exception {
    Path recording =
        Recordings.record(directory.resolve("mine.jfr"), () -> emitOrdinary(5 * Recordings.SECOND));

    assertThat(coordl("demand", recording.toString())).as(err.toString()).isZero();

    // 5 s of CPU less 1 s of preparation, over 2 s of steps.
    assertThat(out.toString())
        .contains("A step keeps 2.00")
        .contains(
            "Missing  an ordinary run does not show the rate of the storage behind the page cache");
    assertThat(coordl("demand", recording.toString(), "--json")).isZero();
    assertThat(schema().validate(out.toString(), InputFormat.JSON)).isEmpty();
  }

  @Test
  void withoutCpuTimesTheUserMustGiveTheCoresOfAStep() throws Exception {
    Path recording = Recordings.record(directory.resolve("old.jfr"), () -> emitOrdinary(0));

    assertThat(coordl("demand", recording.toString()))
        .isEqualTo(ExitStatus.WITHOUT_OUR_EVENTS.code());
    assertThat(err.toString())
        .contains("old.jfr contains too little: the recording does not show how many cores");
    assertThat(coordl("demand", recording.toString(), "--compute-cores", "2")).isZero();
  }

  @Test
  void severalRecordingsMustAllBeProfiles() throws Exception {
    Path profile = Recordings.record(directory.resolve("profile.jfr"), Profiles::emitWorkers);
    Path ordinary =
        Recordings.record(
            directory.resolve("ordinary.jfr"),
            () -> {
              emitOrdinary(5 * Recordings.SECOND);
              Recordings.emitTotals(3, 300, 9 * Recordings.SECOND, Recordings.SECOND);
            });

    assertThat(coordl("demand", profile.toString(), ordinary.toString()))
        .isEqualTo(ExitStatus.WITHOUT_OUR_EVENTS.code());
    assertThat(err.toString()).contains("ordinary.jfr is not a profile");
  }
}
