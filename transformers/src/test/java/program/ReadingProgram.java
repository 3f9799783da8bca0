package program;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A program's class that reads files. */
public final class ReadingProgram {
  private ReadingProgram() {}

  /** Returns the first byte; -1 if there is none. */
  public static int first(String path) throws IOException {
    try (InputStream in = new FileInputStream(path)) {
      return in.read();
    }
  }
}
