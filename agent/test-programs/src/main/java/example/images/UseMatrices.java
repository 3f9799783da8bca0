package example.images;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.datavec.image.data.ImageWritable;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.transform.CropImageTransform;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.ImageTransform;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Loads pictures with DL4J's loader into arrays of many kinds, three times. Argument: an empty
 * folder, where it creates the pictures: colour, grey, and one file that is not a picture.
 */
public final class UseMatrices {
  private UseMatrices() {}

  /** Prints a line per use. */
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
      fail(text, new NativeImageLoader(24, 32, 3));
      fail(folder.resolve("missing.jpg").toFile(), new NativeImageLoader(24, 32, 3));
      changed(pictures.get(0));
      interrupted(text, pictures);
    }
  }

  /** Uses transforms that draw random numbers or work in place, several times with each loader. */
  private static void changed(File file) throws IOException {
    Random random = new Random(7);
    ImageTransform crop = new CropImageTransform(random, 9);
    ImageTransform flip = new FlipImageTransform(random);
    NativeImageLoader cropping = new NativeImageLoader(24, 32, 3, crop);
    NativeImageLoader flipping = new NativeImageLoader(20, 20, 1, flip);
    NativeImageLoader painting = new NativeImageLoader(24, 32, 3, new Paint());
    INDArray view = Nd4j.create(3, 24, 32);
    for (int i = 0; i < 3; i++) {
      matrix(file, "cropped at random", cropping);
      cropping.asMatrixView(file, view);
      print(file, "view cropped at random", view);
      matrix(file, "flipped at random", flipping);
      matrix(file, "painted on", painting);
      print(file, "painted on, channels last", painting.asMatrix(file, false));
    }
    print(file, "image", painting.asImageMatrix(file).getImage());
    print(file, "writable", painting.asMatrix(painting.asWritable(file)));
  }

  /** After each failed load, loads a file, a stream or an image with the same loader. */
  private static void interrupted(File text, List<File> pictures) throws IOException {
    Paint paint = new Paint();
    NativeImageLoader loader = new NativeImageLoader(24, 32, 3, paint);
    for (File file : pictures) {
      paint.refusing = true;
      fail(file, loader);
      paint.refusing = false;
      stream(pictures.get(1), loader);
      fail(text, loader);
      stream(pictures.get(0), loader);
      fail(text, loader);
      print(pictures.get(1), "writable", loader.asMatrix(loader.asWritable(pictures.get(1))));
      matrix(file, "after failures", loader);
    }
  }

  private static void stream(File file, NativeImageLoader loader) throws IOException {
    try (InputStream in = new FileInputStream(file)) {
      print(file, "stream", loader.asMatrix(in));
    }
  }

  /** Paints a corner of the picture in place, or throws. */
  private static final class Paint implements ImageTransform {
    private boolean refusing;

    @Override
    public ImageWritable transform(ImageWritable image) {
      if (refusing) {
        throw new IllegalStateException("refused");
      }
      ByteBuffer pixels = (ByteBuffer) image.getFrame().image[0];
      for (int i = 0; i < 100; i++) {
        pixels.put(i, (byte) (pixels.get(i) + 50));
      }
      return image;
    }

    @Override
    public ImageWritable transform(ImageWritable image, Random random) {
      return transform(image);
    }

    @Override
    public float[] query(float... coordinates) {
      return coordinates;
    }

    @Override
    public ImageWritable getCurrentImage() {
      throw new UnsupportedOperationException();
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
    print(file, "channels last", loader.asMatrix(file, false));
    print(file, "row", loader.asRowVector(file));

    INDArray batch = Nd4j.createUninitialized(new long[] {2, 3, 24, 32}, 'c');
    loader.asMatrixView(file, batch.tensorAlongDimension(0, 1, 2, 3));
    loader.asMatrixView(file, batch.tensorAlongDimension(1, 1, 2, 3));
    print(file, "views", batch);
    // Changing the program's own array must not affect later loads.
    batch.muli(0);
    loader.asMatrixView(file, batch.tensorAlongDimension(1, 1, 2, 3));
    print(file, "one view", batch);

    INDArray doubles = Nd4j.create(DataType.DOUBLE, 3, 24, 32);
    loader.asMatrixView(file, doubles);
    print(file, "doubles", doubles);
    INDArray columns = Nd4j.create(DataType.FLOAT, new long[] {3, 24, 32}, 'f');
    loader.asMatrixView(file, columns);
    print(file, "column order", columns);
    INDArray wrong = Nd4j.create(DataType.FLOAT, 3, 25, 32);
    try {
      loader.asMatrixView(file, wrong);
      print(file, "wrong size", wrong);
    } catch (RuntimeException e) {
      System.out.println(file.getName() + " wrong size: " + e);
    }
  }

  private static void matrix(File file, String how, NativeImageLoader loader) throws IOException {
    print(file, how, loader.asMatrix(file));
  }

  private static void fail(File file, NativeImageLoader loader) {
    try {
      print(file, "loaded", loader.asMatrix(file));
    } catch (IOException | RuntimeException e) {
      System.out.println(file.getName() + " failed: " + e);
    } catch (LinkageError e) {
      // The loader falls back to Leptonica, whose natives are missing. Prints only the class.
      System.out.println(file.getName() + " failed: " + e.getClass());
    }
  }

  private static void print(File file, String use, INDArray array) {
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
