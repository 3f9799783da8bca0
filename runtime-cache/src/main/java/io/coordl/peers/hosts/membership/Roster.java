package io.coordl.peers.hosts.membership;

import io.coordl.peers.hosts.Member;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The published members. A host that disappears stays listed for a while: another of its jobs may
 * take over, or a network partition may heal, and items then keep their owners. Thread-safe.
 */
final class Roster {
  private final long graceNanos;
  private final Map<String, Entry> entries = new TreeMap<>();
  private Set<String> present = Set.of();

  private record Entry(Member member, long seenNanos) {}

  /** Creates a roster that starts with the members that the last leader published. */
  Roster(Collection<Member> inherited, long nowNanos, long graceNanos) {
    this.graceNanos = graceNanos;
    inherited.forEach(member -> entries.put(member.name(), new Entry(member, nowNanos)));
  }

  /** Sets the present members, in joining order; of two with the same name, the last is alive. */
  synchronized void see(List<Member> members, long nowNanos) {
    touch(nowNanos);
    Set<String> names = new HashSet<>();
    for (Member member : members) {
      entries.put(member.name(), new Entry(member, nowNanos));
      names.add(member.name());
    }
    present = names;
  }

  /** Returns all members that are present or disappeared recently, sorted by name. */
  synchronized List<Member> members(long nowNanos) {
    touch(nowNanos);
    entries.values().removeIf(entry -> nowNanos - entry.seenNanos > graceNanos);
    return entries.values().stream().map(Entry::member).toList();
  }

  private void touch(long nowNanos) {
    for (String name : present) {
      entries.computeIfPresent(name, (key, entry) -> new Entry(entry.member, nowNanos));
    }
  }
}
