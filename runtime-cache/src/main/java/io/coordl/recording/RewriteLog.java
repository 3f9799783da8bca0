package io.coordl.recording;

import io.coordl.event.EventSink;
import io.coordl.event.RewrittenEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What was rewritten and what was left alone. Classes load before the recording starts, so entries
 * wait here (at most 10,000) until it does. Safe for concurrent use.
 */
public final class RewriteLog {
  private static final int MAX_WAITING = 10_000;

  /**
   * One rule on one class.
   *
   * @param sites places rewritten, 0 if skipped
   * @param reason why it was skipped, empty if it was not
   */
  public record Entry(String type, String rule, long sites, String reason, String provenOn) {}

  private final Map<String, String> libraries = new ConcurrentSkipListMap<>();
  private final List<Entry> waiting = new ArrayList<>();
  private @Nullable EventSink sink;

  public synchronized void add(Entry entry) {
    EventSink to = sink;
    if (to != null) {
      write(to, entry);
    } else if (waiting.size() < MAX_WAITING) {
      waiting.add(entry);
    }
  }

  /** Notes a training library, of which a class was rewritten. */
  public void addLibrary(String name, String version) {
    libraries.putIfAbsent(name, version);
  }

  /** The libraries with their versions. */
  String libraries() {
    return libraries.entrySet().stream()
        .map(library -> library.getKey() + " " + library.getValue())
        .collect(Collectors.joining(", "));
  }

  /** The recording runs: writes what has waited, and from now on at once. */
  synchronized void open(EventSink to) {
    sink = to;
    waiting.forEach(entry -> write(to, entry));
    waiting.clear();
  }

  private static void write(EventSink to, Entry entry) {
    RewrittenEvent event = new RewrittenEvent();
    if (to.wants(event)) {
      event.type = entry.type();
      event.rule = entry.rule();
      event.sites = entry.sites();
      event.outcome = entry.sites() > 0 ? "rewritten" : "skipped";
      event.reason = entry.reason();
      event.provenOn = entry.provenOn();
      to.write(event);
    }
  }
}
