package io.coordl.library.djl;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one picture is cropped and resized: a part of it is resized, and the result is cropped.
 *
 * @param source the part of the picture
 * @param width width of the part after any resize
 * @param height height of the part after any resize
 * @param resizes whether the part is resized, even to its own size
 * @param result the part of the resized picture to keep
 */
record Augmentation(Box source, int width, int height, boolean resizes, Box result) {
  /** A part of a picture: its left and upper edge, its width and height. */
  record Box(int x, int y, int width, int height) {
    int area() {
      return width * height;
    }

    /** Returns the part of this box that a crop selects; null if the crop is not inside it. */
    @Nullable Box part(ShapeOnly.Step crop) {
      return crop.x() < 0
              || crop.y() < 0
              || crop.width() <= 0
              || crop.height() <= 0
              || (long) crop.x() + crop.width() > width
              || (long) crop.y() + crop.height() > height
          ? null
          : new Box(x + crop.x(), y + crop.y(), crop.width(), crop.height());
    }
  }

  /**
   * Combines the steps of a pipeline; returns null if they resize more than once, or if a step does
   * not fit.
   *
   * @param width width of the picture
   * @param height height of the picture
   */
  static @Nullable Augmentation of(List<ShapeOnly.Step> steps, int width, int height) {
    Box source = new Box(0, 0, width, height);
    Box result = source;
    boolean resizes = false;
    int toWidth = width;
    int toHeight = height;
    for (ShapeOnly.Step step : steps) {
      if (step.resizes()) {
        if (resizes || step.width() <= 0 || step.height() <= 0) {
          return null;
        }
        resizes = true;
        source = result;
        toWidth = step.width();
        toHeight = step.height();
        result = new Box(0, 0, toWidth, toHeight);
      } else {
        Box part = result.part(step);
        if (part == null) {
          return null;
        }
        result = part;
      }
    }
    if (resizes) {
      return new Augmentation(source, toWidth, toHeight, true, result);
    }
    return new Augmentation(
        result,
        result.width(),
        result.height(),
        false,
        new Box(0, 0, result.width(), result.height()));
  }
}
