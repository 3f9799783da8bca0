package io.coordl.reports;

import picocli.CommandLine.Option;

/** {@code --json}, for every command that has a result: add it with {@code @Mixin}. */
final class JsonOption {
  @Option(
      names = "--json",
      description = "Print JSON, for programs: times in nanoseconds, sizes in bytes.")
  private boolean wanted;

  boolean wanted() {
    return wanted;
  }
}
