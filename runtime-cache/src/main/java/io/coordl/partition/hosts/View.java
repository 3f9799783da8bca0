package io.coordl.partition.hosts;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members at one time, as this host sees them; their numbers are those of the list. */
final class View {
  private final List<Member> members;
  private final Ranking ranking;
  private final List<@Nullable Peer> peers;
  private final int self;
  private final Places places;

  private View(
      List<Member> members, Ranking ranking, List<@Nullable Peer> peers, int self, Places places) {
    this.members = members;
    this.ranking = ranking;
    this.peers = peers;
    this.self = self;
    this.places = places;
  }

  /**
   * A view of these members.
   *
   * @param peers of all of them but this host, and maybe of others
   * @param self name of this host
   */
  static View of(List<Member> members, Map<Member, Peer> peers, String self) {
    List<@Nullable Peer> known = new ArrayList<>();
    int own = -1;
    for (Member member : members) {
      boolean here = member.name().equals(self);
      own = here ? known.size() : own;
      known.add(here ? null : peers.get(member));
    }
    return new View(
        members, new Ranking(members), Collections.unmodifiableList(known), own, new Places());
  }

  /** The same, with nothing learnt. */
  View forgetful() {
    return new View(members, ranking, peers, self, new Places());
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
