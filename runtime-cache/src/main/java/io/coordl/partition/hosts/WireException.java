package io.coordl.partition.hosts;

import java.io.IOException;

/** The other side is no peer of ours, or says what none would say; the message says what. */
final class WireException extends IOException {
  private static final long serialVersionUID = 1;

  enum Kind {
    /** It is a peer, of another version or group. */
    OTHER,
    /** It never said that it is a peer. */
    STRANGER,
    /** It was a peer so far. */
    MALFORMED
  }

  final Kind kind;

  WireException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }
}
