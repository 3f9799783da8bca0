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

/** How commands print what they found: add it with {@code @Mixin}, and call {@link #print}. */
final class JsonOption {
  /** Made when it is used first: it takes a third of the time that a command needs to start. */
  private static final class Mapper {
    static final JsonMapper OF_EVENTS =
        EventJson.mapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            // So that the JSON is the same whatever the terminal's encoding.
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--json",
      description =
          "Print JSON, for programs: times in nanoseconds if not named in seconds, sizes in bytes.")
  boolean wanted;

  /**
   * Prints a result.
   *
   * @param result as JSON, in the order of its declaration; a schema describes it
   * @param text the same as lines
   */
  void print(Object result, List<String> text) {
    PrintWriter out = command.commandLine().getOut();
    if (wanted) {
      out.println(Mapper.OF_EVENTS.writeValueAsString(result));
    } else {
      terminal().dress(text).forEach(out::println);
    }
  }

  Terminal terminal() {
    return command.root().userObject() instanceof Coordl coordl ? coordl.terminal : Terminal.NONE;
  }
}
