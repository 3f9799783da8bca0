package example.images;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.transform.FlipImageTransform;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Time to fill a DL4J array with a picture by {@code NativeImageLoader.asMatrixView}, compared with
 * copying as many bytes. Arguments: a folder of JPEG files, the number of passes, and {@code flip}
 * for a loader with a transform. Prints one line with both medians over up to 200 pictures, the
 * lowest of all passes, in microseconds.
 */
public final class MatrixCost {
  private static final int SIZE = 224;

  private MatrixCost() {}

  public static void main(String[] args) throws IOException {
    List<File> files;
    try (Stream<Path> tree = Files.walk(Path.of(args[0]))) {
      files =
          tree.filter(file -> file.toString().endsWith(".jpg"))
              .sorted()
              .limit(200)
              .map(Path::toFile)
              .toList();
    }
    NativeImageLoader loader =
        args.length > 2 && args[2].equals("flip")
            ? new NativeImageLoader(SIZE, SIZE, 3, new FlipImageTransform(new Random(1)))
            : new NativeImageLoader(SIZE, SIZE, 3);
    INDArray array = Nd4j.create(3, SIZE, SIZE);
    ByteBuffer from = ByteBuffer.allocateDirect(3 * SIZE * SIZE * Float.BYTES);
    ByteBuffer to = ByteBuffer.allocateDirect(from.capacity());
    double arrays = Double.MAX_VALUE;
    double copies = Double.MAX_VALUE;
    for (int pass = 0; pass < Integer.parseInt(args[1]); pass++) {
      long[] filling = new long[files.size()];
      long[] copying = new long[files.size()];
      for (int i = 0; i < files.size(); i++) {
        long start = System.nanoTime();
        loader.asMatrixView(files.get(i), array);
        long filled = System.nanoTime();
        to.clear().put(from.clear());
        copying[i] = System.nanoTime() - filled;
        filling[i] = filled - start;
      }
      arrays = Math.min(arrays, median(filling));
      copies = Math.min(copies, median(copying));
    }
    System.out.printf(
        Locale.ROOT,
        "%d files, %d bytes of floats each: array %.0f us, copy %.0f us%n",
        files.size(),
        from.capacity(),
        arrays / 1e3,
        copies / 1e3);
  }

  private static double median(long[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
