package io.coordl.recording;

import io.coordl.event.ConfigurationEvent;
import io.coordl.event.EventSink;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
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
      event.full = store.full();
      event.hitBytes = store.hitBytes();
      event.peerBytes = store.peerBytes();
      event.order = store.order();
      event.itemBytes = store.itemBytes();
      event.itemSaves = store.itemSaves();
      event.jobs = store.jobs();
      to.write(event);
    }
  }

  void peers(EventSink to) {
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
      to.write(event);
    }
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
      event.passes = staging.epochs();
      event.sharedPasses = staging.sharedEpochs();
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
    to.write(job.fill(new JobStatisticsEvent()));
  }
}
