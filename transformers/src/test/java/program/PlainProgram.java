package program;

/** A class of a program that reads nothing. */
public final class PlainProgram {
  private PlainProgram() {}

  /** The sum. */
  public static int add(int a, int b) {
    return a + b;
  }
}
