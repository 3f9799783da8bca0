package io.coordl.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs a training program under the agent and switches the agent on and off between epochs: some
 * are observed, the others run as if the agent had switched itself off. All run in one JVM with the
 * same compiled code, so even a small difference shows. After the first epoch, the order is on,
 * off, off, on, so that a trend affects both equally. Prints the CPU time of each epoch but the
 * first, and of each thread since the end of the first epoch.
 *
 * <p>Arguments: the program's main class and its arguments.
 */
public final class AlternatingEpochs extends OutputStream {
  /**
   * First word of a line that continues with an epoch's number, {@code on} or {@code off}, and its
   * CPU nanoseconds.
   */
  static final String TURN = "turn";

  /**
   * First word of a line that continues with CPU nanoseconds since the first epoch, and a thread's
   * name.
   */
  static final String THREAD = "thread";

  private final PrintStream out;
  private final StringBuilder line = new StringBuilder();
  private final Map<Field, Object> installed = new LinkedHashMap<>();
  private final Map<String, Long> threadsAtFirst = new LinkedHashMap<>();
  private int epoch;
  private long cpuAtStart;

  private AlternatingEpochs(PrintStream out) {
    this.out = out;
  }

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws ReflectiveOperationException {
    AlternatingEpochs turns = new AlternatingEpochs(System.out);
    System.setOut(new PrintStream(turns, true, StandardCharsets.UTF_8));
    Class.forName(args[0])
        .getMethod("main", String[].class)
        .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    turns
        .threads()
        .forEach(
            (name, used) ->
                turns.out.println(
                    THREAD
                        + " "
                        + (used - turns.threadsAtFirst.getOrDefault(name, 0L))
                        + " "
                        + name));
  }

  @Override
  public synchronized void write(int letter) {
    out.write(letter);
    if (letter != '\n') {
      line.append((char) letter);
    } else {
      if (line.toString().startsWith("epoch ")) {
        epochHasEnded();
      }
      line.setLength(0);
    }
  }

  /** Whether this epoch is observed; after the first one, the order is on, off, off, on. */
  static boolean isOn(int epoch) {
    return epoch % 4 < 2;
  }

  private void epochHasEnded() {
    try {
      long now = processCpu();
      if (epoch == 0) {
        install();
        threadsAtFirst.putAll(threads());
      } else {
        out.println(TURN + " " + epoch + " " + (isOn(epoch) ? "on " : "off ") + (now - cpuAtStart));
      }
      epoch++;
      for (Map.Entry<Field, Object> each : installed.entrySet()) {
        Field field = each.getKey();
        field.set(null, isOn(epoch) ? each.getValue() : none(field));
      }
      cpuAtStart = processCpu();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Saves the fields that the agent has set for rewritten code, to restore them after epochs
   * without the agent.
   */
  private void install() throws ReflectiveOperationException {
    Class<?> bridge = Class.forName("io.coordl.bridge.Bridge", true, null);
    for (String name : new String[] {"sink", "items", "hooks"}) {
      Field field = bridge.getDeclaredField(name);
      field.setAccessible(true);
      installed.put(field, field.get(null));
    }
    if (installed.entrySet().stream().allMatch(each -> each.getValue() == none(each.getKey()))) {
      throw new IllegalStateException("the agent is off");
    }
  }

  private static @Nullable Object none(Field field) {
    try {
      Field none = field.getType().getDeclaredField("NONE");
      none.setAccessible(true);
      return none.get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Returns the CPU nanoseconds of the process, with a resolution of 10 ms. Excludes the JIT
   * compilers, which run at random times.
   */
  private long processCpu() {
    long compilers =
        threads().entrySet().stream()
            .filter(thread -> thread.getKey().matches("C[12] Compiler.*"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        - compilers;
  }

  /** Returns the CPU nanoseconds of the threads, summed by name. */
  private Map<String, Long> threads() {
    Map<String, Long> all = new LinkedHashMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path thread : threads) {
        try {
          String times = Files.readString(thread.resolve("schedstat"));
          all.merge(
              Files.readString(thread.resolve("comm")).strip(),
              Long.valueOf(times.substring(0, times.indexOf(' '))),
              Long::sum);
        } catch (NoSuchFileException e) {
          // The thread has ended.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }
}
