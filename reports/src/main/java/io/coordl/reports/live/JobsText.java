package io.coordl.reports.live;

import io.coordl.reports.live.Jobs.Job;
import io.coordl.reports.live.Jobs.State;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.summary.JobTable;
import io.coordl.reports.summary.SummaryText;
import io.coordl.telemetry.advice.OpenWaitText;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** Formats running jobs as text: a line for each job, followed by lines on its policies. */
public final class JobsText {
  private static final int MAX_NAME_LENGTH = 60;
  private static final String INDENT = "        ";
  private static final int MAX_REASON_LENGTH = 120;
  private static final int MAX_REASONS = 2;

  /** Killed jobs stay for at least an hour; listing more than this would hide the running ones. */
  private static final int MAX_KILLED = 3;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private JobsText() {}

  /**
   * Returns the lines, without line ends; some may be longer than the terminal is wide.
   *
   * @param width width of the terminal, beyond which a program's name gets its own line; 0:
   *     unlimited
   */
  public static List<String> lines(Jobs jobs, LocalTime now, int width) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Text.format(
            "%s of this user at %s; shares in %% of the last 10 s; stores, groups and GPUs since"
                + " the start",
            Text.count(jobs.jobs().size(), "job", "jobs"), now.format(TIME)));
    if (!jobs.jobs().isEmpty()) {
      addJobs(lines, jobs, width);
    }
    int shown = Math.min(MAX_REASONS, jobs.unreadable().size());
    jobs.unreadable().subList(0, shown).stream()
        .map(reason -> "not shown: " + Text.line(reason, MAX_REASON_LENGTH))
        .forEach(lines::add);
    if (shown < jobs.unreadable().size()) {
      lines.add(Text.format("not shown: %d more, see --json", jobs.unreadable().size() - shown));
    }
    return lines;
  }

  private static void addJobs(List<String> lines, Jobs jobs, int width) {
    String header = Text.format("%7s %-7s ", "PID", "state") + JobTable.header();
    boolean wide =
        width == 0
            || jobs.jobs().stream()
                .allMatch(job -> header.length() + 2 + program(job).length() <= width);
    lines.add(wide ? header + "  program" : header);
    long killed = 0;
    for (Job job : jobs.jobs()) {
      if (job.state() == State.killed && ++killed > MAX_KILLED) {
        continue;
      }
      lines.add(wide ? line(job) + "  " + program(job) : line(job));
      if (!wide) {
        lines.add(INDENT + program(job));
      }
      if (job.state() != State.running) {
        lines.add(INDENT + "no update for " + Text.roughly(job.silentNanos()));
      }
      if (job.state() == State.killed) {
        continue; // Its stores are gone.
      }
      JobStatisticsEvent totals = job.summary().totals().figures();
      if (totals.timeLeft > 0 && job.state() == State.running) {
        lines.add(
            INDENT
                + Text.format(
                    "epoch %d of %d, about %s to go",
                    totals.epochs, totals.plannedEpochs, Text.roughly(totals.timeLeft)));
      }
      JobRecording.Recent recent = job.recent();
      OpenWaitEvent wait = job.summary().openWait();
      if (wait != null) {
        lines.add(INDENT + OpenWaitText.soFar(wait));
      } else if (recent != null && recent.figures().batches == 0) {
        lines.add(
            INDENT
                + (totals.openWait > 0
                    ? "no batch in the 10 s before its last update; the job has waited for one for "
                        + Text.roughly(totals.openWait)
                    : "no batch in the 10 s before its last update"));
      }
      SummaryText.policies(job.summary(), Integer.MAX_VALUE)
          .forEach(line -> lines.add(INDENT + line));
    }
    if (killed > MAX_KILLED) {
      lines.add(Text.format("not shown: %d more killed, see --json", killed - MAX_KILLED));
    }
  }

  private static String line(Job job) {
    JobRecording.Recent recent = job.recent();
    Figures totals = job.summary().totals().figures();
    return Text.format("%7d %-7s ", job.pid(), job.state())
        + JobTable.line(
            recent == null ? 0 : recent.samplesPerSecond(),
            recent == null ? totals : recent.figures(),
            job.summary().totals().figures().epochs,
            recent == null ? job.summary().kept() : recent.figures().keptItems);
  }

  private static String program(Job job) {
    String program = Objects.requireNonNullElse(job.summary().program().mainClass(), "unknown");
    return Text.line(program, MAX_NAME_LENGTH);
  }
}
