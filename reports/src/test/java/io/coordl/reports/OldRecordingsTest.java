package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Recordings of version 0.1.0 stay readable. They come from the image examples, which train three
 * epochs of 80 pictures in batches of 32: a job with caches, one with checkpoints, two coordinated
 * jobs, a DL4J job and a profile.
 */
class OldRecordingsTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(Object... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    String[] words = List.of(arguments).stream().map(Object::toString).toArray(String[]::new);
    return Coordl.run(new PrintWriter(out), new PrintWriter(err), Terminal.NONE, words);
  }

  private Path recording(String name) throws IOException {
    String resource = "/recordings-0.1.0/" + name + ".jfr.gz";
    Path file = folder.resolve(name + ".jfr");
    try (InputStream in =
        new GZIPInputStream(
            Objects.requireNonNull(OldRecordingsTest.class.getResourceAsStream(resource)))) {
      Files.copy(in, file);
    }
    return file;
  }

  @ParameterizedTest
  @CsvSource({
    "cached, DJL, 3, 9",
    "checkpoints, DJL, 3, 9",
    "coordinated, DJL, 3, 9",
    "coordinated2, DJL, 3, 9",
    "dl4j, DL4J, 3, 9"
  })
  void everyCommandReadsARecordingOfAJob(String name, String library, int epochs, int batches)
      throws IOException {
    Path file = recording(name);

    assertThat(coordl("summary", file)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("), " + library + ", " + epochs + " epochs, " + batches);
    assertThat(coordl("whatif", file)).as(err.toString()).isZero();
    assertThat(coordl("report", file, "-o", folder.resolve("page.html")))
        .as(err.toString())
        .isZero();
    assertThat(folder.resolve("page.html")).isNotEmptyFile();
  }

  @Test
  void theFiguresOfTheCachesAreRead() throws IOException {
    assertThat(coordl("summary", "--json", recording("cached"))).as(err.toString()).isZero();

    JsonNode summary = JsonMapper.shared().readTree(out.toString());

    assertThat(summary.findValuesAsString("store")).contains("raw", "decoded");
    assertThat(summary.findValues("hits"))
        .anySatisfy(hits -> assertThat(hits.asLong()).isEqualTo(160));
  }

  @Test
  void theProfileIsRead() throws IOException {
    Path profile = recording("profile");

    assertThat(coordl("diff", profile)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("ingestion", "cached", "cold");
    assertThat(coordl("whatif", profile)).as(err.toString()).isZero();
    assertThat(coordl("report", profile, "-o", folder.resolve("page.html")))
        .as(err.toString())
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cached", "coordinated"})
  void anOldRecordingIsComparedWithAnother(String name) throws IOException {
    Path one = recording("checkpoints");
    Path other = recording(name);

    assertThat(coordl("compare", one, other)).as(err.toString()).isZero();
  }
}
