package example.truth;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A loader that hangs, as on a broken file: from batch {@code truth.hangs} on, none comes. */
final class Hang {
  private static final int AT = Integer.getInteger("truth.hangs", Integer.MAX_VALUE);
  private static final AtomicInteger BATCHES = new AtomicInteger();
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private Hang() {}

  /** Reads the file of the settings before it waits for something that never happens. */
  static void ofBatch(Settings settings) {
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
