package io.coordl.peers.hosts;

import java.io.IOException;

/** Thrown if the other side is not a peer of this group, or violates the protocol. */
final class WireException extends IOException {
  private static final long serialVersionUID = 1;

  enum Kind {
    /** A peer with a different version or group. */
    INCOMPATIBLE,
    /** Not a peer. */
    STRANGER,
    /** A peer that violated the protocol. */
    MALFORMED
  }

  final Kind kind;

  WireException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }
}
