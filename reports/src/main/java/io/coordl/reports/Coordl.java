package io.coordl.reports;

import io.coordl.reports.recording.ExitStatus;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;

/** The command {@code coordl}. It reports an error with one sentence and an exit code. */
@Command(
    name = "coordl",
    description = "Shows where the time of a training job went.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "Completion for bash and zsh:  source <(coordl generate-completion)"})
public final class Coordl {
  /** Sub-commands in the order of the help text. */
  private static final List<Class<?>> COMMANDS =
      List.of(
          ProfileCommand.class,
          SummaryCommand.class,
          ExportCommand.class,
          ReportCommand.class,
          TopCommand.class,
          DumpCommand.class,
          CompareCommand.class,
          DiffCommand.class,
          WhatIfCommand.class,
          DemandCommand.class,
          PlanCommand.class,
          SimulateCommand.class);

  private static final Set<String> HELP = Set.of("-h", "--help");
  private static final String PLUS_MINUS = "\u00b1";

  final Terminal terminal;

  Coordl(Terminal terminal) {
    this.terminal = terminal;
  }

  public static void main(String[] arguments) {
    Charset charset = charset();
    Output stdout = Output.stdout();
    PrintWriter out = writer(stdout, false, charset);
    PrintWriter err = new PrintWriter(System.err, true, charset);
    int code = run(out, err, Terminal.ofThisProcess(), arguments);
    out.flush();
    System.exit(exitCode(stdout, err, code));
  }

  /** Returns the encoding of the terminal and of file names; JSON output is pure ASCII. */
  private static Charset charset() {
    String name = System.getProperty("native.encoding");
    return name != null && Charset.isSupported(name)
        ? Charset.forName(name)
        : StandardCharsets.UTF_8;
  }

  /** Returns a writer that prints +- for the plus-minus sign if the encoding lacks that sign. */
  static PrintWriter writer(OutputStream to, boolean flushes, Charset charset) {
    boolean hasSign = charset.canEncode() && charset.newEncoder().canEncode(PLUS_MINUS.charAt(0));
    return hasSign
        ? new PrintWriter(to, flushes, charset)
        : new PrintWriter(to, flushes, charset) {
          @Override
          public void write(String text) {
            super.write(text.replace(PLUS_MINUS, "+-"));
          }
        };
  }

  /** Returns {@code code}, or another exit code if the output could not be written. */
  private static int exitCode(Output stdout, PrintWriter err, int code) {
    IOException failure = stdout.failure();
    if (failure == null) {
      return code;
    }
    if (Output.isClosedPipe(failure)) {
      return ExitStatus.PIPE_CLOSED.code();
    }
    err.println("coordl: the result cannot be written: " + failure.getMessage() + ".");
    return ExitStatus.UNWRITABLE.code();
  }

  /** Runs one command and returns its exit code, without ending the JVM. */
  static int run(PrintWriter out, PrintWriter err, Terminal terminal, String... arguments) {
    CommandLine commandLine = commandLine(terminal, arguments);
    commandLine.setOut(out);
    commandLine.setErr(err);
    try {
      return commandLine.execute(arguments);
    } catch (OutOfMemoryError e) {
      err.println(
          "coordl: the heap is too small for this recording, or the recording is damaged: set a"
              + " larger heap, such as JDK_JAVA_OPTIONS=-Xmx4g.");
      return ExitStatus.HEAP.code();
    }
  }

  /**
   * Registers only the commands that these arguments need, because each costs start-up time. If the
   * arguments name a command, registers that one; if they request the list of commands, only names
   * and descriptions; otherwise all.
   */
  static CommandLine commandLine(Terminal terminal, String... arguments) {
    CommandLine commandLine = new CommandLine(new Coordl(terminal));
    String first = arguments.length == 0 ? "" : arguments[0];
    for (Class<?> command : COMMANDS) {
      if (declared(command).name().equals(first)) {
        return Commands.configure(commandLine.addSubcommand(command), terminal);
      }
    }
    List<Class<?>> all = new ArrayList<>(COMMANDS);
    all.addAll(List.of(HelpCommand.class, GenerateCompletion.class));
    if (arguments.length == 1 && HELP.contains(first)) {
      Commands.configure(commandLine, terminal);
      for (Class<?> command : all) {
        Command declared = declared(command);
        CommandSpec listed = CommandSpec.create();
        listed.usageMessage().header(declared.header()).description(declared.description());
        commandLine.addSubcommand(declared.name(), listed);
      }
      return commandLine;
    }
    all.forEach(commandLine::addSubcommand);
    return Commands.configure(commandLine, terminal);
  }

  private static Command declared(Class<?> command) {
    return command.getAnnotation(Command.class);
  }

  /** The version that the build wrote into the jar, and the platform. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Coordl.class.getPackage().getImplementationVersion();
      return new String[] {
        "coordl " + (version == null ? "(not packaged)" : version),
        "Java " + Runtime.version() + ", " + System.getProperty("java.vendor"),
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch")
      };
    }
  }
}
