package example.loader;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.loss.Loss;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A DJL job whose demand is known by construction: each sample is a file and takes a known CPU time
 * to prepare; a step waits instead of using an accelerator. Prints {@code epoch 1} when the first
 * epoch has ended, and {@code step N} at the end of each step of the later epochs. Arguments: a
 * folder of files; epochs; threads (0: the training thread prepares); milliseconds per step;
 * samples per batch; CPU milliseconds to prepare a sample; {@code fill}: steps of the first epoch
 * do not wait, so this epoch only fills a cache.
 */
public final class DjlDemand {
  private DjlDemand() {}

  /** Trains according to the arguments. */
  public static void main(String[] args) throws IOException, TranslateException {
    List<Path> files;
    try (Stream<Path> all = Files.list(Path.of(args[0]))) {
      files = all.filter(Files::isRegularFile).sorted().toList();
    }
    int epochs = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    long stepNanos = nanos(args[3]);
    int batchSize = Integer.parseInt(args[4]);
    boolean fill = args.length > 6 && args[6].equals("fill");
    RandomAccessDataset data =
        new Items.Builder()
            .items(files, nanos(args[5]))
            .setSampling(batchSize, true, true)
            .optPrefetchNumber(Math.max(1, 2 * threads))
            .build();
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (Model model = Model.newInstance("linear")) {
      model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(1).build()));
      DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.l2Loss());
      if (pool != null) {
        config.optExecutorService(pool);
      }
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(new Shape(batchSize, 1));
        long steps = 0;
        for (int epoch = 1; epoch <= epochs; epoch++) {
          boolean filling = fill && epoch == 1;
          for (Batch batch : trainer.iterateDataset(data)) {
            long end = System.nanoTime() + (filling ? 0 : stepNanos);
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
            awaitTime(end);
            if (epoch > 1) {
              System.out.println("step " + ++steps);
            }
          }
          if (epoch == 1) {
            System.out.println("epoch 1");
          }
        }
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }

  private static long nanos(String millis) {
    return Math.round(Double.parseDouble(millis) * 1e6);
  }

  private static void awaitTime(long end) {
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** A data set with one file per sample. */
  private static final class Items extends RandomAccessDataset {
    private final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    private final List<Path> files;
    private final long cpuNanos;

    Items(Builder builder) {
      super(builder);
      files = builder.files;
      cpuNanos = builder.cpuNanos;
    }

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      long end = clock.getCurrentThreadCpuTime() + cpuNanos;
      byte[] bytes = Files.readAllBytes(files.get(Math.toIntExact(index)));
      Record sample =
          new Record(
              new NDList(manager.create(new float[] {bytes[bytes.length - 1]})),
              new NDList(manager.create(new float[] {1})));
      while (clock.getCurrentThreadCpuTime() < end) {
        Thread.onSpinWait();
      }
      return sample;
    }

    @Override
    protected long availableSize() {
      return files.size();
    }

    @Override
    public void prepare(Progress progress) {}

    static final class Builder extends BaseBuilder<Builder> {
      private List<Path> files = List.of();
      private long cpuNanos;

      Builder items(List<Path> newFiles, long newCpuNanos) {
        files = newFiles;
        cpuNanos = newCpuNanos;
        return this;
      }

      Items build() {
        return new Items(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
