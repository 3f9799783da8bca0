package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.bridge.SpanSink;
import io.coordl.host.AgentThread;
import io.coordl.items.EarlyMaps;
import io.coordl.items.FileState;
import io.coordl.library.catalog.Libraries;
import io.coordl.telemetry.recording.AgentLog;
import io.coordl.telemetry.recording.RewriteLog;
import io.coordl.transformers.ProgramTransformer;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * Continues {@code premain} once the loaders exist: parses options and installs the transformer.
 */
public final class Installer {
  /** Modules that the agent needs in every job, beyond java.base and java.instrument. */
  private static final List<String> MODULES =
      List.of("java.management", "jdk.jfr", "jdk.management");

  private Installer() {}

  /** Installs the agent; the entry class calls this by reflection. */
  public static void install(String arguments, Instrumentation instrumentation)
      throws ClassNotFoundException {
    Options options = Options.parse(arguments, System.getenv("COORDL_OPTS"));
    if (options.help()) {
      System.err.print(Option.help());
    }
    if (options.get(Option.ENABLED).equals("false")) {
      return;
    }
    String missing = missingModules();
    if (!missing.isEmpty()) {
      System.err.println(
          "[coordl] disabled: this Java runtime lacks "
              + missing
              + ". The program runs without the agent. Rebuild the runtime with jlink --add-modules"
              + " "
              + missing
              + ", or start java with --add-modules "
              + missing
              + ".");
      return;
    }
    if (Installer.class.getClassLoader() instanceof IsolatedLoader) {
      IsolatedLoader.loadReads();
    }
    AgentLog log = new AgentLog();
    for (String problem : options.problems()) {
      log.say(problem);
    }
    for (String remark : options.remarks()) {
      log.say(remark);
    }
    // Until activation, this only notes files mapped for writing, and logs faults.
    EarlyMaps early = new EarlyMaps();
    Bridge.install(SpanSink.NONE, early, log);
    openFileCalls(instrumentation);
    RewriteLog rewrites = new RewriteLog();
    Libraries libraries = options.libraries();
    Activation activation =
        new Activation(options, libraries, early, log, rewrites, instrumentation);
    ProgramTransformer transformer =
        new ProgramTransformer(
            libraries.weaver(libraries.hooks(options::inForce)),
            new ClassListener(rewrites, libraries, activation, log));
    instrumentation.addTransformer(transformer, true);
    if (options.profiles() || options.hasArgumentsOfLibraries()) {
      Runtime.getRuntime()
          .addShutdownHook(new AgentThread("coordl-profile-unused", activation::endWithoutLibrary));
    }
    retransformLoaded(instrumentation, transformer);
    if (!options.get(Option.DATASET).equals(Option.DATASET.defaultValue)) {
      activation.activate(null);
    }
  }

  /** Opens JDK packages to {@link FileState}, which works without them if the JVM refuses. */
  private static void openFileCalls(Instrumentation instrumentation) {
    try {
      Module runtime = FileState.class.getModule();
      Map<String, Set<Module>> opened = new HashMap<>();
      for (String name : FileState.PACKAGES) {
        opened.put(name, Set.of(runtime));
      }
      instrumentation.redefineModule(
          Object.class.getModule(), Set.of(), Map.of(), opened, Set.of(), Map.of());
    } catch (RuntimeException | LinkageError e) {
      // Some JVMs refuse; FileState then uses public calls only.
    }
  }

  /**
   * Returns the missing modules, comma-separated; empty if none. Called before any agent class
   * needs one.
   */
  private static String missingModules() {
    StringJoiner missing = new StringJoiner(",");
    for (String name : MODULES) {
      if (ModuleLayer.boot().findModule(name).isEmpty()) {
        missing.add(name);
      }
    }
    return missing.toString();
  }

  /**
   * Rewrites classes that were loaded before the agent (late attach, or an AOT cache). Skips
   * classes that the transformer would not change: each retransformation runs the transformers of
   * all agents, and retransforming OpenTelemetry's 3,000 classes took 20 s.
   */
  private static void retransformLoaded(
      Instrumentation instrumentation, ProgramTransformer transformer) {
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      try {
        if (!type.isArray()
            && !type.isHidden()
            && transformer.mayChange(type)
            && instrumentation.isModifiableClass(type)) {
          instrumentation.retransformClasses(type);
        }
      } catch (Throwable t) {
        // This class stays unchanged; continue with the others.
        Bridge.fault("retransform " + type.getName(), t);
      }
    }
  }
}
