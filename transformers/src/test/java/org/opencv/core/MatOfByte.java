package org.opencv.core;

import java.nio.charset.StandardCharsets;

/** Stub of OpenCV's class. */
public class MatOfByte extends Mat {
  public MatOfByte(byte... bytes) {
    super(new String(bytes, StandardCharsets.ISO_8859_1));
  }
}
