package io.coordl.recording;

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

  /** Faults inside the agent so far. */
  public long faults() {
    return faults.get();
  }

  /** One line, each text once. */
  public void say(String text) {
    if (told.size() < 1_000 && told.add(text)) {
      System.err.println("[coordl] " + UserText.line(text));
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
      System.err.println(
          "[coordl] " + UserText.line("fault in " + where + ": " + cause + "; " + action));
      if (Boolean.getBoolean("coordl.debug")) {
        cause.printStackTrace();
      }
    }
    FaultEvent event = new FaultEvent();
    if (event.shouldCommit()) {
      event.where = UserText.line(where);
      event.cause = UserText.line(cause.toString());
      event.action = action;
      event.commit();
    }
  }
}
