package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.List;
import java.util.Objects;
import java.util.stream.DoubleStream;

/**
 * Computes S*, the storage rate at which the job no longer waits for storage or, without workers,
 * hardly waits. Considers the time of a sample with everything in memory, and how much of it is
 * left for fetching.
 */
final class StorageNeeded extends Question {
  /**
   * Accepted share of time for fetching where waits cannot be avoided: on the training thread, or
   * if the workers have hardly any time left.
   */
  private static final double ACCEPTED_SHARE = 0.05;

  private static final double[] FACTORS = {0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 8, 16};

  StorageNeeded() {
    super("storage", "Storage rate needed", "storageRate", "sampleBytes");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    Double requested = scenario.cacheShare(pipeline);
    double hit = requested == null ? 0 : requested;
    Setup cached = today.hit(hit);
    Measure rate = Objects.requireNonNull(pipeline.storageRate);
    double value = rate.value();
    Measure needed = pipeline.figure(costs -> factor(costs, cached) * value);
    Double other = scenario.storageRate();
    double[] rates = DoubleStream.of(FACTORS).map(factor -> factor * value).toArray();
    return new Finding(
        Text.format(
            "S* = %s %s when %s is cached; this storage gives %s, with which the job runs at %s%s.",
            rate(needed),
            pipeline.isSerial()
                ? "limits fetching to " + percent(ACCEPTED_SHARE) + " of the time"
                : "keeps up with the rest of the job",
            hit == 0 ? "nothing" : percent(hit),
            rate(rate),
            speed(pipeline, cached),
            other == null
                ? ""
                : Text.format(
                    "; with %s/s it would run at %s",
                    bytes(other), speed(pipeline, cached.storage(other / value)))),
        new Figure("storage rate needed", "bytes/s", needed),
        plot(
            pipeline,
            new Axis("storage rate", "bytes/s"),
            value,
            series(percent(hit) + " cached", rates, pipeline, at -> cached.storage(at / value)),
            series("as today", rates, pipeline, at -> today.storage(at / value))),
        List.of(),
        List.of("storage that is k times as fast serves each fetch in 1/k of the time"));
  }

  private static String rate(Measure bytesPerSecond) {
    return bytes(bytesPerSecond.value()) + "/s ± " + bytes(bytesPerSecond.error()) + "/s";
  }

  /**
   * Returns the needed rate relative to today's, in closed form. Let x be the cached share of the
   * data set, R the job's rate with every item in memory and C the rate of memory. The storage must
   * supply (1 - x) of a sample in the time that is left for it: S* = (1 - x) / (1/R - x/C). A
   * worker's fetches must also fit into the time that its preparation leaves at the rate R.
   */
  static double factor(Costs costs, Setup setup) {
    double hit = setup.hit == null ? costs.todayHit() : setup.hit;
    double all = costs.nanos(setup.hit(1));
    double missed = 1 - hit;
    double storage = quotient(missed * costs.storage(), all - hit * costs.memory());
    if (setup.workers == 0) {
      return Math.max(
          storage, quotient(missed * costs.miss(), all * ACCEPTED_SHARE / (1 - ACCEPTED_SHARE)));
    }
    double remaining = setup.workers * (all - costs.prepSerial()) - costs.prepParallel();
    // Workers that prepare without a pause have no time left; accept a small wait.
    return Math.max(
        storage,
        quotient(missed * costs.miss(), Math.max(remaining, setup.workers * all * ACCEPTED_SHARE)));
  }

  private static double quotient(double need, double room) {
    return need <= 0 ? 0 : need / room;
  }
}
