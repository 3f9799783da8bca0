package io.coordl.checkpoint;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The agent's own checkpoints of one model: numbered directories, and a link {@code latest} to the
 * newest that is whole. They go on from what earlier jobs have left.
 */
final class CheckpointDirectory {
  private static final String LATEST = "latest";

  private final Path path;
  private long number;

  private CheckpointDirectory(Path path) throws IOException {
    this.path = Files.createDirectories(path);
    List<Path> all = numbered(this.path);
    this.number = all.isEmpty() ? 0 : number(all.get(0));
  }

  /** The directory of one job; its models differ in their names. Of one thread at a time. */
  static final class Claim {
    private final Path root;
    private final FileOutputStream lock;
    private final Set<String> names = new HashSet<>();
    private final Set<String> swept = new HashSet<>();

    private Claim(Path root, FileOutputStream lock) {
      this.root = root;
      this.lock = lock;
    }

    CheckpointDirectory directory(String name) throws IOException {
      if (!lock.getChannel().isOpen()) {
        throw new IOException("its lock has been closed");
      }
      String plain = name.replaceAll("[^A-Za-z0-9_-]", "_");
      String base = plain.isEmpty() ? "model" : plain.substring(0, Math.min(100, plain.length()));
      String free = base;
      for (int i = 2; !names.add(free); i++) {
        free = base + "-" + i;
      }
      CheckpointDirectory made = new CheckpointDirectory(root.resolve(free));
      if (swept.add(free)) { // Else another model's last one may be on its way.
        for (Path left : numbered(made.path)) { // By a job that was killed.
          made.discardUnlessWhole(left);
        }
      }
      return made;
    }

    /** Its model is no longer trained: the next one of this name may have it. */
    void release(CheckpointDirectory directory) {
      names.remove(directory.path.getFileName().toString());
    }
  }

  /**
   * Takes a directory for this job, as long as it lives; throws if another job has it, or it cannot
   * be made.
   */
  static Claim claim(Path root) throws IOException {
    Path lock = Files.createDirectories(root.resolve(SideFile.DIRECTORY)).resolve("lock");
    FileOutputStream out = new FileOutputStream(lock.toFile());
    if (out.getChannel().tryLock() == null) {
      out.close();
      throw new IOException("another job writes its checkpoints there");
    }
    return new Claim(root.toRealPath(), out);
  }

  private static long number(Path checkpoint) {
    return Long.parseLong(checkpoint.getFileName().toString());
  }

  /** What only a checkpoint of the agent's own has: nothing else is counted, or deleted. */
  private static Path mark(Path checkpoint) {
    return checkpoint.resolve(SideFile.DIRECTORY).resolve("checkpoint");
  }

  /** Whether a directory is a checkpoint of the agent's own. */
  static boolean isOne(Path checkpoint) {
    return Files.isRegularFile(mark(checkpoint), LinkOption.NOFOLLOW_LINKS);
  }

  /** The checkpoints of a model, the newest first. */
  static List<Path> numbered(Path path) throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(file -> file.getFileName().toString().matches("\\d{6,12}") && isOne(file))
          .sorted(Comparator.comparingLong(CheckpointDirectory::number).reversed())
          .toList();
    }
  }

  Path next() throws IOException {
    Files.createDirectories(path); // Somebody may have removed it.
    while (true) {
      try {
        Path made =
            Files.createDirectory(path.resolve(String.format(Locale.ROOT, "%06d", ++number)));
        Files.createDirectory(made.resolve(SideFile.DIRECTORY));
        Files.createFile(mark(made));
        return made;
      } catch (FileAlreadyExistsException e) {
        // Somebody has put it there: the one after.
      }
    }
  }

  /**
   * Links the newest that is whole, and deletes all but the newest that are; never the last. What
   * cannot be deleted stays until the next time. False if the file system has no such links.
   */
  boolean retain(int keep) {
    boolean linked = true;
    int whole = 0;
    for (Path checkpoint : numberedOrNone()) {
      try {
        if (SideFile.isWhole(checkpoint)) {
          whole++;
          if (whole == 1) {
            linked = link(checkpoint);
          } else if (whole > keep) {
            delete(checkpoint);
          }
        } else if (whole > 0) {
          delete(checkpoint);
        }
      } catch (IOException e) {
        // Another time.
      }
    }
    return linked;
  }

  private List<Path> numberedOrNone() {
    try {
      return numbered(path);
    } catch (IOException e) {
      return List.of();
    }
  }

  void discardUnlessWhole(Path checkpoint) throws IOException {
    if (Files.exists(checkpoint) && !SideFile.isWhole(checkpoint)) {
      delete(checkpoint);
    }
  }

  private boolean link(Path newest) {
    Path latest = path.resolve(LATEST);
    if (Files.exists(latest, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(latest)) {
      return false; // Not ours.
    }
    try {
      Path next = path.resolve(SideFile.DIRECTORY + "-" + LATEST);
      Files.deleteIfExists(next);
      Files.createSymbolicLink(next, newest.getFileName());
      ModelFile.move(next, latest);
      return true;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  static void delete(Path checkpoint) throws IOException {
    try (Stream<Path> all = Files.walk(checkpoint)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (UncheckedIOException e) {
      throw new IOException(e);
    }
  }
}
