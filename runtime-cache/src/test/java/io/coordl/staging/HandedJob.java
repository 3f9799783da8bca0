package io.coordl.staging;

import io.coordl.cache.ByteBudget;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * A job of its own JVM, of which another decides when it goes on: {@code directory what budget}.
 *
 * <ul>
 *   <li>{@code claims}: two passes; says "claimed" in the midst of preparing a batch of the first
 *       one, and goes on with that when a byte comes on its standard input.
 *   <li>{@code trains} or {@code validates}: waits for another such job; goes through an epoch of
 *       training and validation, and through more of which that comes first.
 * </ul>
 */
public final class HandedJob {
  private static final int CLAIMED = 9;
  static final Fingerprint TRAINING = new Fingerprint(Map.of("data set", "training"));
  private static final Fingerprint VALIDATION = new Fingerprint(Map.of("data set", "validation"));
  private static final int EPOCHS = 3;

  /** Without patience for a job that is stopped, and with no end of it for one that only waits. */
  static final Bounds BOUNDS =
      new Bounds(
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
        directory, "handed", ByteBudget.parse(budget), jobs, BOUNDS, System.out::println);
  }

  private static void claims(PrepGroup group) {
    CoordinatedPass pass =
        group.begin(TRAINING, Batches.order(StagingJob.ITEMS, StagingJob.BATCH, 1));
    pass.prepareWith(
        (batch, items) -> {
          if (batch == CLAIMED) {
            System.out.println("claimed");
            System.in.read();
          }
          return Batches.prepared(items, batch);
        },
        1);
    System.out.println(uses(pass));
    System.out.println(goesThrough(group, TRAINING, 2));
    StagingStatistics figures = group.statistics().get(0);
    System.out.println("too late " + figures.tooLate() + " alone " + figures.alone());
  }

  /** A pass of the pipeline. */
  static String goesThrough(PrepGroup group, Fingerprint pipeline, long seed) {
    CoordinatedPass pass =
        group.begin(pipeline, Batches.order(StagingJob.ITEMS, StagingJob.BATCH, seed));
    pass.prepareWith((batch, items) -> Batches.prepared(items, batch), 1);
    return uses(pass);
  }

  /** Uses each batch of the pass, all of which come from the buffer; says what was wrong. */
  static String uses(CoordinatedPass pass) {
    String wrong = Batches.isComplete(pass.order(), StagingJob.ITEMS) ? "" : "WRONG order";
    int given = 0;
    for (int batch = 0; batch < pass.order().batches(); batch++) {
      StagedBatch staged = pass.take(batch);
      if (staged != null) {
        given++;
        if (!Batches.isOf(pass.order().items(batch), staged.bytes())) {
          wrong = "WRONG batch " + batch;
        }
        staged.release();
      }
    }
    pass.end();
    return wrong.isEmpty() ? "given " + given : wrong;
  }
}
