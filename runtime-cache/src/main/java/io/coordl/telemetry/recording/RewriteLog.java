package io.coordl.telemetry.recording;

import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.event.RewrittenEvent;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;

/** Records which classes were rewritten and which were skipped. Safe for concurrent use. */
public final class RewriteLog {
  private final Map<String, String> libraries = new ConcurrentSkipListMap<>();

  /** Forwards events to the recording; buffers them until it runs. */
  final EventLog events = new EventLog();

  /**
   * Records that a rule was applied to one call site or method of a class, or was skipped.
   *
   * @param sites 1 if applied, 0 if skipped
   * @param reason why it was skipped, empty if it was not
   * @param provenOn library versions that the rule was tested with
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

  /** Records a training library with a rewritten class. */
  public void addLibrary(String name, String version) {
    libraries.putIfAbsent(name, version);
  }

  String libraries() {
    return libraries.entrySet().stream()
        .map(library -> library.getKey() + " " + library.getValue())
        .collect(Collectors.joining(", "));
  }
}
