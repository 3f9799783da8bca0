package io.coordl.shared;

import java.io.IOException;

/** Another job sets the file up, or leaves it, and does not get on: it may be had later. */
public final class BusyFileException extends IOException {
  private static final long serialVersionUID = 1;

  BusyFileException(String message) {
    super(message);
  }
}
