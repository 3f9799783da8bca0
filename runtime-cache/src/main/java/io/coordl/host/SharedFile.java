package io.coordl.host;

import io.coordl.telemetry.live.Owner;
import io.coordl.telemetry.log.UserLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lifecycle of a file that several jobs share: create, join, leave, delete.
 *
 * <p>Each step runs under the setup lock of the file that the path <em>currently</em> names: the
 * path is checked before the file is opened and again once it is locked. Unless both checks see the
 * same file (device and inode), the step starts over. So a job that holds the setup lock and finds
 * no other job alive may remove the path: a job that is about to join checks again. A file is never
 * truncated or set up again in place, because a job that is leaving may still read its mapping. It
 * is unlinked, and a new one is created.
 *
 * <p>A killed job may leave an empty file, one without the magic (written last), or a complete one
 * without a live job. The next job that this user starts, in any group, removes it.
 *
 * @param <M> type of the memory of its {@link Contents}
 */
public final class SharedFile<M extends Contents.Memory> {
  /** Maximum wait while another job keeps the file locked, for callers that can wait. */
  public static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Duration LEAVING = Duration.ofSeconds(1);
  private static final long FIRST_PAUSE_NANOS = 1_000_000;
  private static final long LAST_PAUSE_NANOS = 50_000_000;
  private static final int ATTEMPTS = 1000;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  /**
   * Files that this JVM has open; static because their locks belong to the process. No thread waits
   * for another job while it holds the monitor: a thread that loads a class may need it.
   */
  private static final Set<Path> OPEN = new HashSet<>();

  private final Path path;
  private final Object identity;
  private final FileChannel channel;
  private final Liveness liveness;
  private final M memory;
  private final long job;

  private SharedFile(
      Path path, Object identity, FileChannel channel, Liveness liveness, M memory, long job) {
    this.path = path;
    this.identity = identity;
    this.channel = channel;
    this.liveness = liveness;
    this.memory = memory;
    this.job = job;
  }

  public Path path() {
    return path;
  }

  public Liveness liveness() {
    return liveness;
  }

  public M memory() {
    return memory;
  }

  /** Returns this job's number, unique for the life of the file. */
  public long job() {
    return job;
  }

  public static Path path(Path directory, long user, String group, Contents<?> contents) {
    return directory
        .resolve("coordl-" + user + "-" + fileName(group) + contents.header().suffix())
        .toAbsolutePath();
  }

  public static String fileName(String group) {
    String name = group.replaceAll("[^A-Za-z0-9._-]", "_");
    if (!name.equals(group) || name.length() > 64) {
      name = name.substring(0, Math.min(48, name.length()));
      name += "-" + Long.toHexString(checksum(group));
    }
    return name;
  }

  /** Returns a 64-bit checksum of a string (FNV-1a). */
  public static long checksum(String text) {
    return checksum(0xcbf29ce484222325L, text);
  }

  /**
   * Returns the checksum of a string that ends with {@code text}; {@code before} is that of the
   * rest.
   */
  public static long checksum(long before, String text) {
    long hash = before;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }

