package io.coordl.reports;

import io.coordl.reports.accelerator.AcceleratorProfile;
import io.coordl.reports.accelerator.AcceleratorText;
import io.coordl.reports.differential.Differential;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.telemetry.advice.Text;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code coordl profile -- java ...}: runs a program with the agent and prints what it measured.
 */
@Command(
    name = "profile",
    description = {
      "Runs an unmodified training program and measures its bottleneck: with batches already"
          + " prepared, with every item from memory, and with every item from storage.",
      "The run ends after the last phase. Models that the program would have saved later are not"
          + " saved.",
      "With --accelerator it instead measures how many accelerators this host can feed: several"
          + " instances of the program read and prepare data at the same time, and sleep instead of"
          + " training.",
      "With --json, the program's output goes to stderr; the schemas are"
          + " differential.schema.json and accelerator.schema.json in coordl.jar.",
      "If the program fails, this command exits with its code, after printing the results so far.",
    })
final class ProfileCommand implements Callable<Integer> {
  static final String NO_RECORDING =
      "the program wrote no recording: it ended before training, or uses no training library that"
          + " the agent supports, or another agent argument prevents it.";

  private static final String AGENT = "coordl-agent.jar";
  private static final String TOOL_OPTIONS = "JAVA_TOOL_OPTIONS";

  private static final int MAX_ACCELERATORS = 64;
  private static final double MIN_STEP_MILLIS = 0.1;
  private static final Pattern STEP = Pattern.compile("\\d{1,6}(\\.\\d{1,3})?");

  /** The first bytes of every Flight Recorder recording. */
  private static final byte[] RECORDING = {'F', 'L', 'R', 0};

