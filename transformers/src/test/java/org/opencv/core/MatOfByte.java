package org.opencv.core;

import java.nio.charset.StandardCharsets;

/** Stands in for OpenCV's class of this name. */
public class MatOfByte extends Mat {
  public MatOfByte(byte... bytes) {
    super(new String(bytes, StandardCharsets.ISO_8859_1));
  }
}
