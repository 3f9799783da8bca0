package example.bits;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;

/**
 * A checksum of values that two runs print, to compare them. With {@code -Dexample.bytes=DIRECTORY}
 * the bytes are saved there under their checksum, with a description of their owner, so that a test
 * can show the difference. Not thread-safe.
 */
public final class Checksum {
  private static final String DIRECTORY = System.getProperty("example.bytes");

  /** Longer values are not saved, because a test saves thousands of files. */
  private static final int MAX_BYTES = 256 << 10;

  private final CRC32 crc = new CRC32();
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private final StringBuilder holders = new StringBuilder();

  /**
   * Adds bytes.
   *
   * @param holder the owner of the memory they were read from, for diagnosis
   */
  public Checksum add(byte[] bytes, String holder) {
    crc.update(bytes);
    if (DIRECTORY != null && kept.size() <= MAX_BYTES) {
      kept.writeBytes(bytes);
      holders.append(bytes.length).append(" bytes of ").append(holder).append('\n');
    }
    return this;
  }

  /** As above, for the remaining bytes of {@code buffer}, which are consumed. */
  public Checksum add(ByteBuffer buffer, String holder) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return add(bytes, holder);
  }

  /** Returns eight hexadecimal digits, and saves the bytes if a directory is set. */
  @Override
  public String toString() {
    String value = String.format("%08x", crc.getValue());
    if (DIRECTORY != null && kept.size() <= MAX_BYTES) {
      keep(value);
    }
    return value;
  }

  private void keep(String value) {
    Path bytes = Path.of(DIRECTORY, value + ".bytes");
    try {
      if (!Files.exists(bytes)) {
        String thread = Thread.currentThread().getName();
        String run = "process " + ProcessHandle.current().pid() + ", thread " + thread + "\n";
        Files.writeString(Path.of(DIRECTORY, value + ".held"), run + holders);
        Files.write(bytes, kept.toByteArray());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
