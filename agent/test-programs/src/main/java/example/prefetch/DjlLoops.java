package example.prefetch;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Transform;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import ai.djl.util.RandomUtils;
import example.bits.Checksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Epochs over pictures, without a network. Arguments: {@code PROGRAM[,PROGRAM...] FOLDER}. Prints a
 * line per batch, and numbers drawn from DJL's random generator, because the program's own draws
 * must not change either.
 */
public final class DjlLoops {
  private static final int BATCH = 8;
  private static final int EPOCHS = 3;

  private final Path folder;
  private final NDManager manager;

  private DjlLoops(Path folder, NDManager manager) {
    this.folder = folder;
    this.manager = manager;
  }

  /** Runs the programs sequentially and independently. */
  public static void main(String[] args) throws IOException, TranslateException {
    for (String program : args[0].split(",", -1)) {
      System.out.println("program " + program);
      Engine.getInstance().setRandomSeed(1);
      try (NDManager manager = NDManager.newBaseManager()) {
        new DjlLoops(Path.of(args[1]), manager).run(program);
      }
    }
  }

  private void run(String program) throws IOException, TranslateException {
    switch (program) {
      case "plain" -> loop(pictures(null), Integer.MAX_VALUE, batch -> {});
      case "break" -> loop(pictures(null), 3, batch -> {});
      case "own-transform" -> loop(pictures(new Scale(0.5f)), 3, batch -> {});
      case "own-random" -> loop(pictures(new Noise()), 3, batch -> {});
      case "counter" -> loop(pictures(new Fading()), 3, batch -> {});
      case "lambda" -> loop(pictures(array -> array.mul(0.5f)), 3, batch -> {});
      case "draws" -> loop(pictures(null), 6, batch -> System.out.println(RandomUtils.nextFloat()));
      case "own-data" -> loop(files(), 5, batch -> {});
      case "exception" -> exception();
      case "restart" -> restart();
      case "together" -> together();
      case "interrupt" -> interrupt();
      case "validation" -> validation();
      case "close" -> close();
      case "changes" -> changes();
      default -> throw new IllegalArgumentException(program + " is not a program of this class.");
    }
  }

  private RandomAccessDataset pictures(Transform last) throws IOException, TranslateException {
    ImageFolder.Builder builder =
        ImageFolder.builder()
            .setRepositoryPath(folder)
            .optMaxDepth(2)
            .setSampling(BATCH, true)
            .addTransform(new RandomResizedCrop(24, 24))
            .addTransform(new ToTensor());
    if (last != null) {
      builder.addTransform(last);
    }
    ImageFolder pictures = builder.build();
    pictures.prepare();
    return pictures;
  }

  private RandomAccessDataset files() {
    return new Bytes.Builder().folder(folder).setSampling(BATCH, true).build();
  }

