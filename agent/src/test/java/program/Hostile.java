package program;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Random;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.zip.CRC32;

/**
 * Reads files while it replaces, truncates, extends and deletes them, closes open files, interrupts
 * its own reads, and changes JVM settings on which an agent may depend. Prints what each step
 * returns or throws; runs with the same arguments print the same. Arguments: an empty directory, a
 * seed, the number of steps.
 */
public final class Hostile {
  private static final int FILES = 6;
  private static final int OPEN = 8;
  private static final int LARGE = 9 << 20;

  /** Each version of a file gets its own modification time, counted from here. */
  private static final long EPOCH = 1_700_000_000_000L;

  private final Path directory;
  private final Random random;
  private final List<Opened> open = new ArrayList<>();
  private int versions;

  private Hostile(Path directory, long seed) {
    this.directory = directory;
    random = new Random(seed);
  }

  /** An open file, stream or channel; {@code use} returns what to print. */
  private interface Handle {
    Object use(Random random) throws IOException;

    void close() throws IOException;
  }

  private record Opened(int file, Handle handle) {}

  private interface Step {
    Object run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Hostile hostile = new Hostile(Path.of(arguments[0]), Long.parseLong(arguments[1]));
    for (int file = 0; file < FILES; file++) {
      hostile.write(file);
    }
    int steps = Integer.parseInt(arguments[2]);
    hostile.steps(steps);
    hostile.changeTheJvm();
    hostile.steps(steps / 4);
    hostile.brokenClasses();
    hostile.child();
    Thread.currentThread().getThreadGroup().interrupt();
    System.out.println("interrupted " + Thread.interrupted());
    hostile.steps(steps / 4);
    throw new IllegalStateException("the end");
  }

  private void steps(int count) {
    for (int step = 0; step < count; step++) {
      int kind = random.nextInt(100);
      int file = random.nextInt(FILES);
      if (kind < 30) {
        print(step, "open " + file, () -> open(file));
      } else if (kind < 70 && !open.isEmpty()) {
        Handle handle = open.get(random.nextInt(open.size())).handle();
        print(step, "use", () -> handle.use(random));
      } else if (kind < 76 && !open.isEmpty()) {
        Handle handle = open.get(random.nextInt(open.size())).handle();
        Thread.currentThread().interrupt();
        print(step, "use interrupted", () -> handle.use(random));
        System.out.println(Thread.interrupted());
      } else if (kind < 82 && !open.isEmpty()) {
        Opened opened = open.remove(random.nextInt(open.size()));
        print(step, "close", () -> close(opened.handle()));
        print(step, "use closed", () -> opened.handle().use(random));
      } else {
        print(step, "change " + file, () -> change(file));
      }
    }
  }

  private static void print(int step, String what, Step run) {
    Object result;
    try {
      result = run.run();
    } catch (Exception | InternalError e) {
      // For a closed stream, JDK 25 has either message, depending on the stream's earlier use.
      String message =
          String.valueOf(e.getMessage()).replace("Bad file descriptor", "Stream Closed");
      result = e.getClass().getName() + ": " + message;
    }
    System.out.println(step + " " + what + " " + result);
  }

  private Object close(Handle handle) throws IOException {
    handle.close();
    return "done";
  }

  // Files.

  private Path file(int number) {
    return directory.resolve("item-" + number);
  }

  private byte[] content(int file) {
    byte[] content = new byte[file == 0 ? LARGE + random.nextInt(100) : 2 + random.nextInt(5000)];
    random.nextBytes(content);
    return content;
  }

  private void stamp(Path path) throws IOException {
    Files.setLastModifiedTime(path, FileTime.fromMillis(EPOCH + 1000L * ++versions));
  }

  private void write(int number) throws IOException {
    Path temporary = directory.resolve("temporary");
    Files.write(temporary, content(number));
    stamp(temporary);
    Files.move(temporary, file(number), StandardCopyOption.REPLACE_EXISTING);
  }

