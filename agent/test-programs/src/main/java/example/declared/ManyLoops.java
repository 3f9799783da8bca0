package example.declared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Loops like those of ordinary users, over files of floats. Arguments: {@code DIRECTORY KIND}.
 * Prints numbers that depend on every bit of the batches and on the order of the steps.
 */
public final class ManyLoops {
  private static final int EPOCHS = 4;
  private static final int ROWS = 24;
  private static final int VALUES = 65;
  private static final int BATCH = 4;

  private long model;

  private ManyLoops() {}

  /** The source of a loop's batches. */
  abstract static class Batches {
    final List<Path> files;
    int next;

    Batches(List<Path> files) {
      this.files = files;
    }

    boolean hasNext() {
      return next < files.size();
    }

    void reset() {
      next = 0;
    }
  }

  /** Shuffles its files after each epoch. */
  static final class Shuffled extends Batches {
    private final Random random = new Random(5);

    Shuffled(List<Path> files) {
      super(files);
    }

    public float[][] next() {
      float[][] batch = new float[BATCH][];
      for (int i = 0; i < BATCH; i++) {
        batch[i] = Rows.row(files.get(next++));
      }
      return batch;
    }

    @Override
    void reset() {
      super.reset();
      Collections.shuffle(files, random);
    }
  }

  /** Fills the same array for each batch. */
  static final class Reused extends Batches {
    private final float[][] batch = new float[BATCH][VALUES];

    Reused(List<Path> files) {
      super(files);
    }

    public float[][] next() {
      for (int i = 0; i < BATCH; i++) {
        System.arraycopy(Rows.row(files.get(next++)), 0, batch[i], 0, VALUES);
      }
      return batch;
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // Imitates typical user code.
  record Example(FloatBuffer features, int[] labels) {}

  /** Direct buffers for native code. */
  static final class Records extends Batches {
    Records(List<Path> files) {
      super(files);
    }

    public Example next() {
      FloatBuffer features =
          ByteBuffer.allocateDirect(BATCH * VALUES * Float.BYTES)
              .order(ByteOrder.nativeOrder())
              .asFloatBuffer();
      int[] labels = new int[BATCH];
      for (int i = 0; i < BATCH; i++) {
        features.put(Rows.row(files.get(next)));
        labels[i] = next++;
      }
      return new Example(features.flip(), labels);
    }
  }

  /** Throws for damaged files, and at the end of the list of files. */
  static final class Damaged extends Batches {
    Damaged(List<Path> files) {
      super(files);
    }

    public float[] next() {
      int now = next++;
      if (now % 5 == 3) {
        throw new IllegalStateException(files.get(now) + " is damaged");
      }
      return Rows.row(files.get(now));
    }
  }

  /** Has two {@code next} methods; the user declares only one of them to the agent. */
  static final class Overloaded extends Batches {
    Overloaded(List<Path> files) {
      super(files);
    }

    public float[][] next() {
      return next(BATCH);
    }

    public float[][] next(int size) {
      float[][] batch = new float[Math.min(size, files.size() - next)][];
      for (int i = 0; i < batch.length; i++) {
        batch[i] = Rows.row(files.get(next++));
      }
      return batch;
    }
  }

  /** Reads on its own threads. */
  static final class Loaded extends Batches {
    private final ExecutorService threads =
        Executors.newFixedThreadPool(
            2,
            work -> {
              Thread thread = new Thread(work);
              thread.setDaemon(true);
              return thread;
            });

    Loaded(List<Path> files) {
      super(files);
    }

    public float[][] next() {
      List<Future<float[]>> rows = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        Path file = files.get(next++);
        rows.add(threads.submit(() -> load(file)));
      }
      float[][] batch = new float[BATCH][];
      for (int i = 0; i < BATCH; i++) {
        try {
          batch[i] = rows.get(i).get();
        } catch (InterruptedException | ExecutionException e) {
          throw new IllegalStateException(e);
        }
      }
      return batch;
    }

    static float[] load(Path file) {
      return Rows.row(file);
    }
  }

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    List<Path> files = write(directory);
    ManyLoops model = new ManyLoops();
    switch (args[1]) {
      case "shuffled" -> {
        Shuffled batches = new Shuffled(new ArrayList<>(files));
        model.train(batches, batches::next);
      }
      case "reused" -> {
        Reused batches = new Reused(files);
        model.train(batches, batches::next);
      }
      case "records" -> {
        Records batches = new Records(files);
        model.train(batches, batches::next);
      }
      case "overloaded" -> {
        Overloaded batches = new Overloaded(files);
        model.train(batches, batches::next);
        model.train(batches, () -> batches.next(5));
      }
      case "loaded" -> {
        Loaded batches = new Loaded(files);
        model.train(batches, batches::next);
      }
      case "rewritten" -> {
        Rows batches = new Rows(files, BATCH);
        for (int epoch = 0; epoch < 2 * EPOCHS; epoch++) {
          model.epoch(batches, batches::next);
          batches.reset();
          if (epoch % 2 == 1) {
            rewrite(files.get(epoch), ROWS + epoch, epoch);
          }
        }
      }
      case "damaged" -> model.overDamaged(new Damaged(files));
      case "several" -> several(files);
      default -> stuck(model, new Rows(files, BATCH));
    }
  }

