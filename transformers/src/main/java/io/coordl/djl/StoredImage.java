package io.coordl.djl;

import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.output.BoundingBox;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.modality.cv.output.Joints;
import ai.djl.modality.cv.output.Point;
import ai.djl.modality.cv.output.Rectangle;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import io.coordl.cache.DecodedForm;
import io.coordl.pipeline.KeptItems;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An image of the data set, of which the program as a rule wants nothing but the array. Size and
 * array come from the kept pixels. Every other method is the library's own image's, which is
 * decoded when the first of them is called; and since images can be drawn on, and what they hand
 * out may be too, that image does everything from then on, and its pixels are not kept.
 *
 * <p>As safe for concurrent use as the library's own.
 */
final class StoredImage implements Image {
  private final ImageInterceptor.Origin origin;
  private final @Nullable Pixels kept;
  private @Nullable Image own;

  /** Whether the library's own image may have been drawn on. */
  private boolean touched;

  StoredImage(ImageInterceptor.Origin origin, Pixels kept) {
    this.origin = origin;
    this.kept = kept;
  }

  /** An image that the library has decoded, of which nothing is kept yet. */
  StoredImage(ImageInterceptor.Origin origin, Image own) {
    this.origin = origin;
    this.kept = null;
    this.own = own;
  }

  private synchronized Image own() {
    Image known = own;
    if (known == null) {
      if (kept == null) {
        throw new IllegalStateException("an image has pixels or an original");
      }
      known = origin.decode(kept);
      own = known;
    }
    return known;
  }

  private synchronized Image touch() {
    touched = true;
    return own();
  }

  @Override
  public synchronized int getWidth() {
    return own == null && kept != null ? kept.width() : own().getWidth();
  }

  @Override
  public synchronized int getHeight() {
    return own == null && kept != null ? kept.height() : own().getHeight();
  }

  @Override
  public synchronized NDArray toNDArray(NDManager manager, Flag flag) {
    DecodedForm form = touched ? null : origin.form(flag);
    if (form == null) {
      return own().toNDArray(manager, flag);
    }
    Pixels pixels =
        kept != null && kept.form().equals(form) ? kept : Pixels.find(origin.item, form);
    if (pixels != null) {
      return pixels.toArray(manager);
    }
    long start = System.nanoTime();
    NDArray array = own().toNDArray(manager, flag);
    KeptItems.keep(origin.item, form, System.nanoTime() - start, () -> Pixels.of(array));
    return array;
  }

  @Override
  public Object getWrappedImage() {
    return touch().getWrappedImage();
  }

  @Override
  public Image resize(int width, int height, boolean copy) {
    Image image = touch();
    Image resized = image.resize(width, height, copy);
    // The library hands out the image itself if it has that size already.
    return resized == image ? this : resized;
  }

  @Override
  public Image getMask(int[][] mask) {
    return touch().getMask(mask);
  }

  @Override
  public Image getSubImage(int x, int y, int w, int h) {
    return touch().getSubImage(x, y, w, h);
  }

  @Override
  public Image duplicate() {
    return touch().duplicate();
  }

  @Override
  public void save(OutputStream os, String type) throws IOException {
    touch().save(os, type);
  }

  @Override
  public List<BoundingBox> findBoundingBoxes() {
    return touch().findBoundingBoxes();
  }

  @Override
  public void drawBoundingBoxes(DetectedObjects detections) {
    touch().drawBoundingBoxes(detections);
  }

  @Override
  public void drawBoundingBoxes(DetectedObjects detections, float opacity) {
    touch().drawBoundingBoxes(detections, opacity);
  }

  @Override
  public void drawRectangle(Rectangle rect, int rgb, int thickness) {
    touch().drawRectangle(rect, rgb, thickness);
  }

  @Override
  public void drawMarks(List<Point> points) {
    touch().drawMarks(points);
  }

  @Override
  public void drawMarks(List<Point> points, int radius) {
    touch().drawMarks(points, radius);
  }

  @Override
  public void drawJoints(Joints joints) {
    touch().drawJoints(joints);
  }

  @Override
  public void drawImage(Image overlay, boolean resize) {
    touch().drawImage(overlay, resize);
  }

  @Override
  public int[][] createStar(Point point, int radius) {
    return touch().createStar(point, radius);
  }
}
