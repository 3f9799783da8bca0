package example.prepared;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.basicdataset.tabular.CsvDataset;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.nlp.preprocess.LowerCaseConvertor;
import ai.djl.modality.nlp.preprocess.PunctuationSeparator;
import ai.djl.modality.nlp.preprocess.SimpleTokenizer;
import ai.djl.modality.nlp.preprocess.TextProcessor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import ai.djl.util.RandomUtils;
import example.bits.Checksum;
import java.awt.image.BufferedImage;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.sound.sampled.AudioFileFormat;
import javax.sound.sampled.AudioFormat;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;
import javax.sound.sampled.UnsupportedAudioFileException;
import org.apache.commons.csv.CSVFormat;

/**
 * Epochs over data sets of many kinds. Arguments: {@code PROGRAM[,PROGRAM...] FOLDER SAMPLES}.
 * Missing data is written first, except the images, which must be in FOLDER/pictures. Prints a line
 * per batch. After each epoch, most programs also print numbers drawn from DJL's generator and, on
 * standard error, the training thread's CPU time.
 */
public final class DjlSamples {
  private static final long STEP_NANOS = 30_000_000;
  private static final int BATCH = 32;
  private static final int EPOCHS = Integer.getInteger("epochs", 4);
  private static final int COLUMNS = 1190;
  private static final int DROPPED = 40;

  private final Path folder;
  private final int samples;
  private final NDManager manager;

  private DjlSamples(Path folder, int samples, NDManager manager) {
    this.folder = folder;
    this.samples = samples;
    this.manager = manager;
  }

  /** Runs the programs one after the other, independently. */
  public static void main(String[] args) throws IOException, TranslateException {
    for (String program : args[0].split(",", -1)) {
      System.out.println("program " + program);
      Engine.getInstance().setRandomSeed(1);
      try (NDManager manager = NDManager.newBaseManager()) {
        new DjlSamples(Path.of(args[1]), Integer.parseInt(args[2]), manager).run(program);
      }
    }
  }

  private void run(String program) throws IOException, TranslateException {
    switch (program) {
      case "csv" -> loop(program, csv(), null);
      case "text" -> loop(program, text(), null);
      case "audio" -> loop(program, audio(), null);
      case "images" -> loop(program, images(new Resize(32, 32), new ToTensor()), null);
      case "flipped" ->
          loop(
              program, images(new Resize(32, 32), new RandomFlipLeftRight(), new ToTensor()), null);
      case "crops" -> loop(program, images(new RandomResizedCrop(32, 32), new ToTensor()), null);
      case "by-hand" -> byHand();
      case "threads" -> {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        loop(program, text(), threads);
        threads.shutdown();
      }
      case "features", "records", "deep", "knob" -> loop(program, made(program, false), null);
      case "lambda" -> loop(program, made("deep", true), null);
      case "knob-by-transform" -> turned();
      case "split" -> loop(program, text().randomSplit(3, 1)[0], null);
      case "dropped" -> dropped();
      case "renewed" -> loop(program, new Renewed(builder()), null, 8);
      case "small" -> loop(program, small(), null);
      case "rewritten" -> rewritten();
      case "touched" -> touched();
      case "scaled-by-file" -> scaledByFile();
      case "scaled-by-mapping" -> scaledByMapping();
      case "piped" -> piped();
      case "failing" -> failing();
      case "closed" -> closed();
      case "own-pipeline" -> loop(program, new Audio(halving(), fewFiles()), null);
      case "strings" -> strings();
      case "own-random" -> loop(program, images(new Noise()), null);
      case "sounds" -> loop(program, new Sounds(builder(), sounds()), null);
      case "numbered" -> numbered();
      case "sized" -> sized();
      case "marked" -> marked();
      case "localised" -> localised();
      case "transformed", "drawing", "added" -> ownTransforms(program);
      case "boxes" -> loop(program, new LibraryParts.Boxes(builder()), null);
      case "boxed" -> {
        LibraryParts.Boxes boxes = new LibraryParts.Boxes(builder().samples(2 * BATCH));
        changing(boxes, boxes::add);
      }
      case "mirrored" -> loop(program, mirrored(), null);
      case "counter" -> loop(program, new Counted(builder()), null);
      case "tallied" -> loop(program, new Everyday.Tallying(builder()), null);
      case "slipping" -> loop(program, new Everyday.Slipping(builder()), null);
      case "remembers" -> loop(program, new Remembering(builder()), null);
      case "draws" -> loop(program, new Drawing(builder()), null);
      case "gaussian" -> loop(program, new Gaussian(builder()), null);
      default -> throw new IllegalArgumentException(program + " is not a program of this class.");
    }
  }

