package example.reads;

import java.io.BufferedWriter;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Repeatedly reads all files of a folder in random order and checks each. Costs hardly more than
 * the reads themselves.
 *
 * <p>Arguments: {@code FOLDER SUMS LOG STOP EPOCHS SEED [PAUSE_MICROS]}. SUMS has a line {@code
 * CRC32 NAME} per file. LOG gets a line per read: its start in microseconds since 1970, and its
 * duration in microseconds. After EPOCHS epochs the program waits until the file STOP exists; if
 * EPOCHS is 0, it reads until then. A wrong byte ends the program with status 3.
 */
public final class ReadItems {
  private static final int WRONG = 3;

  private ReadItems() {}

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    Map<String, Long> sums = sums(Path.of(args[1]));
    Path stop = Path.of(args[3]);
    int epochs = Integer.parseInt(args[4]);
    Random random = new Random(Long.parseLong(args[5]));
    long pauseNanos = args.length > 6 ? Long.parseLong(args[6]) * 1000 : 0;
    List<String> names = new ArrayList<>(sums.keySet());
    Collections.sort(names);
    long offsetMicros = System.currentTimeMillis() * 1000 - System.nanoTime() / 1000;
    try (BufferedWriter log = Files.newBufferedWriter(Path.of(args[2]))) {
      System.out.println("begins");
      for (int epoch = 1; epochs == 0 ? !Files.exists(stop) : epoch <= epochs; epoch++) {
        Collections.shuffle(names, random);
        long worstNanos = 0;
        for (String name : names) {
          long start = System.nanoTime();
          byte[] content;
          try (InputStream in = new FileInputStream(folder + "/" + name)) {
            content = in.readAllBytes();
          }
          long tookNanos = System.nanoTime() - start;
          worstNanos = Math.max(worstNanos, tookNanos);
          log.write((offsetMicros + start / 1000) + " " + tookNanos / 1000 + "\n");
          if (crc(content) != sums.get(name)) {
            System.out.println("WRONG " + name + " in epoch " + epoch);
            log.flush();
            System.exit(WRONG);
          }
          if (pauseNanos > 0) {
            LockSupport.parkNanos(pauseNanos);
          }
        }
        log.flush();
        System.out.printf(
            Locale.ROOT,
            "epoch %d: %d items, worst %.1f ms%n",
            epoch,
            names.size(),
            worstNanos / 1e6);
      }
    }
    while (!Files.exists(stop)) {
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static long crc(byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    return crc.getValue();
  }

  private static Map<String, Long> sums(Path file) throws IOException {
    Map<String, Long> sums = new HashMap<>();
    try (Stream<String> lines = Files.lines(file)) {
      lines.forEach(
          line -> {
            int blank = line.indexOf(' ');
            sums.put(line.substring(blank + 1), Long.parseLong(line.substring(0, blank), 16));
          });
    }
    return sums;
  }
}
