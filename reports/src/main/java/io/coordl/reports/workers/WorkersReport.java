package io.coordl.reports.workers;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.whatif.Pace;
import io.coordl.reports.workers.WorkersFile.Line;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LayerEvent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Predictions for a job with unequal workers. Serialised to the JSON that {@code
 * workers.schema.json} describes.
 *
 * @param recording recording of a worker; null if the file contains everything
 * @param shares division of a synchronous batch; null if the file has no workers
 * @param pipelines pipelines of virtual workers; null if the file has none
 * @param placement placement of layers on servers; null if the file has no servers
 * @param measured facts from recordings, a sentence each
 * @param model assumptions behind all other figures, a sentence each
 */
public record WorkersReport(
    int schemaVersion,
    @Nullable String recording,
    @Nullable Shares shares,
    @Nullable Pipelines pipelines,
    @Nullable Placement placement,
    List<String> measured,
    List<String> model) {
  static final int SCHEMA_VERSION = 1;

  private static final double COPIES = 3;
  private static final double FLOAT_BYTES = 4;
  private static final int MAX_IN_FLIGHT = 1_000;

  /** Limit on the number of workers, because tables grow with it. */
  private static final int MAX_WORKERS = 100_000;

  /** Reads recordings. */
  public interface Reader {
    JobRecording read(Path file) throws RecordingException;
  }

  /**
   * Reads the recordings that the file names and computes the report.
   *
   * @param recordingFile a recording of one worker; null if the file contains everything
   */
  public static WorkersReport of(WorkersFile file, @Nullable Path recordingFile, Reader reader)
      throws InputException, RecordingException {
    return new Builder(file, reader).report(recordingFile);
  }

  private static final class Builder {
    private final WorkersFile file;
    private final Reader reader;
    private final Map<Path, JobRecording> recordings = new HashMap<>();
    private final List<String> measured = new ArrayList<>();
    private final List<String> model = new ArrayList<>();
    private @Nullable JobRecording base;
    private @Nullable Pace pace;
    private boolean assumesEqualHosts;

    Builder(WorkersFile file, Reader reader) {
      this.file = file;
      this.reader = reader;
    }

    WorkersReport report(@Nullable Path recordingFile) throws InputException, RecordingException {
      if (recordingFile != null) {
        base = reader.read(recordingFile);
        pace = Pace.of(base);
      }
      List<Worker> workers = workers();
      Integer batch = file.one("batch").whole("", 1);
      List<Layer> layers = layers();
      Shares shares = null;
      if (!workers.isEmpty()) {
        if (batch == null) {
          throw new InputException(
              file + " has workers but no line 'batch N' (samples in a step, over all workers)");
        }
        shares = Shares.of(workers, batch, sampleBytes());
        if (assumesEqualHosts) {
          model.add(
              "hosts without a recording of their own prepare as fast as the one that was"
                  + " recorded");
        }
        model.add(
            "gradients are averaged with the weights of the table: a plain mean of the workers'"
                + " means would train another model");
        model.add(
            "statistics of batch normalisation differ from those of equal shares, and so do the"
                + " model's weights, in their last bits");
      }
      Pipelines pipelines = pipelines(layers);
      Placement placement = placement(layers, workers.size());
      if (shares == null && pipelines == null && placement == null) {
        throw new InputException(
            file + " has nothing to predict: expected 'worker', 'virtual' or 'server' lines");
      }
      model.add("nothing here was validated on several GPUs");
      return new WorkersReport(
          SCHEMA_VERSION,
          base == null ? null : base.file().toString(),
          shares,
          pipelines,
          placement,
          measured,
          model);
    }

    private @Nullable Double sampleBytes() {
      return pace == null || pace.sampleBytes() <= 0 ? null : (Double) pace.sampleBytes();
    }

    // ---- synchronous workers

    private List<Worker> workers() throws InputException, RecordingException {
      List<Line> lines = file.all("worker");
      if (lines.size() > MAX_WORKERS) {
        throw lines.get(MAX_WORKERS).refused("there are more than " + MAX_WORKERS + " workers");
      }
      List<Worker> workers = new ArrayList<>();
      for (Line line : lines) {
        workers.add(worker(line));
      }
      return workers;
    }

    private Worker worker(Line line) throws InputException, RecordingException {
      Double millis = line.above0("ms");
      Double slower = line.above0("slower");
      String recorded = line.text("recording");
      if (millis != null && (slower != null || recorded != null)) {
        throw line.refused(
            "ms= and "
                + (slower != null ? "slower=" : "recording=")
                + " both give the time of a sample");
      }
      Double supply = line.above0("supply");
      Origin origin = Origin.GIVEN;
      if (millis == null) {
        Pace workerPace = recorded == null ? pace : paceOf(line, recorded);
        if (workerPace == null) {
          throw line.refused(
              "the time of a sample is missing: give ms=, recording=FILE.jfr, or slower= and a"
                  + " recording of another worker");
        }
        double factor = slower == null ? 1 : slower;
        millis = workerPace.millis(factor);
        origin = factor == 1 ? Origin.MEASURED : Origin.ASSUMED;
        if (supply == null && workerPace.suppliedPerSecond() != null) {
          supply = workerPace.suppliedPerSecond();
          assumesEqualHosts |= recorded == null;
        }
        measured.add(sentence(line, recorded, workerPace, slower));
      }
      Double fixed = line.number("fixed", 0);
      return new Worker(
          line.name, fixed == null ? 0 : fixed, millis, supply, maxSamples(line), origin);
    }

    private static String sentence(
        Line line, @Nullable String recorded, Pace pace, @Nullable Double slower) {
      return String.format(
          Locale.ROOT,
          "%s: %.3f ms a sample%s%s%s",
          line.name,
          pace.nanosPerSample() / 1e6,
          recorded == null ? "" : " in " + recorded,
          pace.preparesItself() ? ", including preparation on the training thread" : "",
          slower == null
              ? ""
              : "; compute time multiplied by slower=" + WorkersText.number(slower));
    }

    private @Nullable Pace paceOf(Line line, String recorded)
        throws InputException, RecordingException {
      Path path = file.beside(recorded);
      JobRecording recording = recordings.get(path);
      if (recording == null) {
        recording = reader.read(path);
        recordings.put(path, recording);
      }
      Pace workerPace = Pace.of(recording);
      if (workerPace == null) {
        throw line.refused(
            "the recording "
                + recorded
                + " does not show how long a step takes: it needs a complete epoch with 10 steps"
                + " after warm-up, three complete epochs, or a profile");
      }
      return workerPace;
    }

    /**
     * Returns the number of samples that fit: as given, or computed from the memory without the
     * fixed part.
     */
    private @Nullable Integer maxSamples(Line line) throws InputException {
      Integer maxSamples = line.whole("most", 1);
      Double memory = line.bytes("memory");
      Line needs = file.one("memory");
      Double sample = needs.bytes("sample");
      Double fixed = needs.bytes("fixed");
      if (memory == null) {
        return maxSamples;
      }
      if (maxSamples != null) {
        throw line.refused("most= and memory= both give the number of samples");
      }
      if (sample == null || sample == 0) {
        throw line.refused(
            "memory= needs a line 'memory fixed=SIZE sample=SIZE': the memory of the model and of"
                + " each sample");
      }
      double fits = Math.floor((memory - (fixed == null ? 0 : fixed)) / sample);
      if (fits < 0) {
        throw line.refused(
            "memory is '"
                + line.text("memory")
                + "', less than the model takes (line "
                + needs.number
                + ")");
      }
      return (int) Math.min(fits, 1_000_000_000);
    }

    // ---- layers

    /** Returns the layers in the file; if it has none, those of the recording's largest model. */
    private List<Layer> layers() throws InputException {
      List<Layer> layers = new ArrayList<>();
      for (Line line : file.all("layer")) {
        Double parameters = line.bytes("parameters");
        Double activations = line.bytes("activations");
        Integer inputs = line.whole("inputs", 0);
        layers.add(
            new Layer(
                line.name,
                line.number("ms", 0),
                parameters == null ? 0 : parameters,
                activations == null ? 0 : activations,
                inputs == null ? 0 : inputs));
      }
      return layers.isEmpty() && base != null ? recorded(base) : layers;
    }

    private List<Layer> recorded(JobRecording recording) {
      Map<Long, List<LayerEvent>> models =
          recording.layers().stream().collect(Collectors.groupingBy(layer -> layer.model));
      List<LayerEvent> largest =
          models.values().stream()
              .max(
                  Comparator.comparingLong(
                      all -> all.stream().mapToLong(layer -> layer.bytes).sum()))
              .orElse(List.of());
      return largest.stream()
          .map(layer -> new Layer(String.valueOf(layer.layer), null, layer.bytes, 0, layer.inputs))
          .toList();
    }

    // ---- virtual workers

    private @Nullable Pipelines pipelines(List<Layer> layers) throws InputException {
      List<Line> lines = file.all("virtual");
      if (lines.isEmpty()) {
        return null;
      }
      for (Layer layer : layers) {
        if (layer.millis() == null) {
          throw new InputException(
              file + ": the layer '" + layer.name() + "' needs ms= to be cut into stages");
        }
      }
      if (layers.stream().allMatch(layer -> layer.millis() == null || layer.millis() == 0)) {
        throw new InputException(file + " has virtual workers but no 'layer NAME ms=...' lines");
      }
      Map<String, Kind> kinds = new HashMap<>();
      for (Line line : file.all("kind")) {
        Double slower = line.above0("slower");
        kinds.put(
            line.name, new Kind(line.name, slower == null ? 1 : slower, line.bytes("memory")));
      }
      List<VirtualWorker> workers = new ArrayList<>();
      for (Line line : lines) {
        List<Kind> gpus = new ArrayList<>();
        for (String name : String.valueOf(line.text("")).split(",", -1)) {
          Kind kind = kinds.get(name);
          if (kind == null) {
            throw line.refused("'" + name + "' is not a GPU that a 'kind' line describes");
          }
          gpus.add(kind);
        }
        workers.add(new VirtualWorker(line.name, gpus));
      }
      Line waves = file.one("waves");
      Integer distance = waves.whole("distance", 0);
      Integer inFlight = waves.whole("in-flight", 1);
      if (inFlight != null && inFlight > MAX_IN_FLIGHT) {
        throw waves.refused("in-flight is " + inFlight + ", more than " + MAX_IN_FLIGHT);
      }
      Double copies = waves.above0("copies");
      Double spread = waves.number("spread", 0);
      model.add(
          "each minibatch visits a stage once, forward and backward together, and computing hides"
              + " the transfers; otherwise the rates are upper bounds");
      model.add(
          "stage s of k keeps "
              + WorkersText.number(copies == null ? COPIES : copies)
              + " copies of its parameters and the activations of min(in flight, k - s + 1)"
              + " minibatches");
      Pace basePace = pace;
      return Pipelines.of(
          workers,
          layers,
          new Pipelines.Settings(
              inFlight,
              distance == null ? 0 : distance,
              copies == null ? COPIES : copies,
              spread == null ? spread() : spread),
          basePace == null || basePace.sampleBytes() <= 0 || basePace.batchSamples() <= 0
              ? null
              : (Double) (basePace.sampleBytes() * basePace.batchSamples()));
    }

    /** Returns the spread of step times, from the recording's percentiles; null if unknown. */
    private @Nullable Double spread() {
      if (base == null) {
        return null;
      }
      for (LatencyStatisticsEvent latency : base.latencies()) {
        if ("step".equals(latency.kind) && latency.count >= 100 && latency.p50 > 0) {
          double deviation = Math.log((double) latency.p90 / latency.p50) / 1.2816;
          double spread = Math.sqrt(Math.expm1(deviation * deviation));
          measured.add(
              String.format(
                  Locale.ROOT,
                  "step times have a spread of %.1f %% (from their p50 and p90)",
                  100 * spread));
          return spread;
        }
      }
      return null;
    }

    // ---- servers

    private @Nullable Placement placement(List<Layer> layers, int workers) throws InputException {
      List<Line> lines = file.all("server");
      if (lines.isEmpty()) {
        return null;
      }
      List<Server> servers = new ArrayList<>();
      for (Line line : lines) {
        Double link = line.bytesPerSecond("link");
        if (link == null) {
          throw line.refused("server " + line.name + " needs link=, such as link=10Gbit");
        }
        servers.add(new Server(line.name, link, line.flopsPerSecond("flops")));
      }
      double bytes = layers.stream().mapToDouble(Layer::parameterBytes).sum();
      if (!(bytes > 0)) {
        throw new InputException(
            base == null
                ? file
                    + " has servers but no layers: give 'layer NAME parameters=SIZE' lines, or a"
                    + " recording"
                : base.file()
                    + " names no layers (none were seen, or an older agent wrote it): record the"
                    + " job again, or give 'layer NAME parameters=SIZE' lines");
      }
      if (file.all("layer").isEmpty() && base != null) {
        measured.add(
            "%s with %s of parameters in total, from the largest model in %s"
                .formatted(
                    Text.count(layers.size(), "layer", "layers"),
                    WorkersText.bytes(bytes),
                    base.file()));
      }
      Line links = file.one("links");
      Integer count = links.whole("workers", 1);
      if (count == null && workers == 0) {
        throw new InputException(
            file + " has servers but not the number of workers: add a line 'links workers=N'");
      }
      Integer batch = links.whole("batch", 1);
      Pace basePace = pace;
      int samples =
          batch != null
              ? batch
              : basePace == null || basePace.batchSamples() < 1
                  ? 0
                  : (int) Math.round(basePace.batchSamples());
      boolean endsFullyConnected = layers.get(layers.size() - 1).isFullyConnected();
      if (samples == 0 && endsFullyConnected) {
        throw new InputException(
            file
                + ": for fully connected layers, add the number of samples in a worker's step:"
                + " 'links batch=N'");
      }
      Double compute = links.above0("compute");
      if (compute == null && basePace != null && samples > 0) {
        compute = basePace.nanosPerSample() / 1e6 * samples;
        measured.add(
            "%s ms for a step of %s before communication"
                .formatted(WorkersText.number(compute), Text.count(samples, "sample", "samples")));
      }
      Double value = links.above0("value");
      model.add(
          "a step sends each gradient once to the server that keeps the layer and gets the"
              + " parameters back at the same time; a step takes between the longer of computing"
              + " and communicating, if they overlap fully, and their sum");
      return Placement.of(
          layers,
          servers,
          new Placement.Job(
              count == null ? workers : count,
              links.bytesPerSecond("link"),
              samples,
              value == null ? FLOAT_BYTES : value,
              compute));
    }
  }
}
