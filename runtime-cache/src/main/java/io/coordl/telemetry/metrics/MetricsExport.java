package io.coordl.telemetry.metrics;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.log.UserLog;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Exports metrics to one target of {@code metrics=}, on its own thread, until the job has ended and
 * its last totals are sent. JVM exit waits up to two seconds for that. Only the first failure is
 * logged.
 */
public final class MetricsExport {
  private static final String PROMETHEUS = "prometheus:";
  private static final String OTLP = "otlp";
  private static final String KUBEFLOW = "kubeflow";
  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final String target;
  private final Supplier<List<Event>> totals;
  private final UserLog log;
  private final Duration patience;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile @Nullable PrometheusServer server;
  private boolean logged;

  /** Destination that totals are sent to. */
  interface Push {
    /** Sends the totals, and waits until they are accepted. */
    void push(List<Event> events) throws IOException;

    String where();
  }

  /**
   * Creates an export, not yet started.
   *
   * @param target value of {@code metrics=}, as the user wrote it
   * @param totals returns the events to export; called on the export's thread
   */
  public MetricsExport(String target, Supplier<List<Event>> totals, UserLog log) {
    this(target, totals, log, PATIENCE);
  }

  /** For tests, which may need more than 2 s on a busy machine. */
  MetricsExport(String target, Supplier<List<Event>> totals, UserLog log, Duration patience) {
    this.patience = patience;
    this.target = target;
    this.totals = totals;
    this.log = log;
  }

  /** Throws IllegalArgumentException unless the target is valid. */
  public static void check(String target) {
    if (target.startsWith(PROMETHEUS)) {
      PrometheusServer.address(target.substring(PROMETHEUS.length()));
    } else if (target.startsWith(OTLP + ":")) {
      Post.address(target.substring(OTLP.length() + 1));
    } else if (!target.equals(OTLP) && !target.equals(KUBEFLOW)) {
      throw new IllegalArgumentException(target + " is not a target for metrics");
    }
  }

  public void start() {
    try {
      new AgentThread("coordl-metrics", this::run).start();
    } catch (SecurityException e) {
      done.countDown();
      say("does nothing: " + e);
    }
  }

  private void run() {
    try {
      if (target.startsWith(PROMETHEUS)) {
        serve(target.substring(PROMETHEUS.length()));
      } else {
        push(
            target.equals(KUBEFLOW)
                ? new Kubeflow(System::getenv)
                : new Otlp(target.substring(target.length() == 4 ? 4 : 5), System::getenv));
      }
    } catch (IOException | IllegalArgumentException | SecurityException e) {
      say("does nothing: " + e.getMessage());
    } catch (LinkageError e) { // The jar was replaced, or the JVM lacks a module.
      say("does nothing more: " + e);
    } catch (RuntimeException | OutOfMemoryError e) {
      AgentThread.survive(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Interrupted by another part of the agent, at exit.
    } finally {
      done.countDown();
    }
  }

  private void serve(String where) throws IOException {
    try (PrometheusServer listening = new PrometheusServer(where)) {
      server = listening;
      if (stop.getCount() > 0) {
        listening.serve(() -> Families.of(totals.get()));
      }
    } catch (java.net.BindException e) {
      say("does nothing: " + e.getMessage() + "; each job on a host needs its own port");
    }
  }

  private void push(Push to) throws InterruptedException {
    boolean last = false;
    while (!last) {
      last = stop.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS);
      try {
        to.push(totals.get());
      } catch (IOException e) {
        say("cannot send to " + to.where() + " (" + e.getMessage() + "); retrying");
      } catch (RuntimeException | OutOfMemoryError e) {
        AgentThread.survive(e);
      }
    }
  }

  private synchronized void say(String what) {
    if (!logged) {
      logged = true;
      log.say("metrics=" + target + " " + what);
    }
  }

  /** Ends all exports once the totals are final; waits for them at most two seconds in all. */
  public static void end(List<MetricsExport> exports) {
    end(exports, System::nanoTime);
  }

  /** For tests, which control the clock. */
  static void end(List<MetricsExport> exports, LongSupplier clock) {
    exports.forEach(MetricsExport::stop);
    long start = clock.getAsLong();
    for (MetricsExport export : exports) {
      export.await(export.patience.minusNanos(clock.getAsLong() - start));
    }
  }

  boolean isOver() {
    return done.getCount() == 0;
  }

  private void stop() {
    stop.countDown();
    PrometheusServer listening = server;
    if (listening != null) {
      listening.close();
    }
  }

  private void await(Duration rest) {
    if (!isOver() && !AgentThread.await(done, rest) && server == null) {
      say("has not sent the last totals: no answer within " + patience.toSeconds() + " s");
    }
  }
}
