package io.coordl.telemetry.recording;

import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints the progress of a running job: a line for each epoch that updates the model, or for
 * several short ones, and a line if epochs get slower. Safe for concurrent use.
 */
final class EpochLines implements Consumer<EpochEvent> {
  /** Minimum time between two reports. */
  static final Duration PAUSE = Duration.ofSeconds(10);

  /** Reports a slowdown if batches take at least this many times as long as in the second epoch. */
  private static final double MIN_SLOWDOWN = 1.25;

  /** Minimum share of the slowdown for a second cause to be named. */
  private static final double MIN_CAUSE_SHARE = 0.25;

  private final Consumer<List<String>> print;
  private final LongSupplier clock;
  private final Supplier<JobStatisticsEvent> totals;
  private final BooleanSupplier profiled;
  private final Map<String, Source> sources = new HashMap<>();
  private long last;

  /** The epochs of one data set and model. */
  private static final class Source {
    private final long model;
    private long count;
    private long printed;
    private Figures since = new EpochEvent();
    private @Nullable Figures second;
    private double minSlowdown = MIN_SLOWDOWN;

    Source(long model) {
      this.model = model;
    }
  }

  /**
   * Creates a printer that has printed nothing yet.
   *
   * @param clock current time in nanoseconds
   * @param totals totals of the job, with its planned epochs
   * @param profiled whether the phases of a profile make epochs incomparable
   */
  EpochLines(
      Consumer<List<String>> print,
      LongSupplier clock,
      Supplier<JobStatisticsEvent> totals,
      BooleanSupplier profiled) {
    this.totals = totals;
    this.profiled = profiled;
    this.print = print;
    this.clock = clock;
    this.last = clock.getAsLong();
  }

  @Override
  public synchronized void accept(EpochEvent epoch) {
    if (epoch.updates == 0 || epoch.batches == 0) {
      return; // An evaluation.
    }
    Source source = sources.computeIfAbsent(Epochs.key(epoch), name -> new Source(epoch.model));
    source.count++;
    source.since.add(epoch);
    if (source.count == 2 && epoch.complete) {
      source.second = epoch;
    }
    long now = clock.getAsLong();
    if (now - last < PAUSE.toNanos()) {
      return;
    }
    last = now;
    String slower = profiled.getAsBoolean() ? null : slower(source);
    String line = line(source) + remaining(totals.get());
    print.accept(slower == null ? List.of(line) : List.of(line, slower));
    source.printed = source.count;
    source.since = new EpochEvent();
  }

  private static String name(Source source) {
    return (source.model > 1 ? Sentence.ANOTHER_MODEL.with(source.model) : "")
        + (source.count - source.printed == 1
            ? Sentence.ONE_EPOCH.with(source.count)
            : Sentence.SEVERAL_EPOCHS.with(source.printed + 1, source.count));
  }

  private static String line(Source source) {
    Figures epoch = source.since;
    double speed = epoch.samplesPerSecond();
    String causes =
        Part.STALLS.stream()
            .map(part -> part.cause() + " " + Text.percent(part.of(epoch), epoch.wall))
            .collect(Collectors.joining(", "));
    return Sentence.EPOCHS.with(
        name(source),
        speed == 0 ? "" : Sentence.EPOCH_SPEED.with(Text.rate(speed)),
        Text.seconds(epoch.wall),
        Text.percent(epoch.stall, epoch.wall),
        causes,
        (epoch.share(epoch.computeCoreWait) < Evidence.WORTH_A_CHANGE
                ? ""
                : Sentence.WITHOUT_A_CORE.with(Text.percent(epoch.computeCoreWait, epoch.wall)))
            + (epoch.checkpoint == 0
                ? ""
                : Sentence.CHECKPOINTS.with(Text.percent(epoch.checkpoint, epoch.wall))),
        epoch.memoryItems == 0
            ? "" // Decoded images and prepared samples are no items, but may come from memory.
            : Sentence.FROM_MEMORY.with(Text.percent(epoch.memoryItems, epoch.items)));
  }

  private static String remaining(JobStatisticsEvent job) {
    return job.timeLeft == 0
        ? ""
        : Sentence.EPOCHS_LEFT.with(
            Text.count(job.plannedEpochs - job.epochs, "epoch", "epochs"),
            Text.roughly(job.timeLeft));
  }

  /**
   * Returns a line about a slowdown; null if there is no second epoch to compare with, or if epochs
   * are hardly slower than the second epoch or than at the last report of a slowdown.
   */
  private static @Nullable String slower(Source source) {
    Figures second = source.second;
    Figures now = source.since;
    if (second == null || source.printed < 2) {
      return null;
    }
    double slowdown = perBatch(now.wall, now) / perBatch(second.wall, second);
    if (slowdown < source.minSlowdown) {
      return null;
    }
    source.minSlowdown = slowdown * MIN_SLOWDOWN;
    List<Part> grown =
        Arrays.stream(Part.values())
            .sorted(Comparator.comparingDouble(part -> -growth(part, second, now)))
            .toList();
    boolean both =
        growth(grown.get(1), second, now)
            >= MIN_CAUSE_SHARE * (perBatch(now.wall, now) - perBatch(second.wall, second));
    String most = grown(grown.get(0), second, now);
    return Sentence.SLOWER.with(
        name(source),
        100 * (slowdown - 1),
        nanos(now.wall, now),
        nanos(second.wall, second),
        both ? Sentence.BOTH_GROWN.with(most, grown(grown.get(1), second, now)) : most);
  }

  private static String grown(Part part, Figures second, Figures now) {
    return Sentence.GROWN.with(
        part.label(), nanos(part.of(now), now), nanos(part.of(second), second));
  }

  private static double perBatch(long nanos, Figures of) {
    return (double) nanos / of.batches;
  }

  private static Text.Nanos nanos(long nanos, Figures of) {
    return new Text.Nanos(Math.round(perBatch(nanos, of)));
  }

  /** Returns by how many nanoseconds per batch a part has grown. */
  private static double growth(Part part, Figures second, Figures now) {
    return perBatch(part.of(now), now) - perBatch(part.of(second), second);
  }
}
