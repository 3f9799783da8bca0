package io.coordl.agent.install;

public final class OptionTable {
  private OptionTable() {}

  /** What {@code coordl-agent.jar=help} prints; called by reflection from the entry class too. */
  public static String help() {
    StringBuilder text =
        new StringBuilder(
            """
            Usage: java -javaagent:coordl-agent.jar[=key=value,...] ... your program
            @FILE reads arguments from a properties file; COORDL_OPTS adds to them.

            """);
    for (Option option : Option.values()) {
      text.append(String.format("  %-12s %s%n", option.key(), option.description()));
      text.append(
          String.format("  %-12s %s (default %s)%n", "", option.expected(), option.byDefault()));
    }
    return text.toString();
  }
}
