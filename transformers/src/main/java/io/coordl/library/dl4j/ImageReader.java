package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.purity.ClassFiles;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.InputSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.transform.ImageTransform;
import org.jspecify.annotations.Nullable;

/**
 * A reader of images. This class is loaded only when an image reader is used, because a program
 * without images may lack the library's image classes.
 */
final class ImageReader extends ListedReader {
  private static final Class<?> TYPE = BaseImageRecordReader.class;

  private final BaseImageRecordReader reader;
  private final ReaderFiles known;
  private final InputSplit split;

  ImageReader(BaseImageRecordReader reader, ReaderFiles known) throws CannotShareException {
    super(reader, field(TYPE, "iter"));
    this.reader = reader;
    this.known = known;
    Object given = field(TYPE, "inputSplit").get(reader);
    if (given == null || field(TYPE, "iter").get(reader) == null) {
      throw new CannotShareException("readers of streams");
    }
    this.split = (InputSplit) given;
    Object loader = field(TYPE, "imageLoader").get(reader);
    if (loader == null || loader.getClass() != NativeImageLoader.class) {
      throw new CannotShareException("readers without NativeImageLoader");
    }
  }

  @Override
  boolean listsAll() {
    return false;
  }

  @Override
  List<?> all() {
    throw new IllegalStateException("not supported");
  }

  @Override
  boolean isWhole(List<?> elements) {
    return elements.size() == split.length();
  }

  @Override
  int[] numbersOf(List<?> elements) throws CannotShareException {
    int[] numbers = known.recordNumbers(split, elements);
    files = known.files();
    return numbers;
  }

  @Override
  @Nullable List<?> inOrderOf(int[] order) {
    return files == null ? null : files.inOrderOf(order);
  }

  @Override
  void moved(int place, List<?> elements) {
    if (place > 0) {
      field(TYPE, "currentFile").set(reader, elements.get(place - 1));
    }
  }

  @Override
  ImageReader makeCopy() throws CannotShareException {
    BaseImageRecordReader copy =
        reader instanceof ObjectDetectionRecordReader
            ? new ObjectDetectionRecordReader(1, 1, 1, 1, 1, null)
            : new ImageRecordReader();
    LibraryField.copyAll(reader, copy);
    // Configured like the reader's loader, which is not shared because it contains an image
    // converter.
    NativeImageLoader loader =
        new NativeImageLoader(
            (Long) field(TYPE, "height").require(reader),
            (Long) field(TYPE, "width").require(reader),
            (Long) field(TYPE, "channels").require(reader),
            (ImageTransform) field(TYPE, "imageTransform").get(reader));
    field(TYPE, "imageLoader").set(copy, loader);
    return new ImageReader(copy, known);
  }

  @Override
  boolean isShuffled() {
    return split instanceof FileSplit files
        && field(FileSplit.class, "randomize").bits(files) != 0
        && files.length() > 1;
  }

  @Override
  @Nullable String reasonNotToKeep() {
    return field(TYPE, "imageTransform").get(reader) == null
        ? null
        : "its image transform may draw random numbers";
  }

  @Override
  void describe(Map<String, String> parts, String prefix) throws CannotShareException, IOException {
    super.describe(parts, prefix);
    parts.put(
        prefix + "loader's code",
        ClassFiles.checksum(TYPE, "/org/datavec/image/loader/NativeImageLoader")
            + ", OpenCV "
            + ClassFiles.checksums(TYPE, DecodedMats.OPENCV));
  }
}
