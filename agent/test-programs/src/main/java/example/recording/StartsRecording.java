package example.recording;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.security.ProtectionDomain;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * An agent that starts a recording on its own thread, like {@code jcmd PID JFR.start}, and dumps it
 * when the JVM ends. Argument: {@code MOMENT=FILE}. A moment is {@code premain}, a number of
 * milliseconds since JVM start, or the internal name of a class that is about to be defined.
 * Loading that class waits until the recording runs, or until the starting thread blocks because it
 * needs that class first, but for two minutes at most.
 */
public final class StartsRecording implements ClassFileTransformer {
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final String moment;
  private final Thread starter;
  private final AtomicBoolean started = new AtomicBoolean();

  private StartsRecording(String moment, Thread starter) {
    this.moment = moment;
    this.starter = starter;
  }

  /** Called by the JVM. */
  public static void premain(String argument, Instrumentation instrumentation)
      throws InterruptedException {
    int split = argument.indexOf('=');
    String moment = argument.substring(0, split);
    String file = argument.substring(split + 1);
    Thread starter = new Thread(() -> start(moment, file), "starts-recording");
    starter.setDaemon(true);
    ManagementFactory.getPlatformMBeanServer(); // Do the slow part before the moment.
    if (moment.equals("premain")) {
      starter.start();
      starter.join();
    } else if (isNumber(moment)) {
      starter.start();
    } else {
      instrumentation.addTransformer(new StartsRecording(moment, starter));
    }
  }

  private static boolean isNumber(String moment) {
    return Character.isDigit(moment.charAt(0));
  }

  private static void start(String moment, String file) {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      if (isNumber(moment)) {
        long up = ManagementFactory.getRuntimeMXBean().getUptime();
        Thread.sleep(Math.max(0, Long.parseLong(moment) - up));
      }
      // Like jcmd; this instruments event classes that a start through the JFR API would not.
      server.invoke(
          new ObjectName("com.sun.management:type=DiagnosticCommand"),
          "jfrStart",
          new Object[] {new String[] {"filename=" + file, "dumponexit=true"}},
          new String[] {String[].class.getName()});
    } catch (JMException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public byte[] transform(
      ClassLoader loader,
      String name,
      Class<?> redefined,
      ProtectionDomain domain,
      byte[] classFile) {
    if (moment.equals(name) && !started.getAndSet(true)) {
      starter.start();
      long begin = System.nanoTime();
      while (starter.isAlive()
          && starter.getState() != Thread.State.BLOCKED
          && System.nanoTime() - begin < PATIENCE_NANOS) {
        Thread.onSpinWait();
      }
    }
    return null;
  }
}