  private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "COMMAND",
      arity = "1..*",
      description = {
        "The command that starts the program, after the options of coordl.",
        "The agent is added after the word java or, for any other command, to JAVA_TOOL_OPTIONS.",
      })
  List<String> command;

  @Option(
      names = "--phases",
      paramLabel = "PHASE",
      defaultValue = "all",
      description = "all, ingestion, cached or cold (default: ${DEFAULT-VALUE}).")
  Phases phases;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "Steps to measure in each phase, 10 to 100000 (default: as many as needed).")
  @Nullable Integer steps;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.jfr",
      description = {
        "The recording to write (default: coordl-profile.jfr, and coordl-profile-PHASE.jfr with"
            + " --phases).",
        "Overwrites an older recording of that name, but no other file.",
      })
  @Nullable Path output;

  @Option(
      names = "--agent",
      paramLabel = "FILE.jar",
      description =
          "The agent (default: coordl-agent.jar beside coordl.jar or, in a built checkout, in"
              + " agent/target).")
  @Nullable Path agent;

  @Option(
      names = "--fewer-cores",
      description = {
        "Then repeat the phase cached on fewer and fewer cores, down to one. coordl demand reads"
            + " these recordings.",
        "Halves the cores while that costs less than 10 %% of the speed; otherwise removes a"
            + " quarter.",
      })
  boolean fewerCores;

  @Option(
      names = "--accelerator",
      paramLabel = "MS",
      description = {
        "The accelerator's step time for a batch in milliseconds, such as 50 or 3.5.",
        "Emulates 1, 2, 4, ... accelerators until they are busy for less than 90 %% of the time,"
            + " the limit of MLPerf Storage for most models. Items come from storage.",
      })
  @Nullable String accelerator;

  @Option(
      names = "--up-to",
      paramLabel = "N",
      converter = Amounts.ToCount.class,
      description = "With --accelerator: emulate at most this many (default: 64).")
  @Nullable Integer upTo;

  @Mixin JsonOption json;

  /** Values of the agent's argument {@code profile}, except {@code off}. */
  enum Phases {
    all,
    ingestion,
    cached,
    cold
  }

  /** Options after the program's first word belong to the program, with or without {@code --}. */
  @Spec
  void spec(CommandSpec of) {
    spec = of;
    of.parser().stopAtPositional(true);
  }

  @Override
  public Integer call() throws RecordingException {
    if (accelerator != null) {
      if (fewerCores) {
        throw new ParameterException(
            spec.commandLine(), "--fewer-cores cannot be combined with --accelerator.");
      }
      return emulate(accelerator);
    }
    if (upTo != null) {
      throw new ParameterException(spec.commandLine(), "--up-to needs --accelerator.");
    }
    if (fewerCores && phases != Phases.all && phases != Phases.cached) {
      throw new ParameterException(
          spec.commandLine(), "--fewer-cores needs the phase cached: leave out --phases.");
    }
    int code = run(program(output(), phases, steps, List.of()));
    if (code != 0) {
      spec.commandLine().getErr().println("coordl: the program ended with exit code " + code + ".");
    }
    try {
      if (!Files.exists(output())) {
        throw new RecordingException(NO_RECORDING);
      }
      JobRecording recording = RecordingReader.read(output(), done -> {});
      DiffCommand.print(Differential.of(recording), json);
      if (fewerCores && code == 0) {
        code = onFewerCores(recording);
      }
    } catch (RecordingException e) {
      if (code == 0) {
        throw e;
      }
      spec.commandLine().getErr().println("coordl: " + e.getMessage());
    }
    return code;
  }

  /** Repeats the cached phase on fewer and fewer cores; returns the exit code of the last run. */
  private int onFewerCores(JobRecording all) throws RecordingException {
    List<Integer> cpus = FewerCores.cpus();
    List<String> files = new ArrayList<>(List.of(output().toString()));
    int cores = cpus.size();
    double speed = FewerCores.speed(all);
    double before = 0;
    while (cores > 1 && speed > 0) {
      cores = FewerCores.next(cores, before, speed);
      Path file = FewerCores.file(output(), cores);
      int code =
          run(
              program(
                  file,
                  Phases.cached,
                  steps == null ? FewerCores.STEPS : steps,
                  FewerCores.prefix(cpus, cores)));
      if (code == 0 && !Files.exists(file)) {
        throw new RecordingException(
            ExitStatus.WITHOUT_OUR_EVENTS,
            "on "
                + Text.count(cores, "core", "cores")
                + ", the program left no recording "
                + file
                + ": does it train, and does it exit on its own?");
      }
      if (code != 0) {
        spec.commandLine()
            .getErr()
            .println(
                "coordl: on "
                    + Text.count(cores, "core", "cores")
                    + ", the program ended with exit code "
                    + code);
        return code;
      }
      before = speed;
      speed = FewerCores.speed(RecordingReader.read(file, done -> {}));
      files.add(file.toString());
    }
    spec.commandLine()
        .getErr()
        .println(
            "coordl: to see what the job needs, run: coordl demand " + String.join(" ", files));
    return 0;
  }

  private int emulate(String step) throws RecordingException {
    if (!STEP.matcher(step).matches() || Double.parseDouble(step) < MIN_STEP_MILLIS) {
      throw new ParameterException(
          spec.commandLine(),
          "--accelerator is '"
              + step
              + "', expected milliseconds from 0.1 to 999999.999, such as 50 or 3.5.");
    }
    if (phases != Phases.all || output != null) {
      throw new ParameterException(
          spec.commandLine(),
          (output == null ? "--phases" : "--output") + " cannot be combined with --accelerator.");
    }
    checkSteps();
    String stepsArgument = steps == null ? "" : ",profile.steps=" + steps;
    AcceleratorProfile profile =
        AcceleratorProfile.of(
            Double.parseDouble(step),
            upTo == null ? MAX_ACCELERATORS : upTo,
            new Instances(
                step,
                arguments -> program(arguments + stepsArgument, List.of()),
                line -> {
                  spec.commandLine().getErr().println("coordl: " + line);
                  spec.commandLine().getErr().flush();
                }));
    json.print(profile, AcceleratorText.lines(profile));
    return ExitStatus.DONE.code();
  }

  private Path output() {
    Path requested = output;
    return requested != null
        ? requested
        : Path.of("coordl-profile" + (phases == Phases.all ? "" : "-" + phases) + ".jfr");
  }

  /**
   * Returns the program with the agent; deletes an older recording with the name of its output.
   *
   * @param prefix words to put before the program's command
   */
  private ProcessBuilder program(
      Path output, Phases phases, @Nullable Integer steps, List<String> prefix)
      throws RecordingException {
    Path file = output.toAbsolutePath();
    if (file.toString().indexOf(',') >= 0) {
      throw new ParameterException(
          spec.commandLine(), "The recording's path must not contain a comma: " + file);
    }
    if (file.toString().contains("%p")) {
      throw new ParameterException(
          spec.commandLine(),
          "The recording's path must not contain %p, which the agent would replace: " + file);
    }
    checkSteps();
    ProcessBuilder program =
        program(
            String.format(
                "profile=%s%s,record=%s,summary=off",
                phases, steps == null ? "" : ",profile.steps=" + steps, file),
            prefix);
    deleteOld(file);
    return program;
  }

  private void checkSteps() {
    if (steps != null && (steps < 10 || steps > 100_000)) {
      throw new ParameterException(
          spec.commandLine(), "--steps is " + steps + ", expected a number from 10 to 100000.");
    }
  }

  /** Returns the program with these agent arguments, after the words of {@code prefix}. */
  private ProcessBuilder program(String agentArguments, List<String> prefix)
      throws RecordingException {
    String argument = "-javaagent:" + agentJar().toAbsolutePath() + "=" + agentArguments;
    for (String word : command) {
      if (word.startsWith("-javaagent:") && word.contains(AGENT)) {
        throw new ParameterException(
            spec.commandLine(), "The command already has the agent: leave out " + word);
      }
    }
    List<String> words = new ArrayList<>(command);
    Path launcher = Path.of(words.get(0)).getFileName();
    ProcessBuilder program = new ProcessBuilder(words);
    if (launcher != null && launcher.toString().matches("java(w)?(\\.exe)?")) {
      words.add(1, argument);
    } else {
      program
          .environment()
          .merge(TOOL_OPTIONS, quoted(argument), (before, more) -> before + " " + more);
    }
    words.addAll(0, prefix);
    return program;
  }

  /** Deletes an older recording. Reports obstacles before the program runs for minutes. */
  private static void deleteOld(Path file) throws RecordingException {
    OutputFile.of(file, true);
    if (!Files.exists(file)) {
      return;
    }
    try {
      byte[] firstBytes;
      try (InputStream in = Files.newInputStream(file)) {
        firstBytes = in.readNBytes(RECORDING.length);
      }
      if (firstBytes.length > 0 && !Arrays.equals(firstBytes, RECORDING)) {
        throw new RecordingException(
            ExitStatus.UNWRITABLE, file + " exists and is not a recording: name another file.");
      }
      Files.delete(file);
    } catch (IOException e) {
      throw new RecordingException(
          ExitStatus.UNWRITABLE, file + " cannot be written: " + e.getMessage());
    }
  }

  /** Quotes an argument, because the JVM splits {@code JAVA_TOOL_OPTIONS} at spaces. */
  private static String quoted(String argument) {
    return argument.indexOf(' ') < 0 ? argument : '"' + argument + '"';
  }

  private Path agentJar() throws RecordingException {
    Path jar = agent == null ? defaultAgent() : agent;
    if (jar == null || !Files.isRegularFile(jar)) {
      throw new RecordingException(
          String.format(
              "there is no agent at %s: name coordl-agent.jar with --agent.",
              jar == null ? AGENT : jar));
    }
    return jar;
  }

  private static @Nullable Path defaultAgent() {
    CodeSource source = ProfileCommand.class.getProtectionDomain().getCodeSource();
    try {
      if (source == null) {
        return null;
      }
      Path ownJar = Path.of(source.getLocation().toURI());
      Path beside = ownJar.resolveSibling(AGENT);
      // In a built checkout, each module has its own jar.
      Path built = ownJar.resolveSibling("../../agent/target").resolve(AGENT).normalize();
      return Files.isRegularFile(beside) || !Files.isRegularFile(built) ? beside : built;
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private int run(ProcessBuilder program) throws RecordingException {
    program.inheritIO();
    if (json.enabled) {
      program.redirectOutput(ProcessBuilder.Redirect.PIPE);
    }
    try {
      Process running = program.start();
      Thread stop = new Thread(running::destroy); // Stopping this command stops the program.
      try {
        Runtime.getRuntime().addShutdownHook(stop);
        if (json.enabled) {
          try (InputStream printed = running.getInputStream()) {
            printed.transferTo(System.err);
          }
        }
        return running.waitFor();
      } finally {
        running.destroy(); // Has no effect if the program has ended.
        Runtime.getRuntime().removeShutdownHook(stop);
      }
    } catch (IllegalStateException e) {
      throw new RecordingException("coordl was stopped while the program ran.");
    } catch (IOException e) {
      throw new RecordingException(command.get(0) + " cannot be started: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RecordingException("interrupted while the program ran.");
    }
  }
}
