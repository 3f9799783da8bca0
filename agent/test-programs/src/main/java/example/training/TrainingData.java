package example.training;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;

/**
 * Writes the training data of this package's programs, unless it exists. Arguments: {@code
 * table|sentences|words|waves|frames FOLDER SAMPLES}. There are two classes, 0 and 1.
 */
public final class TrainingData {
  /** Columns of a table; the last one is the class. */
  static final int COLUMNS = 1190;

  /** Number of different words. */
  static final int VOCABULARY = 2000;

  /** Words per line of {@code words}; the class follows them. */
  static final int WORDS = 120;

  /** Numbers per frame. */
  static final int BANDS = 24;

  private static final int SENTENCE_WORDS = 400;
  private static final int WAVE_BYTES = 8000;

  private final Path folder;
  private final int samples;
  private final Random random = new Random(5);

  private TrainingData(Path folder, int samples) {
    this.folder = folder;
    this.samples = samples;
  }

  /** Writes one kind of data. */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[1]);
    Path done = folder.resolve("done");
    if (!Files.exists(done)) {
      Files.createDirectories(folder);
      new TrainingData(folder, Integer.parseInt(args[2])).write(args[0]);
      Files.createFile(done);
    }
  }

  private void write(String kind) throws IOException {
    switch (kind) {
      case "table" -> table();
      case "sentences" -> sentences();
      case "words" -> words();
      case "waves" -> waves();
      case "frames" -> frames();
      default -> throw new IllegalArgumentException(kind + " is not a kind of data.");
    }
  }

  private int label(int sample) {
    return sample % 2;
  }

  /** A table with a header. */
  private void table() throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(folder.resolve("table.csv"))) {
      for (int column = 0; column < COLUMNS; column++) {
        out.write((column == 0 ? "c" : ",c") + column);
      }
      out.newLine();
      for (int row = 0; row < samples; row++) {
        for (int column = 1; column < COLUMNS; column++) {
          out.write(String.format(Locale.ROOT, "%.4f,", random.nextGaussian() + 0.1 * label(row)));
        }
        out.write(label(row) + "\n");
      }
    }
  }

  /** One sentence per line, preceded by its class. */
  private void sentences() throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(folder.resolve("sentences.txt"))) {
      for (int row = 0; row < samples; row++) {
        out.write(Integer.toString(label(row)));
        for (int word = 0; word < SENTENCE_WORDS; word++) {
          out.write((word % 9 == 8 ? ", Word" : " Word") + random.nextInt(VOCABULARY));
        }
        out.write(".\n");
      }
    }
  }

  private void words() throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(folder.resolve("words.csv"))) {
      for (int row = 0; row < samples; row++) {
        for (int word = 0; word < WORDS; word++) {
          out.write("word" + random.nextInt(VOCABULARY) + ",");
        }
        out.write(label(row) + "\n");
      }
    }
  }

  /** Sound: 16-bit numbers, little endian. */
  private void waves() throws IOException {
    for (int i = 0; i < samples; i++) {
      byte[] wave = new byte[WAVE_BYTES];
      random.nextBytes(wave);
      Files.write(folder.resolve("wave_" + i + ".pcm"), wave);
    }
  }

  /**
   * About a second of sound per sample, as text: 80 to 119 frames of 24 bands, each with a class.
   */
  private void frames() throws IOException {
    for (int i = 0; i < samples; i++) {
      StringBuilder features = new StringBuilder();
      StringBuilder labels = new StringBuilder();
      for (int frame = 80 + random.nextInt(40); frame > 0; frame--) {
        for (int band = 0; band < BANDS; band++) {
          features.append(band == 0 ? "" : ",").append(random.nextFloat());
        }
        features.append('\n');
        labels.append(label(i)).append('\n');
      }
      Files.writeString(folder.resolve("frames_" + i + ".csv"), features);
      Files.writeString(folder.resolve("labels_" + i + ".csv"), labels);
    }
  }
}
