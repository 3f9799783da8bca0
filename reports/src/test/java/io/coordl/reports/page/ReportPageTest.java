package io.coordl.reports.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Recordings;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class ReportPageTest {
  private static final String HOSTILE = "</script><script>alert(1)</script><!--&\u2028";

  @TempDir Path folder;

  private JobActivity job(String name) throws Exception {
    Path file =
        Recordings.record(
            folder.resolve(name),
            () -> {
              Recordings.emitJob();
              Recordings.emitFetch(1, HOSTILE, 1_000_000);
            });
    return RecordingReader.readInFull(file, done -> {});
  }

  @Test
  void theChartLibraryIsTheReviewedOne() throws Exception {
    try (InputStream in = ReportPage.class.getResourceAsStream(ReportPage.CHART_JS)) {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
      assertThat(HexFormat.of().formatHex(digest))
          .isEqualTo("48444a82d4edcb5bec0f1965faacdde18d9c17db3063d042abada2f705c9f54a");
    }
  }

  @Test
  void noTextOfARecordingEscapesItsElement() throws Exception {
    Report report = Report.of(List.of(job("<title>&.jfr")), List.of(), 0);

    String page = ReportPage.html(report);

    assertThat(page).doesNotContain("alert(1)</", "<!--&", "<title>&");
    assertThat(page).contains("<title>CoorDL: &lt;title&gt;&amp;.jfr</title>");
    Matcher data =
        Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>")
            .matcher(page);
    assertThat(data.find()).isTrue();
    assertThat(data.group(1)).doesNotContain("<", ">", "&", "\u2028");
    assertThat(
            JsonMapper.shared()
                .readTree(data.group(1))
                .at("/recordings/0/files/slowest/0/name")
                .asString())
        .isEqualTo(HOSTILE);
  }

  @Test
  void theSameRecordingMakesTheSamePage() throws Exception {
    JobActivity job = job("job.jfr");
    assertThat(ReportPage.html(Report.of(List.of(job), List.of(), 0)))
        .isEqualTo(ReportPage.html(Report.of(List.of(job), List.of(), 0)));
  }

  @Test
  void thePageLinksToNothing() throws Exception {
    String page = ReportPage.html(Report.of(List.of(job("job.jfr")), List.of(), 0));
    Files.write(folder.resolve("page.html"), page.getBytes(UTF_8));
    assertThat(page).contains("default-src 'none'");
    // Comments of the library may contain addresses.
    assertThat(page.replaceAll("/\\*!.*?\\*/|(?s)/\\*!.*?\\*/", ""))
        .doesNotContain("https://", "http://", "sourceMappingURL");
  }

  @Test
  void recordingsOfTheSameNameAreShownWithTheirPaths() throws Exception {
    Files.createDirectory(folder.resolve("a"));
    Files.createDirectory(folder.resolve("b"));
    JobActivity one = job("a/job.jfr");
    JobActivity other = job("b/job.jfr");
    assertThat(Report.of(List.of(one, other), List.of(), 0).recordings())
        .extracting(Report.Entry::name)
        .containsExactly(
            folder.resolve("a/job.jfr").toString(), folder.resolve("b/job.jfr").toString());
  }

  @Test
  void aReportOfSeveralRecordingsComparesTheirSpeeds() throws Exception {
    JobActivity one = job("one.jfr");
    JobActivity other = job("other.jfr");
    List<String> compared = Report.of(List.of(one, other), List.of(), 0).compared();
    assertThat(compared)
        .hasSize(2)
        .last()
        .asString()
        .startsWith("The variation between identical runs is unknown: ");
    assertThat(compared.get(0))
        .startsWith("other.jfr ")
        .contains("x as fast", "one.jfr")
        .endsWith("; with the same arguments.");
    assertThat(Report.of(List.of(one), List.of(), 0).compared()).isEmpty();
    // Both recordings come from this JVM, so the last one counts as the newest.
    assertThat(Report.of(List.of(one, other), List.of(), 0).advised())
        .isEqualTo(new Report.Advised(1, "newest"));
    assertThat(Report.of(List.of(one, other), List.of(), 2).advised())
        .isEqualTo(new Report.Advised(0, "slowest"));
  }
}
