package example.loader;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The data side of a DJL job, without training: pictures, cropped at random to 64x64, flipped, made
 * tensors and normalised, in batches of 32. Arguments: a folder with one folder of pictures per
 * class; passes; threads (0: batches are made where they are used).
 */
public final class DjlLoader {
  private static final int SIZE = 64;
  private static final int BATCH = 32;

  private DjlLoader() {}

  /** Loads as the arguments say. */
  public static void main(String[] args) throws IOException, TranslateException {
    int epochs = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    ImageFolder pictures =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(args[0]))
            .optMaxDepth(2)
            .setSampling(BATCH, true)
            .addTransform(new RandomResizedCrop(SIZE, SIZE))
            .addTransform(new RandomFlipLeftRight())
            .addTransform(new ToTensor())
            .addTransform(
                new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
            .build();
    pictures.prepare();
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (NDManager manager = NDManager.newBaseManager()) {
      EpochLines lines = new EpochLines();
      for (int epoch = 0; epoch < epochs; epoch++) {
        int samples = 0;
        for (Batch batch : pictures.getData(manager, pool)) {
          samples += batch.getSize();
          batch.close();
        }
        lines.ended(samples);
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }
}
