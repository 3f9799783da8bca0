package io.coordl.telemetry.recording;

import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timestamp;
import org.jspecify.annotations.Nullable;

/** Describes this JVM in the format of the JDK's own event, which readers of recordings expect. */
@Name("jdk.JVMInformation")
@Label("JVM Information")
@Category("Java Virtual Machine")
final class JvmInformation {
  @Label("JVM Name")
  public @Nullable String jvmName;

  @Label("JVM Version")
  public @Nullable String jvmVersion;

  @Label("JVM Command Line Arguments")
  public @Nullable String jvmArguments;

  @Label("Java Application Arguments")
  public @Nullable String javaArguments;

  @Label("JVM Start Time")
  @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
  public long jvmStartTime;

  @Label("Process Identifier")
  public long pid;

  static JvmInformation ofThis() {
    RuntimeMXBean jvm = ManagementFactory.getRuntimeMXBean();
    JvmInformation event = new JvmInformation();
    event.jvmName = jvm.getVmName();
    event.jvmVersion =
        jvm.getVmName() + " (" + jvm.getVmVersion() + "), " + System.getProperty("os.arch");
    // Without the agent's arguments, which may contain a password.
    event.jvmArguments =
        jvm.getInputArguments().stream()
            .filter(argument -> !argument.startsWith("-javaagent:"))
            .collect(Collectors.joining(" "));
    event.javaArguments = System.getProperty("sun.java.command", "");
    event.jvmStartTime = jvm.getStartTime();
    event.pid = jvm.getPid();
    return event;
  }
}
