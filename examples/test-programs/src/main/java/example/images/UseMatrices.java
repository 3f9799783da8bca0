package example.images;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.transform.FlipImageTransform;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Loads pictures with DL4J's loader into arrays of every kind, three times over. Argument: an empty
 * folder for the pictures, which this makes: colour, grey, and one that is no picture.
 */
public final class UseMatrices {
  private UseMatrices() {}

  /** Prints a line for each use. */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    List<File> pictures =
        List.of(
            picture(folder.resolve("color.jpg"), "jpg", BufferedImage.TYPE_3BYTE_BGR),
            picture(folder.resolve("gray.png"), "png", BufferedImage.TYPE_BYTE_GRAY));
    File text = Files.writeString(folder.resolve("text.jpg"), "no picture").toFile();
    for (int pass = 1; pass <= 3; pass++) {
      for (File picture : pictures) {
        use(picture);
      }
      fail(text);
      fail(folder.resolve("missing.jpg").toFile());
    }
  }

  private static File picture(Path file, String format, int type) throws IOException {
    BufferedImage image = new BufferedImage(61, 47, type);
    Random random = new Random(type);
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    if (!ImageIO.write(image, format, file.toFile())) {
      throw new IOException("cannot write " + file);
    }
    return file.toFile();
  }

  private static void use(File file) throws IOException {
    matrix(file, "24x32", new NativeImageLoader(24, 32, 3));
    matrix(file, "24x32 again", new NativeImageLoader(24, 32, 3));
    matrix(file, "32x24", new NativeImageLoader(32, 24, 3));
    matrix(file, "one channel", new NativeImageLoader(24, 32, 1));
    matrix(file, "cropped", new NativeImageLoader(24, 32, 3, true));
    matrix(file, "own size", new NativeImageLoader());
    matrix(file, "flipped", new NativeImageLoader(24, 32, 3, new FlipImageTransform(1)));
    NativeImageLoader loader = new NativeImageLoader(24, 32, 3);
    say(file, "channels last", loader.asMatrix(file, false));
    say(file, "row", loader.asRowVector(file));

    INDArray batch = Nd4j.createUninitialized(new long[] {2, 3, 24, 32}, 'c');
    loader.asMatrixView(file, batch.tensorAlongDimension(0, 1, 2, 3));
    loader.asMatrixView(file, batch.tensorAlongDimension(1, 1, 2, 3));
    say(file, "views", batch);
    // What a program does to its array is its own affair.
    batch.muli(0);
    loader.asMatrixView(file, batch.tensorAlongDimension(1, 1, 2, 3));
    say(file, "one view", batch);

    INDArray doubles = Nd4j.create(DataType.DOUBLE, 3, 24, 32);
    loader.asMatrixView(file, doubles);
    say(file, "doubles", doubles);
    INDArray columns = Nd4j.create(DataType.FLOAT, new long[] {3, 24, 32}, 'f');
    loader.asMatrixView(file, columns);
    say(file, "column order", columns);
    INDArray wrong = Nd4j.create(DataType.FLOAT, 3, 25, 32);
    try {
      loader.asMatrixView(file, wrong);
      say(file, "wrong size", wrong);
    } catch (RuntimeException e) {
      System.out.println(file.getName() + " wrong size: " + e);
    }
  }

  private static void matrix(File file, String how, NativeImageLoader loader) throws IOException {
    say(file, how, loader.asMatrix(file));
  }

  private static void fail(File file) {
    try {
      say(file, "loaded", new NativeImageLoader(24, 32, 3).asMatrix(file));
    } catch (IOException | RuntimeException e) {
      System.out.println(file.getName() + " failed: " + e);
    } catch (LinkageError e) {
      // What OpenCV cannot decode is tried with Leptonica, whose natives the example has not.
      System.out.println(file.getName() + " failed: " + e.getClass());
    }
  }

  private static void say(File file, String use, INDArray array) {
    CRC32 crc = new CRC32();
    for (double value : array.dup('c').data().asDouble()) {
      long bits = Double.doubleToRawLongBits(value);
      for (int shift = 0; shift < 64; shift += 8) {
        crc.update((int) (bits >>> shift));
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%s %s: %s %s %08x%n",
        file.getName(),
        use,
        array.shapeInfoToString().replaceAll("\\s+", " "),
        array.dataType(),
        crc.getValue());
  }
}
