package io.coordl.reports.trace;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Span;
import io.coordl.reports.summary.EventJson;
import io.coordl.telemetry.event.FetchEvent;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * Exports the spans of the threads of one or several jobs as trace events in JSON, for
 * ui.perfetto.dev and chrome://tracing. Writes while reading, so the size is unlimited.
 */
public final class PerfettoTrace {
  private static final JsonMapper MAPPER = EventJson.mapper().build();

  private final JsonGenerator out;

  /** The origin of the time axis, before all spans: viewers do not show spans before it. */
  private final Instant begin;

  private int fetches;

  private PerfettoTrace(JsonGenerator out, Instant begin) {
    this.out = out;
    this.begin = begin;
  }

  /** Writes the spans of all recordings on a common time axis. */
  public static void write(List<Path> recordings, Writer to) throws RecordingException {
    long begin = Long.MAX_VALUE;
    for (Path recording : recordings) {
      Jvm jvm = RecordingReader.read(recording, done -> {}).jvm();
      begin = Math.min(begin, jvm == null ? 0 : jvm.jvmStartTime());
    }
    try (JsonGenerator out = MAPPER.createGenerator(to)) {
      PerfettoTrace trace = new PerfettoTrace(out, Instant.ofEpochMilli(begin));
      out.writeStartObject();
      out.writeName("traceEvents");
      out.writeStartArray();
      for (int i = 0; i < recordings.size(); i++) {
        trace.add(recordings.get(i), i + 1);
      }
      out.writeEndArray();
      out.writeEndObject();
    }
  }

  /**
   * Adds one job. Uses its number as process id, because jobs on different hosts may have the same
   * process id.
   */
  private void add(Path recording, int number) throws RecordingException {
    Set<Long> threads = new HashSet<>();
    JobRecording job =
        RecordingReader.readSpans(
            recording,
            span -> {
              long thread = span.at().threadId();
              if (threads.add(thread)) {
                writeMetadata(
                    "thread_name", number, thread, String.valueOf(span.at().threadName()));
              }
              write(span, number);
            });
    String program = job.mainClass() == null ? "" : job.mainClass() + ", ";
    writeMetadata("process_name", number, 0, program + recording);
  }

  private void writeMetadata(String what, int process, long thread, String name) {
    MAPPER.writeValue(
        out,
        Map.of(
            "ph", "M", "name", what, "pid", process, "tid", thread, "args", Map.of("name", name)));
  }

  private void write(Span span, int process) {
    if (span.event() instanceof FetchEvent) {
      // A file may be open while others are opened and decoded: overlapping spans need their own
      // tracks.
      fetches++;
      begin("b", span, process, span.at().start());
      out.writePOJOProperty("args", span.event());
      out.writeEndObject();
      begin("e", span, process, span.at().end());
      out.writeEndObject();
    } else {
      begin("X", span, process, span.at().start());
      out.writeNumberProperty("dur", span.at().nanos() / 1e3);
      out.writePOJOProperty("args", span.event());
      out.writeEndObject();
    }
  }

  private void begin(String phase, Span span, int process, Instant time) {
    out.writeStartObject();
    out.writeStringProperty("ph", phase);
    out.writeStringProperty("name", span.name());
    out.writeNumberProperty("pid", process);
    out.writeNumberProperty("tid", span.at().threadId());
    out.writeNumberProperty("ts", Duration.between(begin, time).toNanos() / 1e3);
    if (!phase.equals("X")) {
      out.writeStringProperty("cat", "file");
      out.writeNumberProperty("id", fetches);
    }
  }
}
