package io.coordl.benchmarks;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Reads many small files, epoch after epoch, and prints the CPU time per file in each epoch: {@code
 * epoch N: T us a file}. Arguments: a directory, the number of files (made if missing), {@code
 * stream} or {@code random}, epochs.
 */
public final class ReadFiles {
  private static final int BYTES = 4_096;
  private static final int FILES_PER_DIRECTORY = 1_000;

  private ReadFiles() {}

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    int files = Integer.parseInt(args[1]);
    create(directory, files);
    byte[] bytes = new byte[BYTES];
    for (int epoch = 1; epoch <= Integer.parseInt(args[3]); epoch++) {
      long start = cpuNanos();
      long read = 0;
      for (int i = 0; i < files; i++) {
        String file = name(directory, i);
        read += args[2].equals("random") ? random(file, bytes) : stream(file, bytes);
      }
      double micros = (cpuNanos() - start) / 1e3 / files;
      if (read != (long) files * BYTES) {
        throw new IOException("read " + read + " bytes of " + files + " files");
      }
      System.out.printf(Locale.ROOT, "epoch %d: %.3f us a file%n", epoch, micros);
    }
  }

  /**
   * Returns the CPU time of this thread. All data is in memory, so only other programs could cause
   * waits.
   */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static int stream(String file, byte[] bytes) throws IOException {
    try (FileInputStream in = new FileInputStream(file)) {
      return in.read(bytes);
    }
  }

  private static int random(String file, byte[] bytes) throws IOException {
    try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
      return in.read(bytes);
    }
  }

  private static String name(Path directory, int i) {
    return directory + "/" + i / FILES_PER_DIRECTORY + "/" + i + ".bin";
  }

  private static void create(Path directory, int files) throws IOException {
    for (int i = 0; i < files; i++) {
      Path file = Path.of(name(directory, i));
      if (i % FILES_PER_DIRECTORY == 0) {
        Files.createDirectories(file.getParent());
      }
      if (!Files.exists(file)) {
        byte[] bytes = new byte[BYTES];
        bytes[0] = (byte) i;
        Files.write(file, bytes);
      }
    }
  }
}
