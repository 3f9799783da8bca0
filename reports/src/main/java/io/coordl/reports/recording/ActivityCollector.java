package io.coordl.reports.recording;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.coordl.telemetry.advice.Part;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Aggregates the events that a job writes for every batch, item or transform, in bounded memory: at
 * most half of the heap for very many long file names, or 64 MiB in a small heap. Each map of
 * {@link #takers} must be used by one thread only.
 */
final class ActivityCollector {
  /** Tracked file names in the smallest heap and in a large one; ImageNet has 1,281,167 files. */
  private static final int MIN_FILES = 1 << 18;

  private static final int MAX_FILES = 1 << 21;

  /** Bytes for a long name, its totals and its place in the map. */
  private static final int BYTES_PER_FILE = 256;

  static final int CLASSES = 1 << 10;
  static final int SHOWN = 20;

  private final TimeLine times = new TimeLine();
  private final NameTotals files = new NameTotals(filesIn(Runtime.getRuntime().maxMemory()), SHOWN);
  private final NameTotals codecs = new NameTotals(CLASSES, SHOWN);
  private final NameTotals transforms = new NameTotals(CLASSES, SHOWN);
  private final Map<String, Activity.Source> sources = new HashMap<>();

  /** Returns how many file names can be tracked with a heap of this many bytes. */
  static int filesIn(long heap) {
    return (int) Math.max(MIN_FILES, Math.min(MAX_FILES, heap / 2 / BYTES_PER_FILE));
  }

  /**
   * Returns consumers by type of event. Fetches have their own map, so that another thread can
   * process them: with many files they cost as much as all other events together.
   */
  List<Map<String, Consumer<JobEvent>>> takers() {
    return List.of(
        Map.of("io.coordl.Fetch", this::addFetch),
        Map.of(
            "io.coordl.DataStall",
            event -> {
              addTime(Part.FETCH_STALL, event, "fetch");
              addTime(Part.PREP_STALL, event, "prep");
              addTime(Part.GC_STALL, event, "gc");
              addTime(Part.QUEUE_STALL, event, "queue");
            },
            "io.coordl.Step",
            event -> {
              addTime(Part.COMPUTE, event, "compute");
              addTime(Part.CHECKPOINT, event, "checkpoint");
            },
            "io.coordl.GpuSample",
            this::addDevice,
            "io.coordl.Batch",
            this::addBatch,
            "io.coordl.Decode",
            event -> codecs.add(event.text("codec"), event.nanos(), 0, false),
            "io.coordl.Transform",
            event -> transforms.add(event.text("transform"), event.nanos(), 0, false)));
  }

  private void addFetch(JobEvent event) {
    files.add(
        event.text("path"), event.number("fetchTime"), event.number("bytes"), event.flag("memory"));
  }

  private void addDevice(JobEvent event) {
    if (event.number("idle") < 0) {
      return; // The device does not report it.
    }
    times.addIdle(event.number("device"), event.number("idle"), startNanos(event), event.nanos());
  }

  private void addTime(Part part, JobEvent event, String field) {
    times.add(part, event.number(field), startNanos(event), event.nanos());
  }

  private static long startNanos(JobEvent event) {
    Instant start = event.start();
    return SECONDS.toNanos(start.getEpochSecond()) + start.getNano();
  }

  /** Adds a batch to its source; beyond the limit, all further sources share one entry. */
  private void addBatch(JobEvent event) {
    String dataset = event.has("dataset") ? event.text("dataset") : null; // Since 0.2.0.
    String source = dataset == null ? event.text("source") : dataset;
    String name = source == null ? "(unknown)" : source;
    String key = sources.size() < CLASSES || sources.containsKey(name) ? name : "(others)";
    Activity.Source batch =
        new Activity.Source(
            key,
            1,
            event.number("items"),
            event.nanos(),
            event.number("fetch"),
            event.number("decode"),
            event.number("transform"),
            event.number("other"));
    sources.merge(key, batch, Activity.Source::plus);
  }

  Activity activity() {
    return new Activity(
        times.times(),
        files.names(),
        codecs.names(),
        transforms.names(),
        sources.values().stream()
            .sorted(
                Comparator.comparingLong(Activity.Source::wallNanos)
                    .reversed()
                    .thenComparing(Activity.Source::name))
            .limit(SHOWN)
            .toList());
  }
}
