package io.coordl.djl;

import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Symbols;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The library's tables of values separated by commas, which read their whole file each time they
 * are prepared, at the start of each epoch. Where the file is what it was, so are the rows.
 * Subclasses are left alone. Thread-safe.
 */
final class Tables {
  private static final String TABLE = "ai.djl.basicdataset.tabular.CsvDataset";
  private static final String FEATURIZERS = "ai.djl.basicdataset.tabular.utils.Featurizers";

  /** A file that was written so short a time before it was read may change unseen. */
  private static final Duration SETTLED = Duration.ofSeconds(2);

  private final Map<RandomAccessDataset, Read> read = new WeakHashMap<>();

  /**
   * A file as it was when it was read.
   *
   * @param rows what was made of it, by identity
   */
  private record Read(FileState file, int rows) {}

  private record FileState(String path, long size, Instant modified, String identity) {
    static FileState of(URL url) throws IOException, URISyntaxException {
      URI file = url.toURI();
      if (!"file".equals(file.getScheme())) {
        throw new IOException(url + " is no file");
      }
      Path path = Path.of(file);
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      return new FileState(
          path.toString(),
          now.size(),
          now.lastModifiedTime().toInstant(),
          Objects.toString(now.fileKey()));
    }
  }

  private static boolean isTable(Object dataset) {
    return dataset.getClass().getName().equals(TABLE);
  }

  /** Its file as it is now; null if it is no such table, or none whose file can be told. */
  @Nullable Object look(Object dataset) {
    if (!isTable(dataset)) {
      return null;
    }
    try {
      FileState now = FileState.of((URL) value(dataset, "csvUrl"));
      return now.modified.isBefore(Instant.now().minus(SETTLED)) && isPlain(dataset) ? now : null;
    } catch (IOException | URISyntaxException | ReflectiveOperationException | RuntimeException e) {
      return null; // Its own call says what is wrong.
    }
  }

  /** Whether it holds what preparing it would give. */
  synchronized boolean isPrepared(Object dataset, Object file) {
    Read known = isTable(dataset) ? read.get((RandomAccessDataset) dataset) : null;
    return known != null && known.file.equals(file) && known.rows == rows(dataset);
  }

  /** It was prepared, and its file was {@code file} before that. */
  synchronized void prepared(Object dataset, Object file) {
    if (file.equals(look(dataset))) {
      read.put((RandomAccessDataset) dataset, new Read((FileState) file, rows(dataset)));
    } else {
      read.remove((RandomAccessDataset) dataset);
    }
  }

  private static int rows(Object dataset) {
    try {
      return System.identityHashCode(value(dataset, "csvRecords"));
    } catch (ReflectiveOperationException e) {
      return 0;
    }
  }

  /** Whether only code of the library is called when it is prepared. */
  private static boolean isPlain(Object dataset) throws ReflectiveOperationException {
    for (String list : List.of("features", "labels")) {
      for (Object feature : (List<?>) value(dataset, list)) {
        Object featurizer = Symbols.field(feature.getClass(), "featurizer").get(feature);
        if (featurizer == null || !featurizer.getClass().getName().startsWith(FEATURIZERS)) {
          return false;
        }
      }
    }
    return true;
  }

  private static Object value(Object dataset, String field) throws ReflectiveOperationException {
    Class<?> type = dataset.getClass();
    Class<?> declaring = field.startsWith("csv") ? type : type.getSuperclass();
    return Objects.requireNonNull(Symbols.field(declaring, field).get(dataset), field);
  }

  /**
   * What decides the samples of a table, by its file; null if it is none that was read here.
   *
   * @throws CannotShareException if the rest of it cannot be told
   */
  synchronized @Nullable String describe(RandomAccessDataset dataset) throws CannotShareException {
    Read known = isTable(dataset) ? read.get(dataset) : null;
    if (known == null || known.rows != rows(dataset)) {
      return null;
    }
    try {
      return TABLE
          + " "
          + known.file
          + " "
          + Description.of("format", value(dataset, "csvFormat"))
          + Description.of("features", value(dataset, "features"))
          + Description.of("labels", value(dataset, "labels"));
    } catch (ReflectiveOperationException e) {
      throw new CannotShareException("tables of another version of DJL");
    }
  }
}
