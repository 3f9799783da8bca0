package io.coordl.partition.hosts;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
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
 */
record View(
    List<Member> members,
    Ranking ranking,
    List<@Nullable PeerClient> peers,
    int self,
    Former former,
    ItemLocations locations) {
  static final View NONE = new View(List.of(), List.of(), -1, new Former(Set.of(), List.of()));

  /** So many views are remembered, each for one more question about an item that nobody has. */
  private static final int MOST_FORMER = 3;

  /**
   * The members at earlier times.
   *
   * @param now names of the members within reach
   * @param before the same of the last views that were others, the latest first
   */
  record Former(Set<String> now, List<Set<String>> before) {
    Former then(Set<String> next) {
      return next.equals(now) ? this : new Former(next, remembered(now));
    }

    /** As if the last view but this had been one of these. */
    Former since(Set<String> others) {
      return others.equals(now) ? this : new Former(now, remembered(others));
    }

    private List<Set<String>> remembered(Set<String> names) {
      return Stream.concat(Stream.of(names), before.stream())
          .filter(each -> !each.isEmpty())
          .distinct()
          .limit(MOST_FORMER)
          .toList();
    }
  }

  private View(List<Member> members, List<@Nullable PeerClient> peers, int self, Former former) {
    this(members, new Ranking(members), peers, self, former, new ItemLocations());
  }

  /** The next view; {@code peers} has those of all but this host, and maybe others. */
  View then(List<Member> next, Map<Member, PeerClient> peers, String selfName) {
    List<@Nullable PeerClient> known = new ArrayList<>();
    int own = -1;
    for (Member member : next) {
      boolean here = member.name().equals(selfName);
      own = here ? known.size() : own;
      known.add(here ? null : peers.get(member));
    }
    Former all = former.then(names(next, ""));
    return new View(
        next,
        Collections.unmodifiableList(known),
        own,
        // The others may have been there before this host came.
        alone() ? all.since(names(next, selfName)) : all);
  }

  /** The same, with nothing learnt, after this member was out of reach for a while. */
  View back(Member member) {
    return new View(members, peers, self, former.since(names(members, member.name())));
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
    return former.before().stream()
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
