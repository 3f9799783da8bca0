package io.coordl.reports.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
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
  /** The task of recorded jobs. */
  private static final String RECORDED = "recorded";

  private record Content(
      @Nullable List<Double> coreAxis,
      @Nullable List<Double> memoryAxis,
      @Nullable List<@Nullable JobModel> models,
      @Nullable DemandTable table) {}

  /** The axes of a model's speeds; {@code demand} is null unless the model is a recorded job. */
  private record Points(List<Double> cores, List<Double> memory, @Nullable DemandTable demand) {}

  private final Map<String, JobModel> models = new LinkedHashMap<>();
  private final Map<String, Points> points = new HashMap<>();

  private ModelTable() {}

  /**
   * Reads {@code files}: tables of models, or outputs of {@code coordl demand --json}. In a table,
   * every model has a row per number of cores and a column per memory size. An output becomes a
   * model named after its file.
   */
  public static ModelTable read(List<Path> files) throws InputException {
    ModelTable table = new ModelTable();
    for (Path file : files) {
      table.add(file);
    }
    return table;
  }

  /** Reads one file. */
  public static ModelTable read(Path file) throws InputException {
    return read(List.of(file));
  }

  /** Returns a table with a recorded job as its only model. */
  public static ModelTable of(String name, DemandTable demand) {
    ModelTable table = new ModelTable();
    table.addRecorded(name, demand);
    return table;
  }

  private void add(Path file) throws InputException {
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
          file + ", line " + line(e) + ", is not a table of models: " + e.getOriginalMessage());
    }
    if (content != null && content.table() != null) {
      addRecorded(file, content.table());
    } else {
      addModels(file, content);
    }
  }

  private void addRecorded(Path file, DemandTable demand) throws InputException {
    String problem = demand.problem();
    if (problem != null) {
      throw new InputException(file + ": " + problem);
    }
    String name = String.valueOf(file.getFileName()).replaceFirst("\\.json$", "");
    if (models.containsKey(name)) {
      throw new InputException(
          file + " defines a model that another file also defines: '" + name + "'");
    }
    addRecorded(name, demand);
  }

  /** Adds a model whose speeds are relative to its best, with the step time at its best speed. */
  private void addRecorded(String name, DemandTable demand) {
    DemandTable.Knee knee = demand.knee();
    int gpus = demand.gpus();
    models.put(
        name,
        new JobModel(
            name,
            null,
            RECORDED,
            knee.cores() / gpus,
            knee.memoryGib() / gpus,
            0,
            demand.batchSamples() / demand.best(),
            1,
            null,
            null,
            List.of()));
    points.put(
        name, new Points(perGpu(demand.cores(), gpus), perGpu(demand.memoryGib(), gpus), demand));
  }

  private static List<Double> perGpu(List<Double> jobAmounts, int gpus) {
    return jobAmounts.stream().map(amount -> amount / gpus).toList();
  }

  private static long line(JacksonException e) {
    return e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getLineNr());
  }

  private void addModels(Path file, @Nullable Content content) throws InputException {
    if (content == null || content.models() == null || content.models().isEmpty()) {
      throw new InputException(file + " names no models: {\"models\": [...]} was expected");
    }
    List<Double> cores = axis(file, "coreAxis", content.coreAxis());
    List<Double> memory = axis(file, "memoryAxis", content.memoryAxis());
    for (JobModel model : content.models()) {
      if (model == null || model.name() == null || model.task() == null) {
        throw new InputException(file + " has a model without a name or a task");
      }
      check(file, model, cores.size(), memory.size());
      if (models.put(model.name(), model) != null) {
        throw new InputException(file + ": the model '" + model.name() + "' is already defined");
      }
      points.put(model.name(), new Points(cores, memory, null));
    }
  }

  private static List<Double> axis(Path file, String name, @Nullable List<Double> points)
      throws InputException {
    if (points == null || points.isEmpty()) {
      throw new InputException(file + " has no " + name);
    }
    if (!Axes.isRising(points)) {
      throw new InputException(
          file + ": " + name + " does not rise from a value above 0: " + points);
    }
    return points;
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
            file
                + ": the model '"
                + model.name()
                + "' has the value "
                + figure
                + ", not above 0 and below 1e12");
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
    boolean complete = model.throughput() != null && model.throughput().size() == rows;
    for (int row = 0; complete && row < rows; row++) {
      List<Double> speeds = model.throughput().get(row);
      complete =
          speeds != null
              && speeds.size() == columns
              && speeds.stream().allMatch(speed -> speed != null && speed > 0);
    }
    if (!complete) {
      throw new InputException(
          "%s: the throughput of the model '%s' is not a table of %d rows and %d columns above 0"
              .formatted(file, model.name(), rows, columns));
    }
  }

  @Nullable JobModel find(String name) {
    return models.get(name);
  }

  /** Returns the model with this name, which the caller has already checked. */
  JobModel named(String name) {
    JobModel model = models.get(name);
    if (model == null) {
      throw new IllegalArgumentException("no model " + name);
    }
    return model;
  }

  /** Returns the models of a task that generated workloads use, in table order. */
  List<JobModel> forWorkloads(String task) {
    boolean numbered = models.values().stream().anyMatch(model -> model.classId() != null);
    return models.values().stream()
        .filter(model -> model.task().equals(task))
        .filter(model -> !numbered || model.classId() != null)
        .toList();
  }

  /** Returns the names of all models. */
  public Set<String> names() {
    return models.keySet();
  }

  /** Returns whether any model is a recorded job. */
  public boolean hasRecorded() {
    return points.values().stream().anyMatch(known -> known.demand() != null);
  }

  /** Returns the number of GPUs that a recorded job ran on; 1 for a model of a table. */
  public int gpus(String model) {
    DemandTable demand = points(named(model)).demand();
    return demand == null ? 1 : demand.gpus();
  }

  /** Returns the cores per GPU at the points of a model's table. */
  List<Double> cores(JobModel model) {
    return points(model).cores();
  }

  /** Returns the GiB per GPU at the points of a model's table. */
  List<Double> memory(JobModel model) {
    return points(model).memory();
  }

  /**
   * Returns the MB/s per GPU at the points of a model's table; empty if a formula gives the storage
   * rate.
   */
  List<Double> storage(JobModel model) {
    DemandTable demand = points(model).demand();
    return demand == null ? List.of() : perGpu(demand.storageMbs(), demand.gpus());
  }

  private Points points(JobModel model) {
    Points axes = points.get(model.name());
    if (axes == null) {
      throw new IllegalArgumentException("no model " + model.name());
    }
    return axes;
  }

  /**
   * Returns the speed of {@code model}. For a table of models, it is relative to the
   * GPU-proportional share, interpolated linearly and limited by storage; for a recorded job, it is
   * relative to its best. Beyond the table's last point the speed is constant; below its first
   * number of cores it is proportional to the cores.
   *
   * @param perGpu amount of each {@link Resource} per GPU
   */
  double speed(JobModel model, int gpus, double[] perGpu) {
    Points axes = points(model);
    DemandTable demand = axes.demand();
    if (demand != null) {
      return demand.speed(
              perGpu[Resource.CORES] * demand.gpus(),
              perGpu[Resource.MEMORY] * demand.gpus(),
              perGpu[Resource.STORAGE] * demand.gpus())
          / demand.best();
    }
    double prepared = prepared(model, axes, perGpu[Resource.CORES], perGpu[Resource.MEMORY]);
    double fromStorage = model.storageRate(perGpu[Resource.MEMORY] * gpus);
    return fromStorage == 0 ? prepared : Math.min(prepared, perGpu[Resource.STORAGE] / fromStorage);
  }

  /** Returns the MB/s that one GPU reads from storage or, for a recorded job, needs from it. */
  double storageRate(JobModel model, int gpus, double cores, double memory) {
    Points axes = points(model);
    DemandTable demand = axes.demand();
    return demand != null
        ? demand.storageNeeded(cores * demand.gpus(), memory * demand.gpus()) / demand.gpus()
        : prepared(model, axes, cores, memory) * model.storageRate(memory * gpus);
  }

  private static double prepared(JobModel model, Points axes, double cores, double memory) {
    double row = Axes.position(axes.cores(), cores);
    double column = Axes.position(axes.memory(), memory);
    double below = Math.min(1, cores / axes.cores().get(0));
    return below
        * Axes.along(model.throughput(), row, speeds -> Axes.along(speeds, column, speed -> speed));
  }
}
