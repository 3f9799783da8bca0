package io.coordl.reports.page;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Level;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The machine's headless Chromium (Debian packages chromium and chromium-driver). */
final class Browser implements AutoCloseable {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

  private final ChromeDriver driver;

  Browser(Path profile) {
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM.toFile());
    options.setCapability("goog:loggingPrefs", logs);
    options.addArguments(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        "--user-data-dir=" + profile);
    driver =
        new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(DRIVER.toString()))
                .build(),
            options);
    driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(5));
  }

  static boolean isInstalled() {
    return Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER);
  }

  /** Opens a page and waits for its scripts. The driver alone returns earlier on a busy machine. */
  void open(Path page) {
    driver.get(page.toUri().toString());
    run(
        """
        return new Promise(done =>
            document.readyState === 'complete' ? done() : addEventListener('load', () => done()))\
        """);
  }

  Object run(String script, Object... arguments) {
    return driver.executeScript(script, arguments);
  }

  @SuppressWarnings("unchecked") // what the script returns
  <T> List<T> list(String script, Object... arguments) {
    return (List<T>) driver.executeScript(script, arguments);
  }

  void press(Keys key) {
    driver.switchTo().activeElement().sendKeys(key);
  }

  void type(String keys) {
    driver.switchTo().activeElement().sendKeys(keys);
  }

  void focusBody() {
    driver.findElement(By.tagName("body")).click();
  }

  void resize(int width, int height) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** Emulates a medium ({@code screen} or {@code print}) and a colour scheme. */
  void medium(String medium, String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "media",
            medium,
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
  }

  /** Accessibility violations that axe-core finds, one line each. */
  List<String> violations() throws IOException {
    try (InputStream axe = Browser.class.getResourceAsStream("/axe.min.js")) {
      run(new String(Objects.requireNonNull(axe).readAllBytes(), StandardCharsets.UTF_8));
    }
    return list(
        """
        return axe.run(document, {iframes: false, resultTypes: ['violations']}).then(result => result.violations.flatMap(each =>
            each.nodes.map(node => each.id + ': ' + node.html + ' ' + node.failureSummary)))\
        """);
  }

  /**
   * Drags over an element, from one share of its width to another. Scrolls it into view instantly,
   * because the drag would miss it during the page's smooth scrolling.
   */
  void drag(String selector, double from, double to) {
    WebElement element = driver.findElement(By.cssSelector(selector));
    run("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", element);
    int width = element.getSize().getWidth();
    new Actions(driver)
        .moveToElement(element, (int) ((from - 0.5) * width), 0)
        .clickAndHold()
        .moveToElement(element, (int) ((to - 0.5) * width), 0)
        .release()
        .perform();
  }

  /** Saves a picture of the whole page, however long, in a window of this width. */
  void screenshot(Path file, int width) throws IOException {
    resize(width, 900);
    resize(width, ((Number) run("return document.documentElement.scrollHeight")).intValue());
    Map<String, Object> taken =
        driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "png"));
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.write(file, Base64.getDecoder().decode((String) taken.get("data")));
  }

  /** Console messages since the last call: errors, warnings, violations. */
  List<String> console() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .map(LogEntry::getMessage)
        .toList();
  }

  /** Addresses requested since the last call. */
  List<String> requests() {
    List<String> addresses = new ArrayList<>();
    for (LogEntry entry : driver.manage().logs().get(LogType.PERFORMANCE).getAll()) {
      JsonNode message = JsonMapper.shared().readTree(entry.getMessage()).at("/message");
      if (message.at("/method").asString().equals("Network.requestWillBeSent")) {
        addresses.add(message.at("/params/request/url").asString());
      }
    }
    return addresses;
  }

  @Override
  public void close() {
    driver.quit();
  }
}
