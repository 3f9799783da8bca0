package io.coordl.recording;

import io.coordl.event.ConfigurationEvent;
import io.coordl.event.EventSink;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.staging.StagingStatistics;

/** The job's totals so far, as events; the last ones of a recording count. Any thread. */
final class Statistics {
  private final JobMonitor job;

  Statistics(JobMonitor job) {
    this.job = job;
  }

  /** All of them. */
  void all(EventSink to) {
    configuration(to);
    job(to);
    latencies(to);
    stores(to);
    stagings(to);
    peers(to);
  }

  void latencies(EventSink to) {
    job.latencies().write(to);
  }

  void configuration(EventSink to) {
    for (Setting setting : job.settings()) {
      ConfigurationEvent event = new ConfigurationEvent();
      event.key = setting.key();
      event.value = setting.value();
      event.origin = setting.origin();
      to.write(event);
    }
  }

  void stores(EventSink to) {
    job.stores().forEach(to::write);
  }

  void peers(EventSink to) {
    job.peerViews().forEach(to::write);
  }

  void stagings(EventSink to) {
    for (StagingStatistics staging : job.stagings()) {
      StagingStatisticsEvent event = new StagingStatisticsEvent();
      event.group = staging.group();
      event.pipeline = staging.pipeline();
      event.capacity = staging.capacity();
      event.slots = staging.slots();
      event.slotBytes = staging.slotBytes();
      event.jobs = staging.jobs();
      event.epochs = staging.epochs();
      event.sharedEpochs = staging.sharedEpochs();
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
      event.updates = staging.updates();
      to.write(event);
    }
  }

  void job(EventSink to) {
    to.write(job.totals());
  }
}
