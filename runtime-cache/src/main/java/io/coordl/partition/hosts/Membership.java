package io.coordl.partition.hosts;

import java.io.Closeable;
import java.util.List;

/** Who is there. Safe for concurrent use; no method waits. */
public interface Membership extends Closeable {
  /**
   * The members in the order of their names, this host's own among them; empty as long as it is not
   * known. A new list for each change, the same one otherwise.
   */
  List<Member> members();

  /** Name of this host's own member; empty as long as that is not known. */
  String self();

  @Override
  void close();
}
