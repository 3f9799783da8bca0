package io.coordl.recording;

import io.coordl.event.ConfigurationEvent;
import io.coordl.event.EventSink;

/** The job's totals so far, as events; the last ones of a recording count. Any thread. */
record Statistics(JobMonitor job) {
  void all(EventSink to) {
    configuration(to);
    job(to);
    latencies(to);
    policies(to);
  }

  void policies(EventSink to) {
    stores(to);
    stagings(to);
    peers(to);
    gpus(to);
  }

  void latencies(EventSink to) {
    job.latencies().write(to);
  }

  void configuration(EventSink to) {
    to.write(job.environment());
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
    job.stagings().forEach(to::write);
  }

  void gpus(EventSink to) {
    job.gpus().forEach(to::write);
  }

  void job(EventSink to) {
    to.write(job.totals());
  }
}
