package io.coordl.host;

import java.io.IOException;

/**
 * Another job has held the file's setup lock for too long while creating or leaving the file. The
 * file may be available later.
 */
public final class BusyFileException extends IOException {
  private static final long serialVersionUID = 1;

  BusyFileException(String message) {
    super(message);
  }
}
