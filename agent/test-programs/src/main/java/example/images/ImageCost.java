package example.images;

import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Time to create an array from a picture with {@code ImageFactory.fromFile} and {@code toNDArray},
 * compared with copying as many bytes. Arguments: a folder of JPEG files, the number of passes.
 * Prints one line with both medians over up to 200 pictures, the lowest of all passes, in
 * microseconds.
 */
public final class ImageCost {
  private ImageCost() {}

  public static void main(String[] args) throws IOException {
    List<Path> files;
    try (Stream<Path> tree = Files.walk(Path.of(args[0]))) {
      files = tree.filter(file -> file.toString().endsWith(".jpg")).sorted().limit(200).toList();
    }
    double arrays = Double.MAX_VALUE;
    double copies = Double.MAX_VALUE;
    long bytes = 0; // Of all pictures, in the last pass.
    try (NDManager manager = NDManager.newBaseManager()) {
      for (int pass = 0; pass < Integer.parseInt(args[1]); pass++) {
        long[] array = new long[files.size()];
        long[] copy = new long[files.size()];
        bytes = 0;
        for (int i = 0; i < files.size(); i++) {
          long start = System.nanoTime();
          Image image = ImageFactory.getInstance().fromFile(files.get(i));
          NDArray pixels = image.toNDArray(manager, Image.Flag.COLOR);
          array[i] = System.nanoTime() - start;
          int size = (int) pixels.size();
          bytes += size;
          pixels.close();
          copy[i] = copy(size);
        }
        arrays = Math.min(arrays, median(array));
        copies = Math.min(copies, median(copy));
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d files, %d bytes each on average: array %.0f us, fresh direct buffer and copy %.0f"
            + " us%n",
        files.size(),
        bytes / files.size(),
        arrays / 1e3,
        copies / 1e3);
  }

  /**
   * Returns the nanoseconds that an array with its own memory costs at least: allocation and copy.
   */
  private static long copy(int bytes) {
    ByteBuffer source = SOURCE.duplicate().limit(bytes);
    long start = System.nanoTime();
    ByteBuffer target = ByteBuffer.allocateDirect(bytes);
    target.put(source);
    return System.nanoTime() - start;
  }

  private static final ByteBuffer SOURCE = ByteBuffer.allocateDirect(8 << 20);

  private static double median(long[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
