package io.coordl.reports;

import io.coordl.reports.live.Jobs;
import io.coordl.reports.live.JobsText;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.live.StatusFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "top",
    description = {
      "Shows the running jobs of this user on this host: speed, waits by cause, stores, and which"
          + " job waits for which.",
      "On a terminal it refreshes every second until stopped; otherwise it prints once. Needs no"
          + " port and no attaching: jobs publish their figures in /dev/shm. A killed job stays"
          + " visible for at least an hour.",
      "The schema of the JSON is top.schema.json in coordl.jar."
    })
final class TopCommand implements Callable<Integer> {
  private static final String HOME = "\u001b[H";
  private static final String REST_OF_LINE = "\u001b[K";
  private static final String REST_OF_SCREEN = "\u001b[J";
  private static final long PERIOD_MILLIS = 1_000;

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "PID|GROUP",
      arity = "0..1",
      description = "Show only this job, or the jobs with this group argument (default: all).")
  @Nullable String which;

  @Mixin JsonOption json;

  @Override
  public Integer call() throws RecordingException, InterruptedException {
    Path directory = StatusFile.directory();
    if (json.enabled || !Terminal.isTerminal(1)) {
      Jobs jobs = jobs(directory);
      json.print(jobs, lines(jobs, json.terminal()));
      return ExitStatus.DONE.code();
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(HOME + REST_OF_SCREEN);
    while (!out.checkError()) {
      // All lines are computed before the first is drawn: if the selected job is gone, jobs()
      // throws, and the job's last figures stay on the screen.
      Terminal.Size size = Terminal.Size.now();
      Terminal terminal = Terminal.of(System.getenv(), true, size);
      List<String> lines =
          size.clip(
              lines(jobs(directory), terminal).stream()
                  .flatMap(line -> terminal.fold(line).stream())
                  .toList());
      out.print(HOME);
      lines.stream()
          .map(List::of)
          .map(terminal::paint)
          .forEach(line -> out.print(line.get(0) + REST_OF_LINE + "\n"));
      out.print(REST_OF_SCREEN);
      out.flush();
      Thread.sleep(PERIOD_MILLIS);
    }
    return ExitStatus.DONE.code();
  }

  private static List<String> lines(Jobs jobs, Terminal terminal) {
    return JobsText.lines(jobs, LocalTime.now(ZoneId.systemDefault()), terminal.width());
  }

  private Jobs jobs(Path directory) throws RecordingException {
    String selection = which;
    Jobs jobs =
        Jobs.in(
            directory,
            job ->
                selection == null
                    || selection.equals(job.group())
                    || selection.equals(Long.toString(job.pid())));
    if (selection != null && jobs.jobs().isEmpty()) {
      throw new RecordingException(
          String.format(
              "no job of this user on this host has the PID or group %s (looked in %s).",
              selection, directory));
    }
    return jobs;
  }
}
