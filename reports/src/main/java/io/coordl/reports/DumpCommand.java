package io.coordl.reports;

import io.coordl.reports.live.Dump;
import io.coordl.reports.live.Jobs;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.live.StatusFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "dump",
    description = {
      "Writes what a running job has recorded so far, except possibly the last second, as a"
          + " finished recording.",
      "This does not disturb the job, unless the job writes only to a JFR recording that you"
          + " started; in that case, the command requests that recording from the JVM with jcmd."
    })
final class DumpCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "PID",
      arity = "0..1",
      description = "Process id of the job; not needed if there is only one job.")
  @Nullable Long pid;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.jfr",
      description = "The recording to write (default: coordl-PID-dump.jfr).")
  @Nullable Path output;

  @Option(names = "--force", description = "Overwrite an existing file.")
  boolean force;

  @Override
  public Integer call() throws RecordingException {
    Dump dump = Dump.of(StatusFile.directory(), pid);
    Jobs.Job job = dump.job();
    Path target = Objects.requireNonNullElse(output, Path.of("coordl-" + job.pid() + "-dump.jfr"));
    List<Path> recordings = Stream.ofNullable(dump.recording()).toList();
    OutputFile file = OutputFile.of(target, recordings, ".jfr", force);
    file.create(dump::writeTo);
    spec.commandLine().getOut().println(Text.line(file.path().toString(), Integer.MAX_VALUE));
    if (job.state() != Jobs.State.running) {
      spec.commandLine()
          .getErr()
          .println(
              Text.format(
                  "coordl: job %d %s %s, so this recording ended %s ago.",
                  job.pid(),
                  job.state() == Jobs.State.killed ? "was" : "is",
                  job.state(),
                  Text.roughly(job.silentNanos())));
    }
    return ExitStatus.DONE.code();
  }
}