  private void train(Batches batches, Supplier<Object> next) {
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      while (batches.hasNext()) {
        step(next.get());
      }
      batches.reset();
      System.out.println("epoch " + epoch + " " + model);
    }
  }

  private void epoch(Iterator<?> batches, Supplier<Object> next) {
    while (batches.hasNext()) {
      step(next.get());
    }
    System.out.println("epoch " + model);
  }

  /** Ends each epoch when the list of files throws. */
  private void overDamaged(Damaged batches) {
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      boolean more = true;
      while (more) {
        try {
          step(batches.next());
        } catch (IllegalStateException e) {
          model = 31 * model + e.getMessage().length();
        } catch (IndexOutOfBoundsException e) {
          more = false;
        }
      }
      batches.reset();
      System.out.println("epoch " + epoch + " " + model);
    }
  }

  /** Two loops at the same time, each with a new iterator for each epoch. */
  private static void several(List<Path> files) throws InterruptedException {
    ManyLoops[] models = {new ManyLoops(), new ManyLoops()};
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < models.length; i++) {
      ManyLoops model = models[i];
      int size = BATCH + i;
      threads.add(
          new Thread(
              () -> {
                for (int epoch = 0; epoch < EPOCHS; epoch++) {
                  for (Rows batches = new Rows(files, size); batches.hasNext(); ) {
                    model.step(batches.next());
                  }
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    for (ManyLoops model : models) {
      System.out.println(model.model);
    }
  }

  /** A loop whose last step never returns; another thread ends the program. */
  private static void stuck(ManyLoops model, Rows batches) throws InterruptedException {
    Thread main = Thread.currentThread();
    Thread end =
        new Thread(
            () -> {
              while (main.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
              }
              System.exit(0);
            });
    model.step(batches.next());
    model.step(batches.next());
    System.out.println("model " + model.model);
    end.start();
    model.step(null);
  }

  /** Trains on the batch, and changes it in place, as normalisation does. */
  private void step(Object batch) {
    if (batch == null) {
      Object never = new Object();
      synchronized (never) {
        while (true) {
          try {
            never.wait();
          } catch (InterruptedException e) {
            return;
          }
        }
      }
    } else if (batch instanceof Example example) {
      FloatBuffer features = example.features();
      for (int i = 0; i < features.limit(); i++) {
        model = 31 * model + Float.floatToRawIntBits(features.get(i));
        features.put(i, 0);
      }
      model = 31 * model + Arrays.hashCode(example.labels());
    } else if (batch instanceof float[] row) {
      step(new float[][] {row});
    } else {
      for (float[] row : (float[][]) batch) {
        model = 31 * model + Arrays.hashCode(row);
        row[0]++;
      }
    }
  }

  private static List<Path> write(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      files.add(directory.resolve("row-" + row));
      rewrite(files.get(row), row, row);
    }
    return files;
  }

  /**
   * Writes values that depend on {@code seed}; the size is always the same, and the modification
   * time, which is in the past, depends only on {@code row}.
   */
  private static void rewrite(Path file, int seed, int row) throws IOException {
    Random random = new Random(seed);
    ByteBuffer bytes = ByteBuffer.allocate(VALUES * Float.BYTES);
    for (int i = 0; i < VALUES; i++) {
      bytes.putFloat((float) random.nextGaussian());
    }
    Files.write(file, bytes.array());
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L + 60_000L * row));
  }
}
