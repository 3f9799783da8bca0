package io.coordl.reports.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.Cluster;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.cluster.Policy;
import io.coordl.reports.cluster.Simulation;
import io.coordl.reports.cluster.SimulationRun;
import io.coordl.reports.cluster.Workload;
import io.coordl.reports.recording.JobActivity;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.EventJson;
import io.coordl.reports.summary.Summary;
import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.ConfigurationEvent;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.PhaseEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The page in a real browser: it is drawn, shows the figures it contains, is accessible, and treats
 * text of a recording as text. Screenshots go to {@code target/screenshots}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReportPageIT {
  private static final boolean FULL = Boolean.getBoolean("coordl.full");
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final String HOSTILE =
      "/data/</script><script>window.hurt=1</script><img src=x onerror=window.hurt=2>"
          + "&amp;\"'`${window.hurt=3}\u00fc\u65e5\u672c\u2028.jpg";

  private static Path folder;
  private static Browser browser;
  private static Path single;
  private static Path comparison;
  private static Path profile;
  private static Path longRun;
  private static Path simulation;
  private static JobActivity before;

  @BeforeAll
  static void open(@TempDir Path temporary) throws Exception {
    if (!Browser.isInstalled()) {
      String reason = "there is no browser: apt-get install -y chromium chromium-driver";
      System.err.println("ReportPageIT is skipped: " + reason);
      Assumptions.abort(reason);
    }
    folder = temporary;
    before = job("before <b>&\".jfr", 40 * Recordings.SECOND);
    JobActivity after = job("after.jfr", 5 * Recordings.SECOND);
    single = write("single.html", List.of(before));
    comparison = write("comparison.html", List.of(before, after), HOSTILE);
    Path phases =
        Recordings.record(
            folder.resolve("profile.jfr"),
            () -> {
              Recordings.emitJob();
              emitProfile();
            });
    profile = write("profile.html", List.of(RecordingReader.readInFull(phases, done -> {})));
    Path steps =
        Recordings.record(
            folder.resolve("long.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitBatches(1, 3_000, "/data/train");
              // Produces more slots than bars, even on a fast machine.
              LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
              Recordings.emitBatches(3_001, 3_000, "/data/train");
            });
    longRun = write("long.html", List.of(RecordingReader.readInFull(steps, done -> {})));
    simulation = writeSimulation();
    browser = new Browser(temporary.resolve("browser"));
  }

  @AfterAll
  static void quit() {
    if (browser != null) {
      browser.close();
    }
  }

  @BeforeEach
  void usual() {
    browser.resize(1200, 900);
    browser.medium("", "light");
    browser.console();
    browser.requests();
  }

  private static JobActivity job(String name, long fetchStall) throws Exception {
    Path file =
        Recordings.record(
            folder.resolve(name),
            () -> {
              Recordings.emitJob();
              for (int epoch = 4; epoch <= 8; epoch++) {
                Recordings.emitEpoch(
                    epoch, 30 * Recordings.SECOND + fetchStall / 2, fetchStall / 4);
              }
              Recordings.emitTotals(8, 800, 400 * Recordings.SECOND, 2 * fetchStall);
              Recordings.emitPartitionedEpoch(9, 30 * Recordings.SECOND, fetchStall / 4);
              Recordings.emitPeer("node1:7801", 700, 2);
              Recordings.emitPeer(HOSTILE, 500, 0);
              Recordings.emitLatency(
                  "peer found", 0, Recordings.MILLISECOND, 4 * Recordings.MILLISECOND);
              Recordings.emitBatches(1, 60, "/data/train");
              Recordings.emitFault("a store <i>", HOSTILE);
              hostile();
              for (String kind : List.of("fetch", "decode", "transform", "stall", "step")) {
                Recordings.emitHistogram(kind, histogram(kind.hashCode()));
              }
            });
    return RecordingReader.readInFull(file, done -> {});
  }

  private static void hostile() {
    Recordings.emitFetch(1, HOSTILE, 90 * Recordings.MILLISECOND);
    TransformEvent transform = new TransformEvent();
    transform.begin();
    transform.transform = HOSTILE;
    transform.commit();
    BatchEvent batch = new BatchEvent();
    batch.begin();
    batch.source = HOSTILE;
    batch.commit();
    ConfigurationEvent setting = new ConfigurationEvent();
    setting.key = "data/set~<i>";
    setting.value = HOSTILE;
    setting.commit();
  }

  /** Compute 2 ms, prep 3 ms, fetch 1 ms a sample, without workers. */
  private static void emitProfile() {
    emitPhase("ingestion", 0, 2e6, 0, 0);
    emitPhase("cached", 0, 5e6, 0, 3e6);
    emitPhase("cold", 0, 6e6, 1e6, 3e6);
    emitPhase("prep", 1, 3e6, 0, 3e6);
    emitPhase("prep", 2, 1.5e6, 0, 3e6);
    emitPhase("fetch", 1, 1e6, 1e6, 0);
    HostEvent host = new HostEvent();
    host.cores = 4;
    host.memory = 2_000_000_000L;
    host.freeMemory = 500_000_000L;
    host.memoryRate = 10_000_000_000L;
    host.storageRate = 200_000_000L;
    host.storageRateError = 2_000_000L;
    host.storageThreads = 4;
    host.storageAccess = "direct";
    host.datasetItems = 10_000;
    host.datasetBytes = 1_000_000_000L;
    host.decodedItemBytes = 600_000;
    host.decodeNanos = 2e6;
    host.commit();
  }

  private static void emitPhase(
      String name, long workers, double sampleNanos, double fetchNanos, double prepNanos) {
    PhaseEvent phase = new PhaseEvent();
    phase.phase = name;
    phase.workers = workers;
    phase.warmupSteps = 5;
    phase.steps = 100;
    phase.samples = 3_200;
    phase.sampleNanos = sampleNanos;
    phase.sampleNanosError = sampleNanos / 100;
    phase.wall = Math.round(phase.samples * sampleNanos);
    phase.compute = Math.round(phase.samples * 2e6);
    phase.prepStall = Math.round(phase.samples * prepNanos);
    phase.fetchStall = Math.round(phase.samples * fetchNanos);
    phase.stall = phase.prepStall + phase.fetchStall;
    phase.fetchTime = phase.fetchStall;
    phase.otherTime = phase.prepStall;
    phase.items = phase.samples;
    phase.storageBytes = fetchNanos > 0 ? phase.items * 100_000 : 0;
    phase.steady = true;
    phase.commit();
  }

  private static Histogram histogram(int seed) {
    Random random = new Random(seed);
    Histogram histogram = new Histogram(2);
    for (int i = 0; i < 20_000; i++) {
      histogram.recordValue((long) (1_000_000 * Math.exp(random.nextGaussian() + seed % 5)));
    }
    return histogram;
  }

  private static Path write(String name, List<JobActivity> jobs, String... unread)
      throws Exception {
    return Files.writeString(
        folder.resolve(name), ReportPage.html(Report.of(jobs, List.of(unread), 0)));
  }

  private List<Path> pages() {
    return List.of(single, comparison, profile, simulation);
  }

  /** Two allocations for each of two policies, on a cluster where jobs wait. */
  private static Path writeSimulation() throws Exception {
    Path models = Path.of("..", "examples", "cluster", "models.json");
    Cluster cluster = Cluster.parse("3x8");
    ModelTable table = ModelTable.read(models);
    Workload workload =
        new Workload(2, Workload.parseSplit("image=50,language=50,speech=0"), false);
    Simulation scenario =
        new Simulation(
            cluster,
            table,
            null,
            workload,
            List.of(1L),
            3600,
            30,
            false,
            false,
            new Simulation.Measured(0, 59));
    List<SimulationRun> runs =
        scenario.run(
            List.of(Policy.FIFO, Policy.SRTF), List.of(Allocation.PROPORTIONAL, Allocation.TUNE));
    return Files.writeString(
        folder.resolve("simulation.html"),
        ReportPage.html(SimulationReport.of("60 jobs on " + HOSTILE, runs)));
  }

  private static JsonNode data() {
    return JsonMapper.shared()
        .readTree((String) browser.run("return document.getElementById('data').textContent"));
  }

  @Test
  void thePageIsDrawnWithoutErrorsAndWithoutTheNetwork() {
    for (Path page : pages()) {
      browser.open(page);

      assertThat(browser.console()).isEmpty();
      assertThat(browser.requests())
          .allMatch(address -> address.startsWith("file:") || address.startsWith("data:"));
      assertThat(browser.requests()).isEmpty();
      List<Long> colours =
          browser.list(
              """
              return [...document.querySelectorAll('canvas')].map(canvas => {
                const seen = new Set();
                const pixels = canvas.getContext('2d')
                    .getImageData(0, 0, canvas.width, canvas.height).data;
                for (let i = 0; i < pixels.length; i += 4) {
                  if (pixels[i + 3] > 0) seen.add(pixels[i] + ',' + pixels[i + 1] + ',' + pixels[i + 2]);
                }
                return seen.size;
              })\
              """);
      assertThat(colours).hasSizeGreaterThanOrEqualTo(6).allMatch(seen -> seen > 10);
      assertThat((Boolean) browser.run("return document.getElementsByTagName('main').length === 1"))
          .isTrue();
    }
  }

  @Test
  void theSummaryInThePageIsTheSameAsPrinted() {
    browser.open(single);
    assertThat(data().at("/recordings/0/summary"))
        .isEqualTo(
            JsonMapper.shared()
                .readTree(
                    EventJson.mapper().build().writeValueAsString(Summary.of(before.recording()))));
  }

  /** Each number names its source in the JSON; one that does not is a defect. */
  @Test
  void everyNumberComesFromTheJson() {
    for (Path page : pages()) {
      browser.open(page);
      JsonNode data = data();
      List<Map<String, String>> shown =
          browser.list(
              """
              return [...document.querySelectorAll('[data-json]')]
                  .map(each => ({...each.dataset, text: each.textContent}))\
              """);
      assertThat(shown).hasSizeGreaterThan(150);
      Set<String> units = new HashSet<>();
      for (Map<String, String> each : shown) {
        units.add(each.get("unit"));
        assertThat(each.get("text")).as(each.toString()).isEqualTo(written(data, each));
      }
      assertThat(units).contains("count", "percent", "text").containsAnyOf("hours", "nanos");

      List<String> loose =
          browser.list(
              """
              const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              const found = [];
              while (texts.nextNode()) {
                const text = texts.currentNode;
                if (/\\d/.test(text.data) && !text.parentElement.closest(
                    '[data-json], [data-index], .soft, thead, caption, tbody th, script, style, footer')) {
                  found.push(text.data);
                }
              }
              return found\
              """);
      assertThat(loose).isEmpty();
      List<String> slots =
          browser.list(
              """
              return [...document.querySelectorAll('[data-index]')]
                  .filter(each => each.textContent !== String(1 + Number(each.dataset.index)))
                  .map(each => each.textContent)\
              """);
      assertThat(slots).isEmpty();
    }
  }

  private static String written(JsonNode data, Map<String, String> shown) {
    JsonNode node = data.at(shown.get("json"));
    if (shown.get("unit").equals("text")) {
      return node.asString();
    }
    assertThat(node.isNumber()).as(shown.toString()).isTrue();
    double value = node.asDouble();
    if (shown.containsKey("minus")) {
      value -= data.at(shown.get("minus")).asDouble();
    }
    if (shown.containsKey("of")) {
      value /= data.at(shown.get("of")).asDouble();
    }
    return (shown.containsKey("minus") && value > 0 ? "+" : "") + written(value, shown.get("unit"));
  }

  private static String written(double value, String unit) {
    return switch (unit) {
      case "count" -> fixed(value, 0);
      case "seconds" -> fixed(value / 1e9, 2);
      case "hours" -> fixed(value / 3600, 2);
      case "percent" -> fixed(100 * value, 1) + " %";
      case "times" -> fixed(value, 2) + " \u00d7";
      case "number" -> fixed(value, 2);
      case "percentile" -> value == Math.rint(value) ? fixed(value, 0) : Double.toString(value);
      case "nanos" -> {
        double size = Math.abs(value);
        yield size < 1e3
            ? fixed(value, 0) + " ns"
            : size < 1e6
                ? fixed(value / 1e3, 1) + " \u00b5s"
                : size < 1e9 ? fixed(value / 1e6, 1) + " ms" : fixed(value / 1e9, 2) + " s";
      }
      case "bytes" -> {
        String[] sizes = {"bytes", "KiB", "MiB", "GiB", "TiB"};
        int size = 0;
        while (Math.abs(value) >= 1024 && size < sizes.length - 1) {
          value /= 1024;
          size++;
        }
        yield fixed(value, size == 0 ? 0 : 1) + " " + sizes[size];
      }
      case "in share" -> written(value, "percent");
      case "in times" -> written(value, "times");
      case "in bytes", "in nanos" -> written(value, unit.substring(3));
      case "in bytes/s" -> written(value, "bytes") + "/s";
      default -> {
        assertThat(unit).startsWith("in ");
        double size = Math.abs(value);
        yield fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : 2) + unit.substring(2);
      }
    };
  }

  private static String fixed(double value, int digits) {
    String text =
        String.format(
            Locale.ROOT,
            "%,." + digits + "f",
            new BigDecimal(Math.abs(value)).setScale(digits, RoundingMode.HALF_UP));
    return value < 0 ? "\u2212" + text : text;
  }

  @Test
  void theProfileAndThePredictionsAreOnThePage() {
    browser.open(profile);
    JsonNode data = data();
    assertThat(data.at("/recordings/0/differential/shares").size()).isGreaterThan(3);
    long answered = 0;
    for (JsonNode answer : data.at("/recordings/0/whatIf/answers")) {
      answered += answer.has("figure") ? 1 : 0;
      assertThat((String) browser.run("return document.getElementById('what-if').textContent"))
          .contains(answer.at("/sentence").asString());
    }
    assertThat(browser.run("return document.querySelector('section').id")).isEqualTo("profile");
    assertThat(answered).isGreaterThan(4);
    assertThat(browser.run("return document.querySelectorAll('#what-if canvas').length"))
        .isEqualTo(answered);
    assertThat(browser.run("return document.querySelectorAll('#profile canvas').length"))
        .isEqualTo(1L);
    assertThat((Boolean) browser.run(TODAY_IS_MARKED)).isTrue();
  }

  private static final String TODAY_IS_MARKED =
      "return Chart.getChart(document.querySelector('#what-if canvas'))"
          + ".data.datasets.some(each => each.label === 'today' && each.data.length === 1)";

  @Test
  void simulationsAreDrawnSideBySide() {
    browser.open(simulation);
    JsonNode data = data();
    assertThat(
            browser.list(
                "return [...document.querySelectorAll('h3')].map(each => each.textContent)"))
        .containsExactly("fifo proportional", "fifo tune", "srtf proportional", "srtf tune");
    assertThat(browser.run("return document.querySelectorAll('#utilisation canvas').length"))
        .isEqualTo(4L);
    List<List<Object>> waiting =
        browser.list(
            """
            return Chart.getChart(document.querySelector('#queue canvas')).data.datasets
                .map(each => each.data.map(point => point.y))\
            """);
    List<List<Object>> shares =
        browser.list(
            """
            return Chart.getChart(document.querySelector('#completion canvas')).data.datasets
                .map(each => each.data.map(point => point.x * 3600))\
            """);
    for (int run = 0; run < 4; run++) {
      JsonNode timeline = data.at("/runs/" + run + "/timeline");
      assertThat(timeline.size()).isGreaterThan(10);
      assertThat(waiting.get(run)).hasSize(timeline.size());
      for (int at = 0; at < timeline.size(); at++) {
        assertThat(((Number) waiting.get(run).get(at)).doubleValue())
            .isEqualTo(timeline.get(at).at("/queued").asDouble());
      }
      JsonNode distribution = data.at("/runs/" + run + "/distribution");
      assertThat(shares.get(run)).hasSize(101);
      assertThat(distribution.get(50).at("/seconds").asDouble())
          .isEqualTo(data.at("/runs/" + run + "/jct/p50Seconds").asDouble());
      assertThat(((Number) shares.get(run).get(95)).doubleValue())
          .isCloseTo(data.at("/runs/" + run + "/jct/p95Seconds").asDouble(), within(1e-6));
    }
  }

  @Test
  void noTextOfARecordingIsExecuted() {
    for (Path page : List.of(single, comparison)) {
      browser.open(page);
      assertThat(browser.run("return window.hurt === undefined")).isEqualTo(true);
      assertThat(
              browser.run(
                  "return document.querySelectorAll('img, i, main script, [data-json] *').length"))
          .isEqualTo(0L);
      assertThat(
              browser.run(
                  "return [...document.querySelectorAll('[data-json]')]"
                      + ".filter(each => each.textContent === arguments[0]).length > 2",
                  HOSTILE))
          .isEqualTo(true);
    }
  }

  @Test
  void everythingIsReachableByKeyboardWithVisibleFocus() {
    browser.open(single);
    long expected =
        (Long)
            browser.run(
                "return document.querySelectorAll('a[href], summary, canvas, button,"
                    + " .scroll').length - document.querySelectorAll('details:not([open])"
                    + " .scroll').length");
    Set<Object> reached = new HashSet<>();
    for (int i = 0; i < expected; i++) {
      browser.press(Keys.TAB);
      List<Object> at =
          browser.list(
              """
              const at = document.activeElement;
              const style = getComputedStyle(at);
              window.order = window.order || [];
              if (!window.order.includes(at)) window.order.push(at);
              return [window.order.indexOf(at), style.outlineStyle, parseFloat(style.outlineWidth)]\
              """);
      reached.add(at.get(0));
      assertThat(at.get(1)).isNotEqualTo("none");
      assertThat(((Number) at.get(2)).doubleValue()).isGreaterThanOrEqualTo(2);
    }
    assertThat(reached).hasSize((int) expected);

    browser.run("document.querySelector('canvas').focus()");
    browser.press(Keys.ARROW_RIGHT);
    assertThat((String) browser.run("return document.getElementById('said').textContent"))
        .startsWith("1, compute 26.00 s, fetch stall 40.00 s");
    browser.press(Keys.ESCAPE);
    assertThat((String) browser.run("return document.getElementById('said').textContent"))
        .isEmpty();
  }

  @Test
  void headingsAndLabelsGuideAScreenReader() {
    for (Path page : pages()) {
      browser.open(page);
      List<String> levels =
          browser.list(
              "return [...document.querySelectorAll('h1, h2, h3')].map(each => each.tagName)");
      assertThat(levels).startsWith("H1").containsOnlyOnce("H1").contains("H2", "H3");
      List<String> unnamed =
          browser.list(
              """
              const bad = [];
              const named = each => each.getAttribute('aria-label')
                  || document.getElementById(each.getAttribute('aria-labelledby'))?.textContent;
              document.querySelectorAll('canvas, section, nav, [role=group]').forEach(each => {
                if (!named(each)) bad.push(each.outerHTML);
              });
              document.querySelectorAll('table').forEach(each => {
                if (!each.caption || each.querySelectorAll('thead th[scope=col]').length === 0) {
                  bad.push(each.outerHTML);
                }
                for (const row of each.tBodies[0].rows) {
                  if (row.cells.length !== each.tHead.rows[0].cells.length) bad.push(row.outerHTML);
                }
              });
              const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
              if (new Set(ids).size !== ids.length) bad.push('a duplicate id');
              if (!document.documentElement.lang) bad.push('no language');
              return bad\
              """);
      assertThat(unnamed).isEmpty();
      // The section of each chart also has a table.
      List<String> alone =
          browser.list(
              """
              return [...document.querySelectorAll('section')]
                  .filter(each => each.querySelector('canvas') && !each.querySelector('table'))
                  .map(each => each.id)\
              """);
      assertThat(alone).isEmpty();
    }
  }

  @Test
  void textCanBeReadInLightAndDark() throws Exception {
    Assumptions.assumeTrue(
        FULL, "runs only with -Pfull; without it, anybodyCanUseEveryPage checks contrast");
    for (Path page : pages()) {
      for (String scheme : List.of("light", "dark")) {
        browser.medium("", scheme);
        browser.open(page);
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })");
        List<String> faint = browser.list(CONTRAST);
        assertThat(faint).as("%s in %s", page, scheme).isEmpty();
        browser.open(page);
        browser.screenshot(
            SCREENSHOTS.resolve(
                page.getFileName().toString().replace(".html", "-" + scheme + ".png")),
            1200);
      }
    }
    assertThat(browser.console()).isEmpty();
  }

  /**
   * Charts follow a change of the scheme while the page is open. The script polls for the change;
   * the browser stops it if the change never comes.
   */
  @Test
  void chartsChangeTheirColoursWithTheScheme() {
    browser.open(single);
    Object light = browser.run("return document.querySelector('canvas').toDataURL()");
    browser.medium("", "dark");
    Object dark =
        browser.run(
            """
            const [before] = arguments;
            return new Promise(done => {
              const poll = () => {
                const now = document.querySelector('canvas').toDataURL();
                now === before ? requestAnimationFrame(poll) : done(now);
              };
              poll();
            })\
            """,
            light);
    assertThat(dark).isNotEqualTo(light);
  }

  private static void openAll(Path page) {
    browser.open(page);
    browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })");
  }

  /**
   * Checks the page on screen and paper, from a telephone's width to a wall display's; without
   * {@code -Pfull}, only with the width and theme at index {@code turn}.
   */
  static void anybodyCanUse(Browser browser, Path page, int turn) throws Exception {
    List<Integer> widths = List.of(400, 1280, 2560);
    List<String> themes = List.of("light", "dark", "print");
    for (int width : widths) {
      for (String theme : themes) {
        if (!FULL && (widths.indexOf(width) != turn || themes.indexOf(theme) != turn)) {
          continue; // Three pages cover each width and each theme once.
        }
        browser.resize(width, 900);
        browser.medium(
            theme.equals("print") ? "print" : "screen", theme.equals("dark") ? "dark" : "light");
        browser.open(page);
        String name = page.getFileName().toString().replace(".html", "-" + width + "-" + theme);
        browser.screenshot(SCREENSHOTS.resolve(name + ".png"), width);
        // The table with hundreds of slots stays closed; it has the form of the others.
        browser.run(
            "document.querySelectorAll('details:not(.screen)').forEach(each => { each.open = true"
                + " })");
        assertThat((Long) browser.run("return document.documentElement.scrollWidth"))
            .as(name)
            .isLessThanOrEqualTo(width);
        assertThat(browser.violations()).as(name).isEmpty();
        assertThat(browser.console()).as(name).isEmpty();
      }
    }
  }

  /** Checks pages that other tests have written. */
  public static void main(String[] pages) throws Exception {
    try (Browser pageBrowser = new Browser(Files.createTempDirectory("browser"))) {
      for (int i = 0; i < pages.length; i++) {
        anybodyCanUse(pageBrowser, Path.of(pages[i]), i % 3);
      }
    }
  }

  @Test
  void aNarrowWindowDoesNotOverflow() throws Exception {
    for (Path page : pages()) {
      browser.resize(320, 700);
      openAll(page);
      assertThat((Long) browser.run("return document.documentElement.scrollWidth"))
          .isLessThanOrEqualTo(320);
    }
  }

  @Test
  void anybodyCanUseEveryPage() throws Exception {
    List<Path> pages = pages();
    for (int i = 0; i < pages.size(); i++) {
      anybodyCanUse(browser, pages.get(i), i % 3);
    }
  }

  /** Start times and shares of the drawn bars of the first part, and the caption. */
  private static final String DRAWN =
      """
      const chart = Chart.getChart(document.querySelector('#time canvas'));
      return [chart.data.labels.map(Number), chart.data.datasets[0].data.map(Number),
          document.querySelector('#time figure > p').textContent]\
      """;

  private static void assertDrawn(boolean smoothed) {
    JsonNode fine = data().at("/recordings/0/timeLine/fine");
    JsonNode compute = fine.at("/computeNanos");
    double width = fine.at("/slotNanos").asDouble();
    List<Object> drawn = browser.list(DRAWN);
    List<?> labels = (List<?>) drawn.get(0);
    List<?> shares = (List<?>) drawn.get(1);
    Matcher range =
        Pattern.compile("Shown: ([\\d.]+) to ([\\d.]+) s; (each|not).*")
            .matcher((String) drawn.get(2));
    assertThat(range.matches()).as("%s", drawn.get(2)).isTrue();
    long first = Math.round(Double.parseDouble(range.group(1)) * 1e9 / width);
    long last = Math.round(Double.parseDouble(range.group(2)) * 1e9 / width);
    assertThat(range.group(3)).isEqualTo(smoothed ? "each" : "not");
    double step = (double) (last - first) / shares.size();
    for (int bar = 0; bar < shares.size(); bar++) {
      double middle = first + (bar + 0.5) * step;
      long from = (long) Math.max(0, Math.floor(middle - (smoothed ? 1.5 * step : 0.5)));
      long to = (long) Math.min(compute.size(), Math.ceil(middle + (smoothed ? 1.5 * step : 0.5)));
      long sum = 0;
      for (long slot = from; slot < to; slot++) {
        sum += compute.get((int) slot).asLong();
      }
      assertThat(((Number) shares.get(bar)).doubleValue())
          .as("bar %s of slots %s to %s", bar, from, to)
          .isCloseTo(100 * sum / ((to - from) * width), within(1e-6));
      assertThat(((Number) labels.get(bar)).doubleValue())
          .isCloseTo((first + bar * step) * width / 1e9, within(0.051));
    }
  }

  private static int bars() {
    return ((List<?>) browser.list(DRAWN).get(0)).size();
  }

  @Test
  void theRunIsSmoothedAndZoomsToItsSlots() {
    browser.resize(1280, 900);
    browser.open(longRun);
    assertDrawn(true);
    int wide = bars();
    browser.resize(400, 900);
    browser.open(longRun);
    assertDrawn(true);
    assertThat(bars()).isLessThan(wide);

    browser.run("document.querySelector('#time canvas').focus()");
    for (int i = 0; i < 4; i++) {
      browser.type("+");
    }
    assertDrawn(false);
    String zoomed = (String) browser.list(DRAWN).get(2);
    assertThat((String) browser.run("return document.getElementById('said').textContent"))
        .isEqualTo(zoomed);
    browser.run("document.querySelectorAll('#time button')[3].click()");
    assertDrawn(false);
    assertThat(browser.list(DRAWN).get(2)).isNotEqualTo(zoomed);
    browser.type("0");
    assertDrawn(true);
    assertThat((String) browser.list(DRAWN).get(2)).startsWith("Shown: 0 to ");

    browser.drag("#time canvas", 0.5, 0.6);
    assertThat((String) browser.list(DRAWN).get(2)).doesNotStartWith("Shown: 0 to ");
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void thePageIsPrintedWithoutItsControls() throws Exception {
    browser.open(single);
    browser.medium("print", "dark");
    browser.run("dispatchEvent(new Event('beforeprint'))");
    assertThat(
            browser.list(
                """
                return [...document.querySelectorAll('details:not([open])')]
                    .map(each => each.textContent.slice(0, 22))\
                """))
        .containsExactly("Table of the time-line");
    assertThat(
            browser.run(
                """
                return getComputedStyle(document.body).backgroundColor
                    + getComputedStyle(document.querySelector('details.screen')).display
                    + getComputedStyle(document.querySelector('.ways')).display\
                """))
        .isEqualTo("rgb(255, 255, 255)nonenone");
    browser.run("dispatchEvent(new Event('afterprint'))");
    assertThat(
            browser.run("return [...document.querySelectorAll('details')].some(each => each.open)"))
        .isEqualTo(false);
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void thePageNamesUnreadFilesAndTheBaseOfTheComparison() throws Exception {
    browser.open(comparison);
    String head = "return document.getElementById('head').innerText";
    assertThat((String) browser.run(head))
        .contains(HOSTILE.substring(0, 30), "The others are compared with before <b>&\".jfr.");
    browser.open(write("rest.html", List.of(before), "gone.jfr cannot be read."));
    assertThat((String) browser.run(head))
        .contains("gone.jfr cannot be read.", " and compares nothing.");
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void aNearlyEmptyRecordingIsDrawn() throws Exception {
    Path file = Recordings.record(folder.resolve("little.jfr"), () -> Recordings.emitFetches(1));
    List<JobActivity> jobs = new ArrayList<>();
    jobs.add(RecordingReader.readInFull(file, done -> {}));
    browser.open(write("little.html", jobs));
    assertThat(browser.console()).isEmpty();
    assertThat((String) browser.run("return document.body.innerText"))
        .contains("no training batch was seen")
        .doesNotContain("NaN", "undefined", "Infinity");
  }

  /** Finds texts with too little contrast to their background (WCAG 2.2, 1.4.3). */
  private static final String CONTRAST =
      """
      const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
      const luminance = ([r, g, b]) => {
        const part = value => {
          value /= 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        };
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
      };
      const ground = element => {
        for (let at = element; at; at = at.parentElement) {
          const colour = parse(getComputedStyle(at).backgroundColor);
          if (colour.length === 3 || colour[3] === 1) return colour;
          if (colour[3] > 0) throw new Error('half transparent');
        }
        return [255, 255, 255];
      };
      const faint = [];
      for (const element of document.body.querySelectorAll('*')) {
        const texts = [...element.childNodes].some(each => each.nodeType === 3 && each.data.trim());
        if (!texts || !element.checkVisibility() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
        const one = luminance(parse(getComputedStyle(element).color));
        const other = luminance(ground(element));
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) faint.push(contrast.toFixed(2) + ' ' + element.outerHTML.slice(0, 200));
      }
      return faint\
      """;
}
