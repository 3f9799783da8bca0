package example.augment;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Crops pictures for three epochs. Prints, for each thread name, the largest number of native
 * threads with that name that are not Java threads. A thread that an OpenMP region starts has the
 * name of the thread that runs the region. Argument: a folder of pictures.
 */
public final class NativeThreads {
  private static final int MAX_NAME = 15;
  private static final int LARGE = 2000;

  private static final long PAUSE_NANOS = 20_000_000;

  /** Remaining recounts in the whole run. */
  private static int attempts = 1000;

  private NativeThreads() {}

  public static void main(String[] args) throws IOException, TranslateException {
    ImageFolder pictures =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(args[0]))
            .optMaxDepth(2)
            .setSampling(16, true)
            .addTransform(new RandomResizedCrop(64, 64))
            .addTransform(new ToTensor())
            .build();
    pictures.prepare();
    Map<String, Integer> maxCounts = new TreeMap<>();
    try (NDManager manager = NDManager.newBaseManager()) {
      for (int epoch = 0; epoch < 3; epoch++) {
        for (Batch batch : pictures.getData(manager)) {
          batch.getData().head().add(1).close();
          manager.ones(new Shape(LARGE, LARGE)).add(1).close(); // On several threads.
          countNative().forEach((name, count) -> maxCounts.merge(name, count, Math::max));
          batch.close();
        }
      }
    }
    maxCounts.forEach((name, count) -> System.out.println("beside " + name + ": " + count));
  }

  /**
   * Counts native threads by name. Recounts while any has the name of an agent thread: a thread
   * that is ending disappears, but an OpenMP team stays.
   */
  private static Map<String, Integer> countNative() throws IOException {
    Map<String, Integer> counts = read();
    while (attempts > 0
        && counts.entrySet().stream()
            .anyMatch(entry -> entry.getKey().matches("coordl-[is].*") && entry.getValue() > 0)) {
      attempts--;
      LockSupport.parkNanos(PAUSE_NANOS);
      counts = read();
    }
    return counts;
  }

  private static Map<String, Integer> read() throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path thread : threads) {
        try {
          counts.merge(Files.readString(thread.resolve("comm")).strip(), 1, Integer::sum);
        } catch (NoSuchFileException e) {
          // The thread has ended.
        }
      }
    }
    // Only now: a Java thread that started during the count must not count as native.
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      String name = thread.getName();
      counts.computeIfPresent(
          name.substring(0, Math.min(MAX_NAME, name.length())), (known, count) -> count - 1);
    }
    return counts;
  }
}
