package io.coordl.recording;

import io.coordl.attribution.EventLog;
import io.coordl.bridge.FaultListener;
import io.coordl.event.FaultEvent;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the agent tells the user while the program runs: one line on stderr each, and one event.
 * Nothing else of the agent prints. Safe for concurrent use; never throws.
 */
public final class AgentLog implements FaultListener {
  private final Set<String> told = ConcurrentHashMap.newKeySet();
  private final AtomicLong faults = new AtomicLong();
  private final EventLog events = new EventLog();

  /** The way of events into the recording, from before there is one. */
  EventLog events() {
    return events;
  }

  /** Faults inside the agent so far. */
  public long faults() {
    return faults.get();
  }

  /** One line, each text once. */
  public void say(String text) {
    if (told.size() < 1_000 && told.add(text)) {
      print("[coordl] " + UserText.line(text));
    }
  }

  /** Prints lines; what the program has made of its standard error may fail. */
  public static void print(String lines) {
    try {
      System.err.println(lines);
    } catch (RuntimeException | Error e) {
      // There is nobody to tell.
    }
  }

  /** What was said of a policy, without its name; empty if nothing was. */
  String saidOf(String policy) {
    return told.stream()
        .filter(text -> text.startsWith(policy + " "))
        .sorted()
        .findFirst()
        .map(text -> text.substring(policy.length() + 1).replaceFirst("\\.$", ""))
        .orElse("");
  }

  @Override
  public void fault(String where, Throwable cause, boolean tripped) {
    faults.incrementAndGet();
    String action =
        tripped
            ? "too many faults: the agent is switched off, the program goes on without it"
            : "the program's own call is made instead";
    int end = where.indexOf(' ');
    String kind = end < 0 ? where : where.substring(0, end);
    if (tripped || told.add("fault " + kind + cause.getClass())) {
      print("[coordl] " + UserText.line("fault in " + where + ": " + cause + "; " + action));
      if (Boolean.getBoolean("coordl.debug")) {
        cause.printStackTrace();
      }
    }
    events.emit(
        sink -> {
          FaultEvent event = new FaultEvent();
          if (sink.wants(event)) {
            event.where = UserText.line(where);
            event.cause = UserText.line(cause.toString());
            event.action = action;
            sink.write(event);
          }
        });
  }
}
