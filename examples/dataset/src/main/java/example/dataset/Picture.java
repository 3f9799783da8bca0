package example.dataset;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferInt;
import java.util.SplittableRandom;

/**
 * Paints one picture that compresses and decodes like a photograph: value noise in octaves, each
 * half as strong and twice as fine as the one before (photographs have roughly such a spectrum), a
 * light gradient, sensor noise, and a few objects whose shape depends on the class.
 *
 * <p>The same random state gives the same background on every JDK, because only {@link
 * SplittableRandom} and IEEE arithmetic are used for it; Java 2D draws the objects. Stateless; any
 * thread may call it.
 */
final class Picture {
  private static final int OCTAVES = 7;
  private static final double SENSOR_NOISE = 34;

  private Picture() {}

  /** Returns a width x height picture of the class {@code shape}. */
  static BufferedImage paint(int width, int height, int shape, SplittableRandom random) {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    paintBackground(image, random);
    paintObjects(image, shape, random);
    return image;
  }

  private static void paintBackground(BufferedImage image, SplittableRandom random) {
    int width = image.getWidth();
    int height = image.getHeight();
    float[][] planes = new float[3][width * height];
    for (int octave = 0; octave < OCTAVES; octave++) {
      int cell = Math.max(2, Math.max(width, height) >> (octave + 1));
      float strength = 90f / (1 << octave);
      for (float[] plane : planes) {
        addNoise(plane, width, height, cell, strength, random);
      }
    }
    int[] pixels = ((DataBufferInt) image.getRaster().getDataBuffer()).getData();
    for (int y = 0; y < height; y++) {
      double light = 150 - 60.0 * y / height;
      for (int x = 0; x < width; x++) {
        int i = y * width + x;
        double grain = light + SENSOR_NOISE * (random.nextDouble() - 0.5);
        pixels[i] =
            clamp(planes[0][i] + grain) << 16
                | clamp(planes[1][i] + grain) << 8
                | clamp(planes[2][i] + grain);
      }
    }
  }

  /**
   * Adds random values on a grid with a node every {@code cell} pixels, interpolated between nodes.
   */
  private static void addNoise(
      float[] plane, int width, int height, int cell, float strength, SplittableRandom random) {
    int columns = width / cell + 2;
    float[] grid = new float[columns * (height / cell + 2)];
    for (int i = 0; i < grid.length; i++) {
      grid[i] = (float) (random.nextDouble() - 0.5) * strength;
    }
    for (int y = 0; y < height; y++) {
      int row = y / cell * columns;
      float down = smooth(y % cell, cell);
      for (int x = 0; x < width; x++) {
        int node = row + x / cell;
        float right = smooth(x % cell, cell);
        float upper = grid[node] + (grid[node + 1] - grid[node]) * right;
        float lower =
            grid[node + columns] + (grid[node + columns + 1] - grid[node + columns]) * right;
        plane[y * width + x] += upper + (lower - upper) * down;
      }
    }
  }

  private static float smooth(int position, int cell) {
    float t = (float) position / cell;
    return t * t * (3 - 2 * t);
  }

  private static int clamp(double value) {
    return (int) Math.max(0, Math.min(255, value));
  }

  private static void paintObjects(BufferedImage image, int shape, SplittableRandom random) {
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    int unit = Math.min(image.getWidth(), image.getHeight());
    for (int i = 0; i < 4; i++) {
      double size = unit * (0.2 + 0.3 * random.nextDouble());
      double x = random.nextDouble() * (image.getWidth() - size);
      double y = random.nextDouble() * (image.getHeight() - size);
      graphics.setColor(
          new Color(random.nextInt(256), random.nextInt(256), random.nextInt(256), 200));
      switch (shape % 4) {
        case 0 -> graphics.fill(new Ellipse2D.Double(x, y, size, size));
        case 1 -> graphics.fill(new Rectangle2D.Double(x, y, size, size));
        case 2 -> {
          graphics.setStroke(new BasicStroke((float) size / 6));
          graphics.draw(new Ellipse2D.Double(x, y, size, size / 2));
        }
        default -> {
          Path2D triangle = new Path2D.Double();
          triangle.moveTo(x, y + size);
          triangle.lineTo(x + size, y + size);
          triangle.lineTo(x + size / 2, y);
          triangle.closePath();
          graphics.fill(triangle);
        }
      }
    }
    graphics.dispose();
  }
}
