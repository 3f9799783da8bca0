package io.coordl.transformers.callsite;

import org.opencv.imgcodecs.Imgcodecs;

/** A program whose images OpenCV reads. */
public final class ImreadSubject {
  private ImreadSubject() {}

  public static String plain(String path) {
    return Imgcodecs.imread(path).content;
  }

  public static String flags(String path) {
    return Imgcodecs.imread(path, -1).content;
  }
}
