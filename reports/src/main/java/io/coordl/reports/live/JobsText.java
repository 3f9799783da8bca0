package io.coordl.reports.live;

import io.coordl.advice.Part;
import io.coordl.advice.Text;
import io.coordl.advice.Text.Nanos;
import io.coordl.event.Figures;
import io.coordl.reports.live.Jobs.Job;
import io.coordl.reports.live.Jobs.State;
import io.coordl.reports.summary.SummaryText;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Running jobs as text: a line for each, and one for each of its policies. */
public final class JobsText {
  private static final int LONGEST_NAME = 60;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private JobsText() {}

  /** The lines, without line ends. */
  public static List<String> lines(Jobs jobs, LocalTime now) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Text.format(
            "%s of this user at %s, over the last 10 s",
            Text.count(jobs.jobs().size(), "job", "jobs"), now.format(TIME)));
    if (jobs.jobs().isEmpty()) {
      return lines;
    }
    StringBuilder header =
        new StringBuilder(Text.format("%8s %-8s %10s %7s", "PID", "state", "samples/s", "stall"));
    Part.STALLS.forEach(part -> header.append(Text.format(" %7s", part.cause())));
    lines.add(header + Text.format(" %7s %7s %6s  %s", "saves", "memory", "epoch", "program"));
    for (Job job : jobs.jobs()) {
      lines.add(line(job));
      if (job.state() != State.running) {
        lines.add("         not heard of for " + new Nanos(job.silentNanos()));
      }
      SummaryText.policies(job.summary(), Integer.MAX_VALUE)
          .forEach(line -> lines.add("         " + line));
    }
    return lines;
  }

  private static String line(Job job) {
    Figures totals = job.summary().totals().figures();
    StringBuilder line =
        new StringBuilder(
            Text.format("%8d %-8s %10s", job.pid(), job.state(), speed(job.recent())));
    Figures recent = job.recent() == null ? totals : job.recent().figures();
    line.append(share(recent.stall, recent.wall));
    Part.STALLS.forEach(part -> line.append(share(part.of(recent), recent.wall)));
    line.append(share(recent.checkpoint, recent.wall));
    line.append(share(recent.memoryItems, recent.items));
    String program = Objects.requireNonNullElse(job.summary().program().mainClass(), "unknown");
    return line
        + Text.format(
            " %6d  %s", job.summary().totals().figures().epochs, Text.line(program, LONGEST_NAME));
  }

  private static String speed(Jobs.@Nullable Recent recent) {
    double speed = recent == null ? 0 : recent.samplesPerSecond();
    return speed == 0 ? "-" : Text.rate(speed);
  }

  private static String share(long part, long whole) {
    return Text.format(" %7s", whole <= 0 ? "-" : Text.percent(part, whole));
  }
}
