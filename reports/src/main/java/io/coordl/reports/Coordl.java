package io.coordl.reports;

import io.coordl.reports.recording.RecordingException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;

/** The command {@code coordl}. It says what went wrong in one sentence and an exit code. */
@Command(
    name = "coordl",
    description = "Says where the time of a DJL or DL4J training job went.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = Coordl.Version.class,
    subcommands = {
      SummaryCommand.class,
      ProfileCommand.class,
      DiffCommand.class,
      WhatIfCommand.class,
      HelpCommand.class,
      GenerateCompletion.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:it worked",
      " 1:the recording cannot be read",
      " 2:the command line is wrong",
    },
    footer = {"", "Completion for bash and zsh:  source <(coordl generate-completion)"})
public final class Coordl {

  public static void main(String[] arguments) {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int code = run(out, err, arguments);
    out.flush();
    System.exit(code);
  }

  /** Runs one command; never throws, never exits. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    CommandLine commandLine = new CommandLine(new Coordl());
    commandLine.setOut(out);
    commandLine.setErr(err);
    // A recording's name may start with an @.
    commandLine.setExpandAtFiles(false);
    commandLine.setExecutionExceptionHandler(Coordl::report);
    try {
      return commandLine.execute(arguments);
    } catch (OutOfMemoryError e) {
      err.println("coordl: the heap is too small for this recording: run it with a larger -Xmx.");
      return ExitCode.SOFTWARE;
    }
  }

  private static int report(
      Exception problem, CommandLine commandLine, CommandLine.ParseResult parsed) {
    String sentence =
        problem instanceof RecordingException
            ? problem.getMessage()
            : "a defect of coordl, please report it: " + problem;
    commandLine.getErr().println("coordl: " + sentence);
    return ExitCode.SOFTWARE;
  }

  /** The version that the build wrote into the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Coordl.class.getPackage().getImplementationVersion();
      return new String[] {"coordl " + (version == null ? "(not packaged)" : version)};
    }
  }
}
