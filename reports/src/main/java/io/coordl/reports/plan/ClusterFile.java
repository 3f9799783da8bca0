package io.coordl.reports.plan;

import io.coordl.reports.cluster.Cluster;
import io.coordl.reports.cluster.InputException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads a cluster from YAML. Error messages name the line and the value. */
final class ClusterFile {
  /** The name of a pool if the file names no GPU. */
  static final String ANY_GPU = "gpu";

  private static final List<String> KEYS =
      List.of(
          "gpu",
          "servers",
          "gpusPerServer",
          "cores",
          "memory",
          "storage",
          "network",
          "resource",
          "labels");

  /** More than any job requests; used if the file sets no limit. */
  private static final double UNBOUNDED = 1e9;

  private static final String DEFAULT_RESOURCE = "nvidia.com/gpu";
  private static final long MAX_GPUS = 1_000_000;

  /**
   * A pool of identical servers.
   *
   * @param resource the Kubernetes name of its GPUs
   * @param labels labels of its nodes in Kubernetes
   */
  record Pool(String gpu, Cluster cluster, String resource, Map<String, String> labels) {
    /** Returns whether its storage rate is limited and thus divided among jobs. */
    boolean sharesStorage() {
      return cluster.storage() < UNBOUNDED;
    }
  }

  private final Path file;

  private ClusterFile(Path file) {
    this.file = file;
  }

  /** Reads the pools of {@code file}; each has a different type of GPU. */
  static List<Pool> read(Path file) throws InputException {
    return new ClusterFile(file).pools();
  }

  private List<Pool> pools() throws InputException {
    Node root = root();
    Map<String, Node> top = entries(root, List.of("pools"));
    if (!(top.get("pools") instanceof SequenceNode list) || list.getValue().isEmpty()) {
      throw refused(root, "'pools:' with a list of servers was expected");
    }
    Map<String, Pool> pools = new LinkedHashMap<>();
    for (Node node : list.getValue()) {
      Pool pool = pool(node);
      if (pools.putIfAbsent(pool.gpu(), pool) != null) {
        throw refused(
            node,
            "there is already a pool with the GPU '"
                + pool.gpu()
                + "': servers with the same GPU must be identical");
      }
    }
    return List.copyOf(pools.values());
  }

  private Node root() throws InputException {
    try (Reader reader = Files.newBufferedReader(file)) {
      LoadSettings settings = LoadSettings.builder().setLabel(file.toString()).build();
      Optional<Node> root = new Compose(settings).composeReader(reader);
      if (root.isEmpty()) {
        throw new InputException(file + " is empty: 'pools:' with a list of servers was expected");
      }
      return root.get();
    } catch (NoSuchFileException e) {
      throw new InputException("there is no file " + file);
    } catch (MarkedYamlEngineException e) {
      throw new InputException(
          file + ", line " + line(e.getProblemMark()) + ", is not YAML: " + e.getProblem());
    } catch (YamlEngineException | IOException e) {
      throw new InputException(file + " cannot be read as YAML: " + e.getMessage());
    }
  }

  private Pool pool(Node node) throws InputException {
    Map<String, Node> entries = entries(node, KEYS);
    int servers = whole(node, entries, "servers");
    int gpus = whole(node, entries, "gpusPerServer");
    if ((long) servers * gpus > MAX_GPUS) {
      throw refused(
          node, servers + " servers of " + gpus + " GPUs have more than " + MAX_GPUS + " GPUs");
    }
    double[] sizes = {
      amount(node, entries, "cores", Quantity.CORES, null),
      amount(node, entries, "memory", Quantity.MEMORY, null),
      amount(node, entries, "storage", Quantity.RATE, UNBOUNDED),
      amount(node, entries, "network", Quantity.NETWORK, UNBOUNDED)
    };
    Map<String, String> labels = new LinkedHashMap<>();
    Node labelsNode = entries.get("labels");
    if (labelsNode != null) {
      for (Map.Entry<String, Node> label : entries(labelsNode, List.of()).entrySet()) {
        labels.put(label.getKey(), text(label.getValue()));
      }
    }
    return new Pool(
        text(entries, "gpu", ANY_GPU),
        new Cluster(servers, gpus, sizes[0], sizes[1], sizes[2], sizes[3]),
        text(entries, "resource", DEFAULT_RESOURCE),
        labels);
  }

  private int whole(Node pool, Map<String, Node> entries, String key) throws InputException {
    Node node = required(pool, entries, key);
    String text = text(node);
    try {
      int value = Integer.parseInt(text.strip());
      if (value > 0 && value <= 100_000) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Rejected below.
    }
    throw refused(node, key + " is '" + text + "', not a whole number from 1 to 100000");
  }

  private double amount(
      Node pool, Map<String, Node> entries, String key, Quantity kind, @Nullable Double absent)
      throws InputException {
    if (absent != null && !entries.containsKey(key)) {
      return absent;
    }
    Node node = required(pool, entries, key);
    String text = text(node);
    return kind.parse(text)
        .orElseThrow(
            () ->
                refused(
                    node, key + " is '" + text + "': " + kind.expected + " above 0 was expected"));
  }

  private Node required(Node pool, Map<String, Node> entries, String key) throws InputException {
    Node node = entries.get(key);
    if (node == null) {
      throw refused(pool, "the pool has no '" + key + "'");
    }
    return node;
  }

  /**
   * Returns a mapping's entries; rejects keys that are not in {@code known}, unless {@code known}
   * is empty.
   */
  private Map<String, Node> entries(Node node, List<String> known) throws InputException {
    if (!(node instanceof MappingNode mapping)) {
      throw refused(node, "'key: value' lines were expected");
    }
    Map<String, Node> entries = new LinkedHashMap<>();
    List<String> keys = new ArrayList<>();
    for (NodeTuple tuple : mapping.getValue()) {
      String key = text(tuple.getKeyNode());
      if (!known.isEmpty() && !known.contains(key)) {
        throw refused(
            tuple.getKeyNode(), "'" + key + "' is not one of " + String.join(", ", known));
      }
      if (keys.contains(key)) {
        throw refused(tuple.getKeyNode(), "'" + key + "' appears twice");
      }
      keys.add(key);
      entries.put(key, tuple.getValueNode());
    }
    return entries;
  }

  private String text(Map<String, Node> entries, String key, String absent) throws InputException {
    Node node = entries.get(key);
    return node == null ? absent : text(node);
  }

  private String text(Node node) throws InputException {
    if (node instanceof ScalarNode scalar) {
      return scalar.getValue();
    }
    throw refused(node, "a single value was expected");
  }

  private InputException refused(Node node, String problem) {
    return new InputException(file + ", line " + line(node.getStartMark()) + ": " + problem);
  }

  private static int line(Optional<Mark> mark) {
    return mark.map(at -> at.getLine() + 1).orElse(1);
  }
}
