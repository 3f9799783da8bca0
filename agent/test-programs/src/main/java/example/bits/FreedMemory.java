package example.bits;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.datavec.image.loader.Java2DNativeImageLoader;
import org.datavec.image.loader.NativeImageLoader;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Demonstrates that DL4J and JavaCV free native memory while it is being read by address if nothing
 * keeps its owner reachable. The reader then occasionally gets wrong values. Arguments: a way to
 * read, and the number of reads.
 *
 * <ul>
 *   <li>{@code array}: {@code array.dup('c').data().pointer()}, which does not keep the copy
 *       reachable
 *   <li>{@code array-held}: as in {@link ArrayBytes}
 *   <li>{@code image}: {@code new NativeImageLoader().asMatrix(Object)} of a {@code BufferedImage},
 *       which does not keep its copy of the image (a frame) reachable
 *   <li>{@code image-held}: a {@code Java2DNativeImageLoader} that stays reachable, and with it its
 *       frame
 * </ul>
 *
 * <p>{@code packed} loads an image with one bit per pixel, like some TIFFs, with a loader that is
 * kept reachable: JavaCV copies only an eighth of the bytes that it reads; the others are
 * uninitialised.
 *
 * <p>Prints the first wrong values and the number of wrong reads; neither depends on the agent.
 */
public final class FreedMemory {
  private static final int SHOWN = 3;
  private static final int WIDTH = 61;
  private static final int HEIGHT = 47;

  private FreedMemory() {}

  /** One way to read. */
  private interface Read {
    byte[] bytes() throws Exception;
  }

  public static void main(String[] args) throws Exception {
    Read read =
        switch (args[0]) {
          case "array" -> loose(labels());
          case "array-held" -> held(labels());
          case "image" -> image(image(BufferedImage.TYPE_3BYTE_BGR));
          case "packed" -> packed(image(BufferedImage.TYPE_BYTE_BINARY));
          default -> imageHeld(image(BufferedImage.TYPE_3BYTE_BGR));
        };
    long reads = Long.parseLong(args[1]);
    byte[] right = read.bytes().clone();
    Thread collector = new Thread(FreedMemory::collect);
    collector.setDaemon(true);
    collector.start();
    byte[][] garbage = new byte[16][];
    long wrong = 0;
    for (long i = 1; i <= reads; i++) {
      byte[] bytes = read.bytes();
      if (!Arrays.equals(bytes, right)) {
        wrong++;
        if (wrong <= SHOWN) {
          print(i, bytes, right);
        }
      }
      garbage[(int) (i % garbage.length)] = new byte[2048];
    }
    System.out.println(args[0] + ": " + reads + " reads, " + wrong + " wrong");
  }

  private static void collect() {
    while (true) {
      System.gc();
    }
  }

  private static void print(long number, byte[] bytes, byte[] right) {
    int first = Arrays.mismatch(bytes, right);
    int end = Math.min(right.length, first + 32);
    HexFormat hex = HexFormat.ofDelimiter(" ");
    System.out.printf(
        "read %d, starting at byte %d of %d: %s%n  instead of %s%n",
        number,
        first,
        right.length,
        hex.formatHex(bytes, first, end),
        hex.formatHex(right, first, end));
  }

  private static INDArray labels() {
    INDArray labels = Nd4j.zeros(7, 3);
    for (int i = 0; i < 7; i++) {
      labels.putScalar(i, i % 3, 1);
    }
    return labels;
  }

  private static Read loose(INDArray array) {
    byte[] bytes = new byte[7 * 3 * Float.BYTES];
    return () -> {
      ByteBuffer memory = array.dup('c').data().pointer().asByteBuffer();
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = memory.get(i);
      }
      return bytes;
    };
  }

  private static Read held(INDArray array) {
    return () -> ArrayBytes.of(array);
  }

  private static BufferedImage image(int type) {
    BufferedImage image = new BufferedImage(WIDTH, HEIGHT, type);
    Random random = new Random(1);
    for (int y = 0; y < HEIGHT; y++) {
      for (int x = 0; x < WIDTH; x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    return image;
  }

  private static Read image(BufferedImage image) {
    return () -> ArrayBytes.of(new NativeImageLoader().asMatrix((Object) image));
  }

  private static Read imageHeld(BufferedImage image) {
    Java2DNativeImageLoader loader = new Java2DNativeImageLoader();
    return () -> load(loader, image);
  }

  private static Read packed(BufferedImage image) {
    return () -> load(new Java2DNativeImageLoader(), image);
  }

  private static byte[] load(Java2DNativeImageLoader loader, BufferedImage image)
      throws IOException {
    try {
      return ArrayBytes.of(loader.asMatrix(image));
    } finally {
      Reference.reachabilityFence(loader);
    }
  }
}
