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

/**
 * A DJL loop over batches of 64 pictures whose step waits and uses no core; see {@link Feed}.
 * Arguments: a folder with one folder of pictures per class; epochs; {@code crop} (random crops and
 * flips) or {@code resize}; side of the square; milliseconds per step.
 */
public final class DjlFeed {
  private static final int BATCH = 64;

  private DjlFeed() {}

  public static void main(String[] args) throws IOException, TranslateException {
    int epochs = Integer.parseInt(args[1]);
    int size = Integer.parseInt(args[3]);
    Feed feed = new Feed(args[4]);
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
      for (int epoch = 0; epoch < epochs; epoch++) {
        feed.<Batch>run(pictures.getData(manager).iterator(), Batch::close);
      }
    }
  }
}
