package example.prepared;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Record;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.Scanner;
import java.util.TreeMap;

/** Data sets that use the JDK as programs do: formatted names, scanners, dates, file sizes. */
final class JdkCalls {
  private JdkCalls() {}

  /** A numbered text file per sample, beside a file with a region per sample. */
  static final class OfNumberedFiles extends DjlSamples.Counting {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("dd.MM.yyyy");
    private static final int REGION = 64;
    private final File folder;
    private final Path regions;

    OfNumberedFiles(DjlSamples.Builder builder, Path folder) {
      super(builder);
      this.folder = folder.toFile();
      regions = folder.resolve("regions");
    }

    void write(int samples) throws IOException {
      byte[] bytes = new byte[samples * REGION];
      new Random(5).nextBytes(bytes);
      Files.write(regions, bytes);
      for (int i = 0; i < samples; i++) {
        String line = String.format(Locale.ROOT, "%02d.03.2024 %d.5 a b a%n", 1 + i % 28, i);
        Files.writeString(folder.toPath().resolve(name(i)), line);
      }
    }

    private static String name(long index) {
      return String.format("%s-%04d.txt", "sample", index);
    }

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      File file = new File(folder, name(index));
      if (!file.exists()) {
        throw new IOException("no file " + file);
      }
      float[] values = new float[2_000];
      Arrays.fill(values, (float) file.length());
      TreeMap<String, Integer> words = new TreeMap<>();
      try (Scanner in = new Scanner(file, StandardCharsets.UTF_8).useLocale(Locale.ROOT)) {
        values[0] = LocalDate.parse(in.next(), DAY).getDayOfYear();
        values[1] = in.nextFloat();
        while (in.hasNext()) {
          words.merge(in.next(), 1, Integer::sum);
        }
      }
      values[2] = words.firstEntry().getValue();
      byte[] region = new byte[REGION];
      try (RandomAccessFile in = new RandomAccessFile(regions.toFile(), "r")) {
        in.seek(index * REGION);
        in.readFully(region);
      }
      Random noise = new Random(index);
      for (int i = 3; i < values.length; i++) {
        values[i] += region[i % REGION] + noise.nextFloat();
      }
      return new Record(new NDList(manager.create(values)), new NDList(manager.create(index)));
    }
  }

  /** Each sample depends on the size of a file that it does not open. */
  static final class OfSize extends DjlSamples.Counting {
    private final Path file;

    OfSize(DjlSamples.Builder builder, Path file) {
      super(builder);
      this.file = file;
    }

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      float size = (float) Files.size(file);
      return new Record(new NDList(manager.create(size)), new NDList(manager.create(index)));
    }
  }

  /** Each sample depends on whether there is a file. */
  static final class OfMark extends DjlSamples.Counting {
    private final File mark;

    OfMark(DjlSamples.Builder builder, Path mark) {
      super(builder);
      this.mark = mark.toFile();
    }

    @Override
    public Record get(NDManager manager, long index) {
      float value = mark.exists() ? mark.isFile() ? 2 : 1 : 0;
      return new Record(new NDList(manager.create(value)), new NDList(manager.create(index)));
    }
  }

  /** Each sample depends on the default locale. */
  static final class OfLocale extends DjlSamples.Counting {
    OfLocale(DjlSamples.Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager manager, long index) {
      float value =
          String.format("%.1f", index / 2f).replace('.', '1').replace(',', '2').hashCode();
      return new Record(new NDList(manager.create(value)), new NDList(manager.create(index)));
    }
  }
}
