package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.recording.AgentLog;
import io.coordl.recording.RewriteLog;
import io.coordl.transformers.ProgramTransformer;
import io.coordl.transformers.hook.HookWeaver;
import io.coordl.transformers.hook.Hooks;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code premain} does once the loaders stand: options, transformer, and then waiting. */
public final class Installer {
  private Installer() {}

  /**
   * Called by reflection from the entry class.
   *
   * @param instrumentation null when only the help is wanted
   */
  public static void install(String arguments, @Nullable Instrumentation instrumentation) {
    Options options = Options.parse(arguments, System.getenv("COORDL_OPTS"));
    if (options.help()) {
      System.err.print(OptionTable.help());
    }
    if (instrumentation == null || options.get(Option.ENABLED).equals("false")) {
      return;
    }
    AgentLog log = new AgentLog();
    for (String problem : options.problems()) {
      log.say(problem);
    }
    // Nothing to observe yet, but faults are told from now on.
    Bridge.install(SpanSink.NONE, ItemSource.NONE, log);
    RewriteLog rewrites = new RewriteLog();
    Activation activation = new Activation(options, log, rewrites);
    ProgramTransformer transformer =
        new ProgramTransformer(
            new HookWeaver(
                Policies.keepsDecoded(options) ? Hooks.all() : Hooks.spans(),
                Installer.class.getClassLoader()),
            new ClassListener(rewrites, activation));
    instrumentation.addTransformer(transformer, true);
    retransformLoaded(instrumentation);
    if (options.isGiven(Option.DATASET)) {
      activation.activate("");
    }
  }

  /** Classes loaded before us (attached late, or from an AOT cache) would else escape. */
  private static void retransformLoaded(Instrumentation instrumentation) {
    List<Class<?>> loaded = new ArrayList<>();
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      ClassLoader loader = type.getClassLoader();
      if (loader != null
          && loader != ClassLoader.getPlatformClassLoader()
          && loader != Installer.class.getClassLoader()
          && !type.isArray()
          && !type.isHidden()
          && instrumentation.isModifiableClass(type)) {
        loaded.add(type);
      }
    }
    for (Class<?> type : loaded) {
      try {
        instrumentation.retransformClasses(type);
      } catch (UnmodifiableClassException | LinkageError e) {
        Bridge.fault("retransform " + type.getName(), e);
      }
    }
  }
}
