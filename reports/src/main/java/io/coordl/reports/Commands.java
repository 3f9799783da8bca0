package io.coordl.reports;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.advice.Text;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Configures what all commands share: {@code --help} and {@code --version}, exit codes and their
 * table, one-sentence errors, colours and width. A new sub-command is a class with the annotation
 * {@link CommandLine.Command} that {@link Coordl} lists. It reads with the mixin {@link
 * ReadingOptions}, prints with {@link JsonOption}, returns the code of {@link ExitStatus#DONE}, and
 * throws {@link RecordingException} if it fails.
 */
final class Commands {
  private static final int MAX_SENTENCE_LENGTH = 2_000;
  private static final String EXIT_CODES = "%nExit codes:%n";

  private Commands() {}

  /** Configures a command and all its sub-commands. */
  static CommandLine configure(CommandLine command, Terminal terminal) {
    command.setColorScheme(
        Help.defaultColorScheme(terminal.colours() ? Help.Ansi.ON : Help.Ansi.OFF));
    command.setUsageHelpWidth(terminal.columns());
    // A recording's name may start with an @.
    command.setExpandAtFiles(false);
    command.setCaseInsensitiveEnumValuesAllowed(true);
    command.setParameterExceptionHandler(Commands::reportUsage);
    command.setExecutionExceptionHandler(Commands::reportFailure);
    describe(command, ExitStatus.table());
    return command;
  }

  private static void describe(CommandLine command, Map<String, String> exitCodes) {
    CommandLine.Model.CommandSpec spec = command.getCommandSpec();
    if (spec.findOption("--help") == null) {
      spec.mixinStandardHelpOptions(true);
    }
    if (spec.versionProvider() == null) {
      spec.versionProvider(new Coordl.Version());
    }
    UsageMessageSpec usage = spec.usageMessage();
    if (usage.exitCodeList().isEmpty() && !spec.helpCommand()) {
      usage.exitCodeListHeading(EXIT_CODES).exitCodeList(exitCodes);
    }
    command.getSubcommands().values().forEach(sub -> describe(sub, exitCodes));
  }

  /** Reports a wrong command line: the error, suggestions, and where to read more. */
  private static int reportUsage(ParameterException problem, String[] arguments) {
    CommandLine command = problem.getCommandLine();
    PrintWriter err = command.getErr();
    if (arguments.length == 0) {
      command.usage(err);
      return ExitStatus.USAGE.code();
    }
    err.println(command.getColorScheme().errorText("coordl: " + problem.getMessage()));
    UnmatchedArgumentException.printSuggestions(problem, err);
    err.println(
        "Try '" + command.getCommandSpec().qualifiedName() + " --help' for more information.");
    return ExitStatus.USAGE.code();
  }

  /** Prints an error on one line, even if file names contain line breaks. */
  static void printError(CommandLine command, Exception problem) {
    String sentence =
        "coordl: " + Text.line(String.valueOf(problem.getMessage()), MAX_SENTENCE_LENGTH);
    command.getErr().println(command.getColorScheme().errorText(sentence));
  }

  private static int reportFailure(Exception problem, CommandLine command, ParseResult parsed) {
    if (problem instanceof RecordingException refused) {
      printError(command, refused);
      return refused.status().code();
    }
    if (problem instanceof InputException refused) {
      printError(command, refused);
      return ExitStatus.BAD_INPUT.code();
    }
    command.getErr().println("coordl: internal error, please report it: " + problem);
    return ExitStatus.DEFECT.code();
  }
}
