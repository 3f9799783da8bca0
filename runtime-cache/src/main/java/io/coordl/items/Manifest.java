package io.coordl.items;

import io.coordl.telemetry.log.UserLog;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The output of {@code sha256sum} for the files of a data set: 128 bits of each SHA-256, keyed by a
 * 128-bit hash of the path. It is stored in an open-addressing table on the heap, at 40 bytes per
 * line. The table takes at most an eighth of the maximum heap; lines that do not fit are ignored.
 * The file is read twice, to count and to parse: 2.5 s for a million lines.
 *
 * <p>A line is 64 hexadecimal digits, a space, a space or {@code *}, and the name, terminated by a
 * line feed. A leading {@code \} means that the name is escaped: {@code \\}, {@code \n} and {@code
 * \r} stand for backslash, newline and carriage return. Other lines are ignored, and so are two
 * lines that contradict each other. An unescaped line that ends with a carriage return was probably
 * edited on another system and is ignored too.
 *
 * <p>Safe for concurrent use once read; {@link #find} never waits.
 */
final class Manifest {
  private static final int DIGITS = 64;
  private static final int NAME_AT = DIGITS + 2;
  private static final Set<String> SEPARATORS = Set.of("  ", " *");
  private static final Pattern ESCAPED = Pattern.compile("(?s)(?:[^\\\\]|\\\\[\\\\nr])++");

  /** Length of a line whose name is the longest path with every byte escaped. */
  private static final int MAX_LINE_LENGTH = 1 + NAME_AT + 2 * 4096;

  private static final int WORDS = 4;
  private static final int HEAP_PART = 8;

  /** If more than this many lines are wrong, the whole manifest is ignored. */
  static final int MAX_VOIDED = 1000;

  /** The charset with which the JVM decodes file names. */
  private static final Charset NAMES = names();

  private final Path file;
  private final Function<String, @Nullable String> relative;
  private final UserLog log;

  /**
   * Files last changed before this time, by the file system's clock, are taken to match the
   * manifest.
   */
  final long madeNanos;

  private final long[] table;
  private final Set<ItemKey> voided = ConcurrentHashMap.newKeySet();
  private volatile boolean off;

  private long lines;
  private long bad;
  private long firstBad;
  private long ignored;
  private long room;

  /**
   * A file whose content the manifest lists.
   *
   * @param path hash of its path
   * @param high first 64 bits of its SHA-256
   * @param low the next 64
   */
  record Line(ItemKey path, long high, long low) {
    /** Returns a name derived from the hash of the content. */
    String content() {
      HexFormat hex = HexFormat.of();
      return "sha256:" + hex.toHexDigits(high) + hex.toHexDigits(low);
    }

    boolean isOf(byte[] bytes, int offset, int length) {
      MessageDigest digest;
      try {
        digest = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Every JVM has SHA-256", e);
      }
      digest.update(bytes, offset, length);
      ByteBuffer sum = ByteBuffer.wrap(digest.digest());
      return sum.getLong() == high && sum.getLong() == low;
    }
  }

  private Manifest(
      Path file,
      Function<String, @Nullable String> relative,
      UserLog log,
      long madeNanos,
      long lines) {
    this.file = file;
    this.relative = relative;
    this.log = log;
    this.madeNanos = madeNanos;
    long fits = Runtime.getRuntime().maxMemory() / HEAP_PART / (Long.BYTES * (WORDS + 1));
    this.room = Math.min(lines, Math.min(fits, Integer.MAX_VALUE / (WORDS + 2)));
    this.table = new long[(int) (room + room / 4 + 1) * WORDS];
  }

  /**
   * Reads a manifest and logs its defects.
   *
   * @param relative maps a listed name to its path below the root; null if it is not below it
   * @throws IOException if it is not a readable file, or changes while it is read
   */
  static Manifest read(Path file, Function<String, @Nullable String> relative, UserLog log)
      throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException("no such file, or not a regular one");
    }
    try (RandomAccessFile storage = new RandomAccessFile(file.toFile(), "r")) {
      long time = madeNanos(file);
      long size = storage.length();
      Manifest manifest = new Manifest(file, relative, log, time, count(storage));
      storage.seek(0);
      manifest.parse(storage);
      if (storage.length() != size || madeNanos(file) != time) {
        throw new IOException("it changed while being read");
      }
      manifest.report();
      return manifest;
    } catch (OutOfMemoryError e) {
      throw new IOException("there is no room for it on the heap", e);
    }
  }

  /**
   * Returns the earlier of modification and change time: users can set the former, even to the
   * future, but not the latter.
   */
  private static long madeNanos(Path file) throws IOException {
    return Math.min(
        Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS), ItemNames.changedNanos(file));
  }

  private static Charset names() {
    try {
      return Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
    } catch (IllegalArgumentException e) {
      return StandardCharsets.UTF_8;
    }
  }

  // ---- lookup

  /** Returns the line for the file at that path below the root; null if there is no valid line. */
  @Nullable Line find(String relative) {
    ItemKey path = key(relative);
    int at = off ? -1 : slot(path);
    if (at < 0 || isFree(at) || isContradicted(at) || voided.contains(path)) {
      return null;
    }
    return new Line(path, table[at + 2], table[at + 3]);
  }

  /** Records that the line is wrong about the file at {@code path}; logs the first such line. */
  void reportWrong(Line line, String path) {
    if (!voided.add(line.path())) {
      return;
    }
    if (voided.size() == 1) {
      log.say(
          "%s does not match %s, although the manifest is newer: such files are identified as if"
              + " they were not listed.",
          path, file);
    } else if (voided.size() > MAX_VOIDED && !off) {
      off = true;
      log.say(
          "%s is wrong about more than %s files: from now on all files are identified as if they"
              + " were not listed.",
          file, MAX_VOIDED);
    }
  }

  private static ItemKey key(String relative) {
    return ItemKey.of(relative, 0, 0, ItemKey.WHOLE);
  }

  private boolean isFree(int at) {
    return (table[at] | table[at + 1]) == 0;
  }

  private boolean isContradicted(int at) {
    return (table[at + 2] | table[at + 3]) == 0;
  }

  /** Returns the slot of the path, or the free slot where it would go; there is always one. */
  private int slot(ItemKey path) {
    int slots = table.length / WORDS;
    int slot = (int) ((path.low() >>> 1) % slots);
    while (true) {
      int at = slot * WORDS;
      if (isFree(at) || (table[at] == path.high() && table[at + 1] == path.low())) {
        return at;
      }
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
  }

  // ---- reading

  private static long count(RandomAccessFile storage) throws IOException {
    byte[] chunk = new byte[1 << 16];
    long count = 0;
    for (int read = storage.read(chunk); read > 0; read = storage.read(chunk)) {
      for (int i = 0; i < read; i++) {
        if (chunk[i] == '\n') {
          count++;
        }
      }
    }
    return count;
  }

  private void parse(RandomAccessFile storage) throws IOException {
    byte[] chunk = new byte[1 << 16];
    byte[] line = new byte[MAX_LINE_LENGTH];
    int length = 0;
    for (int read = storage.read(chunk); read > 0; read = storage.read(chunk)) {
      for (int i = 0; i < read; i++) {
        if (chunk[i] == '\n') {
          line(line, length);
          length = 0;
        } else if (length < MAX_LINE_LENGTH) {
          line[length++] = chunk[i];
        }
      }
    }
    if (length > 0) {
      line(line, 0); // Not terminated: perhaps cut off within its name.
    }
  }

  private void line(byte[] line, int length) {
    lines++;
    if (length > 0 && line[0] == '#') {
      return;
    }
    if (length == MAX_LINE_LENGTH || !add(line, length)) {
      if (bad++ == 0) {
        firstBad = lines;
      }
    }
  }

  /** Adds a line; returns whether it is valid and does not contradict an earlier one. */
  private boolean add(byte[] line, int length) {
    String text = new String(line, 0, length, StandardCharsets.ISO_8859_1);
    boolean escaped = text.startsWith("\\");
    int from = escaped ? 1 : 0;
    String name = text.substring(Math.min(length, from + NAME_AT));
    if (name.isEmpty()
        || !SEPARATORS.contains(text.substring(from + DIGITS, from + NAME_AT))
        || (escaped ? !ESCAPED.matcher(name).matches() : name.endsWith("\r"))) {
      return false;
    }
    ByteBuffer sum;
    try {
      sum = ByteBuffer.wrap(HexFormat.of().parseHex(text, from, from + DIGITS));
    } catch (IllegalArgumentException e) {
      return false;
    }
    byte[] plain = (escaped ? name.translateEscapes() : name).getBytes(StandardCharsets.ISO_8859_1);
    String known = relative.apply(new String(plain, NAMES));
    return known != null && put(key(known), sum.getLong(), sum.getLong());
  }

  private boolean put(ItemKey path, long high, long low) {
    int at = slot(path);
    if (isFree(at)) {
      if (room == 0) {
        ignored++;
        return true;
      }
      room--;
      table[at] = path.high();
      table[at + 1] = path.low();
      table[at + 2] = high;
      table[at + 3] = low;
      return true;
    }
    if (table[at + 2] == high && table[at + 3] == low) {
      return true;
    }
    table[at + 2] = 0;
    table[at + 3] = 0;
    return false;
  }

  private void report() {
    if (bad > 0) {
      log.say(
          "dataset.manifest=%s: %s of %s lines (first: line %s) do not name a file below"
              + " dataset.root as sha256sum does, or contradict others: their files are identified"
              + " as if they were not listed.",
          file, bad, lines, firstBad);
    }
    if (ignored > 0) {
      log.say(
          "dataset.manifest=%s does not fit in an eighth of the heap: %s of its files are"
              + " identified as if they were not listed; a larger -Xmx makes room.",
          file, ignored);
    }
  }
}
