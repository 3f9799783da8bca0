package io.coordl.peers.hosts;

import java.util.List;

/** A membership that the test sets. */
final class KnownMembers implements Membership {
  volatile List<Member> members = List.of();
  volatile boolean closed;
  private final String self;

  KnownMembers(String self) {
    this.self = self;
  }

  @Override
  public List<Member> members() {
    return members;
  }

  @Override
  public String self() {
    return self;
  }

  @Override
  public void close() {
    closed = true;
  }
}
