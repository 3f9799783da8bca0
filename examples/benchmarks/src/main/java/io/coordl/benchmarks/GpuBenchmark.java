package io.coordl.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildResult;
import io.coordl.harness.DeviceCopies;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Compares the agent's GPU figures with those of {@code nvidia-smi}: runs the unmodified DJL
 * example with each available binding and compares the mean of each figure over the same seconds.
 * Then compares the samples with a profile, whose steps end when the device is done; checks that
 * page-locked memory gives the same batches; and measures copies to the device from each kind of
 * memory. Build with Maven's profile {@code cuda}, which adds PyTorch's natives and the presets.
 * Arguments: epochs (5); a directory with the jars of the class path, for a machine without a Maven
 * repository. Exits with 1 if means differ by more than their tolerance, the devices stay idle,
 * nothing is page-locked, or batches differ; with 2 without a driver or natives.
 */
public final class GpuBenchmark {
  private static final int FIRST_WITH_FOREIGN = 22;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu/MM/dd HH:mm:ss.SSS");
  private static final String FOREIGN = "java.lang.foreign";
  private static final String JNA = "JNA";
  private static final String PRESETS = "JavaCPP presets";

  private static final int ROUNDS = 100;
  private static final String SEARCHED = "LD_LIBRARY_PATH";
  private static final Path UNBUFFERED = Path.of("/usr/bin/stdbuf");

  /**
   * A figure that the agent and nvidia-smi both report. Their values may differ by {@code share} of
   * nvidia-smi's value or by {@code floor}, whichever is more.
   */
  private record Figure(String theirs, String ours, double scale, double share, double floor) {
    double of(RecordedEvent sample) {
      double value = sample.<Number>getValue(ours).doubleValue();
      return value < 0 ? Double.NaN : value * scale;
    }
  }

  private static final List<Figure> FIGURES =
      List.of(
          new Figure("utilization.gpu", "utilization", 100, 0, 10),
          new Figure("memory.used", "usedMemory", 1.0 / (1 << 20), 0.05, 64),
          new Figure("power.draw", "milliwatts", 1e-3, 0.1, 5),
          new Figure("clocks.sm", "clock", 1, 0.1, 50));

  private final Checkout checkout = Checkout.find();
  private final Path work = Files.createDirectories(checkout.work("gpu"));
  private final Path[] inFront;
  private final String libraries;
  private final String epochs;
  private final TextTable table =
      new TextTable("run", "figure", "agent", "nvidia-smi", "tolerated", "verdict");
  private boolean met = true;

  private GpuBenchmark(String epochs, String jars) throws IOException {
    this.epochs = epochs;
    inFront = jars.equals("-") ? new Path[0] : new Path[] {Path.of(jars, "*")};
    String others = System.getenv(SEARCHED);
    libraries =
        runtimeLibrary(jars).map(own -> own + (others == null ? "" : ":" + others)).orElse("");
  }