  /** Opens the file of a group: joins it, or creates it with {@code capacity}. */
  public record Opening<M extends Contents.Memory>(
      Path path, long user, Contents<M> contents, LongSupplier capacity, UserLog log) {
    /**
     * Opens the file; waits, for a bounded time, for a job that keeps it locked.
     *
     * @throws BusyFileException if a job keeps it locked for longer than {@code patience}
     * @throws IOException with a sentence for the user if the file cannot be used
     */
    public SharedFile<M> within(Duration patience) throws IOException {
      long deadline = System.nanoTime() + patience.toNanos();
      long pause = FIRST_PAUSE_NANOS;
      while (true) {
        SharedFile<M> opened = now();
        if (opened != null) {
          return opened;
        }
        if (System.nanoTime() - deadline >= 0) {
          String why = "is locked by another job that makes no progress (is it stopped?); ";
          throw new BusyFileException(refusal(why, ""));
        }
        LockSupport.parkNanos(pause);
        pause = Math.min(LAST_PAUSE_NANOS, 2 * pause);
      }
    }

    /** Like {@link #within}, but returns null immediately if another job keeps the file locked. */
    public @Nullable SharedFile<M> now() throws IOException {
      synchronized (OPEN) {
        if (!OPEN.add(path)) {
          throw new IOException(name() + "is already open in this JVM.");
        }
        SharedFile<M> opened = null;
        try {
          for (int i = 0; i < ATTEMPTS; i++) {
            opened = attempt();
            if (opened != null) {
              return opened;
            }
          }
          throw refused("keeps being replaced; ", "");
        } catch (BusyFileException e) {
          return null;
        } catch (IOException e) {
          String message = String.valueOf(e.getMessage());
          throw message.endsWith(".")
              ? e
              : refused("cannot be created or used (" + reason(e) + "): ", "");
        } catch (InternalError e) {
          throw new IOException(
              refusal("was damaged by another program while it was opened; ", ""), e);
        } finally {
          if (opened == null) {
            OPEN.remove(path);
            OwnDirectory.remove(path.getParent(), user);
          }
        }
      }
    }

    private String name() {
      return "The " + contents.header().noun() + " " + path + " ";
    }

    private String refusal(String why, String advice) {
      return name() + why + contents.header().without() + advice + ".";
    }

    private IOException refused(String why, String advice) {
      return new IOException(refusal(why, advice));
    }

    /**
     * Makes one attempt; returns null if another is needed, as when the path names another file by
     * then.
     */
    private @Nullable SharedFile<M> attempt() throws IOException {
      try {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        Files.setPosixFilePermissions(path, OWNER_ONLY); // The umask may have cleared some.
      } catch (FileAlreadyExistsException e) {
        // It may be joined.
      } catch (NoSuchFileException e) {
        if (OwnDirectory.make(path.getParent(), user)) {
          return null;
        }
        throw e;
      }
      PosixFileAttributes seen = attributes(path);
      if (seen == null) {
        return null;
      }
      checkOwner(seen);
      FileChannel channel = openExisting(path);
      if (channel == null) {
        return null;
      }
      SharedFile<M> opened = null;
      try {
        Liveness liveness = new Liveness(channel);
        if (!liveness.lockSetup(Duration.ZERO)) {
          throw new BusyFileException(name() + "is locked by another job.");
        }
        PosixFileAttributes locked = attributes(path);
        if (locked == null || !identity(locked).equals(identity(seen))) {
          return null;
        }
        opened = joinOrCreate(locked, channel, liveness);
        liveness.unlockSetup();
        return opened;
      } finally {
        if (opened == null) {
          channel.close();
        }
      }
    }

    private @Nullable SharedFile<M> joinOrCreate(
        PosixFileAttributes file, FileChannel channel, Liveness liveness) throws IOException {
      boolean alive = liveness.anyAlive();
      String defect = file.size() == 0 ? "is empty" : defect(file, channel);
      boolean fresh = file.size() == 0 && !alive && file.permissions().equals(OWNER_ONLY);
      if (alive && defect != null) {
        throw refused(
            defect + ", but is in use; it is left alone, and ", " (choose another group)");
      }
      if (!alive && !fresh) {
        if (file.size() != 0) {
          String why = defect == null ? "was left over by jobs that were killed" : defect;
          log.say(name() + why + "; it is replaced.");
        }
        Files.delete(path);
        return null;
      }
      long bytes = fresh ? capacity.getAsLong() : file.size();
      if (bytes < contents.minimum()) {
        Files.delete(path);
        throw refused(
            "would be " + bytes + " bytes long, but needs at least " + contents.minimum() + ": ",
            "");
      }
      M memory = null;
      try {
        memory = contents.map(path, bytes);
        if (fresh) {
          contents.format(memory);
          contents.header().write(memory, user, bytes);
        }
        long job = Contents.nextJob(memory);
        if (job == 0) {
          throw refused("has been joined by too many jobs; ", "");
        }
        if (!liveness.tryJoin(job)) {
          throw new BusyFileException(name() + "is being checked by another job.");
        }
        contents.enter(memory, job, liveness, path);
        return new SharedFile<>(path, identity(file), channel, liveness, memory, job);
      } catch (IOException | RuntimeException | Error e) {
        if (fresh) {
          Files.deleteIfExists(path);
        }
        if (memory != null) {
          memory.close();
        }
        throw e;
      }
    }

    private void checkOwner(PosixFileAttributes file) throws IOException {
      if (!file.isRegularFile()) {
        throw refused("is not a regular file; it is left alone, and ", "");
      }
      long owner = Owner.of(path);
      if (owner != user) {
        throw refused(
            "belongs to user " + owner + ", not to " + user + "; it is left alone, and ",
            " (choose another group)");
      }
    }

    /** Returns why this agent cannot use the file; null if it can. */
    private @Nullable String defect(PosixFileAttributes file, FileChannel channel)
        throws IOException {
      Contents.Header expected = contents.header();
      if (!file.permissions().equals(OWNER_ONLY)) {
        return "has mode " + PosixFilePermissions.toString(file.permissions()) + ", not rw-------";
      }
      byte[] head = head(channel, expected.bytes());
      if (head == null) {
        return "is truncated (" + file.size() + " bytes)";
      }
      ByteBuffer header = ByteBuffer.wrap(head).order(ByteOrder.nativeOrder());
      if (header.getLong((int) Contents.Header.MAGIC) != expected.magic()) {
        return "is not a " + expected.noun() + " or is incomplete";
      }
      long version = header.getLong((int) Contents.Header.VERSION);
      if (version != expected.version()
          || header.getLong((int) Contents.Header.LAYOUT) != expected.layout()) {
        return String.format(
            "has a different layout (layout version %s; this agent's is %s)",
            version, expected.version());
      }
      if (header.getLong((int) Contents.Header.UID) != user) {
        return "was created by user " + header.getLong((int) Contents.Header.UID);
      }
      long length = header.getLong((int) Contents.Header.CAPACITY);
      if (length != file.size()) {
        return "is truncated (" + file.size() + " of " + length + " bytes)";
      }
      return null;
    }
  }

