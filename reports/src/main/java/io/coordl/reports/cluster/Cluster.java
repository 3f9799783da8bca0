package io.coordl.reports.cluster;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A cluster of identical servers.
 *
 * @param servers number of servers
 * @param gpusPerServer GPUs of one server
 * @param cores CPU cores of one server
 * @param memory GiB of one server
 * @param storage MB/s of one server
 * @param network Gbit/s of one server
 */
public record Cluster(
    int servers, int gpusPerServer, double cores, double memory, double storage, double network) {
  private static final Pattern SHAPE = Pattern.compile("(\\d{1,6})x(\\d{1,4})");
  private static final List<String> SIZES = List.of("cores", "memory", "storage", "network");
  private static final double[] DEFAULTS = {24, 500, 500, 40};
  private static final int MAX_GPUS = 1_000_000;

  /**
   * Parses {@code SERVERSxGPUS,cores=N,memory=GIB,storage=MBS,network=GBITS}, each per server. The
   * default for a resource is its size on the Synergy paper's servers: 24 cores, 500 GiB, 500 MB/s,
   * 40 Gbit/s.
   */
  public static Cluster parse(String text) throws InputException {
    String[] parts = text.split(",", -1);
    Matcher shape = SHAPE.matcher(parts[0].strip());
    if (!shape.matches()) {
      throw new InputException(
          "the cluster '"
              + text
              + "' does not begin with SERVERSxGPUS, such as 4x8 for four servers of eight GPUs");
    }
    double[] sizes = new double[SIZES.size()];
    for (int i = 1; i < parts.length; i++) {
      String[] pair = parts[i].split("=", 2);
      int size = SIZES.indexOf(pair[0].strip());
      if (pair.length != 2 || size < 0) {
        throw new InputException(
            "the cluster's '"
                + parts[i]
                + "' is not one of cores=N, memory=GIB, storage=MBS and network=GBITS");
      }
      if (sizes[size] != 0) {
        throw new InputException("the cluster names " + SIZES.get(size) + " twice: '" + text + "'");
      }
      sizes[size] = positive(SIZES.get(size), pair[1].strip());
    }
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = sizes[i] == 0 ? DEFAULTS[i] : sizes[i];
    }
    return of(Integer.parseInt(shape.group(1)), Integer.parseInt(shape.group(2)), sizes);
  }

  private static Cluster of(int servers, int gpus, double[] sizes) throws InputException {
    if (servers == 0 || gpus == 0) {
      throw new InputException(
          "a cluster of " + servers + "x" + gpus + " has no GPU: expected at least 1x1");
    }
    if ((long) servers * gpus > MAX_GPUS) {
      throw new InputException(
          "a cluster of " + servers + "x" + gpus + " has more than " + MAX_GPUS + " GPUs");
    }
    return new Cluster(servers, gpus, sizes[0], sizes[1], sizes[2], sizes[3]);
  }

  private static double positive(String key, String text) throws InputException {
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value > 0 && value < 1e9)) {
      throw new InputException(
          "the cluster's " + key + "=" + text + " is not a number above 0 and below 1e9");
    }
    return value;
  }

  public int gpus() {
    return servers * gpusPerServer;
  }

  /** Returns one server's amount of each {@link Resource}. */
  double[] perServer() {
    return new double[] {cores, memory, storage, network};
  }

  /** Returns one server's amount of a {@link Resource}. */
  double perServer(int resource) {
    return switch (resource) {
      case Resource.CORES -> cores;
      case Resource.MEMORY -> memory;
      case Resource.STORAGE -> storage;
      default -> network;
    };
  }

  /** Returns the GPU-proportional share: one GPU's part of each {@link Resource}. */
  double[] perGpu() {
    double[] share = perServer();
    for (int r = 0; r < share.length; r++) {
      share[r] /= gpusPerServer;
    }
    return share;
  }
}