  private void loop(RandomAccessDataset data, int limit, Consumer<Batch> step)
      throws IOException, TranslateException {
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      int batches = 0;
      for (Batch batch : data.getData(manager)) {
        print("batch", batch);
        step.accept(batch);
        batch.close();
        batches++;
        if (batches == limit) {
          break;
        }
      }
      System.out.println("drawn " + RandomUtils.nextInt() + " " + RandomUtils.nextGaussian());
    }
  }

  /** A transform throws; the program continues with the next batch. */
  private void exception() throws IOException, TranslateException {
    RandomAccessDataset data = pictures(new Picky());
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      Iterator<Batch> batches = data.getData(manager).iterator();
      while (batches.hasNext()) {
        try (Batch batch = batches.next()) {
          print("batch", batch);
        } catch (IllegalStateException e) {
          System.out.println("failed " + e.getMessage() + " " + RandomUtils.nextInt());
        }
      }
    }
  }

  /** Starts a new epoch during another, and later continues the first. */
  private void restart() throws IOException, TranslateException {
    RandomAccessDataset data = pictures(null);
    Iterator<Batch> first = data.getData(manager).iterator();
    take("first", first, 3);
    Iterator<Batch> second = data.getData(manager).iterator();
    take("second", second, 3);
    take("first", first, 3);
    take("second", second, 3);
  }

  /** Two simultaneous epochs over two data sets. */
  private void together() throws IOException, TranslateException {
    Iterator<Batch> first = pictures(null).getData(manager).iterator();
    Iterator<Batch> second = files().getData(manager).iterator();
    for (int i = 0; i < 6; i++) {
      take("first", first, 1);
      take("second", second, 1);
    }
  }

  private void interrupt() throws IOException, TranslateException {
    Iterator<Batch> batches = pictures(null).getData(manager).iterator();
    for (int i = 0; i < 6; i++) {
      if (i % 2 == 1) {
        Thread.currentThread().interrupt();
      }
      take("batch", batches, 1);
      System.out.println("interrupted " + Thread.interrupted());
    }
  }

  /** Reads another data set during and after each epoch. */
  private void validation() throws IOException, TranslateException {
    ImageFolder other =
        ImageFolder.builder()
            .setRepositoryPath(folder)
            .optMaxDepth(2)
            .setSampling(BATCH, false)
            .addTransform(new Resize(24, 24))
            .addTransform(new ToTensor())
            .build();
    RandomAccessDataset data = pictures(null);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      int batches = 0;
      for (Batch batch : data.getData(manager)) {
        print("batch", batch);
        batch.close();
        if (++batches == 4) {
          take("midway", other.getData(manager).iterator(), 2);
        }
      }
      take("after", other.getData(manager).iterator(), 12);
    }
  }

  /** Leaves its loop and immediately frees everything. */
  private void close() throws IOException, TranslateException {
    RandomAccessDataset data = pictures(null);
    for (int i = 0; i < 30; i++) {
      try (NDManager own = manager.newSubManager()) {
        take("batch", data.getData(own).iterator(), 2);
      }
    }
  }

  /** Before each batch, the state that a transform reads changes. */
  private void changes() throws IOException, TranslateException {
    for (Changing.Kind kind : Changing.kinds(Files.createTempFile("factor", null))) {
      Iterator<Batch> batches = pictures(kind.transform()).getData(manager).iterator();
      for (int i = 1; i <= 5; i++) {
        kind.change().to(i);
        Changing.batchRequested = true;
        Batch batch = batches.next();
        Changing.batchRequested = false;
        print(kind.name(), batch);
        batch.close();
      }
    }
  }

  private static void take(String name, Iterator<Batch> batches, int count) {
    for (int i = 0; i < count && batches.hasNext(); i++) {
      try (Batch batch = batches.next()) {
        print(name, batch);
      }
    }
  }

  private static void print(String name, Batch batch) {
    Checksum sum =
        new Checksum()
            .add(batch.getData().head().toByteBuffer(), "data")
            .add(batch.getLabels().head().toByteBuffer(), "labels");
    System.out.printf(
        Locale.ROOT,
        "%s %d/%d %s %s %s%n",
        name,
        batch.getProgress(),
        batch.getProgressTotal(),
        batch.getIndices(),
        sum,
        batch.getManager().getParentManager().getName());
  }

  /** Scales by a factor drawn from DJL's generator. */
  private static final class Scale implements Transform {
    private final float factor;

    Scale(float factor) {
      this.factor = factor;
    }

    @Override
    public NDArray transform(NDArray array) {
      return array.mul(factor * RandomUtils.nextFloat());
    }
  }

  /** Has its own random generator. */
  private static final class Noise implements Transform {
    private final Random random = new Random(7);

    @Override
    public NDArray transform(NDArray array) {
      return array.add(random.nextFloat());
    }
  }

  /** Counts its calls. */
  private static final class Fading implements Transform {
    private int calls;

    @Override
    public NDArray transform(NDArray array) {
      calls++;
      return array.mul(1f / calls);
    }
  }

  /** Rejects about one picture in twenty. */
  private static final class Picky implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      float mean = array.mean().getFloat();
      if ((int) (mean * 1000) % 20 == 0) {
        throw new IllegalStateException("not this one: " + mean);
      }
      return array;
    }
  }

  /** A custom data set with the first bytes of files. */
  private static final class Bytes extends RandomAccessDataset {
    private static final int USED = 1024;
    private final Path folder;
    private List<Path> files = List.of();

    Bytes(Builder builder) {
      super(builder);
      folder = builder.folder;
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      byte[] bytes = Files.readAllBytes(files.get(Math.toIntExact(index)));
      ByteBuffer used = ByteBuffer.allocate(USED);
      used.put(bytes, 0, USED).rewind();
      return new Record(
          new NDList(own.create(used, new Shape(USED), DataType.UINT8)),
          new NDList(own.create(index)));
    }

    @Override
    protected long availableSize() {
      return files.size();
    }

    @Override
    public void prepare(Progress progress) throws IOException {
      try (Stream<Path> tree = Files.walk(folder)) {
        files = tree.filter(path -> path.toString().endsWith(".jpg")).sorted().toList();
      }
    }

    static final class Builder extends BaseBuilder<Builder> {
      private Path folder;

      Builder folder(Path newFolder) {
        folder = newFolder;
        return this;
      }

      Bytes build() {
        return new Bytes(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
