package program;

/** A program's class that reads nothing. */
public final class PlainProgram {
  private PlainProgram() {}

  /** Returns the sum. */
  public static int add(int a, int b) {
    return a + b;
  }
}
