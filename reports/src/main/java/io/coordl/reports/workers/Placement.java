package io.coordl.reports.workers;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The placement of a model's layers on parameter servers, and the communication time of a step.
 * Links are full duplex: gradients and parameters travel in opposite directions at the same time,
 * so one direction determines the time.
 *
 * @param totalBytes bytes that a worker sends in a step
 * @param ways greedy, round robin, and the bound that splitting layers would reach
 * @param fullyConnected greedy placement with the last, fully connected layers computed at a
 *     server; null if the model does not end with such layers
 * @param deciding the layer that alone determines the time of the greedy placement, so more servers
 *     do not help; null if there is none
 */
public record Placement(
    double totalBytes,
    int workers,
    int batch,
    @Nullable Double computeMillis,
    List<Way> ways,
    @Nullable FullyConnected fullyConnected,
    @Nullable String deciding) {

  /**
   * One placement.
   *
   * @param serverOfLayer number of each layer's server, from 0; empty if layers are split
   * @param serverBytes bytes that each server gets from each worker in a step
   * @param millis communication time of a step, without overlap
   * @param stepMillis step time if compute and communication overlap fully; null if compute is
   *     unknown
   * @param stepMillisWithoutOverlap sum of compute and communication
   */
  public record Way(
      String name,
      List<Integer> serverOfLayer,
      List<Double> serverBytes,
      double millis,
      @Nullable Double stepMillis,
      @Nullable Double stepMillisWithoutOverlap) {}

  /**
   * The last layers of the model, computed at the server instead of sent: workers send the
   * activations that enter these layers, and get gradients back.
   *
   * @param layers number of these layers
   * @param parameterBytes bytes of parameters that are not sent
   * @param activationBytes bytes of activations that a worker sends for them in a step
   * @param flops floating-point operations of the server for them in a step
   * @param serverMillis time for these operations; null if the server's speed is unknown
   * @param pays whether a step without overlap becomes shorter; null without {@code serverMillis}
   */
  public record FullyConnected(
      int layers,
      double parameterBytes,
      double activationBytes,
      double flops,
      @Nullable Double serverMillis,
      @Nullable Boolean pays,
      Way way) {}

  /**
   * The job to place.
   *
   * @param bytesPerSecond rate of a worker's link; null if unlimited
   * @param batch samples of a worker in a step
   * @param valueBytes bytes of a parameter or an activation
   */
  record Job(
      int workers,
      @Nullable Double bytesPerSecond,
      int batch,
      double valueBytes,
      @Nullable Double computeMillis) {

    /** Returns the job with the server's compute time added, because workers wait for it. */
    Job plus(@Nullable Double serverMillis) {
      return computeMillis == null || serverMillis == null
          ? this
          : new Job(workers, bytesPerSecond, batch, valueBytes, computeMillis + serverMillis);
    }
  }

  static Placement of(List<Layer> model, List<Server> servers, Job job) {
    List<Double> sizes = model.stream().map(Layer::parameterBytes).toList();
    double total = sum(sizes);
    int[] greedy = greedy(sizes, servers);
    Way packed = way("greedy", greedy, sizes, servers, total, job);
    List<Way> ways =
        List.of(
            packed,
            way(
                "round robin",
                roundRobin(sizes.size(), servers.size()),
                sizes,
                servers,
                total,
                job),
            split(servers, total, job));
    return new Placement(
        total,
        job.workers(),
        job.batch(),
        job.computeMillis(),
        ways,
        fullyConnected(model, servers, packed, job),
        deciding(model, servers, greedy, ways));
  }

  private static double sum(List<Double> sizes) {
    return sizes.stream().mapToDouble(Double::doubleValue).sum();
  }

  /** Places layers, largest first, each on the server that would finish it first. */
  static int[] greedy(List<Double> sizes, List<Server> servers) {
    int[] placed = new int[sizes.size()];
    double[] loads = new double[servers.size()];
    IntStream.range(0, sizes.size())
        .boxed()
        .sorted(Comparator.comparing((Integer layer) -> -sizes.get(layer)))
        .forEach(
            layer -> {
              int best = 0;
              for (int server = 1; server < loads.length; server++) {
                if ((loads[server] + sizes.get(layer)) / servers.get(server).bytesPerSecond()
                    < (loads[best] + sizes.get(layer)) / servers.get(best).bytesPerSecond()) {
                  best = server;
                }
              }
              placed[layer] = best;
              loads[best] += sizes.get(layer);
            });
    return placed;
  }

  private static int[] roundRobin(int layers, int servers) {
    return IntStream.range(0, layers).map(layer -> layer % servers).toArray();
  }

  private static Way way(
      String name, int[] placed, List<Double> sizes, List<Server> servers, double total, Job job) {
    double[] loads = new double[servers.size()];
    for (int layer = 0; layer < placed.length; layer++) {
      loads[placed[layer]] += sizes.get(layer);
    }
    return way(name, IntStream.of(placed).boxed().toList(), loads, servers, total, job);
  }

  /** Returns the linear program's optimum: each server gets bytes in proportion to its link. */
  private static Way split(List<Server> servers, double total, Job job) {
    double rates = servers.stream().mapToDouble(Server::bytesPerSecond).sum();
    double[] loads =
        servers.stream().mapToDouble(server -> total * server.bytesPerSecond() / rates).toArray();
    return way("LP bound", List.of(), loads, servers, total, job);
  }

  private static Way way(
      String name,
      List<Integer> placed,
      double[] loads,
      List<Server> servers,
      double total,
      Job job) {
    double seconds = job.bytesPerSecond() == null ? 0 : total / job.bytesPerSecond();
    List<Double> bytes = new ArrayList<>();
    for (int server = 0; server < loads.length; server++) {
      bytes.add(loads[server]);
      seconds =
          Math.max(seconds, job.workers() * loads[server] / servers.get(server).bytesPerSecond());
    }
    double millis = 1000 * seconds;
    Double compute = job.computeMillis();
    return new Way(
        name,
        placed,
        bytes,
        millis,
        compute == null ? null : (Double) Math.max(compute, millis),
        compute == null ? null : (Double) (compute + millis));
  }

  /**
   * Returns the only layer of the slowest server; null if that server has several, or if splitting
   * layers gains nothing.
   */
  private static @Nullable String deciding(
      List<Layer> model, List<Server> servers, int[] placed, List<Way> ways) {
    Way greedy = ways.get(0);
    int slowest = 0;
    for (int server = 1; server < servers.size(); server++) {
      if (greedy.serverBytes().get(server) / servers.get(server).bytesPerSecond()
          > greedy.serverBytes().get(slowest) / servers.get(slowest).bytesPerSecond()) {
        slowest = server;
      }
    }
    int slowestServer = slowest;
    List<Layer> layersOfSlowest =
        IntStream.range(0, placed.length)
            .filter(
                layer -> placed[layer] == slowestServer && model.get(layer).parameterBytes() > 0)
            .mapToObj(model::get)
            .toList();
    boolean splits = ways.get(2).millis() < greedy.millis();
    return layersOfSlowest.size() == 1 && splits && servers.size() > 1
        ? layersOfSlowest.get(0).name()
        : null;
  }

  private static @Nullable FullyConnected fullyConnected(
      List<Layer> model, List<Server> servers, Way greedy, Job job) {
    int first = model.size();
    while (first > 0 && model.get(first - 1).isFullyConnected()) {
      first--;
    }
    if (first == model.size()) {
      return null;
    }
    List<Double> sizes = new ArrayList<>();
    model.subList(0, first).forEach(layer -> sizes.add(layer.parameterBytes()));
    double parameters =
        model.subList(first, model.size()).stream().mapToDouble(Layer::parameterBytes).sum();
    double activations = job.batch() * model.get(first).inputs() * job.valueBytes();
    sizes.add(activations);
    int[] placed = greedy(sizes, servers);
    int at = placed[placed.length - 1];
    double flops = 6 * parameters / job.valueBytes() * job.batch() * job.workers();
    Double rate = servers.get(at).flopsPerSecond();
    Double added = rate == null ? null : (Double) (1000 * flops / rate);
    Way way =
        way("fully connected at the server", placed, sizes, servers, sum(sizes), job.plus(added));
    return new FullyConnected(
        model.size() - first,
        parameters,
        activations,
        flops,
        added,
        added == null ? null : (Boolean) (greedy.millis() - way.millis() > added),
        way);
  }
}
