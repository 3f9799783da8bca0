package io.coordl.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import tools.jackson.databind.JsonNode;

/**
 * A training program of {@code example.truth} whose rates are known by construction: it sleeps in
 * steps, in sample preparation, and in its storage. Immutable; any thread.
 *
 * @param name its first argument
 * @param mainClass its main class
 * @param module the example whose class path holds its framework
 * @param millis milliseconds to train on a sample, to prepare it, and to fetch it
 */
public record KnownRates(String name, String mainClass, String module, List<String> millis) {
  /**
   * True and measured time of one phase in nanoseconds per sample, or true and measured share of an
   * epoch.
   *
   * @param phase its name, with the number of threads for {@code prep} and {@code fetch}
   */
  public record Time(String phase, double truth, double measured) {
    /** Returns the relative error: positive if more was measured. */
    public double error() {
      return (measured - truth) / truth;
    }
  }

  /**
   * The results of one profile.
   *
   * @param times time of each phase
   * @param shares shares of an epoch: compute, prep stall, fetch stall
   */
  public record Profile(List<Time> times, List<Time> shares, Path recording, String err) {}

  /** Returns every program. */
  public static List<KnownRates> all() {
    String djl = "example.truth.DjlRates";
    String dl4j = "example.truth.Dl4jRates";
    return List.of(
        new KnownRates("serial", djl, "djl-image", List.of("20", "30", "40")),
        new KnownRates("pool2", djl, "djl-image", List.of("20", "60", "40")),
        new KnownRates("serial", dl4j, "dl4j-image", List.of("20", "30", "40")),
        new KnownRates("prefetched", dl4j, "dl4j-image", List.of("20", "30", "40")));
  }

  /**
   * Profiles the program; {@code directory} gets the recording.
   *
   * @param arguments agent arguments besides {@code profile=all}, such as {@code profile.steps=20}
   * @throws IllegalStateException if the program fails, or a phase was not measured
   */
  public Profile measure(Checkout checkout, Jdk jdk, Path directory, String arguments)
      throws IOException, InterruptedException {
    Path recording = Files.createDirectories(directory).resolve(module + "-" + name + ".jfr");
    Files.deleteIfExists(recording);
    ChildJvm child =
        TruthPrograms.child(
                checkout,
                jdk,
                mainClass,
                module,
                name,
                "profile=all,record=" + recording + (arguments.isEmpty() ? "" : ",") + arguments)
            .args(millis.toArray(new String[0]));
    ChildResult result = child.run().orFail("The program " + this);
    return profile(TruthPrograms.json(this, result.out()), recording, result.err());
  }

  private static Profile profile(JsonNode truth, Path recording, String err) throws IOException {
    int workers = truth.path("workers").intValue();
    List<Time> times = new ArrayList<>();
    Map<String, Time> byPhase = new TreeMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      if (event.getEventType().getName().equals("io.coordl.Phase")) {
        String phase = event.getString("phase");
        double known = truth.path(phase).doubleValue();
        long threads = event.getLong("workers");
        if (phase.equals("prep")) {
          known *= (double) Math.max(1, workers) / Math.max(1, threads);
          phase += " by " + threads;
        } else if (phase.equals("fetch")) {
          phase += " by " + threads; // The storage reads one item at a time.
        }
        Time time = new Time(phase, known, event.getDouble("sampleNanos"));
        times.add(time);
        byPhase.put(phase, time);
      }
    }
    return new Profile(times, shares(byPhase, err), recording, err);
  }

  private static List<Time> shares(Map<String, Time> times, String err) {
    Time ingestion = times.get("ingestion");
    Time cached = times.get("cached");
    Time cold = times.get("cold");
    if (ingestion == null || cached == null || cold == null) {
      throw new IllegalStateException("A phase was not measured: " + err);
    }
    return List.of(
        new Time(
            "compute", ingestion.truth() / cold.truth(), ingestion.measured() / cold.measured()),
        new Time(
            "prep stall",
            (cached.truth() - ingestion.truth()) / cold.truth(),
            Math.max(0, cached.measured() - ingestion.measured()) / cold.measured()),
        new Time(
            "fetch stall",
            (cold.truth() - cached.truth()) / cold.truth(),
            Math.max(0, cold.measured() - cached.measured()) / cold.measured()));
  }

  @Override
  public String toString() {
    return (module.startsWith("djl") ? "DJL " : "DL4J ")
        + name
        + String.format(Locale.ROOT, " %s", String.join("/", millis));
  }
}
