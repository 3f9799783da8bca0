package program;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputFilter;
import java.io.RandomAccessFile;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.zip.CRC32;

/**
 * Reads every file of a directory two ways in each of three rounds, prints checksums, and ends as
 * requested. Arguments: directory, then any of {@code interrupt} (interrupts all threads of the
 * agent after the first round), {@code wait} (waits for a line on stdin after the first round),
 * {@code recorder} (waits until the agent's recorder, if any, has started), {@code probe} (prints
 * on stderr each class that an object stream creates), {@code more} (reads the first file in more
 * ways), {@code threads} (prints the live threads), {@code scrape=PORT} (prints the agent's
 * metrics), {@code exit=N}, {@code throw}.
 */
public final class Reads {
  private Reads() {}

  public static void main(String[] arguments) throws Exception {
    List<String> options = Arrays.asList(arguments).subList(1, arguments.length);
    if (options.contains("probe")) {
      ObjectInputFilter.Config.setSerialFilter(Reads::onDeserialize);
    }
    File[] files = new File(arguments[0]).listFiles();
    Arrays.sort(files);
    round(files);
    if (options.contains("interrupt")) {
      System.out.println(interrupt() + " threads of the agent in the program's group");
    }
    if (options.contains("wait")) {
      System.out.println("ready");
      System.in.read();
    }
    if (options.contains("recorder")) {
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals("coordl-recorder")) {
          thread.join();
        }
      }
    }
    round(files);
    round(files);
    if (options.contains("more")) {
      more(files[0]);
    }
    if (options.contains("threads")) {
      System.out.println(threads());
    }
    for (String option : options) {
      if (option.startsWith("scrape=")) {
        scrape(Integer.parseInt(option.substring("scrape=".length())));
      }
      if (option.startsWith("exit=")) {
        System.exit(Integer.parseInt(option.substring("exit=".length())));
      }
    }
    if (options.contains("throw")) {
      throw new IllegalStateException("as requested");
    }
  }

  /** Called by the JVM before any object stream creates an object. */
  private static ObjectInputFilter.Status onDeserialize(ObjectInputFilter.FilterInfo info) {
    System.err.println("made out of bytes: " + info.serialClass());
    return ObjectInputFilter.Status.UNDECIDED;
  }

  /** Prints the agent's MBeans, which another agent in this JVM serves over HTTP. */
  private static void scrape(int port) throws Exception {
    for (int i = 0; i < 600; i++) {
      String all;
      try (InputStream in = new URL("http://localhost:" + port + "/metrics").openStream()) {
        all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
      if (all.contains("io_coordl_Store_")) {
        all.lines().filter(line -> line.startsWith("io_coordl_")).forEach(System.out::println);
        return;
      }
      Thread.sleep(100);
    }
  }

  private static void round(File[] files) throws IOException {
    for (File file : files) {
      try (InputStream in = new FileInputStream(file)) {
        System.out.println(file.getName() + " " + crc(in.readAllBytes()));
      }
      System.out.println(file.getName() + " " + crc(Files.readAllBytes(file.toPath())));
    }
    try (InputStream in = new FileInputStream(new File(files[0].getParentFile(), "missing"))) {
      System.out.println("not missing: " + in);
    } catch (IOException e) {
      System.out.println(e.getClass().getName());
    }
  }

  private static void more(File file) throws IOException {
    try (InputStream in = Files.newInputStream(file.toPath())) {
      System.out.println(file.getName() + " " + crc(in.readAllBytes()));
    }
    try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
      System.out.println(file.getName() + " " + in.length() + " " + in.read());
    }
    try (FileChannel in = FileChannel.open(file.toPath())) {
      ByteBuffer bytes = ByteBuffer.allocate((int) in.size());
      in.read(bytes);
      System.out.println(file.getName() + " " + crc(bytes.array()));
    }
  }

  private static long crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }

  /**
   * Five times, interrupts all threads of the group, as {@code mvn exec:java} does, and each agent
   * thread by name; returns how many agent threads were seen in the group.
   */
  private static long interrupt() {
    long met = 0;
    for (int times = 0; times < 5; times++) {
      Thread[] group = new Thread[1000];
      int count = Thread.currentThread().getThreadGroup().enumerate(group);
      met += Arrays.stream(group, 0, count).filter(Reads::isAgentThread).count();
      Thread.currentThread().getThreadGroup().interrupt();
      Thread.interrupted();
      Thread.getAllStackTraces().keySet().stream()
          .filter(Reads::isAgentThread)
          .forEach(Thread::interrupt);
    }
    return met;
  }

  private static boolean isAgentThread(Thread thread) {
    return thread.getName().startsWith("coordl-");
  }

  private static List<String> threads() {
    TreeSet<String> names = new TreeSet<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      // This thread runs for as long as files are cached.
      if (!thread.getName().equals("coordl-memory")) {
        names.add(thread.getName());
      }
    }
    return new ArrayList<>(names);
  }
}
