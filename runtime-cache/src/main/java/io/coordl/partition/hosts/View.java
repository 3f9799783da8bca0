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

/** The members at one time, as this host sees them; their numbers are those of the list. */
final class View {
  /** Nobody is known yet. */
  static final View NONE =
      new View(List.of(), new Ranking(List.of()), List.of(), -1, new Former(Set.of(), List.of()));

  /** So many views are remembered, each for one more question about an item that nobody has. */
  private static final int MOST_FORMER = 3;

  private final List<Member> members;
  private final Ranking ranking;
  private final List<@Nullable Peer> peers;
  private final int self;
  private final Former former;
  private final Places places = new Places();

  /**
   * Who was there when.
   *
   * @param now names of the members within reach
   * @param before the same of the last views that were others, the latest first
   */
  private record Former(Set<String> now, List<Set<String>> before) {
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

  private View(
      List<Member> members, Ranking ranking, List<@Nullable Peer> peers, int self, Former former) {
    this.members = members;
    this.ranking = ranking;
    this.peers = peers;
    this.self = self;
    this.former = former;
  }

  /**
   * The view after this one.
   *
   * @param peers of all of them but this host, and maybe of others
   * @param selfName name of this host
   */
  View then(List<Member> next, Map<Member, Peer> peers, String selfName) {
    List<@Nullable Peer> known = new ArrayList<>();
    int own = -1;
    for (Member member : next) {
      boolean here = member.name().equals(selfName);
      own = here ? known.size() : own;
      known.add(here ? null : peers.get(member));
    }
    Former all = former.then(names(next, ""));
    return new View(
        next,
        new Ranking(next),
        Collections.unmodifiableList(known),
        own,
        // The others may have been there before this host came.
        alone() ? all.since(names(next, selfName)) : all);
  }

  /** The same, with nothing learnt, after this member was out of reach for a while. */
  View back(Member member) {
    return new View(members, ranking, peers, self, former.since(names(members, member.name())));
  }

  private static Set<String> names(List<Member> members, String but) {
    return members.stream()
        .map(Member::name)
        .filter(name -> !name.equals(but))
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Numbers of those that an item belonged to in former views, and may lie with still.
   *
   * @param order the item's rank order
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

  Ranking ranking() {
    return ranking;
  }

  /** By number; null for this host itself. */
  List<@Nullable Peer> peers() {
    return peers;
  }

  /** Number of this host; -1 if it is not a member, now. */
  int self() {
    return self;
  }

  /** What was learnt so far. */
  Places places() {
    return places;
  }

  /** Whether there is nobody else. */
  boolean alone() {
    return peers.size() - (self < 0 ? 0 : 1) == 0;
  }
}
