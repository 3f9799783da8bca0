package io.coordl.peers.hosts.membership;

import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;

/**
 * Replaces JGroups' object stream in the agent's jar, as a second barrier behind {@link Messages}.
 * It throws before it reads the first byte, so no class is looked up and no filter of the program
 * is called.
 */
final class NoObjects extends ObjectInputStream {
  /** Same signature as the constructor it replaces. */
  NoObjects(InputStream in, ClassLoader loader) throws IOException {
    super(refused());
  }

  private static InputStream refused() throws InvalidObjectException {
    throw new InvalidObjectException("peers never send objects");
  }
}
