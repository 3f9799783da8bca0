package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.host.AgentThread;
import io.coordl.items.EarlyMaps;
import io.coordl.library.Library;
import io.coordl.library.catalog.Libraries;
import io.coordl.pipeline.LibraryCounts;
import io.coordl.pipeline.LibraryDatasets;
import io.coordl.pipeline.LibraryLayers;
import io.coordl.pipeline.LibraryVerdicts;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.telemetry.recording.AgentLog;
import io.coordl.telemetry.recording.JobFigures;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.RewriteLog;
import io.coordl.telemetry.recording.UserText;
import io.coordl.transformers.hook.Policy;
import java.lang.instrument.Instrumentation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Starts the agent when a rule of a training library first rewrites a class, or immediately if the
 * user named a data set. In other programs, only the transformer runs: no recording, no store, no
 * file.
 */
final class Activation {
  /** How long JVM shutdown waits for the summary to be printed. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Packages that an event class calls once JFR has instrumented it, in JDK 17 and later. */
  private static final List<String> CALLED_BY_EVENTS =
      List.of("jdk.jfr.internal", "jdk.jfr.internal.event", "jdk.jfr.internal.handlers");

  private final Options options;
  private final Libraries libraries;
  private final EarlyMaps early;
  private final AgentLog log;
  private final RewriteLog rewrites;
  private final Instrumentation instrumentation;
  private @Nullable JobMonitor job;
  private boolean failed;

  Activation(
      Options options,
      Libraries libraries,
      EarlyMaps early,
      AgentLog log,
      RewriteLog rewrites,
      Instrumentation instrumentation) {
    this.libraries = libraries;
    this.early = early;
    this.instrumentation = instrumentation;
    this.options = options;
    this.log = log;
    this.rewrites = rewrites;
  }

  /**
   * Starts the agent, once. Called whenever a library's rule has rewritten a class, or with null if
   * the user named a data set, because then no library is needed. Never throws.
   */
  synchronized void activate(@Nullable Library library) {
    if (failed) {
      return;
    }
    try {
      JobMonitor running = job;
      if (running == null) {
        running = start(library);
        job = running;
      }
      if (library != null) {
        running.figures().saw(library.event());
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

  /** Reports, at exit, the options that needed a library that was never loaded. */
  synchronized void endWithoutLibrary() {
    if (job != null || failed) {
      return;
    }
    logUnused();
    if (options.profiles()) {
      log.say(
          "profile=%s measured nothing: the program uses no training library that the agent knows",
          options.get(Option.PROFILE));
    }
  }

  private static void report(SampleVerdict found, JobFigures figures) {
    String policy = Policy.PREPARED.toString();
    figures.verdict(policy, found.source(), found.isKept(), found.reason(), found.remedy());
    String notAhead = found.notAhead();
    if (notAhead != null) {
      figures.verdict("prefetch", found.source(), notAhead.isEmpty(), notAhead, "");
    }
  }

  private JobMonitor start(@Nullable Library library) throws ClassNotFoundException {
    if (Activation.class.getClassLoader() instanceof IsolatedLoader loader) {
      loader.loadBridge();
    }
    exportToEvents(ModuleLayer.boot().findModule("jdk.jfr").orElse(null));
    JobMonitor monitor =
        new JobMonitor(
            options.settings(), System.getProperty("sun.java.command", ""), log, rewrites);
    monitor.figures().spans().counts(new LibraryCounts(libraries.counters()));
    LibraryDatasets datasets = new LibraryDatasets(libraries.datasets());
    monitor.figures().spans().datasets(datasets);
    monitor.figures().spans().layers(new LibraryLayers(libraries.layers()));
    if (!options.profiles()) {
      monitor
          .figures()
          .spans()
          .onEpoch(
              new Verdicts(
                  monitor.figures().spans().totals()::snapshot,
                  datasets,
                  new LibraryVerdicts(libraries.verdicts()),
                  proof -> new AgentThread("coordl-verdict", proof).start(),
                  found -> report(found, monitor.figures())));
    }
    if (library != null) {
      monitor.figures().saw(library.event());
    }
    monitor.start(version());
    if (options.get(Option.SUMMARY).equals("on")) {
      monitor.show();
    }
    if (options.get(Option.STATUS).equals("on")) {
      monitor.showStatus();
    }
    Policies policies = new Policies(options, libraries, early, monitor);
    ItemSource items = policies.items();
    LibraryHooks hooks = policies.hooks(rewrites);
    if (wantsBeans()) {
      monitor.showBeans();
    }
    for (String target : options.list(Option.METRICS)) {
      if (!target.equals(Option.METRICS.defaultValue)) {
        monitor.export(target);
      }
    }
    Bridge.install(monitor.figures().spans(), items, log);
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
      finish(monitor); // The JVM is already shutting down.
    }
    return monitor;
  }

  /**
   * Exports JFR's internal packages to the event classes. JFR itself does so when it registers an
   * event, but {@code jcmd JFR.start} also instruments event classes that are not yet registered.
   * If a call fails once because the export is missing, it fails forever.
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

  /** The version in the agent jar's manifest, which the loader of the entry class has read. */
  private static String version() throws ClassNotFoundException {
    String version =
        Class.forName("io.coordl.agent.CoordlAgent", false, ClassLoader.getSystemClassLoader())
            .getPackage()
            .getImplementationVersion();
    return version == null ? "?" : version;
  }

  /** Logs the library arguments that had no effect. */
  private void logUnused() {
    libraries.all().forEach(library -> library.unused().forEach(log::say));
  }

  private void finish(JobMonitor monitor) {
    try {
      logUnused();
      String text = UserText.marked(monitor.finish());
      if (options.get(Option.SUMMARY).equals("on") && !text.isEmpty()) {
        log.print(text, PATIENCE);
      }
    } catch (Throwable t) {
      if (!log.reportReplacedJar(t)) {
        log.say("cannot create the summary (" + t + ")");
      }
    }
  }
}
