package io.coordl.reports;

import io.coordl.reports.summary.EventJson;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Prints a command's result as text or JSON: add with {@code @Mixin}, and call {@link #print}. */
final class JsonOption {
  /** Created only on first use: its creation takes a third of a command's start-up time. */
  private static final class Mapper {
    static final JsonMapper INSTANCE =
        EventJson.mapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            // Makes the JSON independent of the terminal's encoding.
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(names = "--json", description = "Print JSON; names of times and sizes end in their unit.")
  boolean enabled;

  /**
   * Prints a result.
   *
   * @param result written as JSON, in declaration order; a schema describes it
   * @param text the same result as lines of text
   */
  void print(Object result, List<String> text) {
    PrintWriter out = command.commandLine().getOut();
    if (enabled) {
      out.println(Mapper.INSTANCE.writeValueAsString(result));
    } else {
      terminal().format(text).forEach(out::println);
    }
  }

  Terminal terminal() {
    return command.root().userObject() instanceof Coordl coordl ? coordl.terminal : Terminal.NONE;
  }
}