  private Object change(int number) throws IOException {
    Path path = file(number);
    // Documented limitation: a file changed in place while open may be read as it was before.
    boolean inPlace = open.stream().noneMatch(opened -> opened.file() == number);
    switch (inPlace ? random.nextInt(6) : 2 + random.nextInt(4)) {
      case 0 -> {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
          channel.truncate(channel.size() / 2);
        }
        stamp(path);
        return "truncated";
      }
      case 1 -> {
        Files.write(path, content(1), StandardOpenOption.APPEND);
        stamp(path);
        return "appended";
      }
      case 2 -> {
        Files.deleteIfExists(path);
        return "deleted";
      }
      default -> {
        // Twice, because a freed inode is reused.
        write(number);
        write(number);
        return "replaced";
      }
    }
  }

  private Object open(int number) throws IOException {
    if (open.size() == OPEN) {
      open.remove(0).handle().close();
    }
    Path path = file(number);
    int kind = random.nextInt(7);
    Handle handle =
        switch (kind) {
          case 0 -> stream(new FileInputStream(path.toFile()));
          case 1 -> stream(new FileInputStream(path.toString()));
          case 2 -> stream(Files.newInputStream(path));
          case 3 -> channel(FileChannel.open(path));
          case 4 -> seekable(Files.newByteChannel(path));
          case 5 -> randomAccess(new RandomAccessFile(path.toFile(), "r"));
          default -> null;
        };
    if (handle == null) {
      return "all " + sum(Files.readAllBytes(path));
    }
    open.add(new Opened(number, handle));
    return kind;
  }

  private static String sum(byte[] bytes) {
    return sum(bytes, bytes.length);
  }

  private static String sum(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, Math.max(length, 0));
    return length + " " + Long.toHexString(crc.getValue());
  }

  private static Handle stream(InputStream in) {
    return new Handle() {
      @Override
      public Object use(Random random) throws IOException {
        return switch (random.nextInt(6)) {
          case 0 -> in.read();
          case 1 -> in.skip(random.nextInt(3000));
          case 2 -> in.available();
          case 3 -> "rest " + sum(in.readAllBytes());
          case 4 -> "n " + sum(in.readNBytes(random.nextInt(2000)));
          default -> {
            byte[] bytes = new byte[random.nextInt(2000)];
            yield sum(bytes, in.read(bytes));
          }
        };
      }

      @Override
      public void close() throws IOException {
        in.close();
      }
    };
  }

  private static Handle channel(FileChannel channel) {
    return new Handle() {
      @Override
      public Object use(Random random) throws IOException {
        int at = random.nextInt(4000);
        return switch (random.nextInt(8)) {
          case 0 -> channel.size() + " " + channel.isOpen();
          case 1 -> channel.position(at).position();
          case 2 -> {
            ByteBuffer there = ByteBuffer.allocate(1000);
            yield sum(there.array(), channel.read(there, at));
          }
          case 3 -> {
            try (OutputStream none = OutputStream.nullOutputStream()) {
              yield channel.transferTo(at, 1000, Channels.newChannel(none));
            }
          }
          case 4 -> {
            byte[] mapped = new byte[(int) channel.size()];
            channel.map(FileChannel.MapMode.READ_ONLY, 0, mapped.length).get(mapped);
            yield "map " + sum(mapped);
          }
          case 5 -> {
            ByteBuffer[] two = {ByteBuffer.allocate(10), ByteBuffer.allocate(500)};
            yield channel.read(two) + " " + sum(two[1].array());
          }
          case 6 -> channel.write(ByteBuffer.allocate(1));
          default -> {
            ByteBuffer next = ByteBuffer.allocate(700);
            yield sum(next.array(), channel.read(next));
          }
        };
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  private static Handle seekable(SeekableByteChannel channel) {
    return new Handle() {
      @Override
      public Object use(Random random) throws IOException {
        return switch (random.nextInt(3)) {
          case 0 -> channel.size() + " " + channel.isOpen();
          case 1 -> channel.position(random.nextInt(4000)).position();
          default -> {
            ByteBuffer next = ByteBuffer.allocate(700);
            yield sum(next.array(), channel.read(next));
          }
        };
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  private static Handle randomAccess(RandomAccessFile in) {
    return new Handle() {
      @Override
      public Object use(Random random) throws IOException {
        return switch (random.nextInt(6)) {
          case 0 -> in.length();
          case 1 -> {
            in.seek(random.nextInt(4000));
            yield in.getFilePointer();
          }
          case 2 -> in.read();
          case 3 -> in.skipBytes(random.nextInt(2000));
          case 4 -> in.readInt();
          default -> {
            byte[] bytes = new byte[random.nextInt(2000)];
            yield sum(bytes, in.read(bytes));
          }
        };
      }

      @Override
      public void close() throws IOException {
        in.close();
      }
    };
  }

  // The JVM.

  /** Changes settings that the agent read at start-up or may read later. */
  private void changeTheJvm() {
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
    Thread.currentThread().setContextClassLoader(null);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) -> System.out.println("uncaught in " + thread.getName() + ": " + e));
    System.setErr(
        new PrintStream(OutputStream.nullOutputStream()) {
          @Override
          public void write(byte[] bytes, int offset, int length) {
            throw new IllegalStateException("the program's standard error is broken");
          }
        });
    Properties other = new Properties();
    other.putAll(System.getProperties());
    other.remove("java.class.path");
    other.setProperty("java.io.tmpdir", "/does/not/exist");
    other.setProperty("user.dir", "/does/not/exist");
    other.setProperty("user.home", "/does/not/exist");
    System.setProperties(other);
    System.setProperties(other);
  }

  private static final class Definer extends ClassLoader {
    Definer() {
      super(Hostile.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  /** Defines classes of a future version, truncated ones, and corrupted ones. */
  private void brokenClasses() throws IOException {
    byte[] good;
    try (InputStream in = Hostile.class.getResourceAsStream("Reads.class")) {
      good = in.readAllBytes();
    }
    for (int i = 0; i < 40; i++) {
      byte[] bytes = good.clone();
      switch (i % 3) {
        case 0 -> bytes[7] = (byte) (90 + i);
        case 1 -> bytes = Arrays.copyOf(good, 10 + i * 7);
        default -> bytes[10 + i] ^= 0x55;
      }
      byte[] broken = bytes;
      String result;
      try {
        result = new Definer().define(broken).getName();
      } catch (LinkageError e) {
        result = e.getClass().getName();
      }
      System.out.println("class " + i + " " + result);
    }
  }

  /** Prints the files that a child process inherits: only its standard streams. */
  private void child() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("/bin/sh", "-c", "for i in /proc/$$/fd/*; do readlink $i; done; true")
            .directory(new File("/"))
            .start();
    TreeSet<String> inherited = new TreeSet<>();
    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .map(line -> line.replaceAll("[0-9]+", "N"))
        .forEach(inherited::add);
    System.out.println("child " + process.waitFor() + " " + inherited);
  }
}
