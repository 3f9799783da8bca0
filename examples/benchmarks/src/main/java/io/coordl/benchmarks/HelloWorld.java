package io.coordl.benchmarks;

/** The smallest program: what is left is the JVM's own start. */
public final class HelloWorld {
  private HelloWorld() {}

  /** Prints one line. */
  public static void main(String[] args) {
    System.out.println("hello");
  }
}
