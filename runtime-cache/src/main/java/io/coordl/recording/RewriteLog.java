package io.coordl.recording;

import io.coordl.attribution.EventLog;
import io.coordl.event.RewrittenEvent;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;

/** What was rewritten and what was left alone. Safe for concurrent use. */
public final class RewriteLog {
  private final Map<String, String> libraries = new ConcurrentSkipListMap<>();

  /** The way of events into the recording, from before there is one. */
  final EventLog events = new EventLog();

  /**
   * Notes what one rule did to one class.
   *
   * @param sites places rewritten, 0 if skipped
   * @param reason why it was skipped, empty if it was not
   */
  public void add(String type, String rule, long sites, String reason, String provenOn) {
    long now = System.nanoTime();
    events.write(
        () -> {
          RewrittenEvent event = new RewrittenEvent();
          event.type = type;
          event.rule = rule;
          event.sites = sites;
          event.outcome = sites > 0 ? "rewritten" : "skipped";
          event.reason = reason;
          event.provenOn = provenOn;
          return event;
        },
        now,
        now);
  }

  /** Notes a training library, of which a class was rewritten. */
  public void addLibrary(String name, String version) {
    libraries.putIfAbsent(name, version);
  }

  String libraries() {
    return libraries.entrySet().stream()
        .map(library -> library.getKey() + " " + library.getValue())
        .collect(Collectors.joining(", "));
  }
}
