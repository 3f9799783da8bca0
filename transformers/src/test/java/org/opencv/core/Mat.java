package org.opencv.core;

/** Stands in for OpenCV's class of this name: what the rule for {@code imread} needs of it. */
public class Mat {
  static {
    if (Boolean.getBoolean("opencv.unlinked")) {
      throw new UnsatisfiedLinkError("no opencv in java.library.path");
    }
  }

  public final String content;
  public boolean released;

  public Mat(String content) {
    this.content = content;
  }

  public boolean empty() {
    return content.isEmpty();
  }

  public void release() {
    released = true;
  }
}
