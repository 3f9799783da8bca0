package program;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Reads the file named by its argument and prints its size in bytes, or the exception. */
public final class ReadsOne {
  private ReadsOne() {}

  public static void main(String[] arguments) {
    try (InputStream in = new FileInputStream(arguments[0])) {
      System.out.println(in.readAllBytes().length);
    } catch (IOException | RuntimeException e) {
      System.out.println(e);
    }
  }
}
