package io.coordl.reports.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The tables and traces of {@code examples/cluster}. */
final class Tables {
  /** The servers of the Synergy paper's testbed. */
  static final String TESTBED = "4x8,cores=24,memory=500,storage=500";

  private Tables() {}

  static Path file(String name) {
    Path directory = Path.of("examples/cluster");
    return (Files.isDirectory(directory) ? directory : Path.of("..").resolve(directory))
        .resolve(name);
  }

  static ModelTable models() throws InputException {
    return ModelTable.read(file("models.json"));
  }

  static List<TraceJob> trace(String name) throws InputException {
    return Trace.read(file(name + "-100.csv"), models(), Cluster.parse(TESTBED));
  }
}
