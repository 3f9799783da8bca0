package io.coordl.reports;

import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.trace.PerfettoTrace;
import io.coordl.telemetry.advice.Text;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "export",
    description = {
      "Exports the activity of each thread of one or more jobs as a timeline for a trace viewer.",
      "Open the file in ui.perfetto.dev or chrome://tracing; nothing is sent anywhere."
    })
final class ExportCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(paramLabel = "FILE.jfr", arity = "1..*", description = "The recordings.")
  List<Path> files;

  @Option(
      names = "--perfetto",
      description =
          "Write trace events in JSON. This is the only format, so the option may be left out.")
  boolean perfetto;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.json",
      description =
          "The file to write (default: beside the first recording, with its name and"
              + " .perfetto.json).")
  @Nullable Path output;

  @Option(names = "--force", description = "Overwrite an existing file.")
  boolean force;

  @Override
  public Integer call() throws RecordingException {
    OutputFile trace = OutputFile.of(output, files, ".perfetto.json", force);
    trace.write(to -> PerfettoTrace.write(files, to));
    spec.commandLine().getOut().println(Text.line(trace.path().toString(), Integer.MAX_VALUE));
    return ExitStatus.DONE.code();
  }
}
