package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.LibraryCounts;
import io.coordl.pipeline.LibraryLayers;
import io.coordl.recording.AgentLog;
import io.coordl.recording.JobMonitor;
import io.coordl.recording.RewriteLog;
import io.coordl.recording.UserText;
import io.coordl.thread.AgentThread;
import java.lang.instrument.Instrumentation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Brings the agent to life when the first class of a training library loads, so that a program that
 * trains nothing pays for a transformer and no more: no recording, no store, no file.
 */
final class Activation {
  /** How long the end of the JVM waits for the summary to be printed. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /**
   * The packages that an event class's methods call once JFR has instrumented it, by the names of
   * JDK 17 and of later JDKs.
   */
  private static final List<String> CALLED_BY_EVENTS =
      List.of("jdk.jfr.internal", "jdk.jfr.internal.event", "jdk.jfr.internal.handlers");

  private final Options options;
  private final AgentLog log;
  private final RewriteLog rewrites;
  private final Instrumentation instrumentation;
  private @Nullable JobMonitor job;
  private boolean failed;

  Activation(Options options, AgentLog log, RewriteLog rewrites, Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
    this.options = options;
    this.log = log;
    this.rewrites = rewrites;
  }

  /**
   * Called at every class of a library (by its name; empty if the user named a data set and no
   * library is needed); does its work once. Never throws.
   */
  synchronized void activate(String library) {
    if (failed) {
      return;
    }
    try {
      JobMonitor running = job;
      if (running == null) {
        running = start(library);
        job = running;
      }
      if (!library.isEmpty()) {
        running.sawFramework(library);
        String remark = options.remarkOn(library);
        if (!remark.isEmpty()) {
          log.say(remark);
        }
      }
    } catch (Throwable t) {
      failed = true;
      Bridge.trip();
      Bridge.fault("activation", t);
    }
  }

  /** The JVM ends; what was asked for needed a library that was never seen. */
  synchronized void endWithoutLibrary() {
    if (job == null && !failed) {
      log.say(
          "profile=%s measured nothing: the program has used neither DJL nor DL4J",
          options.get(Option.PROFILE));
    }
  }

  private JobMonitor start(String library) throws ClassNotFoundException {
    if (Activation.class.getClassLoader() instanceof IsolatedLoader loader) {
      loader.loadBridge();
    }
    exportToEvents(ModuleLayer.boot().findModule("jdk.jfr").orElse(null));
    JobMonitor monitor =
        new JobMonitor(
            options.settings(), System.getProperty("sun.java.command", ""), log, rewrites);
    monitor.spans().counts(new LibraryCounts());
    monitor.spans().layers(new LibraryLayers());
    if (!library.isEmpty()) {
      monitor.sawFramework(library);
    }
    monitor.madeBy(version());
    if (options.get(Option.SUMMARY).equals("on")) {
      monitor.show();
    }
    if (options.get(Option.STATUS).equals("on")) {
      monitor.showStatus();
    }
    Policies policies = new Policies(options, monitor);
    ItemSource items = policies.items();
    LibraryHooks hooks = policies.hooks(rewrites);
    if (wantsBeans()) {
      monitor.showBeans();
    }
    for (String target : options.list(Option.METRICS)) {
      if (!target.equals(Option.METRICS.byDefault)) {
        monitor.export(target);
      }
    }
    Bridge.install(monitor.spans(), items, log);
    Bridge.install(hooks);
    String record = options.get(Option.RECORD);
    if (!record.equals("off")) {
      monitor.startRecording(record, options.isGiven(Option.RECORD));
    } else {
      monitor.startWithoutRecording();
    }
    try {
      Runtime.getRuntime()
          .addShutdownHook(new AgentThread("coordl-summary", () -> finish(monitor)));
    } catch (IllegalStateException e) {
      finish(monitor); // The JVM is ending already.
    }
    return monitor;
  }

  /**
   * JFR does so when it registers an event, but {@code jcmd JFR.start} instruments each event class
   * that loads earlier. If a call fails once because the export is missing, it fails forever.
   */
  private void exportToEvents(@Nullable Module jfr) {
    if (jfr == null) {
      return;
    }
    Set<Module> events = Set.of(Activation.class.getModule());
    Map<String, Set<Module>> exports = new HashMap<>();
    for (String name : CALLED_BY_EVENTS) {
      if (jfr.getPackages().contains(name)) {
        exports.put(name, events);
      }
    }
    instrumentation.redefineModule(jfr, Set.of(), exports, Map.of(), Set.of(), Map.of());
  }

  private boolean wantsBeans() {
    String jmx = options.get(Option.JMX);
    return jmx.equals("auto")
        ? System.getProperties().stringPropertyNames().stream()
            .anyMatch(name -> name.startsWith("com.sun.management.jmxremote"))
        : jmx.equals("on");
  }

  /** As the agent's jar says; its loader has the only class of it that knows. */
  private static String version() throws ClassNotFoundException {
    String version =
        Class.forName("io.coordl.agent.CoordlAgent", false, ClassLoader.getSystemClassLoader())
            .getPackage()
            .getImplementationVersion();
    return version == null ? "?" : version;
  }

  private void finish(JobMonitor monitor) {
    try {
      String text = UserText.marked(monitor.finish());
      if (options.get(Option.SUMMARY).equals("on") && !text.isEmpty()) {
        log.print(text, PATIENCE);
      }
    } catch (Throwable t) {
      if (!log.isOfReplacedJar(t)) {
        log.say("no summary can be made (" + t + ")");
      }
    }
  }
}
