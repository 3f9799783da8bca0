package io.coordl.coordination;

import io.coordl.store.ByteBudget;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A job in a separate JVM whose shared memory fills up. Arguments: {@code directory when}, where
 * {@code when} is {@code before} (the staging buffer does not exist yet), {@code
 * for-half-of-its-head} (it does not exist yet, and half of its head still fits), {@code
 * before-a-batch} (no batch is staged yet) or {@code midway} (after two batches). Uses every batch
 * of two epochs; prints the log, the number of batches from the buffer, and the files left at the
 * end.
 */
public final class FullMemoryJob {
  private static final int BATCHES = 24;
  private static final String FILLER = "filler";

  private FullMemoryJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    String when = args[1];
    if (when.equals("before")) {
      fill(directory, 0);
    } else if (when.equals("for-half-of-its-head")) {
      fill(directory, StagingDescriptor.TEXT_END / 2);
    }
    int given = 0;
    PrepGroup group =
        new PrepGroup(
            directory,
            "full",
            ByteBudget.parse("128k"),
            1,
            StagingJob.TIMEOUTS,
            line -> System.out.println("logged " + line));
    try (group) {
      for (int number = 0; number < 2; number++) {
        BatchOrder own = Batches.order(BATCHES * StagingJob.BATCH, StagingJob.BATCH, number);
        SharedEpoch epoch = group.begin(StagingJob.PIPELINE, own);
        if (number == 0 && when.equals("before-a-batch")) {
          fill(directory, 0);
        }
        if (epoch != null) {
          epoch.prepareWith((batch, items) -> Batches.prepared(items, batch), 2);
        }
        for (int batch = 0; batch < BATCHES; batch++) {
          ByteBuffer staged = epoch == null ? null : Batches.take(epoch, batch);
          if (staged != null) {
            given++;
            if (!Batches.checkAndOverwrite(own.items(batch), staged)) {
              System.out.println("WRONG batch " + batch);
            }
          }
          if (number == 0 && batch == 1 && when.equals("midway")) {
            fill(directory, 0);
          }
        }
        if (epoch != null) {
          epoch.end();
        }
      }
    }
    System.out.println("given " + given);
    try (Stream<Path> left = Files.list(directory)) {
      left.filter(file -> !file.endsWith(FILLER))
          .forEach(file -> System.out.println("left " + file));
    }
    System.out.println("done");
  }

  /** Uses up all memory except {@code but} bytes. */
  private static void fill(Path directory, int but) throws IOException {
    Path filler = directory.resolve(FILLER);
    long bytes = Files.getFileStore(directory).getUsableSpace() - but;
    try (OutputStream out = Files.newOutputStream(filler)) {
      for (long left = bytes; left > 0 || but == 0; left -= StagingDescriptor.PAGE) {
        out.write(new byte[(int) StagingDescriptor.PAGE]);
      }
    } catch (IOException e) {
      if (but != 0) {
        throw e;
      }
      // It is full.
    }
  }
}
