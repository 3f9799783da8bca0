package io.coordl.library.dl4j;

import io.coordl.library.ClassFiles;
import io.coordl.library.Services;
import io.coordl.library.Symbols;
import io.coordl.staging.BatchOrder;
import io.coordl.staging.CoordinatedPass;
import io.coordl.staging.Coordinator;
import io.coordl.staging.Fingerprint;
import java.io.File;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.split.InputSplit;
import org.datavec.image.loader.BaseImageLoader;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Shares the passes of iterators over a reader of images, each from its first batch on.
 *
 * <p>The reader has its files from an iterator in a field, which each reset makes anew. At the
 * first batch that iterator is emptied, which gives the order of this job, and {@link PassFiles} of
 * the order all jobs follow take its place. {@code hasNext()} and everything else of the library
 * then works on those, unaware; {@code next(int)} is answered with a staged batch, or with one that
 * this job makes, and takes the batch's files. Whatever else happens (the program's code throws,
 * the program asks for another number of examples, takes a file by itself, changes the
 * preprocessor), the library goes on by itself with the files that are left. A reset, or a reader
 * that is initialised anew, has another iterator: that is how the next pass is known.
 *
 * <p>An iterator of the program's own class, or with a limit, is answered at the one it stands on.
 */
final class ImagePasses {
  private final Coordinator coordinator;
  private final Consumer<String> words;
  private final String code;
  private final Cleaner cleaner =
      Cleaner.create(
          action -> {
            Thread thread = new Thread(action, "coordl-passes");
            thread.setDaemon(true);
            return thread;
          });
  private final Consumer<String> leave;

  /** What each reader went through last; a reader tells its files anew in each pass. */
  private final Map<BaseImageRecordReader, ImageFiles> known = new WeakHashMap<>();

  /** Whoever initialises a reader anew in the midst of a pass does not reset the iterator first. */
  private final Map<BaseImageRecordReader, WeakReference<IteratorPass>> latest =
      new WeakHashMap<>();

  private final Field files = image("iter", Iterator.class);
  private final Field split = image("inputSplit", InputSplit.class);
  private final Field loader = image("imageLoader", BaseImageLoader.class);
  private final Field currentFile = image("currentFile", File.class);
  private final Field underlying = dataSets("underlying", RecordReaderMultiDataSetIterator.class);
  private final Field useCurrent = dataSets("useCurrent", boolean.class);
  private final Field batchNum = dataSets("batchNum", int.class);
  private final Field maxNumBatches = dataSets("maxNumBatches", int.class);

  /**
   * Shares passes.
   *
   * @param declaring the iterator of several arrays
   * @param leave takes what is left alone
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   * @throws IOException if what makes batches cannot be told
   */
  ImagePasses(Class<?> declaring, Services services, Consumer<String> leave)
      throws ReflectiveOperationException, IOException {
    Symbols.require(INDArray.class, DataBuffer.class, "data");
    Symbols.require(INDArray.class, long[].class, "stride");
    Symbols.require(
        Nd4j.class,
        INDArray.class,
        "create",
        DataBuffer.class,
        long[].class,
        long[].class,
        long.class,
        char.class);
    this.coordinator = Objects.requireNonNull(services.coordinator());
    this.words = services.words();
    this.leave = leave;
    String image = "/org/datavec/image/";
    this.code =
        ClassFiles.checksum(declaring, "RecordReaderMultiDataSetIterator")
            + " "
            + ClassFiles.checksum(declaring, "RecordReaderDataSetIterator")
            + " "
            + ClassFiles.checksum(declaring, image + "recordreader/BaseImageRecordReader")
            + " "
            + ClassFiles.checksum(declaring, image + "loader/NativeImageLoader")
            + ", OpenCV "
            + ClassFiles.checksum(declaring, "/org/bytedeco/opencv/global/opencv_core")
            + " "
            + ClassFiles.checksum(declaring, "/org/bytedeco/opencv/global/opencv_imgcodecs");
  }

  private static Field image(String name, Class<?> type) {
    return field(BaseImageRecordReader.class, name, type);
  }

  private static Field dataSets(String name, Class<?> type) {
    return field(RecordReaderDataSetIterator.class, name, type);
  }

