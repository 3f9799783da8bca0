package io.coordl.library.djl;

import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.items.FileState;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Symbols;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers, for each CSV table of the library, which version of its file was read. The library
 * prepares a table at the start of each epoch, and then reads the whole file; an unchanged file is
 * not read again. Ignores subclasses. Thread-safe.
 */
final class Tables {
  private static final String TABLE = "ai.djl.basicdataset.tabular.CsvDataset";
  private static final String COLUMNS = "ai.djl.basicdataset.tabular.TabularDataset";
  private static final String FEATURIZERS = "ai.djl.basicdataset.tabular.utils.Featurizers";

  private final Map<RandomAccessDataset, Read> read = new WeakHashMap<>();

  private record TableFile(String path, FileState state) {
    static TableFile of(URL url) throws URISyntaxException {
      String path = Path.of(url.toURI()).toString(); // Throws if it is not a file.
      return new TableFile(path, FileState.of(path));
    }
  }

  /**
   * The file that a table was read from, the rows as stored in the table, and the columns at that
   * time. The program may add columns, or prepare another table that shares them.
   */
  private record Read(TableFile file, Object rows, String columns) {}

  private static boolean isTable(Object dataset) {
    return dataset.getClass().getName().equals(TABLE);
  }

  /**
   * Returns the current state of a table's file; null if the data set is not such a table, if its
   * file is unknown or could change unnoticed, or if preparing it may run code of the program.
   */
  @Nullable Object fileState(Object dataset) {
    if (!isTable(dataset)) {
      return null;
    }
    try {
      TableFile now = TableFile.of((URL) value(dataset, "csvUrl"));
      return now.state.isSettled() && isPlain(dataset) ? now : null;
    } catch (URISyntaxException | ReflectiveOperationException | RuntimeException e) {
      return null; // The table's own call reports the error.
    }
  }

  /** Returns the record of how a table's current rows were read; null if there is none. */
  private @Nullable Read known(Object dataset) throws ReflectiveOperationException {
    Read known = isTable(dataset) ? read.get((RandomAccessDataset) dataset) : null;
    return known != null && known.rows == rows(dataset) ? known : null;
  }

  /** Whether the table already holds the rows that preparing it would read. */
  synchronized boolean isPrepared(Object dataset, Object file) {
    try {
      Read known = known(dataset);
      return known != null
          && known.file.equals(file)
          && known.columns.equals(describeColumns(dataset));
    } catch (ReflectiveOperationException | CannotShareException e) {
      return false;
    }
  }

  /**
   * Records that the table was prepared.
   *
   * @param file the result of {@link #fileState} before the preparation
   */
  synchronized void prepared(Object dataset, Object file) {
    RandomAccessDataset table = (RandomAccessDataset) dataset;
    read.remove(table);
    try {
      if (file.equals(fileState(dataset))) {
        read.put(table, new Read((TableFile) file, rows(dataset), describeColumns(dataset)));
      }
    } catch (ReflectiveOperationException | CannotShareException e) {
      // The table is then prepared each time.
    }
  }

  /**
   * Returns the columns of a data set, to which the program may add at any time; none if it is not
   * a table.
   */
  static List<Object> columns(Object dataset) {
    List<Object> columns = new ArrayList<>();
    for (Class<?> at = dataset.getClass(); at != null; at = at.getSuperclass()) {
      if (at.getName().equals(COLUMNS)) {
        try {
          columns.addAll((List<?>) Symbols.field(at, "features").get(dataset));
          columns.add("labels");
          columns.addAll((List<?>) Symbols.field(at, "labels").get(dataset));
        } catch (ReflectiveOperationException | RuntimeException e) {
          // An exception equals no other, so the columns count as changed. The cause is
          // another DJL version, or a thread that is adding columns.
          columns.add(e);
        }
      }
    }
    return columns;
  }

  private static String describeColumns(Object dataset)
      throws ReflectiveOperationException, CannotShareException {
    return Description.of("features", value(dataset, "features"))
        + Description.of("labels", value(dataset, "labels"));
  }

  private static Object rows(Object dataset) throws ReflectiveOperationException {
    return value(dataset, "csvRecords");
  }

  /** Whether preparing a table calls only code of the library. */
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

  /** Returns the change time of the file that a table was read from; 0 if none was recorded. */
  synchronized long stamp(RandomAccessDataset dataset) {
    try {
      Read known = known(dataset);
      return known == null ? 0 : known.file.state.changedNanos();
    } catch (ReflectiveOperationException e) {
      return 0; // describe() then fails, too.
    }
  }

  /**
   * Describes everything that determines the samples of a table, including its file but not {@link
   * #stamp}; returns null if the preparation of its current rows was not recorded.
   *
   * @throws CannotShareException if a part cannot be described
   */
  synchronized @Nullable String describe(RandomAccessDataset dataset) throws CannotShareException {
    try {
      Read known = known(dataset);
      if (known == null) {
        return null;
      }
      return TABLE
          + " "
          + known.file.path
          + " "
          + known.file.state.checksumOfLike()
          + " "
          + Description.of("format", value(dataset, "csvFormat"))
          + describeColumns(dataset);
    } catch (ReflectiveOperationException e) {
      throw new CannotShareException("tables of another version of DJL");
    }
  }
}
