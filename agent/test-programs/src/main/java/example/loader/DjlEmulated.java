package example.loader;

import ai.djl.Model;
import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * A DJL job on real pictures with an emulated accelerator: a step trains a tiny network and then
 * waits until a known time has passed, during which the host's cores are free. Prints the lines of
 * {@link SteadyEpochs}. Arguments: a folder with one folder of pictures per class; epochs; threads
 * (0: load on the training thread); milliseconds per step; samples per batch; additional
 * milliseconds to wait when preparing a sample (default 0); side of a crop in pixels (default 32).
 */
public final class DjlEmulated {
  private static final int SIZE = 32;

  private DjlEmulated() {}

  public static void main(String[] args) throws IOException, TranslateException {
    int epochs = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    long stepNanos = Math.round(Double.parseDouble(args[3]) * 1e6);
    int batchSize = Integer.parseInt(args[4]);
    int size = args.length > 6 ? Integer.parseInt(args[6]) : SIZE;
    long waitNanos = args.length > 5 ? Math.round(Double.parseDouble(args[5]) * 1e6) : 0;
    Engine.getInstance().setRandomSeed(1);
    ImageFolder pictures =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(args[0]))
            .optMaxDepth(2)
            .setSampling(batchSize, true, true)
            // With DJL's default of 2, threads wait for each other's batches for random times.
            .optPrefetchNumber(Math.max(1, 2 * threads))
            .addTransform(new RandomResizedCrop(size, size))
            .addTransform(new RandomFlipLeftRight())
            .addTransform(
                array -> {
                  awaitTime(System.nanoTime() + waitNanos);
                  return array;
                })
            .addTransform(new ToTensor())
            .addTransform(
                new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
            .build();
    pictures.prepare();
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (Model model = Model.newInstance("linear")) {
      model.setBlock(
          new SequentialBlock()
              .add(Blocks.batchFlattenBlock())
              .add(Linear.builder().setUnits(pictures.getSynset().size()).build()));
      DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss());
      if (pool != null) {
        config.optExecutorService(pool);
      }
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(new Shape(batchSize, 3, size, size));
        SteadyEpochs lines = new SteadyEpochs(pictures.size());
        for (int epoch = 1; epoch <= epochs; epoch++) {
          for (Batch batch : trainer.iterateDataset(pictures)) {
            long end = System.nanoTime() + stepNanos;
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            int samples = batch.getSize();
            batch.close();
            awaitTime(end);
            lines.step(samples);
          }
          lines.endEpoch();
        }
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }

  private static void awaitTime(long end) {
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
