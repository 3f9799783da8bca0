package io.coordl.telemetry.recording;

import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.TAKE;

import io.coordl.bridge.Origin;
import io.coordl.telemetry.attribution.SpanRecorder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A job in a separate JVM that leaves its only epoch early. Arguments: {@code own} and the
 * recording, or {@code joined} and the user's recording; the number of batches; {@code paced} to
 * wait after each batch until it is written or the recording has ended, or {@code starved} to use
 * up all direct memory first.
 */
final class RecordedJob {
  private static final List<ByteBuffer> TAKEN = new ArrayList<>();

  private RecordedJob() {}

  public static void main(String[] args) throws Exception {
    boolean joined = args[0].equals("joined");
    Path recording = Path.of(args[1]);
    int batches = Integer.parseInt(args[2]);
    String how = args.length > 3 ? args[3] : "";
    if (how.equals("starved")) {
      takeAllDirectMemory();
    }
    AgentLog log = new AgentLog();
    JobMonitor job = new JobMonitor(List.of(), "main", log, new RewriteLog());
    job.startRecording(args[1], !joined);
    while (!log.events.isOpen() && joined) {
      LockSupport.parkNanos(1_000_000);
    }
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  if (joined) {
                    // The agent finishes last, after JFR has written its file.
                    while (size(recording) == 0) {
                      LockSupport.parkNanos(1_000_000);
                    }
                  }
                  job.finish().forEach(System.err::println);
                }));
    SpanRecorder spans = job.figures().spans();
    Object iterator = new Object();
    String path = "x".repeat(1_000);
    spans.enter(FIT, null);
    for (int batch = 0; batch < batches; batch++) {
      long size = size(recording);
      Object data = new Object();
      long token = spans.enter(TAKE, iterator);
      for (int item = 0; item < 20; item++) {
        spans.itemFetched(path, System.nanoTime() - 1_000_000, 1_000_000, 1, Origin.STORAGE);
      }
      spans.exit(token, data);
      if (how.equals("paced")) {
        // Continues when the recorder has flushed, or has given up and truncated the file.
        while (size(recording) == size && !String.valueOf(job.recording()).contains("only until")) {
          LockSupport.parkNanos(1_000_000);
        }
      }
    }
    System.out.println("trained " + batches + " batches");
    if (joined) {
      return;
    }
    System.exit(7);
  }

  private static void takeAllDirectMemory() {
    for (int bytes = 1 << 20; bytes > 0; bytes /= 16) {
      try {
        while (true) {
          TAKEN.add(ByteBuffer.allocateDirect(bytes));
        }
      } catch (OutOfMemoryError e) {
        // No block of this size is left.
      }
    }
  }

  private static long size(Path file) {
    return file.toFile().length();
  }
}