  private void loop(String program, RandomAccessDataset data, ExecutorService threads)
      throws IOException, TranslateException {
    loop(program, data, threads, EPOCHS);
  }

  private void loop(String program, RandomAccessDataset data, ExecutorService threads, int epochs)
      throws IOException, TranslateException {
    for (int epoch = 1; epoch <= epochs; epoch++) {
      long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      long printing = 0;
      for (Batch batch : data.getData(manager, threads)) {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        print("batch", batch);
        batch.close();
        if (data instanceof Everyday.Knob knob) {
          knob.level = batch.getProgress() % 2 + 1;
        }
        printing += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
      }
      System.out.println("drawn " + RandomUtils.nextInt() + " " + RandomUtils.nextGaussian());
      long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start - printing;
      System.err.println("cpu " + program + " " + epoch + " " + cpu);
    }
  }

  /** A hand-written loop with a gradient collector, so that the agent sees training. */
  private void byHand() throws IOException, TranslateException {
    RandomAccessDataset data = made("deep", false);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (Batch batch : data.getData(manager)) {
        try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
          print("batch", batch);
          collector.zeroGradients();
        }
        batch.close();
      }
    }
  }

  static void print(String name, Batch batch) {
    Checksum sum = new Checksum();
    for (NDArray array : batch.getData()) {
      sum.add(array.toByteBuffer(), "data");
      sum.add(String.valueOf(array.getShape()).getBytes(StandardCharsets.UTF_8), "shape");
    }
    for (NDArray array : batch.getLabels()) {
      sum.add(array.toByteBuffer(), "labels");
    }
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

  // ---- data sets

  private RandomAccessDataset csv() throws IOException {
    Path file = folder.resolve("table-" + samples + ".csv");
    if (!Files.exists(file)) {
      Random random = new Random(5);
      try (BufferedWriter out = Files.newBufferedWriter(file)) {
        for (int row = -1; row < samples; row++) {
          for (int column = 0; column < COLUMNS; column++) {
            out.write(column == 0 ? "" : ",");
            out.write(
                row < 0 ? "c" + column : String.format(Locale.ROOT, "%.4f", random.nextGaussian()));
          }
          out.newLine();
        }
      }
    }
    return csv(file);
  }

  private RandomAccessDataset csv(Path file) {
    CsvDataset.CsvBuilder<?> builder =
        CsvDataset.builder()
            .optCsvFile(file)
            .setCsvFormat(CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get());
    for (int column = 0; column < COLUMNS - 1; column++) {
      builder.addNumericFeature("c" + column);
    }
    builder.addNumericLabel("c" + (COLUMNS - 1));
    return builder.setSampling(BATCH, true).build();
  }

  private RandomAccessDataset text() {
    Random random = new Random(6);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < samples; i++) {
      StringBuilder line = new StringBuilder();
      for (int word = 0; word < 400; word++) {
        line.append(word == 0 ? "" : word % 9 == 0 ? ", " : " ");
        line.append("Word").append(random.nextInt(2000));
      }
      lines.add(line.toString());
    }
    return new Text(builder(), lines);
  }

  private RandomAccessDataset audio() throws IOException {
    Path waves = Files.createDirectories(folder.resolve("waves"));
    Random random = new Random(7);
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < samples; i++) {
      Path file = waves.resolve("wave-" + i + ".pcm");
      if (!Files.exists(file)) {
        byte[] wave = new byte[16_000];
        random.nextBytes(wave);
        Files.write(file, wave);
      }
      files.add(file);
    }
    return new Audio(builder(), files);
  }

  /**
   * Returns the everyday data set of {@code program}, with a lambda as its transform if requested.
   */
  private RandomAccessDataset made(String program, boolean byLambda) throws IOException {
    Builder builder = builder();
    if (byLambda) {
      float scale = 0.5f * samples;
      builder.optPipeline(new Pipeline(array -> array.mul(scale).sin().add(scale)));
    }
    csv();
    return switch (program) {
      case "features" -> new Everyday.OfFeatures(builder);
      case "records" ->
          new Everyday.OfRecords(builder, folder.resolve("table-" + samples + ".csv"));
      case "knob" -> new Everyday.Knob(builder);
      default -> new Everyday.Deep(builder, 30);
    };
  }

  /** A transform sets a value that determines the next sample of the same batch. */
  private void turned() throws IOException, TranslateException {
    Everyday.Knob[] data = new Everyday.Knob[1];
    Pipeline turning =
        new Pipeline(
            array -> {
              data[0].level = 3 - data[0].level;
              return array;
            });
    data[0] = new Everyday.Knob(builder().optPipeline(turning));
    loop("knob-by-transform", data[0], null);
  }

  /** Small files with cheap samples. */
  private RandomAccessDataset small() throws IOException {
    Path own = Files.createDirectories(folder.resolve("small"));
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < samples; i++) {
      Path file = own.resolve("sample-" + i);
      if (!Files.exists(file)) {
        Files.write(file, new byte[] {(byte) i, (byte) (i >> 8), 3, 4, 5, 6, 7, 8});
      }
      files.add(file);
    }
    return new Small(builder(), files);
  }

  private RandomAccessDataset images(Transform... transforms)
      throws IOException, TranslateException {
    ImageFolder.Builder builder =
        ImageFolder.builder()
            .setRepositoryPath(folder.resolve("pictures"))
            .optMaxDepth(2)
            .setSampling(BATCH, true);
    for (Transform transform : transforms) {
      builder.addTransform(transform);
    }
    ImageFolder pictures = builder.build();
    pictures.prepare();
    return pictures;
  }

  private Builder builder() {
    return new Builder(samples).setSampling(BATCH, true);
  }

  private List<Path> fewFiles() throws IOException {
    Path own = Files.createDirectories(folder.resolve("own"));
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < 2 * BATCH; i++) {
      files.add(Files.write(own.resolve("file-" + i), new byte[] {(byte) i, 1, 2, 3}));
    }
    return files;
  }

  /** Returns a builder whose pipeline halves its input instead of applying its transform. */
  private Builder halving() {
    return builder()
        .samples(2 * BATCH)
        .optPipeline(
            new Pipeline(new ToTensor()) {
              @Override
              public NDList transform(NDList input) {
                return new NDList(input.head().mul(0.5f));
              }
            });
  }

  /** Samples that the engine cannot stack. */
  private void strings() throws IOException, TranslateException {
    try {
      loop("strings", new Words(builder()), null);
    } catch (UnsupportedOperationException e) {
      System.out.println("failed " + e.getMessage());
    }
  }

  /** Words without processing. */
  private static final class Words extends Counting {
    Words(Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager own, long index) {
      return new Record(new NDList(own.create("word " + index)), new NDList(own.create(index)));
    }
  }

  /** Between epochs, one file is rewritten, and one replaced by another of equal size and time. */
  private void rewritten() throws IOException, TranslateException {
    List<Path> files = fewFiles();
    Audio data = new Audio(builder().samples(files.size()), files);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (Batch batch : data.getData(manager)) {
        print("batch", batch);
        batch.close();
      }
      Files.write(files.get(3 + epoch), new byte[] {9, (byte) epoch, 9, 9, 9, 9});
      Path replaced = files.get(0);
      FileTime time = Files.getLastModifiedTime(replaced);
      Path other =
          Files.write(replaced.resolveSibling("other"), new byte[] {8, (byte) epoch, 8, 8});
      Files.setLastModifiedTime(other, time);
      Files.move(other, replaced, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Changes what all samples depend on. */
  private interface Change {
    void set(byte by) throws IOException;
  }

  /** Each sample also depends on a file that the program rewrites after each batch. */
  private void scaledByFile() throws IOException, TranslateException {
    Path scale = Files.write(ownFile("scale"), new byte[] {1});
    RandomAccessDataset data = rescaled(scale, by -> Files.write(scale, new byte[] {by}));
    loop("scaled-by-file", data, null);
    Files.delete(scale);
  }

  /** Like {@link #scaledByFile}, but the program changes the file through a mapping. */
  private void scaledByMapping() throws IOException, TranslateException {
    Path scale = Files.write(ownFile("mapped-scale"), new byte[] {1});
    try (RandomAccessFile opened = new RandomAccessFile(scale.toFile(), "rw")) {
      ByteBuffer mapped = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 1);
      rescaled(scale, by -> mapped.put(0, by));
    }
    Files.delete(scale);
  }

  private Path ownFile(String name) {
    return folder.resolve(name + "-" + ProcessHandle.current().pid());
  }

  /** Iterates over data scaled by a file that changes after each batch; returns the data. */
  private RandomAccessDataset rescaled(Path scale, Change change)
      throws IOException, TranslateException {
    List<Path> files = fewFiles();
    ScaledByFile data = new ScaledByFile(builder().samples(files.size()), files, scale);
    changing(data, change);
    return data;
  }

  /** Iterates over data, and makes a change after each batch. */
  private void changing(RandomAccessDataset data, Change change)
      throws IOException, TranslateException {
    byte by = 1;
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (Batch batch : data.getData(manager)) {
        print("batch", batch);
        batch.close();
        LockSupport.parkNanos(STEP_NANOS); // A step, while the next batch is prepared.
        change.set(++by);
      }
    }
  }

  private void numbered() throws IOException, TranslateException {
    Path own = Files.createDirectories(ownFile("numbered"));
    JdkCalls.OfNumberedFiles data = new JdkCalls.OfNumberedFiles(builder(), own);
    data.write(Math.toIntExact(data.availableSize()));
    loop("numbered", data, null);
  }

  /** Transforms that the data set applies itself: fixed, random, or more after each batch. */
  private void ownTransforms(String program) throws IOException, TranslateException {
    Transform first = new LibraryParts.Halved();
    switch (program) {
      case "added" -> {
        LibraryParts.OwnTransforms data =
            new LibraryParts.OwnTransforms(builder().samples(2 * BATCH), first);
        changing(data, by -> data.transforms.add(new LibraryParts.Halved()));
      }
      case "drawing" ->
          loop(
              program,
              new LibraryParts.OwnTransforms(builder(), first, new LibraryParts.Scaled()),
              null);
      default -> loop(program, new LibraryParts.OwnTransforms(builder(), first), null);
    }
  }

  /** A file grows after each batch. */
  private void sized() throws IOException, TranslateException {
    Path file = Files.write(ownFile("sized"), new byte[] {1});
    changing(
        new JdkCalls.OfSize(builder().samples(2 * BATCH), file),
        by -> Files.write(file, new byte[by]));
    Files.delete(file);
  }

  /** A file appears, becomes a folder, and disappears. */
  private void marked() throws IOException, TranslateException {
    Path mark = ownFile("mark");
    changing(
        new JdkCalls.OfMark(builder().samples(2 * BATCH), mark),
        by -> {
          Files.deleteIfExists(mark);
          if (by % 3 == 0) {
            Files.write(mark, new byte[] {1});
          } else if (by % 3 == 1) {
            Files.createDirectory(mark);
          }
        });
    Files.deleteIfExists(mark);
  }

  /** The default locale changes after each batch. */
  private void localised() throws IOException, TranslateException {
    Locale before = Locale.getDefault();
    changing(
        new JdkCalls.OfLocale(builder().samples(2 * BATCH)),
        by -> Locale.setDefault(by % 2 == 0 ? Locale.GERMANY : Locale.ROOT));
    Locale.setDefault(before);
  }

  /** Each sample takes a byte from a pipe, so nothing else may read it. */
  private void piped() throws IOException, TranslateException {
    Path pipe = ownFile("pipe");
    try {
      new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    try (RandomAccessFile bytes = new RandomAccessFile(pipe.toFile(), "rw")) {
      byte[] numbers = new byte[4 * EPOCHS * samples];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = (byte) i;
      }
      bytes.write(numbers);
      loop("piped", new Piped(builder(), pipe), null);
    }
    Files.delete(pipe);
  }

  /** A table whose file changes every two epochs, in ways that keep its size and time. */
  private void touched() throws IOException, TranslateException {
    csv();
    Path file = folder.resolve("touched-" + ProcessHandle.current().pid() + ".csv");
    Touched.copy(folder.resolve("table-" + samples + ".csv"), file);
    RandomAccessDataset data = csv(file);
    for (Touched change : Touched.values()) {
      change.make(file);
      loop("touched " + change, data, null, 2);
    }
    Files.delete(file);
  }

  /** Requests a batch from a closed manager. */
  private void closed() throws IOException, TranslateException {
    RandomAccessDataset data = text();
    loop("closed", data, null);
    NDManager own = manager.newSubManager();
    Iterator<Batch> batches = data.getData(own).iterator();
    print("batch", batches.next());
    own.close();
    try {
      batches.next();
    } catch (RuntimeException e) {
      System.out.println("failed " + e.getMessage());
    }
  }

  /** All samples except two throw. */
  private void failing() throws IOException, TranslateException {
    Text data = new Text(builder().samples(2 * BATCH), List.of("one two", "three"));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      try {
        for (Batch batch : data.getData(manager)) {
          print("batch", batch);
          batch.close();
        }
      } catch (IndexOutOfBoundsException e) {
        System.out.println("failed " + e.getMessage() + " " + RandomUtils.nextInt());
      }
    }
  }

  /** Holds a data set's sampling options and number of samples. */
  static final class Builder extends RandomAccessDataset.BaseBuilder<Builder> {
    private int count;

    Builder(int count) {
      this.count = count;
    }

    Builder samples(int newCount) {
      count = newCount;
      return this;
    }

    @Override
    protected Builder self() {
      return this;
    }
  }

  /** A data set with a given number of samples. */
  abstract static class Counting extends RandomAccessDataset {
    private final long count;

    Counting(Builder builder) {
      super(builder);
      count = builder.count;
    }

    @Override
    protected long availableSize() {
      return count;
    }

    @Override
    public void prepare(Progress progress) {
      // Nothing to do.
    }
  }

  /** Lines of words, converted to numbers. */
  static final class Text extends Counting {
    private static final int LENGTH = 512;
    private static final int WORDS = 10_007;
    private final List<String> lines;
    private final List<TextProcessor> processors =
        List.of(
            new SimpleTokenizer(), new PunctuationSeparator(), new LowerCaseConvertor(Locale.ROOT));

    Text(Builder builder, List<String> lines) {
      super(builder);
      this.lines = List.copyOf(lines);
    }

    @Override
    public Record get(NDManager own, long index) {
      List<String> words = List.of(lines.get(Math.toIntExact(index)));
      for (TextProcessor processor : processors) {
        words = processor.preprocess(words);
      }
      int[] numbers = new int[LENGTH];
      for (int i = 0; i < Math.min(LENGTH, words.size()); i++) {
        numbers[i] = Math.floorMod(words.get(i).hashCode(), WORDS);
      }
      return new Record(new NDList(own.create(numbers)), new NDList(own.create(index % 2)));
    }
  }

  /** Files without processing. */
  static final class Small extends Counting {
    private final List<Path> files;

    Small(Builder builder, List<Path> files) {
      super(builder);
      this.files = List.copyOf(files);
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      byte[] bytes = Files.readAllBytes(files.get(Math.toIntExact(index)));
      float[] values = new float[bytes.length];
      for (int i = 0; i < bytes.length; i++) {
        values[i] = bytes[i];
      }
      return new Record(new NDList(own.create(values)), new NDList(own.create(index % 2)));
    }
  }

  /** Sound, converted to energies by frequency. */
  static final class Audio extends Counting {
    private static final int BANDS = 24;
    private final List<Path> files;

    Audio(Builder builder, List<Path> files) {
      super(builder);
      this.files = List.copyOf(files);
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      return record(own, wave(files.get(Math.toIntExact(index))), index);
    }

    private static ByteBuffer wave(Path file) throws IOException {
      return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Record record(NDManager own, ByteBuffer wave, long index) {
      float[] bands = new float[BANDS];
      for (int band = 0; band < BANDS; band++) {
        double sine = 0;
        double cosine = 0;
        for (int i = 0; i < wave.limit() / 2; i++) {
          double angle = 0.01 * (band + 1) * i;
          sine += Math.sin(angle) * wave.getShort(2 * i);
          cosine += Math.cos(angle) * wave.getShort(2 * i);
        }
        bands[band] = (float) Math.log1p(sine * sine + cosine * cosine);
      }
      return new Record(new NDList(own.create(bands)), new NDList(own.create(index)));
    }
  }

  /** Files whose first byte is multiplied by that of another file. */
  private static final class ScaledByFile extends Counting {
    private final List<Path> files;
    private final Path scale;

    ScaledByFile(Builder builder, List<Path> files, Path scale) {
      super(builder);
      this.files = List.copyOf(files);
      this.scale = scale;
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      float value = first(files.get(Math.toIntExact(index))) * first(scale);
      return new Record(new NDList(own.create(value)), new NDList(own.create(index)));
    }

    private static float first(Path file) throws IOException {
      return Files.readAllBytes(file)[0];
    }
  }

  // ---- data that must not be cached

  /** Takes bytes from a pipe. */
  private static final class Piped extends Counting {
    private final Path pipe;

    Piped(Builder builder, Path pipe) {
      super(builder);
      this.pipe = pipe;
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      try (InputStream in = Files.newInputStream(pipe)) {
        return new Record(new NDList(own.create((float) in.read())), new NDList(own.create(index)));
      }
    }
  }

  /** Reads each sound through the JDK. */
  private static final class Sounds extends Counting {
    private final List<Path> files;

    Sounds(Builder builder, List<Path> files) {
      super(builder);
      this.files = List.copyOf(files);
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      Path file = files.get(Math.toIntExact(index) % files.size());
      try (AudioInputStream in = AudioSystem.getAudioInputStream(file.toFile())) {
        ByteBuffer wave = ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        return Audio.record(own, wave, index);
      } catch (UnsupportedAudioFileException e) {
        throw new IOException(e);
      }
    }
  }

  private List<Path> sounds() throws IOException {
    Path own = Files.createDirectories(folder.resolve("sounds"));
    List<Path> files = new ArrayList<>();
    Random random = new Random(12);
    for (int i = 0; i < 8; i++) {
      Path file = own.resolve(i + ".wav");
      byte[] wave = new byte[4000];
      random.nextBytes(wave);
      if (!Files.exists(file)) {
        AudioFormat format = new AudioFormat(8000, 16, 1, true, false);
        AudioInputStream sound =
            new AudioInputStream(new ByteArrayInputStream(wave), format, wave.length / 2);
        AudioSystem.write(sound, AudioFileFormat.Type.WAVE, file.toFile());
      }
      files.add(file);
    }
    return files;
  }

  /** Decodes pictures itself, and mirrors the first row of some in place. */
  private static final class Mirrored extends Counting {
    private final List<File> pictures;
    private final Random random = new Random(9);

    Mirrored(Builder builder, List<File> pictures) {
      super(builder);
      this.pictures = List.copyOf(pictures);
    }

    @Override
    public Record get(NDManager own, long index) throws IOException {
      BufferedImage picture = ImageIO.read(pictures.get(Math.toIntExact(index)));
      int width = picture.getWidth();
      if (random.nextBoolean()) {
        for (int x = 0; x < width / 2; x++) {
          int left = picture.getRGB(x, 0);
          picture.setRGB(x, 0, picture.getRGB(width - 1 - x, 0));
          picture.setRGB(width - 1 - x, 0, left);
        }
      }
      int[] row = picture.getRGB(0, 0, 8, 4, null, 0, 8);
      return new Record(
          new NDList(own.create(row), own.create(new int[] {picture.getType()})),
          new NDList(own.create(index)));
    }
  }

  private RandomAccessDataset mirrored() throws IOException {
    List<File> files;
    try (Stream<Path> all = Files.walk(folder.resolve("pictures").toRealPath())) {
      files = all.filter(Files::isRegularFile).sorted().map(Path::toFile).toList();
    }
    return new Mirrored(builder().samples(files.size()), files);
  }

  /** Has its own random generator. */
  private static final class Noise implements Transform {
    private final Random random = new Random(7);

    @Override
    public NDArray transform(NDArray array) {
      return array.toType(DataType.FLOAT32, false).add(random.nextFloat());
    }
  }

  /** Returns different values in each epoch. */
  private static final class Renewed extends Counting {
    private final int size;
    private int epoch;
    private float[] values = {};

    Renewed(Builder builder) {
      super(builder);
      size = Math.toIntExact(builder.count);
    }

    @Override
    public void prepare(Progress progress) {
      epoch++;
      values = new float[size];
      for (int i = 0; i < size; i++) {
        values[i] = epoch * 1000 + i;
      }
    }

    @Override
    public Record get(NDManager own, long index) {
      float value = values[Math.toIntExact(index)];
      return new Record(new NDList(own.create(value)), new NDList(own.create(index)));
    }
  }

  /** A transform that references its data set. */
  private static final class Scaling implements Transform {
    private final RandomAccessDataset data;
    private final float by;

    Scaling(RandomAccessDataset data, float by) {
      this.data = data;
      this.by = by;
    }

    @Override
    public NDArray transform(NDArray array) {
      return array.mul(data == null ? 1 : by);
    }
  }

  /** Data sets that are used for one epoch only. */
  private void dropped() throws IOException, TranslateException {
    List<WeakReference<Object>> dropped = new ArrayList<>();
    for (int i = 0; i < DROPPED; i++) {
      Pipeline pipeline = new Pipeline();
      Renewed data = new Renewed(builder().samples(BATCH).optPipeline(pipeline));
      pipeline.add(new Scaling(data, i));
      dropped.add(new WeakReference<>(data));
      loop("dropped", data, null, 1);
    }
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (dropped.stream().anyMatch(reference -> reference.get() != null)
        && System.nanoTime() - end < 0) {
      System.gc();
    }
    dropped.removeIf(reference -> reference.get() == null);
    System.out.println(dropped.size() + " of " + DROPPED + " data sets are kept");
  }

  /** Counts its calls. */
  private static final class Counted extends Counting {
    private int calls;

    Counted(Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager own, long index) {
      calls++;
      return new Record(new NDList(own.create(calls)), new NDList(own.create(index)));
    }
  }

  /** Remembers the requested samples in a collection. */
  private static final class Remembering extends Counting {
    private final List<Long> requested = new ArrayList<>();

    Remembering(Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager own, long index) {
      requested.add(index);
      return new Record(new NDList(own.create(requested.size())), new NDList(own.create(index)));
    }
  }

  /** Draws from DJL's generator for some samples. */
  private static final class Drawing extends Counting {
    Drawing(Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager own, long index) {
      float value = index % 3 == 0 ? RandomUtils.nextFloat() : index;
      return new Record(new NDList(own.create(value)), new NDList(own.create(index)));
    }
  }

  /** Draws numbers that the generator may have drawn in advance. */
  private static final class Gaussian extends Counting {
    Gaussian(Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager own, long index) {
      double value = index % 2 == 0 ? RandomUtils.nextGaussian() : index;
      return new Record(new NDList(own.create(value)), new NDList(own.create(index)));
    }
  }
}
