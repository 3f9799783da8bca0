package io.coordl.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Entry point of {@code -javaagent:coordl-agent.jar=arguments}. Checks the kill switch first, uses
 * no lambda (the first would load the invokedynamic machinery), and uses neither logging nor JMX
 * nor {@code java.nio.file}. No exception escapes: if anything fails, the program runs without the
 * agent.
 */
public final class CoordlAgent {
  private static final String AGENT_JAR = "coordl-agent.jar";
  private static final String ATTACHED = "coordl.attached";
  private static final String INSTALLER = "io.coordl.agent.install.Installer";
  private static final String HELP = "io.coordl.agent.install.Option";

  /** By name, because linking this class must not load other agent classes. */
  private static final String LOADER = "io.coordl.bridge.IsolatedLoader";

  private CoordlAgent() {}

  /** Starts the agent; the JVM calls this before the program's {@code main}. */
  public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
    start("at start", arguments == null ? "" : arguments, instrumentation);
  }

  /** Starts the agent in a running program to which it is attached; prefer {@code -javaagent}. */
  public static void agentmain(@Nullable String arguments, Instrumentation instrumentation) {
    start("late", arguments == null ? "" : arguments, instrumentation);
  }

  /** Prints the usage on {@code java -jar coordl-agent.jar}. */
  public static void main(String[] ignored) throws Exception {
    File jar = jar();
    if (jar != null) {
      System.out.print(isolated(jar).loadClass(HELP).getMethod("help").invoke(null));
    }
  }

  /** Lists the ignored arguments without their values, which may be passwords. */
  private static String listIgnored(String arguments) {
    StringBuilder names = new StringBuilder();
    for (String argument : arguments.split(",", -1)) {
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (!name.isEmpty()) {
        names.append(names.length() == 0 ? ", so it ignores " : ", ").append(name);
      }
    }
    return names.toString();
  }

  private static void start(String when, String arguments, Instrumentation instrumentation) {
    try {
      if (isDisabled(arguments) || isJdkTool()) {
        return;
      }
      if (System.getProperty(ATTACHED) != null) {
        System.err.println(
            "[coordl] attached twice; the second attachment does nothing" + listIgnored(arguments));
        return;
      }
      File jar = jar();
      if (jar == null) {
        System.err.println(
            "[coordl] " + AGENT_JAR + " cannot be found as a file; the program runs without it");
        return;
      }
      System.setProperty(ATTACHED, when);
      if (CoordlAgent.class.getClassLoader() != null) { // A renamed jar, or attached late.
        try (JarFile file = new JarFile(jar)) {
          instrumentation.appendToBootstrapClassLoaderSearch(file);
        }
      }
      isolated(jar)
          .loadClass(INSTALLER)
          .getMethod("install", String.class, Instrumentation.class)
          .invoke(null, arguments, instrumentation);
    } catch (Throwable t) {
      Throwable cause = t.getCause() != null ? t.getCause() : t;
      String grant =
          cause instanceof SecurityException
              ? "; grant " + AGENT_JAR + " java.security.AllPermission"
              : "";
      System.err.println(
          "[coordl] cannot start (" + cause + "); the program runs without it" + grant);
      if (isDebugging()) {
        t.printStackTrace();
      }
    }
  }

  private static boolean isDebugging() {
    try {
      return Boolean.getBoolean("coordl.debug");
    } catch (SecurityException e) {
      return false;
    }
  }

  private static ClassLoader isolated(File jar) throws Exception {
    return Class.forName(LOADER)
        .asSubclass(ClassLoader.class)
        .getConstructor(File.class)
        .newInstance(jar);
  }

  private static boolean isDisabled(String arguments) {
    return "false".equals(System.getProperty("coordl.enabled"))
        || containsDisabled(arguments)
        || containsDisabled(System.getenv("COORDL_OPTS"));
  }

  private static boolean containsDisabled(@Nullable String arguments) {
    return arguments != null
        && ("," + arguments.replace(" ", "") + ",").contains(",enabled=false,");
  }

  /**
   * Whether this JVM runs a JDK tool: JAVA_TOOL_OPTIONS also attaches the agent to javac, jcmd and
   * jfr, where it must do nothing.
   */
  private static boolean isJdkTool() {
    String module = System.getProperty("jdk.module.main");
    return module != null && module.startsWith("jdk.");
  }

  private static @Nullable File jar() throws Exception {
    java.security.CodeSource source = CoordlAgent.class.getProtectionDomain().getCodeSource();
    java.net.URL location = source == null ? null : source.getLocation();
    if (location == null) { // The manifest puts the jar on the boot class path.
      location = CoordlAgent.class.getResource("CoordlAgent.class");
    }
    if (location == null) {
      return null;
    }
    String name = location.toString();
    int end = name.indexOf("!/");
    File file = new File(new java.net.URI(end < 0 ? name : name.substring("jar:".length(), end)));
    return file.isFile() ? file : null;
  }
}
