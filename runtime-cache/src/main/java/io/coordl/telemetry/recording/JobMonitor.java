package io.coordl.telemetry.recording;

import io.coordl.gpu.Binding;
import io.coordl.gpu.GpuSampler;
import io.coordl.profile.Profile;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.live.StatusFile;
import io.coordl.telemetry.metrics.MetricsExport;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Manages the recording of a job: starts the recording, the live view and the exports, and finishes
 * and closes them in order when the job ends. The agent creates one per JVM. Safe for concurrent
 * use.
 */
public final class JobMonitor {
  private final JobFigures figures;
  private final AgentLog log;
  private final List<Closeable> closing = new CopyOnWriteArrayList<>();
  private final List<Runnable> endings = new CopyOnWriteArrayList<>();
  private final List<MetricsExport> exports = new CopyOnWriteArrayList<>();
  private final FlightLog flight;
  private volatile @Nullable Profile profile;
  private volatile boolean shown;
  private volatile boolean hasStatus;

  /**
   * Creates a monitor that records nothing yet.
   *
   * @param settings the agent's arguments, as parsed
   * @param mainClass the program, for the recording
   * @param log messages to the user
   * @param rewrites rewritten calls, including those before this monitor
   */
  public JobMonitor(List<Setting> settings, String mainClass, AgentLog log, RewriteLog rewrites) {
    this.log = log;
    this.figures = new JobFigures(settings, mainClass, log, rewrites);
    this.flight = new FlightLog(figures, this::began);
  }

  /** Returns the job's figures, which live as long as this monitor. */
  public JobFigures figures() {
    return figures;
  }

  /** Adds a store to the events and the summary, and closes it when the job has ended. */
  public void addStore(Supplier<StoreStatisticsEvent> store, Closeable toClose) {
    figures.addStore(store);
    closing.add(toClose);
  }

  /**
   * Adds a policy that uses the stores.
   *
   * @param report describes for the summary what the policy did; empty if nothing
   * @param toClose closed when the job has ended, before the stores
   */
  public void addPolicy(Supplier<String> report, Closeable toClose) {
    figures.addPolicy(report);
    closing.add(0, toClose);
  }

  /** Adds an action that runs first when the JVM ends, while the program's threads continue. */
  public void addEnding(Runnable ending) {
    endings.add(ending);
  }

  /**
   * Adds a policy or data set that the user requested: if it did nothing, the summary and the
   * recording report why.
   *
   * @param argument the argument as written, such as {@code cache=minio}
   * @param name prefix of log messages that explain more than {@code why}
   * @param why returns, when the job ends, why it did nothing; empty if it did something
   */
  public void addRequested(String argument, String name, Supplier<String> why) {
    figures.addRequested(argument, name, why);
  }

  /** Adds the job's part in coordinated prep; {@code group} is closed when the job has ended. */
  public void addStaging(Supplier<List<StagingStatisticsEvent>> staged, Closeable group) {
    figures.addStaging(staged);
    closing.add(0, group);
  }

  /**
   * Marks the job as being profiled.
   *
   * @param started closed when the job ends, and then described in the summary
   * @param toClose closed when the job has ended
   */
  public void profile(Profile started, Closeable toClose) {
    profile = started;
    figures.profile(started);
    closing.add(toClose);
  }

  /**
   * Samples the GPUs from now on, until the job has ended.
   *
   * @param requested whether the user requested GPUs, so that a failure is logged
   */
  public GpuSampler sample(Binding binding, boolean requested) {
    GpuSampler sampler =
        new GpuSampler(binding, log.events, figures.spans().totals()::snapshot, log, requested);
    figures.sampler(sampler);
    closing.add(0, sampler);
    sampler.start();
    return sampler;
  }

  /**
   * Begins to observe the job.
   *
   * @param version the agent's version, for the recording
   */
  public void start(String version) {
    figures.start(version);
  }

  /**
   * Prints the progress of the job from now on: a line once it is known whether and where events
   * are recorded, and lines for epochs.
   */
  public void show() {
    shown = true;
    figures
        .spans()
        .totals()
        .onEpochEnd(
            new EpochLines(
                lines -> log.print(UserText.marked(lines), Duration.ZERO),
                System::nanoTime,
                figures::totals,
                () -> profile != null));
  }

  /** Logs that the agent watches the job, and how to view it. */
  void began() {
    if (!shown) {
      return;
    }
    String recording = recording();
    String frameworks = figures.frameworks();
    String line =
        figures.agent()
            + " watches this "
            + (frameworks.isEmpty() ? "job" : frameworks + " job")
            + (recording == null ? "" : "; recording: " + recording)
            + (hasStatus ? "; while it runs: coordl top " + ProcessHandle.current().pid() : "");
    log.print(UserText.marked(List.of(line)), Duration.ZERO);
  }

  /** Makes the job visible to {@code coordl top} until it has ended. */
  public void showStatus() {
    hasStatus = true;
    Status status = new Status(figures, StatusFile::directory);
    closing.add(status);
    status.start();
  }

  /** Starts publishing the totals through JMX. */
  public void showBeans() {
    new Beans(figures).start();
  }

  /**
   * Starts exporting the totals to another system, through {@link MetricsExport}, until the job has
   * ended.
   */
  public void export(String target) {
    MetricsExport export = new MetricsExport(target, figures::exported, log);
    if (exports.isEmpty()) {
      closing.add(0, () -> MetricsExport.end(exports));
    }
    exports.add(export);
    export.start();
  }

  /**
   * Starts the agent's recording in the background, or joins a running one. A failure ends the
   * recording, not the job.
   *
   * @param target file; {@code %p} is replaced by the process ID
   * @param own whether to start the agent's own recording even if the user's is running
   */
  public void startRecording(String target, boolean own) {
    flight.start(target, own);
  }

  /** Starts without a recording: keeps totals and the summary, but writes no events. */
  public void startWithoutRecording() {
    log.events.close();
    figures.rewrites.events.close();
    began();
  }

  /** Finishes the recording, closes the stores and returns the summary, at most 20 lines. */
  public List<String> finish() {
    for (Runnable ending : endings) {
      try {
        ending.run();
      } catch (RuntimeException e) {
        log.say(
            "an action of the agent at the job's end failed (" + e + "); the job ends without it");
      }
    }
    List<String> didNothing = figures.didNothing(); // Before the recording ends.
    Profile running = profile;
    if (running != null) {
      running.close();
    }
    try {
      figures.freeze();
      flight.finish();
      return new ExitSummary(figures, recording(), didNothing).lines();
    } finally {
      for (Closeable part : closing) {
        try {
          part.close();
        } catch (IOException | RuntimeException e) {
          log.say("a part of the agent cannot be closed (" + e + "); the job ends anyway");
        }
      }
    }
  }

  /** Returns the recording's file and any problem with it; null if there is none. */
  @Nullable String recording() {
    return flight.where();
  }
}
