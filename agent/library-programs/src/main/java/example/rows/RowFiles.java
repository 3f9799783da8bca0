package example.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Files of floats, a row in each. */
public final class RowFiles {
  private static final int ROWS = 40;

  private RowFiles() {}

  /** Writes the files, each with {@code features} random values and a label, 0 or 1. */
  public static List<Path> write(Path directory, int features) throws IOException {
    Random random = new Random(7);
    List<Path> files = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      ByteBuffer bytes = ByteBuffer.allocate((features + 1) * Float.BYTES);
      for (int i = 0; i < features; i++) {
        bytes.putFloat((float) random.nextGaussian());
      }
      bytes.putFloat(row % 2);
      files.add(Files.write(directory.resolve("row-" + row), bytes.array()));
    }
    return files;
  }
}
