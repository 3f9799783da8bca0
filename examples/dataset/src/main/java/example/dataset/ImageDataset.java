package example.dataset;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import java.util.Locale;
import java.util.SplittableRandom;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/**
 * Writes class folders of JPEG files: {@code DIR/class0/00000.jpg} and so on.
 *
 * <p>Each file depends only on its class, its number, the seed and the picture size, so a run with
 * the same arguments continues an interrupted one: it skips existing files, and renames a file to
 * its final name only when complete.
 */
public final class ImageDataset {
  private static final String USAGE =
      "usage: java -cp example-dataset.jar example.dataset.ImageDataset"
          + " DIR CLASSES PER_CLASS [WxH, default 400x300] [SEED, default 1]";

  private static final float QUALITY = 0.86f;

  private final Path directory;
  private final int width;
  private final int height;
  private final long seed;

  /** Creates a data set below {@code directory}, of pictures of width x height pixels. */
  public ImageDataset(Path directory, int width, int height, long seed) {
    this.directory = directory;
    this.width = width;
    this.height = height;
    this.seed = seed;
  }

  /** Writes a data set. Arguments: {@code DIR CLASSES PER_CLASS [WxH] [SEED]}. */
  public static void main(String[] args) throws IOException {
    if (args.length < 3 || args.length > 5) {
      System.err.println(USAGE);
      System.exit(2);
    }
    int classes;
    int perClass;
    ImageDataset dataset;
    try {
      classes = positive("CLASSES", args[1]);
      perClass = positive("PER_CLASS", args[2]);
      String[] size = (args.length > 3 ? args[3] : "400x300").split("x", -1);
      if (size.length != 2) {
        throw new IllegalArgumentException(
            "WxH is " + args[3] + ", expected a size such as 400x300.");
      }
      long seed = args.length > 4 ? Long.parseLong(args[4]) : 1;
      dataset =
          new ImageDataset(
              Path.of(args[0]), positive("width", size[0]), positive("height", size[1]), seed);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(USAGE);
      System.exit(2);
      return;
    }
    dataset.write(classes, perClass);
  }

  private static int positive(String name, String value) {
    try {
      int number = Integer.parseInt(value);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The exception below covers both kinds of bad values.
    }
    throw new IllegalArgumentException(
        name + " is " + value + ", expected a whole number above 0.");
  }

  /** Writes the files that are missing; shows progress on standard output. */
  public void write(int classes, int perClass) throws IOException {
    int total = classes * perClass;
    int written = 0;
    long bytes = 0;
    // The encoder's output is small, so avoid a temporary file per picture.
    ImageIO.setUseCache(false);
    for (int shape = 0; shape < classes; shape++) {
      Path folder = Files.createDirectories(directory.resolve("class" + shape));
      for (int number = 0; number < perClass; number++) {
        Path file = folder.resolve(String.format(Locale.ROOT, "%05d.jpg", number));
        if (!Files.exists(file)) {
          write(file, shape, number);
          written++;
        }
        bytes += Files.size(file);
        int done = shape * perClass + number + 1;
        if (done % 100 == 0 || done == total) {
          System.out.printf(
              Locale.ROOT,
              "data set %s: %d of %d files, %.1f MB%n",
              directory,
              done,
              total,
              bytes / 1e6);
        }
      }
    }
    System.out.printf(
        Locale.ROOT,
        "data set %s: %d files written, %d existed already%n",
        directory,
        written,
        total - written);
  }

  private void write(Path file, int shape, int number) throws IOException {
    SplittableRandom random = new SplittableRandom(seed * 1_000_003 + shape * 10_000_019L + number);
    BufferedImage picture = Picture.paint(width, height, shape, random);
    Path part = file.resolveSibling(file.getFileName() + ".part");
    encode(picture, part);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void encode(BufferedImage picture, Path file) throws IOException {
    Iterator<ImageWriter> writers = ImageIO.getImageWritersByFormatName("jpg");
    if (!writers.hasNext()) {
      throw new IOException("This JDK has no JPEG encoder (java.desktop); no data set is written.");
    }
    ImageWriter writer = writers.next();
    // Closing an ImageOutputStream does not close the stream below it.
    try (OutputStream stream = Files.newOutputStream(file);
        ImageOutputStream out = ImageIO.createImageOutputStream(stream)) {
      ImageWriteParam quality = writer.getDefaultWriteParam();
      quality.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
      quality.setCompressionQuality(QUALITY);
      writer.setOutput(out);
      writer.write(null, new IIOImage(picture, null, null), quality);
    } finally {
      writer.dispose();
    }
  }
}
