package io.coordl.benchmarks;

/** The smallest program, to measure JVM start-up. */
public final class HelloWorld {
  private HelloWorld() {}

  /** Prints one line. */
  public static void main(String[] args) {
    System.out.println("hello");
  }
}
