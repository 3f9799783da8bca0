package io.coordl.peers.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import javax.net.ssl.SSLContext;

/** Secrets for the hosts of a test. */
public final class TestSecret {
  public static final String OURS = "kx2vN0c1Yq8Jr5tWm7Pz4aLd9GfHsBeU3oRi6QjTnMw=";
  public static final String THEIRS = "Zt3pQ7uVxK1mWc9bYnR4sJd6gFhLaE0oTi8yUeXqBvC=";

  private TestSecret() {}

  /** Creates a file with the secret, in the required mode. */
  public static Path file(Path directory, String secret) throws IOException {
    Path file = Files.createTempFile(directory, "peer", ".secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return Files.writeString(file, secret + "\n");
  }

  /** Returns the TLS context of hosts with {@link #OURS}. */
  public static SSLContext ours() {
    return Holder.OURS;
  }

  /** Returns the TLS context of hosts with the given secret. */
  public static SSLContext context(String secret) {
    try {
      Path directory = Files.createTempDirectory("coordl-secret");
      Path file = file(directory, secret);
      try {
        return PeerTls.ofSecret(file);
      } finally {
        Files.delete(file);
        Files.delete(directory);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class Holder {
    static final SSLContext OURS = context(TestSecret.OURS);
  }
}
