package io.coordl.partition.hosts.membership;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A directory that all hosts see, in which each leaves a file with its address. A host that was
 * killed leaves its file behind: who finds one that nobody has written for long removes it, by the
 * clock of the file system.
 */
final class Rendezvous {
  private static final String SUFFIX = ".peer";
  private static final int MOST_BYTES = 128;

  /** Much longer than the pause between two visits. */
  private static final long STALE_MILLIS = 600_000;

  private final Path directory;

  Rendezvous(Path directory) {
    this.directory = directory;
  }

  /**
   * Leaves this host's file, or renews it, and returns all addresses.
   *
   * @throws IOException with a sentence for the user
   */
  Set<InetSocketAddress> visit(InetSocketAddress self) throws IOException {
    try {
      Files.createDirectories(directory);
      Path mine = file(self);
      Files.writeString(mine, HostPort.text(self) + "\n");
      long now = Files.getLastModifiedTime(mine).toMillis();
      Set<InetSocketAddress> found = new LinkedHashSet<>();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
        for (Path file : files) {
          if (found.size() < Peers.MOST_HOSTS) {
            read(file, now, found);
          }
        }
      }
      return found;
    } catch (IOException e) {
      throw new IOException(
          "peer=file:" + directory + " cannot be used (" + e + "); no other host is found there.",
          e);
    }
  }

  private static void read(Path file, long now, Set<InetSocketAddress> found) {
    try {
      if (Files.getLastModifiedTime(file).toMillis() < now - STALE_MILLIS) {
        Files.deleteIfExists(file);
      } else if (Files.size(file) <= MOST_BYTES) {
        HostPort host = HostPort.parse(Files.readString(file).trim());
        if (host.port() != 0) {
          found.addAll(host.resolve());
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // Being written, removed meanwhile, or not one of ours.
    }
  }

  /** Takes this host's file away. */
  void leave(InetSocketAddress self) {
    try {
      Files.deleteIfExists(file(self));
    } catch (IOException e) {
      // Then it becomes stale.
    }
  }

  private Path file(InetSocketAddress self) {
    return directory.resolve(HostPort.text(self).replaceAll("[^0-9A-Za-z.]", "_") + SUFFIX);
  }
}
