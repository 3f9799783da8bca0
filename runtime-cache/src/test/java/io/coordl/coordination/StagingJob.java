package io.coordl.coordination;

import io.coordl.store.ByteBudget;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A job in a separate JVM. Arguments: {@code directory seed epochs ending [jobs to wait for]}.
 * Checks every byte of every batch that it takes from the buffer, reading some slowly; prints a
 * line for each epoch with the items used. Endings: {@code end} uses all batches of every epoch;
 * {@code break} leaves the last epoch, and some others, early; {@code exit} does the same, but
 * calls {@code System.exit} instead of ending the last epoch.
 */
public final class StagingJob {
  static final int ITEMS = 120;
  static final int BATCH = 8;

  /** Exit status after wrong bytes or a wrong order. */
  static final int WRONG = 3;

  static final Fingerprint PIPELINE = new Fingerprint(Map.of("data set", "synthetic"));

  /** Short enough that every limit is reached. */
  static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofMillis(400),
          Duration.ofMillis(600),
          Duration.ofMillis(1500),
          Duration.ofMillis(100),
          Duration.ofSeconds(2));

  private StagingJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws Exception {
    long seed = Long.parseLong(args[1]);
    int epochs = Integer.parseInt(args[2]);
    String ending = args[3];
    SplittableRandom random = new SplittableRandom(seed);
    int jobs = args.length > 4 ? Integer.parseInt(args[4]) : 1;
    // 12 slots for 15 batches: the window slides.
    PrepGroup group =
        new PrepGroup(
            Path.of(args[0]),
            "torture",
            ByteBudget.parse("96k"),
            jobs,
            jobs > 1 ? Timeouts.USUAL : TIMEOUTS,
            System.err::println);
    Runtime.getRuntime().addShutdownHook(new Thread(group::close));
    System.out.println("ready");
    for (int number = 0; number < epochs; number++) {
      BatchOrder own = Batches.order(ITEMS, BATCH, seed * 1000 + number);
      SharedEpoch epoch = group.begin(PIPELINE, own);
      BatchOrder order = epoch == null ? own : epoch.order();
      if (!Batches.isComplete(order, ITEMS)) {
        fail("order");
      }
      if (epoch != null) {
        epoch.prepareWith(
            (batch, items) -> {
              LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(3_000_000));
              return Batches.prepared(items, seed + batch);
            },
            2);
      }
      int last = order.batches();
      if (!ending.equals("end") && (number == epochs - 1 || random.nextInt(3) == 0)) {
        last = random.nextInt(order.batches());
      }
      int given = 0;
      StringBuilder used = new StringBuilder();
      for (int batch = 0; batch < last; batch++) {
        int[] items = order.items(batch);
        int pause = random.nextInt(8) == 0 ? random.nextInt(20_000_000) : 0;
        int[] staged = epoch == null ? null : epoch.use(batch, bytes -> read(items, bytes, pause));
        for (int item : staged == null ? items : staged) {
          used.append(' ').append(item);
        }
        given += staged == null ? 0 : 1;
        LockSupport.parkNanos(random.nextInt(2_000_000));
      }
      if (ending.equals("exit") && number == epochs - 1) {
        System.exit(0);
      }
      if (epoch != null && (last == order.batches() || random.nextBoolean())) {
        epoch.end();
      }
      System.out.println("epoch " + number + " given " + given + " used" + used);
    }
    for (StagingStatisticsEvent figures : group.statistics()) {
      System.out.println("prepared " + figures.prepared + " alone " + figures.preparedLocally());
    }
    System.out.println("done");
  }

  /** Returns the items in the bytes; the test may kill or stop this job between the two reads. */
  private static int[] read(int[] items, ByteBuffer bytes, int pause) {
    int[] found = Batches.items(bytes);
    LockSupport.parkNanos(pause);
    if (!Batches.checkAndOverwrite(items, bytes)) {
      fail("batch of " + Arrays.toString(items));
    }
    return found;
  }

  private static void fail(String what) {
    System.out.println("WRONG " + what);
    System.out.flush();
    Runtime.getRuntime().halt(WRONG);
  }
}
