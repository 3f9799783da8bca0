package example.loader;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * A DJL loop whose step waits and uses no core, as with a fast accelerator; prints for each epoch
 * the mean wait for a batch of 64. Arguments: a folder with one folder of pictures per class;
 * epochs; {@code crop} (random crops and flips) or {@code resize}; side of the square; milliseconds
 * per step.
 */
public final class DjlFeed {
  private static final int BATCH = 64;

  private DjlFeed() {}

  public static void main(String[] args) throws IOException, TranslateException {
    int epochs = Integer.parseInt(args[1]);
    int size = Integer.parseInt(args[3]);
    long stepNanos = Math.round(Double.parseDouble(args[4]) * 1e6);
    ImageFolder.Builder builder =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(args[0]))
            .optMaxDepth(2)
            .setSampling(BATCH, true, true);
    if (args[2].equals("crop")) {
      builder
          .addTransform(new RandomResizedCrop(size, size))
          .addTransform(new RandomFlipLeftRight());
    } else {
      builder.addTransform(new Resize(size, size));
    }
    ImageFolder pictures =
        builder
            .addTransform(new ToTensor())
            .addTransform(
                new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
            .build();
    pictures.prepare();
    try (NDManager manager = NDManager.newBaseManager()) {
      for (int epoch = 1; epoch <= epochs; epoch++) {
        run(epoch, pictures.getData(manager).iterator(), stepNanos);
      }
    }
  }

  /** Prints {@code epoch 2: 9 batches, 12.34 ms waited for each, 38.2 % of the time}. */
  private static void run(int epoch, Iterator<Batch> batches, long stepNanos) {
    long waited = 0;
    long start = System.nanoTime();
    int count = 0;
    for (long requested = start; batches.hasNext(); requested = System.nanoTime()) {
      Batch batch = batches.next();
      long received = System.nanoTime();
      waited += received - requested;
      count++;
      for (long left = stepNanos; left > 0; left = received + stepNanos - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      batch.close();
    }
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %d batches, %.2f ms waited for each, %.1f %% of the time%n",
        epoch,
        count,
        waited / 1e6 / count,
        100.0 * waited / (System.nanoTime() - start));
  }
}
