package io.coordl.coordination;

import io.coordl.store.ByteBudget;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * A job in a separate JVM. Arguments: {@code directory what budget}.
 *
 * <ul>
 *   <li>{@code claims}: runs two epochs; prints "claimed" while it prepares a batch of the first,
 *       and finishes the batch when a byte arrives on standard input.
 *   <li>{@code trains} or {@code validates}: waits for another such job; runs one epoch each of
 *       training and validation, then three more pairs, each starting with the named one.
 * </ul>
 */
public final class HandedJob {
  private static final int CLAIMED = 9;
  static final Fingerprint TRAINING = new Fingerprint(Map.of("data set", "training"));
  private static final Fingerprint VALIDATION = new Fingerprint(Map.of("data set", "validation"));
  private static final int EPOCHS = 3;

  /** Little patience with stopped jobs, practically unlimited patience with jobs that wait. */
  static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofHours(1),
          Duration.ofMillis(600),
          Duration.ofHours(1),
          Duration.ofMillis(100),
          Duration.ofHours(1));

  private HandedJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws IOException {
    String what = args[1];
    int jobs = what.equals("claims") ? 1 : 2;
    try (PrepGroup group = group(Path.of(args[0]), args[2], jobs)) {
      if (what.equals("claims")) {
        claims(group);
      } else {
        goesThrough(group, TRAINING, 0);
        goesThrough(group, VALIDATION, 0);
        for (int epoch = 1; epoch <= EPOCHS; epoch++) {
          boolean trainsFirst = what.equals("trains");
          System.out.println(goesThrough(group, trainsFirst ? TRAINING : VALIDATION, epoch));
          System.out.println(goesThrough(group, trainsFirst ? VALIDATION : TRAINING, epoch));
        }
      }
      System.out.println("done");
    }
  }

  static PrepGroup group(Path directory, String budget, int jobs) {
    return new PrepGroup(
        directory, "handed", ByteBudget.parse(budget), jobs, TIMEOUTS, System.out::println);
  }

  private static void claims(PrepGroup group) {
    SharedEpoch epoch = group.begin(TRAINING, Batches.order(StagingJob.ITEMS, StagingJob.BATCH, 1));
    epoch.prepareWith(
        (batch, items) -> {
          if (batch == CLAIMED) {
            System.out.println("claimed");
            System.in.read();
          }
          return Batches.prepared(items, batch);
        },
        1);
    System.out.println(uses(epoch));
    System.out.println(goesThrough(group, TRAINING, 2));
    StagingStatisticsEvent figures = group.statistics().get(0);
    System.out.println("too late " + figures.tooLate + " alone " + figures.preparedLocally());
  }

  /** Runs an epoch of the pipeline; returns the result of {@link #uses}. */
  static String goesThrough(PrepGroup group, Fingerprint pipeline, long seed) {
    SharedEpoch epoch =
        group.begin(pipeline, Batches.order(StagingJob.ITEMS, StagingJob.BATCH, seed));
    epoch.prepareWith((batch, items) -> Batches.prepared(items, batch), 1);
    return uses(epoch);
  }

  /** Uses each batch of the epoch; returns the number that came from the buffer, or the error. */
  static String uses(SharedEpoch epoch) {
    String wrong = Batches.isComplete(epoch.order(), StagingJob.ITEMS) ? "" : "WRONG order";
    int given = 0;
    for (int batch = 0; batch < epoch.order().batches(); batch++) {
      ByteBuffer staged = Batches.take(epoch, batch);
      if (staged != null) {
        given++;
        if (!Batches.checkAndOverwrite(epoch.order().items(batch), staged)) {
          wrong = "WRONG batch " + batch;
        }
      }
    }
    epoch.end();
    return wrong.isEmpty() ? "given " + given : wrong;
  }
}
