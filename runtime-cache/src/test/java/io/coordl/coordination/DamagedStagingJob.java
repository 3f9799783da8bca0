package io.coordl.coordination;

import io.coordl.store.ByteBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A job in a separate JVM whose staging buffer another program truncates. Arguments: {@code
 * DIRECTORY JOBS}. Takes some batches. While it copies the next one, it waits for input and
 * prepares no later batch. Then it finishes the epoch, tries to begin another, and prints the
 * results.
 */
public final class DamagedStagingJob {
  private static final int BATCHES = StagingJob.ITEMS / StagingJob.BATCH;
  private static final int BEFORE = 3;

  private DamagedStagingJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws IOException {
    List<String> logged = new ArrayList<>();
    PrepGroup group =
        new PrepGroup(
            Path.of(args[0]),
            "damaged",
            ByteBudget.parse("96k"),
            Integer.parseInt(args[1]),
            new Timeouts(
                Duration.ofSeconds(30),
                Duration.ofSeconds(20),
                Duration.ofSeconds(40),
                Duration.ofSeconds(5),
                Duration.ofSeconds(20)),
            logged::add);
    CountDownLatch truncated = new CountDownLatch(1);
    BatchOrder own = Batches.order(StagingJob.ITEMS, StagingJob.BATCH, 1);
    SharedEpoch epoch = group.begin(StagingJob.PIPELINE, own);
    epoch.prepareWith(
        (batch, items) -> {
          if (batch > BEFORE) {
            truncated.await(); // No batch may be written during truncation.
          }
          return Batches.prepared(items, batch);
        },
        1);
    for (int batch = 0; batch < BEFORE; batch++) {
      ByteBuffer staged = Batches.take(epoch, batch);
      if (staged == null || !Batches.checkAndOverwrite(epoch.order().items(batch), staged)) {
        throw new AssertionError("batch " + batch);
      }
    }
    int[] items = epoch.order().items(BEFORE);
    ByteBuffer copied = epoch.use(BEFORE, bytes -> copy(bytes, items.length));
    if (copied != null && !Batches.checkAndOverwrite(items, copied)) {
      throw new AssertionError("the batch copied during truncation");
    }
    truncated.countDown();
    int given = 0;
    for (int batch = BEFORE + 1; batch < BATCHES; batch++) {
      given += Batches.take(epoch, batch) == null ? 0 : 1;
    }
    epoch.end();
    SharedEpoch next = group.begin(StagingJob.PIPELINE, own);
    group.statistics();
    group.close();
    System.out.println(
        "given " + given + ", next " + (next == null ? "alone" : "shared") + ", said " + logged);
  }

  /** Reads the batch's header first, as the libraries' readers do. */
  private static ByteBuffer copy(ByteBuffer staged, int items) throws IOException {
    System.out.println("ready");
    System.in.read();
    if (staged.getInt(4) != items) {
      throw new IOException("the bytes are not a batch of " + items + " items");
    }
    return Batches.copy(staged);
  }
}