  /**
   * Unpacks CUDA's runtime library: DJL detects GPUs only through it, and the presets need it, too.
   * Without a toolkit, only PyTorch's natives contain it, under an unusual name.
   *
   * @return a directory with the library under its usual names; empty without such natives
   */
  private Optional<Path> runtimeLibrary(String jars) throws IOException {
    List<Path> all = new ArrayList<>();
    if (!jars.equals("-")) {
      try (DirectoryStream<Path> more = Files.newDirectoryStream(Path.of(jars))) {
        more.forEach(all::add);
      }
    }
    String classPath = Files.readString(checkout.exampleClassPath("djl-image")).strip();
    Stream.of(classPath.split(":", -1)).map(Path::of).forEach(all::add);
    for (Path jar : all) {
      if (jar.getFileName().toString().startsWith("pytorch-native-cu") && Files.exists(jar)) {
        try (ZipFile natives = new ZipFile(jar.toFile())) {
          ZipEntry library =
              natives.stream()
                  .filter(entry -> entry.getName().contains("/libcudart"))
                  .findFirst()
                  .orElseThrow();
          Path to = Files.createDirectories(work.resolve("cudart"));
          String version = library.getName().replaceFirst(".*\\.so", "");
          for (String name : List.of("libcudart.so", "libcudart.so" + version)) {
            try (InputStream bytes = natives.getInputStream(library)) {
              Files.copy(bytes, to.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
          }
          return Optional.of(to);
        }
      }
    }
    return Optional.empty();
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String missing = missing();
    if (!missing.isEmpty()) {
      System.out.println("Not measured: this needs an NVIDIA driver, but " + missing + ".");
      System.exit(2);
    }
    GpuBenchmark benchmark =
        new GpuBenchmark(args.length > 0 ? args[0] : "5", args.length > 1 ? args[1] : "-");
    if (benchmark.libraries.isEmpty()) {
      System.out.println(
          "Not measured: the class path has no pytorch-native-cu*.jar; build with -Pcuda.");
      System.exit(2);
    }
    Pictures.make(benchmark.checkout, benchmark.work.resolve("images"), "4", "150");
    List<Jdk> jdks = Jdks.all();
    Jdk newest = jdks.get(jdks.size() - 1);
    boolean foreign = newest.feature() >= FIRST_WITH_FOREIGN;
    if (foreign) {
      benchmark.compare(FOREIGN, newest, "");
    }
    if (jdks.get(0).feature() < FIRST_WITH_FOREIGN) {
      benchmark.compare(JNA, jdks.get(0), "");
    }
    benchmark.compare(
        PRESETS,
        newest,
        ",gpu.presets=" + benchmark.checkout.root().resolve("examples/benchmarks/target/presets"));
    System.out.printf("%nMeans over the same seconds%n%s%n", benchmark.table);
    benchmark.profile(foreign ? FOREIGN : JNA, newest);
    benchmark.pinned(newest);
    benchmark.copies(newest);
    System.out.println(
        "made by: "
            + Commands.of(benchmark.checkout, GpuBenchmark.class, args)
                .replace("-Pbenchmark", "-Pbenchmark,cuda"));
    System.exit(benchmark.met ? 0 : 1);
  }

  private static ProcessBuilder smi(String... arguments) {
    List<String> command = new ArrayList<>();
    if (Files.isExecutable(UNBUFFERED)) {
      command.addAll(
          List.of(UNBUFFERED.toString(), "-oL")); // Line-buffered, because it is killed at the end.
    }
    command.add("nvidia-smi");
    command.addAll(List.of(arguments));
    command.add("--format=csv,noheader,nounits");
    return new ProcessBuilder(command).redirectErrorStream(true);
  }

  /** Returns why nothing can be measured here; empty if measuring is possible. */
  private static String missing() throws InterruptedException {
    try {
      Process process = smi("--query-gpu=index,name,driver_version").start();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
      System.out.println(output);
      return process.waitFor() == 0 ? "" : "nvidia-smi failed";
    } catch (IOException e) {
      return "nvidia-smi cannot be started";
    }
  }

  private ChildResult train(Jdk jdk, String arguments, String... more)
      throws IOException, InterruptedException {
    ChildResult job =
        Example.DJL
            .program(checkout, jdk, "example.djl.TrainImages", inFront)
            .environment(SEARCHED, libraries)
            .args("--data", work.resolve("images").toString(), "--seed", "1")
            .args(more)
            .agent(checkout.agentJar(), "gpu=on," + arguments)
            .run()
            .orFail("The DJL example");
    job.err()
        .lines()
        .filter(line -> line.contains("GPU") || line.contains("gpu."))
        .forEach(System.out::println);
    return job;
  }

  /** Trains a network that keeps a device busy much of the time. */
  private Path observe(String name, Jdk jdk, String arguments, String epochs)
      throws IOException, InterruptedException {
    Path recording = work.resolve(name.replace(' ', '-') + ".jfr");
    Files.deleteIfExists(recording);
    train(
        jdk,
        "record=" + recording + arguments,
        "--epochs",
        epochs,
        "--size",
        "224",
        "--layers",
        "50",
        "--checkpoint",
        work.resolve("checkpoints").toString());
    return recording;
  }

  private void compare(String binding, Jdk jdk, String arguments)
      throws IOException, InterruptedException {
    String query = FIGURES.stream().map(Figure::theirs).collect(joining(","));
    Path lines = work.resolve("nvidia-smi.csv");
    Process smi =
        // Each value covers the last fifth of a second, so sample that often.
        smi("--query-gpu=timestamp,index," + query, "-lms", "200")
            .redirectOutput(lines.toFile())
            .start();
    Path recording;
    try {
      recording = observe(binding, jdk, arguments, epochs);
    } finally {
      smi.destroy();
      smi.waitFor();
    }
    List<String[]> rows =
        Files.readAllLines(lines).stream()
            .map(line -> line.split(", ", -1))
            .filter(row -> row.length == FIGURES.size() + 2)
            .toList();
    for (List<RecordedEvent> samples : byDevice(events(recording, "io.coordl.GpuSample"))) {
      Instant from = samples.get(0).getStartTime();
      Instant to = samples.get(samples.size() - 1).getEndTime();
      long device = samples.get(0).getLong("device");
      List<String[]> smiRows =
          rows.stream()
              .filter(row -> Long.parseLong(row[1]) == device)
              .filter(row -> !at(row[0]).isBefore(from) && !at(row[0]).isAfter(to))
              .toList();
      for (int i = 0; i < FIGURES.size(); i++) {
        Figure figure = FIGURES.get(i);
        int column = i + 2;
        double ours = mean(samples.stream().map(figure::of));
        double theirs = mean(smiRows.stream().map(row -> number(row[column])));
        double tolerated = Math.max(figure.floor, figure.share * theirs);
        boolean same =
            Double.isNaN(ours) ? Double.isNaN(theirs) : Math.abs(ours - theirs) <= tolerated;
        met &= same;
        table.row(
            binding + ", JDK " + jdk.feature() + ", device " + device,
            figure.theirs,
            text(ours),
            text(theirs),
            text(tolerated),
            same ? "same" : "DIFFERENT");
      }
    }
    requireBusyDevice(binding, recording);
  }

  /**
   * Requires that a busy device was read through this binding, because figures of idle devices
   * agree too easily. Returns the statistics of all devices.
   */
  private List<RecordedEvent> requireBusyDevice(String binding, Path recording) throws IOException {
    List<RecordedEvent> devices = events(recording, "io.coordl.GpuStatistics");
    if (devices.stream()
        .noneMatch(
            device ->
                !device.getDuration("busy").isZero()
                    && binding.equals(device.getString("binding")))) {
      met = false;
      System.out.println("No device was busy and read through " + binding + ".");
    }
    return devices;
  }

  private void profile(String binding, Jdk jdk) throws IOException, InterruptedException {
    Path recording = observe("profile", jdk, ",profile=all,profile.steps=50", "100000");
    for (List<RecordedEvent> samples : byDevice(requireBusyDevice(binding, recording))) {
      RecordedEvent last = samples.get(samples.size() - 1);
      double steps = last.getDuration("synchronizedSteps").toNanos();
      double busy = last.getDuration("busy").toNanos();
      met &= steps > 0;
      System.out.printf(
          "Profile, device %d: busy %s s by samples, synchronized steps %s s, error %s %%%n",
          last.getLong("device"),
          text(busy / 1e9),
          text(steps / 1e9),
          text(steps > 0 ? 100 * (busy - steps) / steps : Double.NaN));
    }
  }

  /** Checks data and labels of every batch under both policies that lock memory. */
  private void pinned(Jdk jdk) throws IOException, InterruptedException {
    Path without = batches(jdk, "cache=off").getKey();
    for (String policy : List.of("prepared=share", "prep=coordinate")) {
      Map.Entry<Path, ChildResult> job = batches(jdk, "gpu.pinned=on," + policy);
      boolean locked = job.getValue().err().contains(" are page-locked");
      boolean same =
          BatchLogs.batches(without) > 0
              && BatchLogs.sameBatches(without, job.getKey()) == BatchLogs.batches(without);
      met &= locked && same;
      System.out.printf(
          "gpu.pinned=on, %s: %s, %s%n",
          policy,
          locked ? "page-locked" : "NOTHING IS PAGE-LOCKED",
          same ? "the same batches" : "DIFFERENT BATCHES");
    }
  }

  private Map.Entry<Path, ChildResult> batches(Jdk jdk, String policy)
      throws IOException, InterruptedException {
    Path log = work.resolve(policy.replaceAll("\\W", "-") + ".log");
    return Map.entry(
        log,
        train(
            jdk,
            "record=off," + policy,
            "--epochs",
            "3",
            "--augment",
            "false",
            "--log",
            log.toString()));
  }

  private void copies(Jdk jdk) throws IOException, InterruptedException {
    Path[] classes = Arrays.copyOf(inFront, inFront.length + 1);
    classes[inFront.length] = checkout.testPrograms();
    TextTable copies =
        new TextTable("memory of the batch", "median ms", "lowest ms", "GB/s", "lock ms");
    for (String[] row :
        DeviceCopies.rows(Example.DJL.program(checkout, jdk, DeviceCopies.MAIN, classes), ROUNDS)) {
      copies.row(row);
    }
    System.out.printf("%nCopies of 32 x 3 x 224 x 224 floats to device 0%n%s%n", copies);
  }

  private static Instant at(String time) {
    return LocalDateTime.parse(time, TIME).atZone(ZoneId.systemDefault()).toInstant();
  }

  private static double number(String cell) {
    return cell.matches("[0-9.]+") ? Double.parseDouble(cell) : Double.NaN; // [N/A]
  }

  private static List<RecordedEvent> events(Path recording, String type) throws IOException {
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().equals(type))
        .sorted(Comparator.comparing(RecordedEvent::getEndTime))
        .toList();
  }

  private static List<List<RecordedEvent>> byDevice(List<RecordedEvent> events) {
    return events.stream()
        .map(event -> event.getLong("device"))
        .distinct()
        .sorted()
        .map(device -> events.stream().filter(e -> e.getLong("device") == device).toList())
        .toList();
  }

  private static double mean(Stream<Double> values) {
    return values.filter(value -> !value.isNaN()).mapToDouble(v -> v).average().orElse(Double.NaN);
  }

  private static String text(double value) {
    return Double.isNaN(value) ? "none" : String.format(Locale.ROOT, "%.1f", value);
  }
}
