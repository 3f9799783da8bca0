package example.passes;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.training.dataset.Sampler;
import ai.djl.translate.Transform;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import example.bits.Checksum;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

/**
 * A user's loops over a custom data set. Arguments: {@code WAY [THREADS]}. Prints a line per batch
 * with its items and checksums, and a line per other event; every run prints the same.
 */
public final class CustomLoops {
  private static final int ITEMS = 70;
  private static final int BATCH = 8;
  private static final int VALUES = 5000;
  private static final int BAD_ITEM = 33;

  private final NDManager manager;
  private final ExecutorService pool;

  private CustomLoops(NDManager manager, ExecutorService pool) {
    this.manager = manager;
    this.pool = pool;
  }

  public static void main(String[] args)
      throws IOException, TranslateException, InterruptedException {
    Engine.getInstance().setRandomSeed(5);
    int threads = args.length > 1 ? Integer.parseInt(args[1]) : 0;
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (NDManager manager = NDManager.newBaseManager()) {
      try {
        new CustomLoops(manager, pool).go(args[0]);
      } finally {
        if (pool != null) {
          // DJL prefetches in this pool; closing the manager at that time could crash the JVM.
          pool.shutdown();
          pool.awaitTermination(1, TimeUnit.MINUTES);
        }
      }
    }
  }

  private void go(String way) throws IOException, TranslateException {
    switch (way) {
      case "whole" -> {
        Numbers numbers = numbers(new Halved());
        for (int epoch = 0; epoch < 3; epoch++) {
          over(numbers, Integer.MAX_VALUE);
        }
      }
      case "break" -> {
        Numbers numbers = numbers(new Halved());
        over(numbers, 3);
        over(numbers, 1);
        over(numbers, Integer.MAX_VALUE);
        over(numbers, 2);
      }
      case "nested" -> nested();
      case "keep" -> keep();
      case "late-backward" -> lateBackward();
      case "close" -> close();
      case "switched-off" -> switchedOff();
      case "endless" -> {
        Numbers numbers =
            new Numbers.Builder().setSampling(new Endless()).addTransform(new Halved()).build();
        over(numbers, 20);
      }
      case "transform-throws" -> loopUntilThrown(numbers(new Refusing()));
      case "sampler-throws" ->
          loopUntilThrown(new Numbers.Builder().setSampling(new Failing()).build());
      case "data-throws" ->
          loopUntilThrown(new Numbers.Builder().missing().setSampling(BATCH, true).build());
      default -> throw new IllegalArgumentException("The way " + way + " is unknown.");
    }
  }

  private static Numbers numbers(Transform transform) {
    return new Numbers.Builder().setSampling(BATCH, true).addTransform(transform).build();
  }

  private void over(Numbers numbers, int limit) throws IOException, TranslateException {
    int batches = 0;
    for (Batch batch : numbers.getData(manager, pool)) {
      print(batch);
      batch.close();
      if (++batches == limit) {
        System.out.println("left");
        return;
      }
    }
    System.out.println("end");
  }

  /** An epoch inside another epoch over the same data. */
  private void nested() throws IOException, TranslateException {
    Numbers numbers = numbers(new Halved());
    int batches = 0;
    for (Batch outer : numbers.getData(manager, pool)) {
      print(outer);
      if (batches++ == 2) {
        over(numbers, 4);
      }
      outer.close();
    }
  }

  /** Retains views and arrays that outlive their batch. */
  private void keep() throws IOException, TranslateException {
    Numbers numbers = numbers(new Halved());
    List<NDArray> kept = new ArrayList<>();
    NDManager own = manager.newSubManager();
    for (Batch batch : numbers.getData(manager, pool)) {
      NDArray data = batch.getData().head();
      NDArray view = data.get(1);
      view.detach();
      NDArray elsewhere = data.get(own, 0);
      NDArray itself = batch.getLabels().head();
      itself.attach(own);
      kept.addAll(List.of(view, elsewhere, itself));
      data.get(2).muli(3);
      batch.close();
    }
    System.gc();
    over(numbers, Integer.MAX_VALUE);
    kept.forEach(array -> System.out.println("kept " + checksum(array)));
    own.close();
  }