  /** Returns the operating system's reason for refusing a file, for the user. */
  public static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "No such file or directory";
    }
    String reason = e instanceof FileSystemException system ? system.getReason() : e.getMessage();
    return reason == null
        ? e.toString()
        : reason.equals("File too large")
            ? "ulimit -f forbids this process to create files of this size"
            : reason;
  }

  /** Reads the first bytes of a file; null if it is shorter. */
  private static byte @Nullable [] head(FileChannel channel, int bytes) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(bytes);
    while (head.hasRemaining() && channel.read(head, head.position()) >= 0) {}
    return head.hasRemaining() ? null : head.array();
  }

  /** Leaves the file; the last job removes it. Views handed out stay readable. */
  public void close() {
    try {
      if (liveness.lockSetup(LEAVING)) {
        liveness.leave();
        PosixFileAttributes now = attributes(path);
        if (now != null && identity(now).equals(identity) && !liveness.anyAlive()) {
          Files.deleteIfExists(path);
          OwnDirectory.remove(path.getParent(), Machine.user());
        }
      }
    } catch (IOException e) {
      // The next job that starts removes the file.
    } finally {
      synchronized (OPEN) {
        Closeables.closeQuietly(memory);
        Closeables.closeQuietly(channel);
        OPEN.remove(path);
      }
    }
  }

  /** Removes the files that killed jobs of this user left in the directory. */
  public static void sweep(Path directory, long user, Contents<?> contents, UserLog log) {
    if (!Files.exists(directory)) {
      return;
    }
    synchronized (OPEN) {
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(
              directory, "coordl-" + user + "-*" + contents.header().suffix())) {
        for (Path file : files) {
          Path path = file.toAbsolutePath();
          if (!OPEN.contains(path) && sweepOne(path, user)) {
            log.say(
                "Removed the %s %s, left over by jobs that were killed.",
                contents.header().noun(), path);
          }
        }
      } catch (IOException | RuntimeException e) {
        log.say("Could not check for leftovers of killed jobs in " + directory + " (" + e + ").");
      }
    }
  }

  /**
   * Returns the first bytes of each file that other jobs of this user have in use and whose name
   * matches {@code pattern}, where * matches anything. Skips files that this JVM has open, because
   * closing a second descriptor would drop its locks.
   */
  public static List<byte[]> othersInUse(Path directory, String pattern, int bytes)
      throws IOException {
    List<byte[]> found = new ArrayList<>();
    synchronized (OPEN) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, pattern)) {
        for (Path file : files) {
          Path path = file.toAbsolutePath();
          FileChannel channel = OPEN.contains(path) || !isOwn(path) ? null : openExisting(path);
          if (channel != null) {
            try (channel) {
              byte[] head = head(channel, bytes);
              if (head != null && new Liveness(channel).anyAlive()) {
                found.add(head);
              }
            }
          }
        }
      }
    }
    return found;
  }

  private static boolean isOwn(Path path) throws IOException {
    PosixFileAttributes seen = attributes(path);
    return seen != null && seen.isRegularFile() && Owner.of(path) == Machine.user();
  }

  /**
   * Removes the file if no job uses it; returns whether it was removed and had contents. Another
   * job may still be creating an empty file, so such a file is skipped until it is {@link
   * #PATIENCE} old, then removed without a log line.
   */
  private static boolean sweepOne(Path path, long user) throws IOException {
    try {
      PosixFileAttributes seen = attributes(path);
      return seen != null
          && seen.isRegularFile()
          && Owner.of(path) == user
          && !isBeingCreated(seen)
          && removeUnused(path, identity(seen));
    } catch (NoSuchFileException e) {
      return false; // Its own job has just removed it.
    }
  }

  private static boolean removeUnused(Path path, Object identity) throws IOException {
    try (FileChannel channel = openExisting(path)) {
      if (channel == null) {
        return false;
      }
      Liveness liveness = new Liveness(channel);
      if (!liveness.lockSetup(Duration.ZERO)) {
        return false;
      }
      PosixFileAttributes locked = attributes(path);
      return locked != null
          && identity(locked).equals(identity)
          && !liveness.anyAlive()
          && Files.deleteIfExists(path)
          && locked.size() != 0;
    }
  }

  private static boolean isBeingCreated(PosixFileAttributes file) {
    Instant deadline = file.lastModifiedTime().toInstant().plus(PATIENCE);
    return file.size() == 0 && Instant.now().isBefore(deadline);
  }

  static @Nullable PosixFileAttributes attributes(Path path) throws IOException {
    try {
      return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private static @Nullable FileChannel openExisting(Path path) throws IOException {
    try {
      return FileChannel.open(
          path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private static Object identity(PosixFileAttributes file) {
    Object key = file.fileKey();
    return key == null ? file.creationTime() : key;
  }
}
