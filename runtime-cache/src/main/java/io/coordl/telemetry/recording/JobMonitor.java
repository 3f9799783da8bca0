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
 * The life of a job's figures: starts the recording, the live view and the exports, and at the end
 * finishes and closes them in order. One per JVM, made by the agent. Safe for concurrent use.
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

  /** The job's figures, which live as long as this monitor. */
  public JobFigures figures() {
    return figures;
  }

  /** Adds a store to events and summary, to be closed when the job has ended. */
  public void addStore(Supplier<StoreStatisticsEvent> store, Closeable toClose) {
    figures.addStore(store);
    closing.add(toClose);
  }

  /**
   * Adds a policy that uses the stores.
   *
   * @param report describes what it did, for the summary; empty if nothing
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
   * Adds a policy or data set that the user asked for: if it did nothing, the summary and the
   * recording report why.
   *
   * @param asked the argument as written: {@code cache=minio}
   * @param name prefix of log messages that explain more than {@code why}
   * @param why returns, when the job ends, why it did nothing; empty if it did something
   */
  public void addAsked(String asked, String name, Supplier<String> why) {
    figures.addAsked(asked, name, why);
  }

  /** Adds the job's part in coordinated prep; {@code group} is closed when the job has ended. */
  public void addStaging(Supplier<List<StagingStatisticsEvent>> staged, Closeable group) {
    figures.addStaging(staged);
    closing.add(0, group);
  }

  /**
   * Marks the job as being profiled.
   *
   * @param made closed when the job ends, and then described in the summary
   * @param toClose closed when the job has ended
   */
  public void profile(Profile made, Closeable toClose) {
    profile = made;
    figures.profile(made);
    closing.add(toClose);
  }

  /**
   * Samples the devices from now on, until the job has ended; logs a failure if the user asked for
   * GPUs.
   */
  public GpuSampler sample(Binding binding, boolean asked) {
    GpuSampler made =
        new GpuSampler(binding, log.events, figures.spans().totals()::snapshot, log, asked);
    figures.sampler(made);
    closing.add(0, made);
    made.start();
    return made;
  }

  /** Sets the version of the agent that makes this recording. */
  public void madeBy(String version) {
    figures.madeBy(version);
  }

  /**
   * Prints the progress of the job from now on: a line once the file of the recording is known, and
   * lines for epochs.
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

  /** Logs that the job is watched, and how to view it. */
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

  /** Lets {@code coordl top} show the job from now on, until it has ended. */
  public void showStatus() {
    hasStatus = true;
    Status status = new Status(figures, StatusFile::directory);
    closing.add(status);
    status.start();
  }

  /** Publishes the totals by JMX from now on. */
  public void showBeans() {
    new Beans(figures).start();
  }

  /**
   * Exports the totals to another system, by {@link MetricsExport}, from now on until the job has
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
   * Starts the agent's recording in the background, or joins a running one. A failure costs the
   * recording, not the job.
   *
   * @param target file; {@code %p} is replaced by the process ID
   * @param own whether to start the agent's own recording even if the user's is running
   */
  public void startRecording(String target, boolean own) {
    flight.start(target, own);
  }

  /** Starts with totals and summary only: writes no events. */
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
        log.say("preparing the end of the job failed (" + e + ")");
      }
    }
    List<String> didNothing = figures.didNothing(); // Before the recording ends.
    Profile made = profile;
    if (made != null) {
      made.close();
    }
    try {
      figures.freeze();
      flight.finish();
      return new ExitSummary(figures, recording(), didNothing).lines();
    } finally {
      for (Closeable store : closing) {
        try {
          store.close();
        } catch (IOException | RuntimeException e) {
          log.say("a store cannot be closed (" + e + ")");
        }
      }
    }
  }

  /** The recording's file and any problem with it; null if there is none. */
  @Nullable String recording() {
    return flight.where();
  }
}