  /** Computes gradients of a whole epoch after all its batches are closed. */
  private void lateBackward() throws IOException, TranslateException {
    NDArray weight = manager.full(new Shape(1), 0.5f);
    weight.setRequiresGradient(true);
    Numbers numbers = numbers(new Halved());
    for (int epoch = 0; epoch < 3; epoch++) {
      try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
        List<NDArray> losses = new ArrayList<>();
        for (Batch batch : numbers.getData(manager, pool)) {
          print(batch);
          losses.add(weight.mul(batch.getData().head()).sum());
          batch.close();
        }
        collector.backward(NDArrays.add(losses.toArray(new NDArray[0])));
      }
      System.out.println("gradient " + checksum(weight.getGradient()));
    }
  }

  /** Closes the manager during an epoch. */
  private void close() throws IOException, TranslateException {
    for (int i = 0; i < 20; i++) {
      try (NDManager own = manager.newSubManager()) {
        Iterator<Batch> batches = numbers(new Halved()).getData(own).iterator();
        for (int batch = 0; batch < i % 4; batch++) {
          print(batches.next());
        }
      }
      System.out.println("closed");
    }
  }

  /**
   * Switches off the agent, if there is one, while one of its threads runs this program's code, and
   * immediately closes everything.
   */
  private void switchedOff() throws IOException, TranslateException {
    Watch watch = new Watch();
    Numbers numbers =
        new Numbers.Builder()
            .watch(watch)
            .setSampling(BATCH, true)
            .addTransform(new Halved())
            .build();
    try (NDManager own = manager.newSubManager()) {
      Iterator<Batch> batches = numbers.getData(own).iterator();
      print(batches.next());
      if (Watch.switchOff(watch.entered)) {
        watch.isClosing = true;
      }
    }
    watch.isClosed = true;
    watch.awaitLeft();
    System.out.println("another thread used what was closed: " + watch.wasUsedClosed);
    over(numbers, Integer.MAX_VALUE);
  }

  /** Loops until something is thrown, and prints it. */
  private void loopUntilThrown(Numbers numbers) throws TranslateException {
    try {
      for (Batch batch : numbers.getData(manager, pool)) {
        print(batch);
        batch.close();
      }
    } catch (IOException | RuntimeException e) {
      for (Throwable t = e; t != null; t = t.getCause()) {
        System.out.println(t);
      }
    }
  }

  private static void print(Batch batch) {
    System.out.printf(
        Locale.ROOT,
        "batch %s %s of %d, %d of %d: %s%n",
        checksum(batch.getData().head()),
        checksum(batch.getLabels().head()),
        batch.getSize(),
        batch.getProgress(),
        batch.getProgressTotal(),
        batch.getIndices());
  }

  private static String checksum(NDArray array) {
    return array.getName()
        + " "
        + array.getShape()
        + " "
        + array.getDataType()
        + " "
        + new Checksum().add(array.toByteBuffer(), "the engine");
  }

  /** Observes other threads that read the program's data. */
  private static final class Watch {
    /** Number of items that other threads may read before one of the threads is delayed. */
    private static final int UNHINDERED = 2 * BATCH;

    final CountDownLatch entered = new CountDownLatch(1);
    private final Thread program = Thread.currentThread();
    private final CountDownLatch left = new CountDownLatch(1);
    private final AtomicInteger read = new AtomicInteger();
    volatile boolean isClosing;
    volatile boolean isClosed;
    volatile boolean wasUsedClosed;

    /** Delays another thread until the program waits for it or has closed everything. */
    void reads() {
      if (Thread.currentThread() == program || read.incrementAndGet() != UNHINDERED + 1) {
        return;
      }
      entered.countDown();
      while (!isClosed && !(isClosing && program.getState() == Thread.State.TIMED_WAITING)) {
        Thread.onSpinWait();
      }
      wasUsedClosed = isClosed;
      left.countDown();
    }

    /**
     * Switches off the agent once one of its threads runs this program's code; returns false
     * without an agent.
     */
    static boolean switchOff(CountDownLatch entered) {
      try {
        Class<?> bridge = Class.forName("io.coordl.bridge.Bridge");
        entered.await();
        bridge.getMethod("trip").invoke(null);
        return true;
      } catch (ClassNotFoundException e) {
        return false;
      } catch (ReflectiveOperationException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    void awaitLeft() {
      try {
        if (isClosing) {
          left.await();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A user's transform. */
  private static final class Halved implements Transform {
    private final float factor = 0.5f;

    @Override
    public NDArray transform(NDArray array) {
      return array.toType(DataType.FLOAT32, false).mul(factor);
    }
  }

  /** A user's transform that rejects one item. */
  private static final class Refusing implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      if (array.getInt(0, 0) == BAD_ITEM) {
        throw new IllegalArgumentException("item " + BAD_ITEM + " is not for me");
      }
      return array;
    }
  }

  /** A user's endless sampler. */
  private static final class Endless implements Sampler {
    @Override
    public Iterator<List<Long>> sample(RandomAccessDataset dataset) {
      return LongStream.iterate(0, i -> (i + 7) % ITEMS)
          .mapToObj(first -> List.of(first, (first + 1) % ITEMS))
          .iterator();
    }

    @Override
    public int getBatchSize() {
      return 2;
    }
  }

  /** A user's sampler that fails. */
  private static final class Failing implements Sampler {
    @Override
    public Iterator<List<Long>> sample(RandomAccessDataset dataset) {
      return LongStream.range(0, ITEMS)
          .peek(
              i -> {
                if (i == BAD_ITEM) {
                  throw new IllegalStateException("no item " + i);
                }
              })
          .mapToObj(List::of)
          .iterator();
    }

    @Override
    public int getBatchSize() {
      return 1;
    }
  }

  /** A user's data set. */
  private static final class Numbers extends RandomAccessDataset {
    private final boolean missing;
    private final Watch watch;

    Numbers(Builder builder) {
      super(builder);
      missing = builder.missing;
      watch = builder.watch;
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      if (missing && index == BAD_ITEM) {
        throw new IOException("item " + index + " is gone");
      }
      if (watch != null) {
        watch.reads();
      }
      int[] values = new int[VALUES];
      for (int i = 0; i < VALUES; i++) {
        values[i] = (int) index * (i + 1);
      }
      NDArray data = own.create(values, new Shape(5, VALUES / 5));
      data.setName("numbers");
      return new Record(new NDList(data), new NDList(own.create(index)));
    }

    @Override
    protected long availableSize() {
      return ITEMS;
    }

    @Override
    public void prepare(Progress progress) {}

    static final class Builder extends BaseBuilder<Builder> {
      private boolean missing;
      private Watch watch;

      Builder watch(Watch newWatch) {
        watch = newWatch;
        return this;
      }

      Builder missing() {
        missing = true;
        return this;
      }

      Numbers build() {
        return new Numbers(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