  private static Field field(Class<?> owner, String name, Class<?> type) {
    try {
      return Symbols.field(owner, name, type);
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The iterator is about to be reset. */
  void reset(Object iterator, RecordReader reader) throws IllegalAccessException {
    IteratorPass pass = passOf(iterator, (BaseImageRecordReader) reader);
    if (pass != null) {
      pass.end();
    }
  }

  private @Nullable IteratorPass passOf(Object iterator, BaseImageRecordReader reader)
      throws IllegalAccessException {
    return files.get(reader) instanceof PassFiles now ? now.sharedOf(iterator) : null;
  }

  /** The next batch of so many examples; null if the library is to make it. */
  @Nullable Object next(Object iterator, RecordReader images, int num)
      throws ReflectiveOperationException, IOException {
    BaseImageRecordReader reader = (BaseImageRecordReader) images;
    if (iterator instanceof RecordReaderDataSetIterator && useCurrent.getBoolean(iterator)) {
      return null; // It has a batch at hand.
    }
    if (!(files.get(reader) instanceof PassFiles)) {
      begin(iterator, reader, num);
    }
    if (!(files.get(reader) instanceof PassFiles now)) {
      return null;
    }
    IteratorPass pass = now.sharedOf(iterator);
    if (pass == null) {
      return null;
    }
    Object batch = pass.next(now, num, PipelineParts.preprocessorOf(iterator));
    if (batch != null) {
      currentFile.set(reader, now.last());
      if (iterator instanceof RecordReaderDataSetIterator) {
        batchNum.setInt(iterator, batchNum.getInt(iterator) + 1);
      }
    }
    return batch;
  }

  // ---- the beginning of a pass

  private void begin(Object iterator, BaseImageRecordReader reader, int num)
      throws ReflectiveOperationException {
    RecordReaderMultiDataSetIterator arrays;
    if (iterator instanceof RecordReaderDataSetIterator one) {
      if (one.getClass() != RecordReaderDataSetIterator.class
          || maxNumBatches.getInt(one) >= 0
          || one.isCollectMetaData()
          || !makeReady(one, reader)) {
        return; // What it stands on is asked next.
      }
      arrays = (RecordReaderMultiDataSetIterator) underlying.get(one);
    } else {
      arrays = (RecordReaderMultiDataSetIterator) iterator;
    }
    String reason = reasonToLeave(reader, arrays);
    if (!reason.isEmpty()) {
      leave.accept(reason);
      return;
    }
    if (num != arrays.getBatchSize()) {
      return;
    }
    List<File> own = drain(reader);
    if (own.size() != ((InputSplit) split.get(reader)).length()) {
      return; // In the midst of a pass.
    }
    try {
      share(iterator, reader, arrays, own);
    } catch (Description.Unclear e) {
      leave.accept("pipelines with " + e.getMessage());
    }
  }

  /**
   * As its first batch would: the iterator reads a record and resets the reader. What that throws
   * is thrown again when the library does the same.
   */
  private boolean makeReady(RecordReaderDataSetIterator iterator, BaseImageRecordReader reader)
      throws IllegalAccessException {
    if (underlying.get(iterator) != null) {
      return true;
    }
    if (!reader.resetSupported() || files.get(reader) == null) {
      return false;
    }
    List<File> before = drain(reader);
    try {
      iterator.resetSupported();
      return true;
    } catch (RuntimeException | LinkageError e) {
      files.set(reader, before.iterator());
      return false;
    }
  }

  private String reasonToLeave(
      BaseImageRecordReader reader, RecordReaderMultiDataSetIterator arrays)
      throws IllegalAccessException {
    if (files.get(reader) == null) {
      return "readers of streams";
    }
    Object images = loader.get(reader);
    if (images == null || images.getClass() != NativeImageLoader.class) {
      return "readers without NativeImageLoader";
    }
    if (reader.getListeners() != null && !reader.getListeners().isEmpty()) {
      return "readers with listeners";
    }
    return arrays.isCollectMetaData() ? "iterators that collect metadata" : "";
  }

  /** The files the reader has before it, which it has still when this returns. */
  private List<File> drain(BaseImageRecordReader reader) throws IllegalAccessException {
    List<File> left = new ArrayList<>();
    ((Iterator<?>) files.get(reader)).forEachRemaining(file -> left.add((File) file));
    files.set(reader, new PassFiles(left));
    return left;
  }

  private void share(
      Object iterator,
      BaseImageRecordReader reader,
      RecordReaderMultiDataSetIterator arrays,
      List<File> own)
      throws ReflectiveOperationException, Description.Unclear {
    int batchSize = arrays.getBatchSize();
    ImageFiles all = filesOf(reader, own);
    BatchOrder order = BatchOrder.evenly(Objects.requireNonNull(all.numbersOf(own)), batchSize);
    Fingerprint pipeline =
        PipelineParts.of(
            iterator, reader, arrays, all.toString(), Nd4j.dataType().toString(), code);
    Pipeline copy = new Pipeline(iterator, reader, arrays);
    Preparation preparation = new Preparation(copy, all, words);
    endLatest(reader); // It works with the same transform.
    CoordinatedPass pass = coordinator.begin(pipeline, order);
    if (pass == null) {
      return;
    }
    List<File> adopted = filesOf(pass.order(), all, batchSize);
    if (adopted == null) {
      pass.end();
      return;
    }
    IteratorPass shared =
        new IteratorPass(
            iterator, pass, copy, preparation, batchSize, PipelineParts.preprocessorOf(iterator));
    PassFiles now = new PassFiles(adopted, shared);
    shared.endWith(now, cleaner);
    files.set(reader, now);
    synchronized (latest) {
      latest.put(reader, new WeakReference<>(shared));
    }
    pass.prepareWith(preparation, 1);
  }

  private void endLatest(BaseImageRecordReader reader) {
    WeakReference<IteratorPass> before;
    synchronized (latest) {
      before = latest.remove(reader);
    }
    IteratorPass pass = before == null ? null : before.get();
    if (pass != null) {
      pass.end();
    }
  }

  private ImageFiles filesOf(BaseImageRecordReader reader, List<File> own) {
    synchronized (known) {
      ImageFiles before = known.get(reader);
      if (before != null && before.numbersOf(own) != null) {
        return before;
      }
      ImageFiles all = new ImageFiles(own);
      known.put(reader, all);
      return all;
    }
  }

  /** The files in that order; null if it is no order of these, or not in such batches. */
  private static @Nullable List<File> filesOf(BatchOrder order, ImageFiles all, int batchSize) {
    int batches = order.batches();
    List<File> adopted = new ArrayList<>();
    for (int k = 0; k < batches; k++) {
      int[] items = order.items(k);
      if (k < batches - 1 && items.length != batchSize) {
        return null;
      }
      for (int item : items) {
        File file = all.file(item);
        if (file == null) {
          return null;
        }
        adopted.add(file);
      }
    }
    return all.numbersOf(adopted) == null ? null : adopted;
  }
}
