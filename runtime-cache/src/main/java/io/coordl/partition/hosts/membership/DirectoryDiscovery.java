package io.coordl.partition.hosts.membership;

import io.coordl.live.Owner;
import io.coordl.log.UserLog;
import io.coordl.partition.HostPort;
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
 * A directory that all hosts see, in which each leaves a file with its address. A host that was
 * killed leaves its file behind: who finds one that nobody has written for long removes it, by the
 * clock of the file system.
 *
 * <p>Others may write there too. So the own file comes by a rename, which follows no link, and only
 * regular files of this user are read or removed; whose they are the file system says, which may
 * name root another one.
 */
record DirectoryDiscovery(Path directory, UserLog userLog) {
  private static final String SUFFIX = ".peer";
  private static final int MOST_BYTES = 128;

  /** Much longer than the pause between two visits. */
  private static final long STALE_MILLIS = 600_000;

  /**
   * Leaves this host's file, or renews it, and returns all addresses; throws with a sentence for
   * the user.
   */
  Set<InetSocketAddress> visit(InetSocketAddress self) throws IOException {
    try {
      Files.createDirectories(directory);
      Seen mine = leave(self, HostPort.text(self) + "\n");
      Set<InetSocketAddress> found = new LinkedHashSet<>();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
        for (Path file : files) {
          if (found.size() < Discovery.MOST_HOSTS) {
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

  private Seen leave(InetSocketAddress self, String text) throws IOException {
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
        userLog.say(file + " is no regular file of this user; it is left alone, as no peer's.");
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
      // Removed meanwhile, or not one of ours.
    }
  }

  /**
   * A short regular file's content. Nothing else holds the reader up, whatever has come in its
   * place: a FIFO that is opened for both directions does not wait, and has no position to read at.
   */
  static String content(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES + 1);
      while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {}
      return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
    }
  }

  /** What was seen of a file, itself and not what a link names. */
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
      // Then it becomes stale.
    }
  }

  private Path file(InetSocketAddress self) {
    return directory.resolve(HostPort.text(self).replaceAll("[^0-9A-Za-z.]", "_") + SUFFIX);
  }
}
