package io.coordl.library;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.library.djl.DjlVerdicts;
import io.coordl.library.dl4j.Dl4jVerdicts;
import io.coordl.transformers.DocsBlock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the verdict of the proof on every class of the libraries that makes or changes batches
 * with what a person found by reading its class file. {@code -Dcoordl.docs=write} rewrites {@code
 * docs/acceptance.md}.
 */
final class AcceptanceTest {
  /** The proof must accept at least this share of the classes that are pure by inspection. */
  private static final double BAR = 0.85;

  private static final String PURE = "pure";

  private static final String NOT_EXAMINED = "not examined by the test: it needs native code";

  /** The kinds of classes that make or change batches. */
  private static final List<String> KINDS =
      List.of(
          "ai.djl.training.dataset.Dataset",
          "ai.djl.translate.Transform",
          "ai.djl.basicdataset.tabular.utils.Featurizer",
          "org.datavec.api.records.reader.RecordReader",
          "org.nd4j.linalg.dataset.api.iterator.DataSetIterator",
          "org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator",
          "org.datavec.api.transform.Transform",
          "org.datavec.api.transform.filter.Filter",
          "org.datavec.image.transform.ImageTransform",
          "org.nd4j.linalg.dataset.api.DataSetPreProcessor",
          "org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor",
          "org.datavec.api.io.labels.PathLabelGenerator",
          "org.datavec.image.recordreader.objdetect.ImageObjectLabelProvider");

  /** A class of each jar that is searched. */
  private static final List<String> JARS =
      List.of(
          "ai.djl.basicdataset.BasicDatasets",
          "ai.djl.Device",
          "org.datavec.api.records.reader.RecordReader",
          "org.datavec.image.recordreader.ImageRecordReader",
          "org.deeplearning4j.datasets.iterator.impl.Cifar10DataSetIterator",
          "org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator",
          "org.deeplearning4j.datasets.iterator.FileSplitDataSetIterator",
          "org.nd4j.linalg.dataset.DataSet");

  @TempDir Path folder;

  /**
   * A line of the list.
   *
   * @param reading the result of reading the class: pure, draws, memory, wraps or nothing
   */
  private record Row(String group, String reading, String name) {
    String shortName() {
      return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
    }
  }

  private static List<Row> rows() throws IOException {
    List<Row> rows = new ArrayList<>();
    String group = "";
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    AcceptanceTest.class.getResourceAsStream("read-by-hand.txt")),
                StandardCharsets.UTF_8))) {
      for (String line : in.lines().toList()) {
        if (line.startsWith("# ")) {
          group = line.substring(2);
        } else if (!line.isBlank() && !line.startsWith("#")) {
          String[] parts = line.split(" ", -1);
          rows.add(new Row(group, parts[0], parts[1]));
        }
      }
    }
    return rows;
  }

  private static Class<?> load(String name) throws ClassNotFoundException {
    return Class.forName(name, false, AcceptanceTest.class.getClassLoader());
  }

  /** A new version of a library may have more classes. */
  @Test
  void everyClassOfTheLibrariesIsOnTheList()
      throws IOException, URISyntaxException, ClassNotFoundException {
    List<Class<?>> kinds = new ArrayList<>();
    for (String kind : KINDS) {
      kinds.add(load(kind));
    }
    Set<String> found = new TreeSet<>();
    for (String jar : JARS) {
      Path path = Path.of(load(jar).getProtectionDomain().getCodeSource().getLocation().toURI());
      try (JarFile file = new JarFile(path.toFile())) {
        file.stream()
            .map(entry -> entry.getName())
            .filter(name -> name.endsWith(".class") && !name.startsWith("META-INF/"))
            .map(name -> name.substring(0, name.length() - 6).replace('/', '.'))
            .filter(name -> isOne(name, kinds))
            .forEach(found::add);
      }
    }
    assertThat(found).hasSameElementsAs(rows().stream().map(Row::name).toList());
  }

  private static boolean isOne(String name, List<Class<?>> kinds) {
    try {
      Class<?> type = load(name);
      return !Modifier.isAbstract(type.getModifiers())
          && !type.isAnonymousClass()
          && kinds.stream().anyMatch(kind -> kind.isAssignableFrom(type));
    } catch (ClassNotFoundException | LinkageError e) {
      return false; // It needs another library.
    }
  }

  private static String verdict(Class<?> type, DjlVerdicts djl, Dl4jVerdicts dl4j)
      throws Exception {
    try {
      String verdict = type.getName().startsWith("ai.djl.") ? djl.of(type) : dl4j.of(type);
      return verdict.replaceAll("jdk\\.proxy\\d+\\.\\$Proxy\\d+", "proxy"); // Numbered at run time.
    } catch (LinkageError e) {
      return NOT_EXAMINED;
    }
  }

  @Test
  void theProofAcceptsMostPureClassesAndThePageListsAllVerdicts() throws Exception {
    DjlVerdicts djl = new DjlVerdicts();
    Dl4jVerdicts dl4j = new Dl4jVerdicts(folder);
    Map<String, StringBuilder> tables = new LinkedHashMap<>();
    Map<String, int[]> counts = new LinkedHashMap<>();
    List<String> wrong = new ArrayList<>();
    for (Row row : rows()) {
      Class<?> type = load(row.name);
      String verdict = verdict(type, djl, dl4j);
      if (verdict.equals("cached") && row.reading.equals("draws")) {
        wrong.add(row.name);
      }
      int[] count = counts.computeIfAbsent(row.group, none -> new int[2]);
      if (row.reading.equals(PURE) && !verdict.equals(NOT_EXAMINED)) {
        count[0]++;
        count[1] += verdict.equals("cached") ? 1 : 0;
      }
      tables
          .computeIfAbsent(
              row.group,
              group -> new StringBuilder("| class | by inspection | result |\n|---|---|---|\n"))
          .append(String.format("| `%s` | %s | %s |%n", row.shortName(), row.reading, verdict));
    }
    int pure = counts.values().stream().mapToInt(count -> count[0]).sum();
    int kept = counts.values().stream().mapToInt(count -> count[1]).sum();
    String page =
        String.format(
                "Of %d classes that are pure by inspection and were examined, %d are cached: ",
                pure, kept)
            + counts.entrySet().stream()
                .map(
                    count ->
                        String.format(
                            "%s %d of %d",
                            count.getKey(), count.getValue()[1], count.getValue()[0]))
                .collect(Collectors.joining("; "))
            + ".\n"
            + tables.entrySet().stream()
                .map(table -> "\n## " + table.getKey() + "\n\n" + table.getValue())
                .collect(Collectors.joining());
    assertThat(wrong).as("cached, although they draw according to the list").isEmpty();
    DocsBlock.check(
        "acceptance.md",
        "acceptance",
        page,
        "`mvn -pl transformers -am test -Dtest=AcceptanceTest -Dcoordl.docs=write "
            + "-Dsurefire.failIfNoSpecifiedTests=false` writes it");
    assertThat((double) kept / pure).as("%d of %d", kept, pure).isGreaterThanOrEqualTo(BAR);
  }
}
