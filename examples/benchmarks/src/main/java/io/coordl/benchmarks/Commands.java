package io.coordl.benchmarks;

import io.coordl.harness.Checkout;

/** Commands that reproduce results. */
final class Commands {
  private Commands() {}

  /** Returns the command that runs {@code benchmark} with {@code arguments}, from any directory. */
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
