package io.coordl.reports.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The models of a cluster's jobs, read from JSON. */
public final class ModelTable {
  private record Content(
      @Nullable List<Double> coreAxis,
      @Nullable List<Double> memoryAxis,
      @Nullable List<@Nullable JobModel> models) {}

  private final double[] coreAxis;
  private final double[] memoryAxis;
  private final Map<String, JobModel> models;

  private ModelTable(double[] coreAxis, double[] memoryAxis, Map<String, JobModel> models) {
    this.coreAxis = coreAxis;
    this.memoryAxis = memoryAxis;
    this.models = models;
  }

  /**
   * Reads {@code file}; every model has a row for each number of cores, a column for each memory.
   */
  public static ModelTable read(Path file) throws InputException {
    if (!Files.isRegularFile(file)) {
      throw new InputException("there is no file " + file);
    }
    Content content;
    try {
      content =
          JsonMapper.builder()
              .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
              .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
              .build()
              .readValue(file.toFile(), Content.class);
    } catch (JacksonException e) {
      throw new InputException(
          file + ", line " + line(e) + ", is no table of models: " + e.getOriginalMessage());
    }
    return checked(file, content);
  }

  private static long line(JacksonException e) {
    return e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getLineNr());
  }

  private static ModelTable checked(Path file, @Nullable Content content) throws InputException {
    if (content == null || content.models() == null || content.models().isEmpty()) {
      throw new InputException(file + " names no models: {\"models\": [...]} was expected");
    }
    double[] cores = axis(file, "coreAxis", content.coreAxis());
    double[] memory = axis(file, "memoryAxis", content.memoryAxis());
    Map<String, JobModel> models = new LinkedHashMap<>();
    for (JobModel model : content.models()) {
      if (model == null || model.name() == null || model.task() == null) {
        throw new InputException(file + " has a model without a name or a task");
      }
      check(file, model, cores.length, memory.length);
      if (models.put(model.name(), model) != null) {
        throw new InputException(file + " has the model '" + model.name() + "' twice");
      }
    }
    return new ModelTable(cores, memory, models);
  }

  private static double[] axis(Path file, String name, @Nullable List<Double> points)
      throws InputException {
    if (points == null || points.isEmpty()) {
      throw new InputException(file + " has no " + name);
    }
    Set<Double> seen = new HashSet<>();
    double last = 0;
    for (Double point : points) {
      if (point == null || !(point > last) || !seen.add(point)) {
        throw new InputException(file + ": " + name + " does not rise from above 0: " + points);
      }
      last = point;
    }
    return points.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static void check(Path file, JobModel model, int rows, int columns)
      throws InputException {
    for (double figure :
        new double[] {
          model.coresPerGpu(),
          model.memoryGibPerGpu(),
          model.storageMbsPerGpuUsed(),
          model.iterationSeconds(),
          model.speedup()
        }) {
      if (!(figure > 0 && figure < 1e12)) {
        throw new InputException(
            file + ": the model '" + model.name() + "' has the figure " + figure + ", not above 0");
      }
    }
    if ((model.datasetGib() == null) != (model.ingestMbsPerGpu() == null)
        || (model.datasetGib() != null && !(model.datasetGib() > 0))
        || (model.ingestMbsPerGpu() != null && !(model.ingestMbsPerGpu() > 0))) {
      throw new InputException(
          file
              + ": the model '"
              + model.name()
              + "' needs both datasetGib and ingestMbsPerGpu above 0, or neither");
    }
    boolean whole = model.throughput() != null && model.throughput().size() == rows;
    for (int row = 0; whole && row < rows; row++) {
      List<Double> speeds = model.throughput().get(row);
      whole =
          speeds != null
              && speeds.size() == columns
              && speeds.stream().allMatch(speed -> speed != null && speed > 0);
    }
    if (!whole) {
      throw new InputException(
          "%s: the throughput of the model '%s' is no table of %d rows and %d columns above 0"
              .formatted(file, model.name(), rows, columns));
    }
  }

  @Nullable JobModel find(String name) {
    return models.get(name);
  }

  /** The model of a job that was checked when its trace was read. */
  JobModel named(String name) {
    JobModel model = models.get(name);
    if (model == null) {
      throw new IllegalArgumentException("no model " + name);
    }
    return model;
  }

  /** The models of a task that workloads draw, in their order. */
  List<JobModel> drawn(String task) {
    boolean numbered = models.values().stream().anyMatch(model -> model.classId() != null);
    return models.values().stream()
        .filter(model -> model.task().equals(task))
        .filter(model -> !numbered || model.classId() != null)
        .toList();
  }

  Set<String> names() {
    return models.keySet();
  }

  /**
   * Speed of {@code model} relative to the GPU-proportional share: interpolated linearly from the
   * table, and at most as fast as storage allows. Beyond the table's last point the speed is
   * constant; below its first number of cores it falls in proportion.
   *
   * @param perGpu of each {@link Resource} for one GPU
   */
  double speed(JobModel model, int gpus, double[] perGpu) {
    double prepared = prepared(model, perGpu[Resource.CORES], perGpu[Resource.MEMORY]);
    double fromStorage = model.storageRate(perGpu[Resource.MEMORY] * gpus);
    return fromStorage == 0 ? prepared : Math.min(prepared, perGpu[Resource.STORAGE] / fromStorage);
  }

  private double prepared(JobModel model, double coresPerGpu, double memoryPerGpu) {
    double row = position(coreAxis, coresPerGpu);
    double column = position(memoryAxis, memoryPerGpu);
    double below = Math.min(1, coresPerGpu / coreAxis[0]);
    int i = (int) row;
    double upper = along(model.throughput().get(i), column);
    double lower = i + 1 < coreAxis.length ? along(model.throughput().get(i + 1), column) : upper;
    return below * (upper + (row - i) * (lower - upper));
  }

  private static double along(List<Double> speeds, double column) {
    int j = (int) column;
    double left = speeds.get(j);
    double right = j + 1 < speeds.size() ? speeds.get(j + 1) : left;
    return left + (column - j) * (right - left);
  }

  /** Position of {@code value} on an axis: its index plus the fraction to the next point. */
  private static double position(double[] axis, double value) {
    if (value <= axis[0]) {
      return 0;
    }
    for (int i = 1; i < axis.length; i++) {
      if (value < axis[i]) {
        return i - 1 + (value - axis[i - 1]) / (axis[i] - axis[i - 1]);
      }
    }
    return axis.length - 1;
  }
}
