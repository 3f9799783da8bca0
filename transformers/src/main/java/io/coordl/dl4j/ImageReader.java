package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.ClassFiles;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.datavec.api.split.InputSplit;
import org.datavec.image.loader.BaseImageLoader;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.transform.ImageTransform;
import org.jspecify.annotations.Nullable;

/** A reader of images. Loaded only with one: a program without images lacks the classes. */
final class ImageReader extends ListedReader {
  private static final Class<?> TYPE = BaseImageRecordReader.class;

  private final BaseImageRecordReader reader;
  private final ReaderFiles known;
  private final InputSplit split;
  private @Nullable DataFiles files;

  /**
   * A reader.
   *
   * @throws CannotShareException if it does not read image files as it does as a rule
   */
  ImageReader(BaseImageRecordReader reader, ReaderFiles known) throws CannotShareException {
    super(reader, field(TYPE, "iter"));
    this.reader = reader;
    this.known = known;
    Object given = get(field(TYPE, "inputSplit"), reader);
    if (given == null || get(field(TYPE, "iter"), reader) == null) {
      throw new CannotShareException("readers of streams");
    }
    this.split = (InputSplit) given;
    Object loader = get(field(TYPE, "imageLoader"), reader);
    if (loader == null || loader.getClass() != NativeImageLoader.class) {
      throw new CannotShareException("readers without NativeImageLoader");
    }
  }

  @Override
  List<?> all() {
    return List.of(); // Nothing the library has stands on such a reader.
  }

  @Override
  boolean isWhole(List<?> elements) {
    return elements.size() == split.length();
  }

  private static List<File> asFiles(List<?> elements) {
    return elements.stream().map(File.class::cast).toList();
  }

  @Override
  int @Nullable [] numbersOf(List<?> elements) {
    DataFiles all = known.filesOf(reader, asFiles(elements));
    files = all;
    return all.numbersOf(asFiles(elements));
  }

  @Override
  @Nullable List<?> inOrderOf(int[] order) {
    return files == null ? null : files.inOrderOf(order);
  }

  @Override
  void moved(int place, List<?> elements) {
    if (place > 0) {
      set(field(TYPE, "currentFile"), reader, elements.get(place - 1));
    }
  }

  @Override
  ImageReader copy() throws ReflectiveOperationException {
    BaseImageRecordReader copy =
        reader instanceof ObjectDetectionRecordReader
            ? new ObjectDetectionRecordReader(1, 1, 1, 1, 1, null)
            : new ImageRecordReader();
    Members.copy(reader, copy);
    // As the reader makes it; it is not to be shared, since it keeps a converter of images.
    NativeImageLoader loader =
        new NativeImageLoader(
            Symbols.field(TYPE, "height", long.class).getLong(reader),
            Symbols.field(TYPE, "width", long.class).getLong(reader),
            Symbols.field(TYPE, "channels", long.class).getLong(reader),
            (ImageTransform)
                Symbols.field(TYPE, "imageTransform", ImageTransform.class).get(reader));
    Symbols.field(TYPE, "imageLoader", BaseImageLoader.class).set(copy, loader);
    try {
      ImageReader seekable = new ImageReader(copy, known);
      seekable.files = files;
      return seekable;
    } catch (CannotShareException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  void describe(Map<String, String> parts, String prefix)
      throws CannotShareException, ReflectiveOperationException, IOException {
    parts.put(prefix + "images", Objects.requireNonNull(files).toString());
    parts.put(prefix + "reader", reader.getClass().getSimpleName());
    for (Field own : reader.getClass().getDeclaredFields()) {
      if (!own.getName().startsWith("current")) {
        parts.put(prefix + own.getName(), part(reader.getClass(), own.getName()));
      }
    }
    parts.put(
        prefix + "image size (channels x height x width)",
        part("channels") + "x" + part("height") + "x" + part("width"));
    parts.put(prefix + "channels first", Boolean.toString(reader.isNchw_channels_first()));
    parts.put(prefix + "image transform", part("imageTransform"));
    parts.put(prefix + "labels", Description.of("labels", reader.getLabels()));
    parts.put(prefix + "label generator", part("labelGenerator"));
    parts.put(prefix + "generator of several labels", part("labelMultiGenerator"));
    parts.put(prefix + "labels in batches", part("appendLabel") + ", " + part("writeLabel"));
    String image = "/org/datavec/image/";
    parts.put(
        prefix + "reader's code",
        ClassFiles.checksum(TYPE, image + "recordreader/BaseImageRecordReader")
            + " "
            + ClassFiles.checksum(TYPE, image + "loader/NativeImageLoader")
            + ", OpenCV "
            + ClassFiles.checksum(TYPE, "/org/bytedeco/opencv/global/opencv_core")
            + " "
            + ClassFiles.checksum(TYPE, "/org/bytedeco/opencv/global/opencv_imgcodecs"));
  }

  private String part(String name) throws CannotShareException, ReflectiveOperationException {
    return part(TYPE, name);
  }

  private String part(Class<?> owner, String name)
      throws CannotShareException, ReflectiveOperationException {
    return Description.of(SeekableReader.spaced(name), Symbols.field(owner, name).get(reader));
  }
}
