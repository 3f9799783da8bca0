package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/**
 * Data sets of bitmaps in four class folders: large, and fast to decode, so that both storage and
 * cores can be the bottleneck of one job.
 */
final class Bitmaps {
  private static final int CLASSES = 4;

  private Bitmaps() {}

  /** Returns a data set of bitmaps of {@code side} x {@code side} pixels; created once. */
  static Path make(Checkout checkout, Path work, int samples, int side)
      throws IOException, InterruptedException {
    Path pictures = work.resolve("bitmaps-" + side + "-" + samples);
    if (Files.notExists(pictures)) {
      Path making = work.resolve("making-" + side + "-" + samples);
      Pictures.make(
          checkout,
          making,
          Integer.toString(CLASSES),
          Integer.toString(samples / CLASSES),
          "320x240");
      toBitmaps(making, side);
      Files.move(making, pictures);
    }
    return pictures;
  }

  private static void toBitmaps(Path pictures, int side) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(pictures)) {
      files = all.filter(file -> file.toString().endsWith(".jpg")).sorted().toList();
    }
    for (Path file : files) {
      BufferedImage bitmap = new BufferedImage(side, side, BufferedImage.TYPE_3BYTE_BGR);
      Graphics2D canvas = bitmap.createGraphics();
      canvas.drawImage(ImageIO.read(file.toFile()), 0, 0, side, side, null);
      canvas.dispose();
      Path target = Path.of(file.toString().replaceAll("jpg$", "bmp"));
      if (!ImageIO.write(bitmap, "bmp", target.toFile())) {
        throw new IOException("This JDK writes no bitmaps.");
      }
      Files.delete(file);
    }
  }
}
