package io.coordl.recording;

import io.coordl.bridge.event.RewrittenEvent;
import java.util.ArrayList;
import java.util.List;

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

  private final List<Entry> waiting = new ArrayList<>();
  private boolean open;
  private long classes;
  private long sites;
  private String lastType = "";

  /** Notes one application of a rule. */
  public synchronized void add(Entry entry) {
    if (entry.sites() > 0) {
      sites += entry.sites();
      if (!entry.type().equals(lastType)) {
        lastType = entry.type();
        classes++;
      }
    }
    if (open) {
      commit(entry);
    } else if (waiting.size() < MAX_WAITING) {
      waiting.add(entry);
    }
  }

  /** The recording runs: writes what has waited, and from now on at once. */
  synchronized void open() {
    open = true;
    waiting.forEach(RewriteLog::commit);
    waiting.clear();
  }

  /** Classes with at least one rewritten place. */
  public synchronized long classes() {
    return classes;
  }

  /** Places rewritten. */
  public synchronized long sites() {
    return sites;
  }

  private static void commit(Entry entry) {
    RewrittenEvent event = new RewrittenEvent();
    if (event.shouldCommit()) {
      event.type = entry.type();
      event.rule = entry.rule();
      event.sites = entry.sites();
      event.outcome = entry.sites() > 0 ? "rewritten" : "skipped";
      event.reason = entry.reason();
      event.provenOn = entry.provenOn();
      event.commit();
    }
  }
}
