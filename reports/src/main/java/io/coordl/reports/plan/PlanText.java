package io.coordl.reports.plan;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.Sharing;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A plan as text: for each pool, the result of each allocation and the jobs. */
public final class PlanText {
  private PlanText() {}

  public static List<String> lines(Plan plan) {
    List<String> lines = new ArrayList<>();
    for (Plan.Pool pool : plan.pools()) {
      if (!lines.isEmpty()) {
        lines.add("");
      }
      add(lines, plan.allocation(), pool);
    }
    return lines;
  }

  private static void add(List<String> lines, Allocation allocation, Plan.Pool pool) {
    int requested = pool.jobs().stream().mapToInt(Plan.Job::gpus).sum();
    lines.add(
        format(
            "%s: %s %d of %s; %s with %s, %s cores, %s GiB%s",
            pool.gpu(),
            Text.count(pool.jobs().size(), "job requests", "jobs request"),
            requested,
            Text.count((long) pool.servers() * pool.gpusPerServer(), "GPU", "GPUs"),
            Text.count(pool.servers(), "server", "servers, each"),
            Text.count(pool.gpusPerServer(), "GPU", "GPUs"),
            amount(pool.cores()),
            amount(pool.memoryGib()),
            pool.file().sharesStorage() ? ", " + amount(pool.storageMbs()) + " MB/s" : ""));
    lines.add(
        format(
            "%-13s %15s %9s %7s %8s", "allocation", "sum of speeds", "of bound", "least", "wait"));
    for (Plan.Compared result : pool.compared()) {
      lines.add(
          format(
              "%-13s %15.2f %7.1f %% %7.2f %8d%s",
              result.allocation(),
              result.speeds(),
              100 * result.ofBound(),
              result.least(),
              result.waiting(),
              result.allocation() == Allocation.OPT ? "  the bound" : ""));
    }
    lines.add(
        "Speeds are relative to the GPU-proportional share. The plan, by " + allocation + ":");
    lines.add(
        format(
            "%-24s %5s %8s %10s %10s %7s  %s",
            "job", "GPUs", "cores", "GiB", "MB/s", "speed", "server (GPUs)"));
    pool.jobs().forEach(job -> lines.add(line(job)));
    if (pool.jobs().stream().anyMatch(job -> job.request().isMemoryMissing())) {
      lines.add(
          "The GiB are only for cached items: add memory=SIZE to each job, with the memory that it"
              + " needs besides its cache.");
    }
  }

  private static String line(Plan.Job job) {
    return job.waits()
        ? format("%-24s %5d  waits", job.name(), job.gpus())
        : format(
            "%-24s %5d %8s %10s %10s %7.2f  %s",
            job.name(),
            job.gpus(),
            amount(job.cores()),
            amount(job.memoryGib()),
            amount(job.storageMbs()),
            job.speed(),
            job.servers().stream().map(PlanText::part).collect(Collectors.joining(", ")));
  }

  private static String part(Sharing.Part part) {
    return part.server() + " (" + part.gpus() + ")";
  }

  private static String amount(double value) {
    return format("%.1f", value).replaceFirst("\\.0$", "");
  }

  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
