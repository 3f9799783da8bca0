package io.coordl.reports.cluster;

import io.coordl.telemetry.advice.Text;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a trace of jobs: CSV with a header, one job a line. */
public final class Trace {
  static final String HEADER = "job,model,arrival_s,iterations,gpus";
  static final int MAX_JOBS = 1_000_000;

  private static final double MAX_ARRIVAL_SECONDS = 1e10;
  private static final long MAX_ITERATIONS = 1L << 52;

  private final Path file;
  private final ModelTable models;
  private final Cluster cluster;
  private final Map<Long, Integer> lines = new HashMap<>();

  private Trace(Path file, ModelTable models, Cluster cluster) {
    this.file = file;
    this.models = models;
    this.cluster = cluster;
  }

  /**
   * Returns the jobs of {@code file} by arrival; jobs that arrive together keep the order of the
   * file.
   *
   * @throws InputException if a line is not a job that {@code cluster} can run with {@code models}
   */
  public static List<TraceJob> read(Path file, ModelTable models, Cluster cluster)
      throws InputException {
    return new Trace(file, models, cluster).jobs();
  }

  private List<TraceJob> jobs() throws InputException {
    List<TraceJob> jobs = new ArrayList<>();
    int number = 1;
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line = reader.readLine();
      if (line == null || !line.strip().equals(HEADER)) {
        throw refused(1, "this is not a trace: the header '" + HEADER + "' was expected");
      }
      while ((line = reader.readLine()) != null) {
        number++;
        if (jobs.size() == MAX_JOBS) {
          throw refused(number, "a trace has at most " + MAX_JOBS + " jobs");
        }
        jobs.add(job(number, line));
      }
    } catch (NoSuchFileException e) {
      throw new InputException("there is no file " + file);
    } catch (CharacterCodingException e) {
      throw new InputException(file + " is not UTF-8 text after line " + number);
    } catch (IOException e) {
      throw new InputException(file + " cannot be read: " + e.getMessage());
    }
    if (jobs.isEmpty()) {
      throw refused(1, "the trace has no jobs");
    }
    jobs.sort(Comparator.comparingDouble(TraceJob::arrival));
    return jobs;
  }

  private TraceJob job(int line, String text) throws InputException {
    String[] fields = text.split(",", -1);
    if (fields.length != 5) {
      throw refused(
          line,
          "'"
              + shortened(text)
              + "' has "
              + Text.count(fields.length, "field", "fields")
              + ", not the header's five");
    }
    long id = whole(line, "job", fields[0], 0, Long.MAX_VALUE);
    Integer first = lines.putIfAbsent(id, line);
    if (first != null) {
      throw refused(line, "job " + id + " is already on line " + first);
    }
    JobModel model = models.find(fields[1].strip());
    if (model == null) {
      throw refused(
          line, "the model '" + shortened(fields[1]) + "' is not in the table: " + models.names());
    }
    double arrival = seconds(line, fields[2]);
    long iterations = whole(line, "iterations", fields[3], 1, MAX_ITERATIONS);
    int gpus = (int) whole(line, "gpus", fields[4], 1, Integer.MAX_VALUE);
    if (gpus > cluster.gpus()) {
      throw refused(
          line, "job " + id + " needs " + gpus + " GPUs, but the cluster has " + cluster.gpus());
    }
    return new TraceJob(id, model.name(), arrival, iterations, gpus);
  }

  private double seconds(int line, String text) throws InputException {
    double value;
    try {
      value = Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value >= 0 && value <= MAX_ARRIVAL_SECONDS)) {
      throw refused(line, "arrival_s is '" + shortened(text) + "', not a time from 0 to 1e10 s");
    }
    return value;
  }

  private long whole(int line, String field, String text, long min, long max)
      throws InputException {
    try {
      long value = Long.parseLong(text.strip());
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Rejected below.
    }
    throw refused(
        line, field + " is '" + shortened(text) + "', not a whole number of at least " + min);
  }

  private InputException refused(int line, String problem) {
    return new InputException(file + ", line " + line + ": " + problem);
  }

  private static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "...";
  }
}
