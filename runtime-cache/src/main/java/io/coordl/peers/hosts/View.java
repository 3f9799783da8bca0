package io.coordl.peers.hosts;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * This host's view of the members at one time; members are identified by their index in the list.
 *
 * @param peers client of each member; null for this host itself
 * @param self index of this host; -1 if it is not a member now
 * @param former names of the members in each of the last few different views, latest first
 */
record View(
    List<Member> members,
    Ranking ranking,
    List<@Nullable PeerClient> peers,
    int self,
    List<Set<String>> former,
    ItemLocations locations) {
  static final View NONE = new View(List.of(), List.of(), -1, List.of());

  /** Number of former views remembered; each costs one more request for an item that nobody has. */
  private static final int MAX_FORMER = 3;

  private View(
      List<Member> members, List<@Nullable PeerClient> peers, int self, List<Set<String>> former) {
    this(members, new Ranking(members), peers, self, former, new ItemLocations());
  }

  /** Returns the next view; {@code peers} as in {@link #peers}. */
  View then(List<Member> next, List<@Nullable PeerClient> peers, String selfName) {
    View after = new View(next, peers, peers.indexOf(null), former).since(names(members, ""));
    // The others may have been members before this host joined.
    return alone() ? after.since(names(next, selfName)) : after;
  }

  /**
   * Returns the next view once a member is reachable again. The other members form a former view,
   * because they owned its items in the meantime.
   */
  View back(Member member) {
    return since(names(members, member.name()));
  }

  /** Returns this view without learned locations, with {@code others} added to the former views. */
  private View since(Set<String> others) {
    boolean known = others.isEmpty() || others.equals(names(members, ""));
    Stream<Set<String>> latest = known ? Stream.empty() : Stream.of(others);
    return new View(
        members,
        peers,
        self,
        Stream.concat(latest, former.stream()).distinct().limit(MAX_FORMER).toList());
  }

  private static Set<String> names(List<Member> members, String but) {
    return members.stream()
        .map(Member::name)
        .filter(name -> !name.equals(but))
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns the members that owned an item with this rank order in former views, and may still have
   * it.
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

  /** Whether this is the view of exactly this list instance. */
  @SuppressWarnings("ReferenceEquality") // A membership makes a new list for each change.
  boolean isOf(List<Member> list) {
    return members == list;
  }

  boolean alone() {
    return peers.size() - (self < 0 ? 0 : 1) == 0;
  }
}
