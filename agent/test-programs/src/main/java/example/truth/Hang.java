package example.truth;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes a loader hang, as on a broken file, at the batch given by property {@code truth.hangs}. */
final class Hang {
  private static final int AT = Integer.getInteger("truth.hangs", Integer.MAX_VALUE);
  private static final AtomicInteger BATCHES = new AtomicInteger();
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private Hang() {}

  /**
   * Once the job has reached the given batch, reads {@code settings.file()} and then waits forever.
   */
  static void hangIfDue(Settings settings) {
    if (BATCHES.incrementAndGet() < AT) {
      return;
    }
    try (InputStream in = new FileInputStream(settings.file())) {
      in.readAllBytes();
      NEVER.await();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
