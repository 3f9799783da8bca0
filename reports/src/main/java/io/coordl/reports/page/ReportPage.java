package io.coordl.reports.page;

import io.coordl.reports.summary.EventJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * A report as one self-contained HTML page: the figures as JSON, the chart library, the script and
 * the style. Its content security policy allows only these scripts and this style, by their hashes,
 * and no connections. So file names in a recording may contain any text.
 */
public final class ReportPage {
  /** The version of Chart.js that the build puts into the jar. */
  static final String CHART_JS_VERSION = "4.5.1";

  static final String CHART_JS =
      "/META-INF/resources/webjars/chart.js/" + CHART_JS_VERSION + "/dist/chart.umd.min.js";

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{(\\w+)}}");

  private static final JsonMapper MAPPER = EventJson.mapper().build();

  private ReportPage() {}

  /** Returns the page of a report on recordings. */
  public static String html(Report report) {
    return html(report.title(), report, "page.js");
  }

  /** Returns the page of a report on simulations. */
  public static String html(SimulationReport report) {
    return html("CoorDL: " + report.title(), report, "simulate.js");
  }

  /**
   * Builds a page.
   *
   * @param drawingScript resource of the script that draws the page, appended to {@code charts.js}
   */
  private static String html(String title, Object report, String drawingScript) {
    String style = resource("page.css");
    String chart = resource(CHART_JS).replaceAll("(?m)^//# sourceMappingURL=.*$", "");
    String script =
        "\"use strict\";\n(() => {\n" + resource("charts.js") + resource(drawingScript) + "})();\n";
    return fill(
        resource("page.html"),
        Map.of(
            "title",
            escape(title),
            "policy",
            String.format(
                "default-src 'none'; style-src %s; script-src %s %s",
                hash(style), hash(chart), hash(script)),
            "style",
            style,
            "data",
            json(report),
            "chart",
            chart,
            "script",
            script));
  }

  /**
   * Returns the figures as JSON that neither closes the enclosing script element nor opens another.
   */
  static String json(Object report) {
    // In JSON, these characters occur only in strings, where they may be escaped.
    return MAPPER
        .writeValueAsString(report)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }

  private static String fill(String template, Map<String, String> contents) {
    return PLACEHOLDER
        .matcher(template)
        .replaceAll(
            place ->
                Matcher.quoteReplacement(
                    Objects.requireNonNull(contents.get(place.group(1)), place.group())));
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static String hash(String content) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every JDK has SHA-256.
    }
  }

  private static String resource(String name) {
    try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing from coordl.jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
