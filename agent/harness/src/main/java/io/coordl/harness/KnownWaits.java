package io.coordl.harness;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * A training program of {@code example.truth} that measures how long its training thread waits.
 * Immutable; any thread.
 *
 * @param name its first argument
 * @param mainClass its main class
 * @param module the example whose class path holds its framework
 */
public record KnownWaits(String name, String mainClass, String module) {
  /** The agent promises a relative error of at most this. */
  public static final double LIMIT = 0.03;

  /**
   * Milliseconds to prepare a batch and to take a step, batches per epoch, and epochs. Over three
   * epochs, one-time costs such as class loading are small compared with the waits.
   */
  private static final List<String> SETTINGS = List.of("100", "20", "12", "3");

  /**
   * The same waits, measured by the program and by the agent.
   *
   * @param trueNanos the program's
   * @param measuredNanos the agent's
   * @param coreWaitNanos for how long the training thread waited for a core: a wait between the
   *     program's reading of the clock and the agent's is in only one of the measurements
   */
  public record Accounts(long trueNanos, long measuredNanos, long coreWaitNanos) {
    /** Returns the relative error: positive if the agent measured more. */
    public double error() {
      return (double) (measuredNanos - trueNanos) / trueNanos;
    }

    /** Whether both agree within the limit plus the time that the thread waited for a core. */
    public boolean agree() {
      return Math.abs(measuredNanos - trueNanos) <= LIMIT * trueNanos + coreWaitNanos;
    }
  }

  /**
   * Waits by cause: the program's measurements of file reads and of all waits, and the agent's
   * fetch stall, prep stall and total stall.
   */
  public record Split(long trueFetch, long trueNanos, long fetchStall, long prepStall, long stall) {
    /** Returns the share of fetching in all waits, by the program's own clock. */
    public double trueShare() {
      return (double) trueFetch / trueNanos;
    }

    /** Returns the share of fetching in all waits, by the agent. */
    public double share() {
      return (double) fetchStall / stall;
    }

    /** Returns the share of preparation in all waits, by the agent. */
    public double prepShare() {
      return (double) prepStall / stall;
    }
  }

  /** Size of a sparse file; reading it, once per batch, takes tens of milliseconds. */
  private static final long FILE_BYTES = 512L << 20;

  /** Returns the program that, for each batch, first reads a file and then prepares the batch. */
  public static KnownWaits reading() {
    return new KnownWaits("hand-read", "example.truth.Dl4jWaits", "dl4j-image");
  }

  /**
   * Like {@link #measure}, for {@link #reading}, but splits the waits by cause.
   *
   * @throws IllegalStateException if the program or the reading of its recording fails
   */
  public Split split(Checkout checkout, Jdk jdk, Path directory)
      throws IOException, InterruptedException {
    Path recording = recording(directory);
    Path file = directory.resolve("item.bin");
    try (RandomAccessFile empty = new RandomAccessFile(file.toFile(), "rw")) {
      empty.setLength(FILE_BYTES);
    }
    ChildJvm child =
        child(checkout, jdk, "record=" + recording + ",dataset=" + file)
            .jvmArgs("-Dtruth.file=" + file);
    JsonNode truth = TruthPrograms.json(this, child.run().orFail("The program " + this).out());
    RecordingSummary agent = RecordingSummary.read(checkout.coordlJar(), recording);
    return new Split(
        truth.path("fetchNanos").longValue(),
        truth.path("trueStallNanos").longValue(),
        agent.fetchStall(),
        agent.prepStall(),
        agent.stall());
  }

  private Path recording(Path directory) throws IOException {
    return Files.createDirectories(directory).resolve(module + "-" + name + ".jfr");
  }

  /**
   * Returns all programs that measure exactly, except {@link #reading}. This leaves out {@code
   * graph}, {@code parallelwrapper} and {@code samediff} without {@code -timed}: they do not see a
   * prefetched batch arrive, so they miss the hand-over (5 % on a busy machine).
   */
  public static List<KnownWaits> all() {
    Stream<String> dl4j =
        Stream.of(
            "fit",
            "fit-timed",
            "fit-plain",
            "graph-timed",
            "graph-plain",
            "hand",
            "hand-async",
            "earlystopping",
            "earlystopping-timed",
            "earlystopping-plain",
            "parallelwrapper-timed",
            "samediff-timed");
    Stream<String> djl =
        Stream.of(
            "easytrain",
            "easytrain-pool",
            "easytrain-pool2",
            "hand",
            "hand-pool",
            "collector",
            "forward",
            "lambda",
            "lambda-hand");
    return Stream.concat(
            dl4j.map(name -> new KnownWaits(name, "example.truth.Dl4jWaits", "dl4j-image")),
            djl.map(name -> new KnownWaits(name, "example.truth.DjlWaits", "djl-image")))
        .toList();
  }

  /**
   * Runs the program with an agent that only observes; {@code directory} gets the recording.
   *
   * @throws IllegalStateException if the program or the reading of its recording fails
   */
  public Accounts measure(Checkout checkout, Jdk jdk, Path directory)
      throws IOException, InterruptedException {
    Path recording = recording(directory);
    ChildJvm child = child(checkout, jdk, "record=" + recording);
    JsonNode truth = TruthPrograms.json(this, child.run().orFail("The program " + this).out());
    RecordingSummary agent = RecordingSummary.read(checkout.coordlJar(), recording);
    List<Long> trueStalls =
        truth.path("epochStallNanos").valueStream().map(JsonNode::longValue).toList();
    long coreWait = truth.path("coreWaitNanos").longValue();
    if (trueStalls.isEmpty()) {
      return new Accounts(truth.path("trueStallNanos").longValue(), agent.stall(), coreWait);
    }
    // Without the first epoch: the program cannot see how long the framework's classes take to
    // load, and a hand-written loop, timed outside the agent's spans, also waits for the agent's
    // own classes at its first batch (tens of milliseconds, once).
    if (trueStalls.size() != agent.epochStalls().size()) {
      throw new IllegalStateException(
          this
              + " waited in "
              + trueStalls.size()
              + " epochs, the agent saw "
              + agent.epochStalls().size()
              + ".");
    }
    return new Accounts(sumAfterFirst(trueStalls), sumAfterFirst(agent.epochStalls()), coreWait);
  }

  private ChildJvm child(Checkout checkout, Jdk jdk, String arguments) throws IOException {
    return TruthPrograms.child(checkout, jdk, mainClass, module, name, "summary=off," + arguments)
        .args(SETTINGS.toArray(new String[0]));
  }

  private static long sumAfterFirst(List<Long> epochs) {
    return epochs.stream().skip(1).mapToLong(Long::longValue).sum();
  }

  @Override
  public String toString() {
    return (module.startsWith("djl") ? "DJL " : "DL4J ") + name;
  }
}
