package io.coordl.benchmarks;

import io.coordl.harness.Checkout;

/** The commands that a reader may repeat. */
final class Commands {
  private Commands() {}

  /** What runs {@code benchmark} with {@code arguments}, from the top of the checkout. */
  static String of(Checkout checkout, Class<?> benchmark, Object arguments) {
    return "mvn -ntp -q -f "
        + checkout.root().resolve("pom.xml")
        + " -Pbenchmark -Dbenchmark="
        + benchmark.getSimpleName()
        + " -Dbenchmark.args='"
        + arguments
        + "'"
        + " -pl examples/benchmarks -am verify";
  }
}
