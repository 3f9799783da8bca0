package io.coordl.endtoend;

import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The output of {@code coordl summary} for a recording. */
final class Summary {
  private final JsonNode root;

  private Summary(JsonNode root) {
    this.root = root;
  }

  /** Returns the figures of a recording. */
  static Summary of(Path recording) throws IOException, InterruptedException {
    return new Summary(
        JsonMapper.shared().readTree(coordl("summary", "--json", recording.toString())));
  }

  /** Returns the text of a summary. */
  static List<String> text(Path recording) throws IOException, InterruptedException {
    return coordl("summary", recording.toString()).lines().toList();
  }

  /** Returns the output of a {@code coordl} command. */
  static String coordl(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Jdks.running().java().toString());
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-jar", Workshop.checkout().coordlJar().toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + " ended with exit status " + process.exitValue());
    }
    return out;
  }

  /** Returns a figure of the whole job. */
  long total(String name) {
    return number(root.path("totals"), name);
  }

  /** Returns the arguments to try next. */
  List<String> next() {
    List<String> arguments = new ArrayList<>();
    root.at("/next/arguments").forEach(argument -> arguments.add(argument.asString()));
    return arguments;
  }

  /** Returns the job's training rate. */
  double samplesPerSecond() {
    return root.at("/speed/samplesPerSecond").doubleValue();
  }

  /** Returns a figure of each epoch, in order. */
  List<Long> epochs(String name) {
    List<Long> figures = new ArrayList<>();
    root.path("epochs").forEach(epoch -> figures.add(number(epoch, name)));
    return figures;
  }

  /** Returns a figure of the only store. */
  long store(String name) {
    JsonNode stores = root.path("stores");
    if (stores.size() != 1) {
      throw new AssertionError("Expected one store: " + stores);
    }
    return number(stores.path(0), name);
  }

  /** Faults inside the agent. */
  long faults() {
    return number(root.path("faults"), "count");
  }

  private static long number(JsonNode node, String name) {
    if (!node.path(name).isNumber()) {
      throw new AssertionError("There is no number \"" + name + "\" in " + node);
    }
    return node.path(name).longValue();
  }
}
