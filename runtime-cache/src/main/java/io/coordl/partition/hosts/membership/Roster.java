package io.coordl.partition.hosts.membership;

import io.coordl.partition.hosts.Member;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The members as they are told to others: a host that vanishes stays listed for a while, because
 * another job of its host may take over, or the cut between hosts may heal, and then no item has
 * got another owner. Thread-safe.
 */
final class Roster {
  private final long graceNanos;
  private final Map<String, Entry> entries = new TreeMap<>();
  private Set<String> present = Set.of();

  private record Entry(Member member, long seenNanos) {}

  /** A roster that begins with what the last leader told. */
  Roster(Collection<Member> inherited, long nowNanos, long graceNanos) {
    this.graceNanos = graceNanos;
    inherited.forEach(member -> entries.put(member.name(), new Entry(member, nowNanos)));
  }

  /** These are there now, in the order in which they came: of two of one name the last is alive. */
  synchronized void see(List<Member> members, long nowNanos) {
    touch(nowNanos);
    Set<String> names = new HashSet<>();
    for (Member member : members) {
      entries.put(member.name(), new Entry(member, nowNanos));
      names.add(member.name());
    }
    present = names;
  }

  /** All that are there or vanished a short while ago, in the order of their names. */
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
