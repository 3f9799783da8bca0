package io.coordl.peers.hosts;

import java.io.Closeable;
import java.util.List;

/** The current hosts. Safe for concurrent use; only {@link #close} may block, and not for long. */
public interface Membership extends Closeable {
  /**
   * Returns all members, sorted by name, normally including this host's own; empty until the
   * members are known. Each change yields a new list; otherwise the same instance is returned.
   */
  List<Member> members();

  /** Returns the name of this host's own member; empty until it is known. */
  String self();

  @Override
  void close();
}
