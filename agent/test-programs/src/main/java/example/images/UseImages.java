package example.images;

import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.output.Point;
import ai.djl.modality.cv.output.Rectangle;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;

/**
 * Uses DJL images in many ways, three times. Argument: an empty folder, where it creates the
 * pictures: colour, grey, with an alpha channel, and one file that is not a picture.
 */
public final class UseImages {
  private final NDManager manager;

  private UseImages(NDManager manager) {
    this.manager = manager;
  }

  /** Prints a line per use. */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    List<Path> pictures =
        List.of(
            picture(folder.resolve("color.jpg"), "jpg", BufferedImage.TYPE_3BYTE_BGR),
            picture(folder.resolve("gray.jpg"), "jpg", BufferedImage.TYPE_BYTE_GRAY),
            picture(folder.resolve("alpha.png"), "png", BufferedImage.TYPE_INT_ARGB));
    Path text = Files.writeString(folder.resolve("text.jpg"), "no picture");
    try (NDManager manager = NDManager.newBaseManager()) {
      UseImages uses = new UseImages(manager);
      for (int pass = 1; pass <= 3; pass++) {
        for (Path picture : pictures) {
          uses.use(picture);
        }
        uses.fail(text);
        uses.fail(folder.resolve("missing.jpg"));
      }
    }
  }

  private static Path picture(Path file, String format, int type) throws IOException {
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
    return file;
  }

  private static Image load(Path file) throws IOException {
    return ImageFactory.getInstance().fromFile(file);
  }

  private void use(Path file) throws IOException {
    String name = file.getFileName().toString();
    Image image = load(file);
    print(name, "size", image.getWidth() + "x" + image.getHeight());
    print(name, "color", array(image, Image.Flag.COLOR));
    print(name, "grayscale", array(image, Image.Flag.GRAYSCALE));
    try (NDArray array = image.toNDArray(manager)) {
      print(name, "no flag", text(array));
      // Changing the program's own array must not affect later loads.
      array.muli(0);
    }
    print(name, "again", array(image, Image.Flag.COLOR));

    image = load(file);
    image.drawRectangle(new Rectangle(new Point(0.1, 0.1), 0.5, 0.5), 0xff0000, 2);
    print(name, "drawn on", array(image, Image.Flag.COLOR));
    print(name, "drawn on, gray", array(image, Image.Flag.GRAYSCALE));
    print(name, "not drawn on", array(load(file), Image.Flag.COLOR));

    image = load(file);
    array(image, Image.Flag.COLOR);
    Image copy = image.duplicate();
    copy.drawRectangle(new Rectangle(new Point(0.2, 0.2), 0.5, 0.5), 0x00ff00, 2);
    print(name, "original of a copy", array(image, Image.Flag.COLOR));
    print(name, "copy", array(copy, Image.Flag.COLOR));

    image = load(file);
    Image part = image.getSubImage(5, 5, 20, 10);
    part.drawRectangle(new Rectangle(new Point(0.2, 0.2), 0.5, 0.5), 0x0000ff, 2);
    print(name, "part", array(part, Image.Flag.COLOR));
    print(name, "whole of a part", array(image, Image.Flag.COLOR));

    image = load(file);
    print(name, "same size", Boolean.toString(image.resize(61, 47, false) == image));
    print(name, "resized", array(image.resize(20, 10, false), Image.Flag.COLOR));

    image = load(file);
    BufferedImage wrapped = (BufferedImage) image.getWrappedImage();
    wrapped.setRGB(3, 3, 0xff123456);
    print(name, "wrapped", wrapped.getType() + " " + array(image, Image.Flag.COLOR));

    image = load(file);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    image.save(out, "png");
    print(name, "saved", checksum(out.toByteArray()));

    image = load(file);
    image.drawImage(load(file).resize(10, 10, true), true);
    print(name, "overlaid", array(image, Image.Flag.COLOR));
    print(name, "at last", array(load(file), Image.Flag.COLOR));
  }

  private void fail(Path file) {
    try {
      print(file.getFileName().toString(), "loaded", load(file).toString());
    } catch (IOException e) {
      print(file.getFileName().toString(), "failed", e.toString() + " " + e.getCause());
    }
  }

  private String array(Image image, Image.Flag flag) {
    try (NDArray array = image.toNDArray(manager, flag)) {
      return text(array);
    }
  }

  private static String text(NDArray array) {
    return array.getShape() + " " + array.getDataType() + " " + checksum(array.toByteArray());
  }

  private static String checksum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return String.format(Locale.ROOT, "%08x", crc.getValue());
  }

  private static void print(String file, String use, String what) {
    System.out.println(file + " " + use + ": " + what);
  }
}
