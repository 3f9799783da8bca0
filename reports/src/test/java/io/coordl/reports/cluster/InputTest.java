package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalid traces, tables and clusters are reported in one sentence with the line and the value. */
class InputTest {
  @TempDir Path folder;

  @ParameterizedTest(name = "line ''{0}''")
  @CsvSource(
      delimiter = '|',
      value = {
        "''                     | , line 2: '' has 1 field, not the header's five",
        "0,alexnet,1,10         | , line 2: '0,alexnet,1,10' has 4 fields, not the header's five",
        "0,alexnet,,10,1        | , line 2: arrival_s is '', not a time from 0 to 1e10 s",
        "0,alexnet,-1,10,1      | , line 2: arrival_s is '-1', not a time from 0 to 1e10 s",
        "0,alexnet,NaN,10,1     | , line 2: arrival_s is 'NaN', not a time from 0 to 1e10 s",
        "0,alexnet,1,0,1        | , line 2: iterations is '0', not a whole number of at least 1",
        "0,alexnet,1,1.5,1      | , line 2: iterations is '1.5', not a whole number of at least 1",
        "0,alexnet,1,10,0       | , line 2: gpus is '0', not a whole number of at least 1",
        "0,alexnet,1,10,33      | , line 2: job 0 needs 33 GPUs, but the cluster has 32",
        "x,alexnet,1,10,1       | , line 2: job is 'x', not a whole number of at least 0",
      })
  void aLineThatIsNotAJobIsNamed(String line, String message) throws Exception {
    Path trace = trace(line == null ? "" : line);
    assertThatThrownBy(() -> read(trace))
        .isInstanceOf(InputException.class)
        .hasMessage(trace + message);
  }

  @Test
  void aDuplicateJobIsReportedWithBothLines() throws Exception {
    Path trace = trace("7,lstm,1,10,1", "8,lstm,1,10,1", "7,lstm,2,10,1");
    assertThatThrownBy(() -> read(trace))
        .hasMessage(trace + ", line 4: job 7 is already on line 2");
  }

  @Test
  void anUnknownModelIsReportedWithTheKnownOnes() throws Exception {
    Path trace = trace("0,vgg,1,10,1");
    assertThatThrownBy(() -> read(trace))
        .hasMessageStartingWith(
            trace + ", line 2: the model 'vgg' is not in the table: [alexnet, res18, ");
  }

  @Test
  void jobsAreReadInOrderOfArrival() throws Exception {
    assertThat(read(trace("0,lstm,5,10,1", "1,lstm,1,10,1", "2,lstm,5,10,1")))
        .extracting(TraceJob::id)
        .containsExactly(1L, 0L, 2L);
  }

  @Test
  void filesThatAreNotTracesAreRefused() throws Exception {
    Path missing = folder.resolve("none.csv");
    assertThatThrownBy(() -> read(missing)).hasMessage("there is no file " + missing);
    Path empty = Files.createFile(folder.resolve("empty.csv"));
    assertThatThrownBy(() -> read(empty))
        .hasMessage(
            empty
                + ", line 1: this is not a trace: the header 'job,model,arrival_s,iterations,gpus'"
                + " was expected");
    Path header = Files.writeString(folder.resolve("header.csv"), Trace.HEADER + "\n");
    assertThatThrownBy(() -> read(header)).hasMessage(header + ", line 1: the trace has no jobs");
    Path binary = Files.write(folder.resolve("binary.csv"), new byte[] {(byte) 0xff, (byte) 0xfe});
    assertThatThrownBy(() -> read(binary)).hasMessage(binary + " is not UTF-8 text after line 1");
  }

  @Test
  void aTraceOfTenMillionLinesIsRefusedAtTheFirstLineTooMany() throws Exception {
    Path trace = folder.resolve("long.csv");
    try (BufferedWriter writer = Files.newBufferedWriter(trace, StandardCharsets.UTF_8)) {
      writer.write(Trace.HEADER + "\n");
      for (int i = 0; i < 10_000_000; i++) {
        writer.write(i + ",lstm,1,1,1\n");
      }
    }
    assertThatThrownBy(() -> read(trace))
        .hasMessage(trace + ", line 1000002: a trace has at most 1000000 jobs");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "4x0                    | a cluster of 4x0 has no GPU: expected at least 1x1",
        "0x8                    | a cluster of 0x8 has no GPU: expected at least 1x1",
        "32                     | the cluster '32' does not begin with SERVERSxGPUS, such as 4x8"
            + " for four servers of eight GPUs",
        "4x8,cores=             | the cluster's cores= is not a number above 0 and below 1e9",
        "4x8,cores=-1           | the cluster's cores=-1 is not a number above 0 and below 1e9",
        "4x8,memory=500g        | the cluster's memory=500g is not a number above 0 and below 1e9",
        "4x8,cpus=24            | the cluster's 'cpus=24' is not one of cores=N, memory=GIB,"
            + " storage=MBS and network=GBITS",
        "4x8,cores=1,cores=2    | the cluster names cores twice: '4x8,cores=1,cores=2'",
        "999999x999             | a cluster of 999999x999 has more than 1000000 GPUs",
      })
  void anInvalidClusterIsRefused(String text, String message) {
    assertThatThrownBy(() -> Cluster.parse(text))
        .isInstanceOf(InputException.class)
        .hasMessage(message);
  }

  @Test
  void aClusterDefaultsToTheServersOfTheSynergyPaper() throws Exception {
    assertThat(Cluster.parse("16x8, memory=300")).isEqualTo(new Cluster(16, 8, 24, 300, 500, 40));
  }

  @Test
  void anInvalidTableIsRefused() throws Exception {
    String good = Files.readString(Tables.file("models.json"));
    refused("", ", line 1, is not a table of models: No content");
    refused("{}", " names no models: {\"models\": [...]} was expected");
    refused(
        good.replace("\"coreAxis\": [1, 2,", "\"coreAxis\": [2, 1,"), ": coreAxis does not rise");
    refused(
        good.replace("[0.1, 0.3, 0.3, 0.3, 0.3]", "[0.1, 0.3]"), "is not a table of 9 rows and 5");
    refused(good.replace("\"speedup\": 2.94", "\"speedup\": -1"), "the value -1.0, not above 0");
    refused(
        good.replace("\"name\": \"res18\"", "\"name\": \"alexnet\""),
        "'alexnet' is already defined");
    refused(good.substring(0, 900), ", is not a table of models");
  }

  private void refused(String content, String part) throws Exception {
    Path file = Files.writeString(folder.resolve("models.json"), content);
    assertThatThrownBy(() -> ModelTable.read(file))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContaining(part);
  }

  private Path trace(String... lines) throws Exception {
    String text = Trace.HEADER + "\n" + String.join("\n", lines) + "\n";
    return Files.writeString(folder.resolve("trace.csv"), text);
  }

  private static List<TraceJob> read(Path trace) throws InputException {
    try {
      return Trace.read(trace, Tables.models(), Cluster.parse(Tables.TESTBED));
    } catch (InputException e) {
      assertThat(e.getMessage()).doesNotContain("\n");
      throw e;
    }
  }
}
