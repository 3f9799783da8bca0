package io.coordl.partition.hosts.membership;

import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;

/**
 * Takes the place of JGroups' own stream of objects in the agent's jar, behind {@link Messages}: it
 * refuses before the first byte is read, so no class is looked for and no filter of the program is
 * asked.
 */
final class NoObjects extends ObjectInputStream {
  /** As the one that it replaces. */
  NoObjects(InputStream in, ClassLoader loader) throws IOException {
    super(refused());
  }

  private static InputStream refused() throws InvalidObjectException {
    throw new InvalidObjectException("no peer sends objects");
  }
}
