package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Commands that reproduce results. */
final class Commands {
  private Commands() {}

  /** Returns the command that runs {@code benchmark} with {@code arguments}, from any directory. */
  static String of(Checkout checkout, Class<?> benchmark, String... arguments) {
    return "mvn -ntp -q -f "
        + checkout.root().resolve("pom.xml")
        + " -Pbenchmark -Dbenchmark="
        + benchmark.getSimpleName()
        + " -Dbenchmark.args=\""
        + Stream.of(arguments).map(Commands::quoted).collect(Collectors.joining(" "))
        + '"'
        + " -pl examples/benchmarks -am verify";
  }

  private static String quoted(String argument) {
    return argument.isEmpty() || argument.contains(" ") ? "'" + argument + "'" : argument;
  }
}
