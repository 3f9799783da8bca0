package io.coordl.harness;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The output of {@code coordl summary --json} for one recording. All times are in nanoseconds.
 *
 * @param wall from the first request for a batch to the end of the last request or step, plus later
 *     model writes
 * @param stall time the training thread waited for batches
 * @param fetchStall part of {@code stall} spent fetching
 * @param prepStall part of {@code stall} spent preparing
 * @param gcStall part of {@code stall} spent in garbage collection
 * @param queueStall part of {@code stall} spent on hand-over
 * @param hits number of reads served by a store
 * @param storageItems number of items read from storage, as counted by the agent
 * @param decodes number of calls that decoded something
 * @param epochs epochs and evaluations, in order
 */
public record RecordingSummary(
    long wall,
    long stall,
    long fetchStall,
    long prepStall,
    long gcStall,
    long queueStall,
    long hits,
    long storageItems,
    long decodes,
    List<Epoch> epochs) {

  /**
   * One epoch or evaluation.
   *
   * @param stall time the training thread waited for batches
   * @param compute time spent in steps
   * @param prep time of fetching, decoding, transforming and assembling, on all threads
   */
  public record Epoch(long stall, long compute, long prep) {}

  /** Returns {@code stall} of each epoch, in order. */
  List<Long> epochStalls() {
    return epochs.stream().map(Epoch::stall).toList();
  }

  /** Runs {@code coordl summary --json} on {@code recording}. */
  public static RecordingSummary read(Path coordlJar, Path recording)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Jdks.running().java().toString(),
                "-jar",
                coordlJar.toString(),
                "summary",
                "--json",
                recording.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    byte[] json = process.getInputStream().readAllBytes();
    int exit = process.waitFor();
    if (exit != 0) {
      throw new IllegalStateException(
          "coordl summary --json " + recording + " ended with exit status " + exit + ".");
    }
    try {
      return of(JsonMapper.shared().readTree(json));
    } catch (JacksonException e) {
      throw new IOException("coordl summary --json " + recording + " printed no JSON.", e);
    }
  }

  public static RecordingSummary of(JsonNode root) {
    JsonNode totals = root.path("totals");
    long hits = 0;
    for (JsonNode store : root.path("stores")) {
      hits += number(store, "hits");
    }
    long decodes = 0;
    for (JsonNode latency : root.path("latencies")) {
      decodes += latency.path("kind").asString().equals("decode") ? number(latency, "count") : 0;
    }
    List<Epoch> epochs = new ArrayList<>();
    for (JsonNode epoch : root.path("epochs")) {
      epochs.add(
          new Epoch(
              number(epoch, "stallNanos"),
              number(epoch, "computeNanos"),
              number(epoch, "fetchTimeNanos")
                  + number(epoch, "decodeTimeNanos")
                  + number(epoch, "transformTimeNanos")
                  + number(epoch, "otherTimeNanos")));
    }
    return new RecordingSummary(
        number(totals, "wallNanos"),
        number(totals, "stallNanos"),
        number(totals, "fetchStallNanos"),
        number(totals, "prepStallNanos"),
        number(totals, "gcStallNanos"),
        number(totals, "queueStallNanos"),
        hits,
        number(totals, "storageItems"),
        decodes,
        epochs);
  }

  /**
   * Reads a field that the schema promises; fails if it is missing, because tables would otherwise
   * show zeros.
   */
  private static long number(JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (!value.isNumber()) {
      throw new IllegalStateException(
          "coordl summary --json has no number \"" + field + "\" in " + node + ".");
    }
    return value.longValue();
  }
}
