package io.coordl.benchmarks.micro;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.bridge.Spans;
import io.coordl.telemetry.recording.AgentLog;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.RewriteLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Measures an empty span, with the real recorder behind the bridge. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SpanCost {
  /** A sink behind the bridge. */
  public enum Sink {
    /** Nothing: the agent is switched off. */
    NONE,
    /** The recorder, without a recording. */
    NO_RECORDING,
    /** The recorder with a running recording; all spans are shorter than its threshold. */
    RECORDING
  }

  /** Varied by JMH: the sink to install. */
  @Param public Sink sink = Sink.NONE;

  private SpanSink spans = SpanSink.NONE;

  /** Installs the chosen {@link #sink}. */
  @Setup
  public void install() throws IOException {
    JobMonitor monitor = new JobMonitor(List.of(), "", new AgentLog(), new RewriteLog());
    switch (sink) {
      case NONE -> {}
      case NO_RECORDING -> monitor.startWithoutRecording();
      case RECORDING -> {
        Path recording = Files.createTempFile("span-cost", ".jfr");
        recording.toFile().deleteOnExit();
        monitor.startRecording(recording.toString(), true);
      }
    }
    spans = sink == Sink.NONE ? SpanSink.NONE : monitor.figures().spans();
    Bridge.install(spans, ItemSource.NONE, FaultListener.NONE);
  }

  /** Switches the bridge off again. */
  @TearDown
  public void uninstall() {
    Bridge.trip();
  }

  /** Measures a sample span, which only adds its time to the job's total. */
  @Benchmark
  public void sample() {
    Spans.exit(Spans.enter(SpanKind.SAMPLE, this), null);
  }

  /** Measures a transform: its time also enters a histogram, and a long one becomes an event. */
  @Benchmark
  public void transform() {
    Spans.exit(Spans.enter(SpanKind.TRANSFORM, this), null);
  }

  /** Measures recording one fetch, without the clock readings at its start and end. */
  @Benchmark
  public void fetchTime() {
    spans.fetchTime(0, 1);
  }

  /** Measures the two clock readings that every span needs. */
  @Benchmark
  public long clock() {
    long begun = System.nanoTime();
    return System.nanoTime() - begun;
  }
}
