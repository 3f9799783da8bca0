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
 * Runs a training program below the agent and takes turns at the end of each of its epochs: one is
 * observed, another one as if the agent had switched itself off. Both are of one JVM, with the same
 * compiled code, so that a small difference shows. The turns are on, off, off, on, so that whatever
 * grows from epoch to epoch is in both. Prints the CPU time of each epoch, and of the threads that
 * work in both.
 *
 * <p>Arguments: the program's main class, and its own.
 */
public final class EpochsInTurns extends OutputStream {
  /** First words of the lines that this prints: epoch, on or off, nanoseconds of CPU. */
  static final String TURN = "turn";

  /** As above: name of a thread, nanoseconds of CPU from the first epoch to the last. */
  static final String THREAD = "thread";

  private final PrintStream out;
  private final StringBuilder line = new StringBuilder();
  private final Map<Field, Object> installed = new LinkedHashMap<>();
  private final Map<String, Long> threadsAtFirst = new LinkedHashMap<>();
  private int epoch;
  private long cpu;

  private EpochsInTurns(PrintStream out) {
    this.out = out;
  }

  /** See the class. */
  public static void main(String[] args) throws ReflectiveOperationException {
    EpochsInTurns turns = new EpochsInTurns(System.out);
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

  /** Is it observed? On, off, off, on. */
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
        out.println(TURN + " " + epoch + " " + (isOn(epoch) ? "on " : "off ") + (now - cpu));
      }
      epoch++;
      for (Map.Entry<Field, Object> each : installed.entrySet()) {
        Field field = each.getKey();
        field.set(null, isOn(epoch) ? each.getValue() : none(field));
      }
      cpu = processCpu();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What the agent has installed for rewritten code, none of which is left when it is off. */
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

  /** Nanoseconds, in steps of ten milliseconds, without the compilers: when they work is chance. */
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

  /** Nanoseconds of CPU of all threads of a name. */
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
          // It has ended.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }
}
