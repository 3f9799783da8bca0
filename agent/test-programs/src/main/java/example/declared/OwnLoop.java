package example.declared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Hand-written logistic regression over files of floats. Arguments: {@code DIRECTORY EPOCHS}.
 * Prints the loss of each epoch with all digits. Writes only the files that DIRECTORY lacks, so
 * that several loops can read the same ones.
 */
public final class OwnLoop {
  private static final int ROWS = 40;
  private static final int FEATURES = 64;
  private static final int BATCH = 8;

  private final double[] weights = new double[FEATURES];

  private OwnLoop() {}

  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    Rows rows = new Rows(write(directory), BATCH);
    OwnLoop model = new OwnLoop();
    for (int epoch = 1; epoch <= Integer.parseInt(args[1]); epoch++) {
      double loss = 0;
      while (rows.hasNext()) {
        loss += model.step(rows.next());
      }
      rows.reset();
      System.out.println("epoch " + epoch + " loss " + loss);
    }
  }

  /** The last value of a row is its label. */
  private static List<Path> write(Path directory) throws IOException {
    Random random = new Random(7);
    List<Path> files = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      Path file = directory.resolve("row-" + row);
      ByteBuffer bytes = ByteBuffer.allocate((FEATURES + 1) * Float.BYTES);
      for (int i = 0; i < FEATURES; i++) {
        bytes.putFloat((float) random.nextGaussian());
      }
      bytes.putFloat(row % 2);
      if (Files.notExists(file)) {
        Files.write(file, bytes.array());
      }
      files.add(file);
    }
    return files;
  }

  private double step(float[][] batch) {
    double loss = 0;
    for (float[] row : batch) {
      double sum = 0;
      for (int i = 0; i < FEATURES; i++) {
        sum += weights[i] * row[i];
      }
      double predicted = 1 / (1 + Math.exp(-sum));
      double error = predicted - row[FEATURES];
      loss += error * error;
      for (int i = 0; i < FEATURES; i++) {
        weights[i] -= 0.1 * error * row[i];
      }
    }
    return loss;
  }
}
