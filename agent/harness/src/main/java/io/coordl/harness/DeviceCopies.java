package io.coordl.harness;

import java.io.IOException;
import java.util.List;

/** Copies of a batch from each kind of memory to a device, timed by a test program. */
public final class DeviceCopies {
  /** Main class of the program. */
  public static final String MAIN = "example.gpu.DeviceCopies";

  private static final int MEMORIES = 6;
  private static final int BATCH_BYTES = 32 * 3 * 224 * 224 * Float.BYTES;

  private DeviceCopies() {}

  /**
   * Runs the program and returns a row of five cells for each kind of memory: name, median and
   * minimum milliseconds, GB/s, and milliseconds to lock it, or why it is not locked.
   *
   * @param program a program that runs {@link #MAIN}
   * @param rounds number of copies from each kind of memory
   * @throws IllegalStateException if the program fails or prints an unexpected number of rows
   */
  public static List<String[]> rows(ChildJvm program, int rounds)
      throws IOException, InterruptedException {
    List<String[]> rows =
        program
            .args(Integer.toString(BATCH_BYTES), Integer.toString(rounds))
            .run()
            .orFail("The copies")
            .out()
            .lines()
            .map(line -> line.split("\t", -1))
            .filter(row -> row.length == 5)
            .toList();
    if (rows.size() != MEMORIES) {
      throw new IllegalStateException(rows.size() + " rows, expected " + MEMORIES + ".");
    }
    return rows;
  }
}
