package io.coordl.peers.hosts.membership;

import io.coordl.peers.HostPort;
import io.coordl.telemetry.live.Owner;
import io.coordl.telemetry.log.UserLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Discovery through a directory that all hosts see, in which each host writes a file with its
 * address. The file of a killed host stays; any host removes files that are stale by the file
 * system's clock.
 *
 * <p>Other users may be able to write there, too. So the host's own file is put in place by a
 * rename, which follows no link, and only regular files of this user are read or removed. The file
 * system determines the owner, and may map root to another user.
 */
record DirectoryDiscovery(Path directory, UserLog userLog) {
  private static final String SUFFIX = ".peer";
  private static final int MAX_BYTES = 128;

  /** Age at which a file is stale; much longer than the pause between two visits. */
  private static final long STALE_MILLIS = 600_000;

  /**
   * Writes or renews this host's file, and returns all addresses; throws with a sentence for the
   * user.
   */
  Set<InetSocketAddress> visit(InetSocketAddress self) throws IOException {
    try {
      Files.createDirectories(directory);
      Seen mine = write(self, HostPort.text(self) + "\n");
      Set<InetSocketAddress> found = new LinkedHashSet<>();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
        for (Path file : files) {
          if (found.size() < Discovery.MAX_HOSTS) {
            read(file, mine, found);
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

  private Seen write(InetSocketAddress self, String text) throws IOException {
    Path mine = file(self);
    Path fresh = directory.resolve(mine.getFileName() + ".tmp");
    Files.deleteIfExists(fresh);
    Files.writeString(fresh, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    Files.move(fresh, mine, StandardCopyOption.ATOMIC_MOVE);
    return Seen.at(mine);
  }

  private void read(Path file, Seen mine, Set<InetSocketAddress> found) {
    try {
      Seen seen = Seen.at(file);
      if (!seen.regular || seen.owner != mine.owner) {
        userLog.say(file + " is not a regular file of this user; it is ignored.");
      } else if (seen.written < mine.written - STALE_MILLIS) {
        Files.deleteIfExists(file);
      } else {
        String text = content(file);
        HostPort host = HostPort.parse(text.trim());
        if (host.port() != 0 && Seen.at(file).isSame(seen)) {
          found.addAll(host.resolve());
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // Removed in the meantime, or not written by a peer.
    }
  }

  /**
   * Reads a short regular file, and never blocks if something else has replaced it: opening a FIFO
   * for reading and writing does not wait, and positional reads of a FIFO fail.
   */
  static String content(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES + 1);
      while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {}
      return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
    }
  }

  /** Attributes of a file, without following links. */
  private record Seen(boolean regular, long owner, long written, @Nullable Object identity) {
    static Seen at(Path file) throws IOException {
      PosixFileAttributes seen =
          Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return new Seen(
          seen.isRegularFile(), Owner.of(file), seen.lastModifiedTime().toMillis(), seen.fileKey());
    }

    boolean isSame(Seen other) {
      return owner == other.owner && Objects.equals(identity, other.identity);
    }
  }

  void leave(InetSocketAddress self) {
    try {
      Files.deleteIfExists(file(self));
    } catch (IOException e) {
      // The file then becomes stale.
    }
  }

  private Path file(InetSocketAddress self) {
    return directory.resolve(HostPort.text(self).replaceAll("[^0-9A-Za-z.]", "_") + SUFFIX);
  }
}
