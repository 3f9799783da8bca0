package io.coordl.recording;

import io.coordl.event.ConfigurationEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.staging.StagingStatistics;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import jdk.jfr.Configuration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.jspecify.annotations.Nullable;

/**
 * The JFR recording of the job: the agent's own from its bundled settings, or the user's if one
 * runs already. Final figures are written as periodic events at the end of every chunk, so any dump
 * at any time, by whomever, has them.
 */
final class FlightLog {
  private static final String SETTINGS = "coordl.jfc";

  private final JobMonitor job;
  private volatile @Nullable File file;
  private volatile boolean joined;
  private volatile boolean stopping;

  FlightLog(JobMonitor job) {
    this.job = job;
  }

  /**
   * Starts or joins a recording.
   *
   * @param target file to write, {@code %p} is the process id
   * @param own start a recording of our own even beside the user's
   */
  void start(String target, boolean own) throws IOException, ParseException {
    if (stopping) {
      throw new IllegalStateException("the JVM ends");
    }
    // JDK-8371889 (JDK 15 to 22): registering events while another thread does file I/O can
    // deadlock unless the recorder and the JDK's own file events come first.
    FlightRecorder recorder = FlightRecorder.getFlightRecorder();
    preload("jdk.jfr.events.Handlers");
    preload("jdk.jfr.events.EventConfigurations");
    FlightRecorder.addPeriodicEvent(ConfigurationEvent.class, this::commitConfiguration);
    FlightRecorder.addPeriodicEvent(JobStatisticsEvent.class, this::commitJob);
    FlightRecorder.addPeriodicEvent(LatencyStatisticsEvent.class, job.latencies()::commitJob);
    FlightRecorder.addPeriodicEvent(StoreStatisticsEvent.class, this::commitStores);
    FlightRecorder.addPeriodicEvent(StagingStatisticsEvent.class, this::commitStagings);
    FlightRecorder.addPeriodicEvent(PeerStatisticsEvent.class, this::commitPeers);
    joined =
        recorder.getRecordings().stream().anyMatch(r -> r.getState() == RecordingState.RUNNING);
    if (joined && !own) {
      return;
    }
    String path = target.replace("%p", Long.toString(ProcessHandle.current().pid()));
    Recording started = new Recording(settings());
    started.setName("CoorDL");
    started.setToDisk(true);
    started.setMaxSize(4L << 30);
    started.setMaxAge(Duration.ofDays(7));
    File to = new File(path).getAbsoluteFile();
    started.setDestination(to.toPath());
    started.setDumpOnExit(true);
    if (stopping) {
      throw new IllegalStateException("the JVM ends");
    }
    started.start();
    file = to;
  }

  /** The JVM ends: no recording is started any more, JFR would never come back from it. */
  void stop() {
    stopping = true;
  }

  /** Where the recording goes, for the summary. */
  @Nullable String where() {
    File written = file;
    if (written != null) {
      return written.getPath();
    }
    return joined ? "the recording that ran already" : null;
  }

  private static Configuration settings() throws IOException, ParseException {
    InputStream in = FlightLog.class.getResourceAsStream(SETTINGS);
    if (in == null) {
      throw new IOException(SETTINGS + " is missing from the agent");
    }
    try (Reader reader = new InputStreamReader(in, StandardCharsets.UTF_8)) {
      return Configuration.create(reader);
    }
  }

  private static void preload(String name) {
    try {
      Class.forName(name);
    } catch (ClassNotFoundException e) {
      // Of another JDK version.
    }
  }

  private void commitConfiguration() {
    for (Setting setting : job.settings()) {
      ConfigurationEvent event = new ConfigurationEvent();
      event.key = setting.key();
      event.value = setting.value();
      event.origin = setting.origin();
      event.commit();
    }
  }

  private void commitStores() {
    for (StoreView store : job.stores()) {
      StoreStatisticsEvent event = new StoreStatisticsEvent();
      event.store = store.store();
      event.scope = store.scope();
      event.group = store.group();
      event.capacity = store.capacity();
      event.used = store.used();
      event.items = store.items();
      event.hits = store.hits();
      event.misses = store.misses();
      event.admitted = store.admitted();
      event.peer = store.peer();
      event.bypassed = store.bypassed();
      event.hitBytes = store.hitBytes();
      event.peerBytes = store.peerBytes();
      event.order = store.order();
      event.itemBytes = store.itemBytes();
      event.itemSaves = store.itemSaves();
      event.jobs = store.jobs();
      event.commit();
    }
  }

  private void commitPeers() {
    for (PeerView peer : job.peerViews()) {
      PeerStatisticsEvent event = new PeerStatisticsEvent();
      event.peer = peer.peer();
      event.found = peer.found();
      event.absent = peer.absent();
      event.kept = peer.kept();
      event.late = peer.late();
      event.failed = peer.failed();
      event.receivedBytes = peer.receivedBytes();
      event.sentBytes = peer.sentBytes();
      event.foundTime = peer.foundTime();
      event.keptTime = peer.keptTime();
      event.lostTime = peer.lostTime();
      event.commit();
    }
  }

  private void commitStagings() {
    for (StagingStatistics staging : job.stagings()) {
      StagingStatisticsEvent event = new StagingStatisticsEvent();
      event.group = staging.group();
      event.pipeline = staging.pipeline();
      event.capacity = staging.capacity();
      event.slots = staging.slots();
      event.slotBytes = staging.slotBytes();
      event.jobs = staging.jobs();
      event.passes = staging.passes();
      event.sharedPasses = staging.sharedPasses();
      event.prepared = staging.prepared();
      event.mapped = staging.mapped();
      event.copied = staging.copied();
      event.takenBytes = staging.takenBytes();
      event.nobody = staging.nobody();
      event.notStaged = staging.notStaged();
      event.late = staging.late();
      event.lost = staging.lost();
      event.waited = staging.waitNanos();
      event.waitedFor = staging.waitedForNanos();
      event.slowestJob = staging.slowestJob();
      event.waitedForSlowest = staging.waitedForSlowestNanos();
      event.takeOvers = staging.takeOvers();
      event.dropped = staging.dropped();
      event.tooLate = staging.tooLate();
      event.commit();
    }
  }

  private void commitJob() {
    job.fill(new JobStatisticsEvent()).commit();
  }
}
