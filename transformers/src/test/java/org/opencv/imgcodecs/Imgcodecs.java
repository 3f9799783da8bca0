package org.opencv.imgcodecs;

import java.util.ArrayList;
import java.util.List;
import org.opencv.core.Mat;

/** Stub of OpenCV's class; cannot decode content that starts with "raw". */
public final class Imgcodecs {
  public static final List<Mat> BUFFERS = new ArrayList<>();

  // Bindings that load native code in a static initialiser do so in all their classes.
  static {
    new Mat("");
  }

  private Imgcodecs() {}

  public static Mat imread(String path) {
    return new Mat("from file " + path + " 1");
  }

  public static Mat imread(String path, int flags) {
    return new Mat("from file " + path + " " + flags);
  }

  public static Mat imdecode(Mat buffer, int flags) {
    BUFFERS.add(buffer);
    return new Mat(
        buffer.content.startsWith("raw") ? "" : "decoded " + buffer.content + " " + flags);
  }
}
