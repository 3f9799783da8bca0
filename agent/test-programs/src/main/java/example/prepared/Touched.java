package example.prepared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.locks.LockSupport;

/** Changes to a file that preserve its size and modification time. */
enum Touched {
  NOTHING {
    @Override
    void change(Path file) {
      // No change.
    }
  },
  MODE {
    @Override
    void change(Path file) throws IOException {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    }
  },
  REWRITTEN {
    @Override
    void change(Path file) throws IOException {
      write(file, file, '5', '6');
    }
  },
  REPLACED {
    @Override
    void change(Path file) throws IOException {
      Path other = file.resolveSibling(file.getFileName() + "-other");
      write(file, other, '7', '8');
      Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    }
  };

  private static final FileTime TIME = FileTime.fromMillis(1_700_000_000_000L);

  abstract void change(Path file) throws IOException;

  void make(Path file) throws IOException {
    change(file);
    // The agent does not rely on files that changed only a moment ago.
    long changed = ((FileTime) Files.getAttribute(file, "unix:ctime")).toMillis();
    while (System.currentTimeMillis() - changed < 100) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  static void copy(Path from, Path to) throws IOException {
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    Files.setLastModifiedTime(to, TIME);
  }

  /** Writes a copy with other digits after the first line. */
  private static void write(Path from, Path to, char digit, char another) throws IOException {
    String text = Files.readString(from);
    int head = text.indexOf('\n');
    Files.writeString(to, text.substring(0, head) + text.substring(head).replace(digit, another));
    Files.setLastModifiedTime(to, TIME);
  }
}
