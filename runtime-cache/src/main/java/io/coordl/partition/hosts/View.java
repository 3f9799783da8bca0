package io.coordl.partition.hosts;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The members at one time, as this host sees them; their numbers are those of the list.
 *
 * @param peers by number; null for this host itself
 * @param self number of this host; -1 if it is not a member, now
 * @param former names of the members in the last views that were others, the latest first
 */
record View(
    List<Member> members,
    Ranking ranking,
    List<@Nullable PeerClient> peers,
    int self,
    List<Set<String>> former,
    ItemLocations locations) {
  static final View NONE = new View(List.of(), List.of(), -1, List.of());

  /** So many views are remembered, each for one more question about an item that nobody has. */
  private static final int MOST_FORMER = 3;

  private View(
      List<Member> members, List<@Nullable PeerClient> peers, int self, List<Set<String>> former) {
    this(members, new Ranking(members), peers, self, former, new ItemLocations());
  }

  /** The next view; {@code peers} as by {@link #peers}. */
  View then(List<Member> next, List<@Nullable PeerClient> peers, String selfName) {
    View after = new View(next, peers, peers.indexOf(null), former).since(names(members, ""));
    // The others may have been there before this host came.
    return alone() ? after.since(names(next, selfName)) : after;
  }

  /** The same, with nothing learnt, after this member was out of reach for a while. */
  View back(Member member) {
    return since(names(members, member.name()));
  }

  /** The same, with nothing learnt, as if the members had been these before. */
  private View since(Set<String> others) {
    boolean known = others.isEmpty() || others.equals(names(members, ""));
    Stream<Set<String>> latest = known ? Stream.empty() : Stream.of(others);
    return new View(
        members,
        peers,
        self,
        Stream.concat(latest, former.stream()).distinct().limit(MOST_FORMER).toList());
  }

  private static Set<String> names(List<Member> members, String but) {
    return members.stream()
        .map(Member::name)
        .filter(name -> !name.equals(but))
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Numbers of those that an item of that rank order belonged to in former views, and may lie with
   * still.
   */
  int[] formerOwners(int[] order) {
    return former.stream()
        .flatMapToInt(
            there ->
                IntStream.of(order)
                    .filter(member -> there.contains(members.get(member).name()))
                    .limit(1))
        .distinct()
        .toArray();
  }

  /** Whether it is of this very list. */
  @SuppressWarnings("ReferenceEquality") // A membership makes a new list for each change.
  boolean isOf(List<Member> list) {
    return members == list;
  }

  boolean alone() {
    return peers.size() - (self < 0 ? 0 : 1) == 0;
  }
}
