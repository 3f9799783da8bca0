package io.coordl.reports.recording;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Recordings broken in many ways: each is read, or refused in one sentence. If it is read, only
 * flipped or overwritten bytes, or a cut between chunks, may have changed its figures. The seed is
 * printed with every failure; {@code -Dcoordl.seed=} repeats it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FuzzTest {
  private static final long SEED = Long.getLong("coordl.seed", System.nanoTime());
  private static final int SIZE_OFFSET = 8;
  private static final int CONSTANTS_OFFSET = 16;
  private static final int METADATA_OFFSET = 24;

  /**
   * Factor that multiplies the number of tries, set by {@code -Dcoordl.fuzz=10}, for example.
   * Independently, {@code -Pfull} makes four times as many tries as an ordinary build.
   */
  private static final int THOROUGH = Integer.getInteger("coordl.fuzz", 1);

  @TempDir static Path folder;

  private final Random random = new Random(SEED);
  private byte[] whole = {};
  private JobRecording intact;
  private List<byte[]> chunks = List.of();

  @BeforeAll
  void record() throws Exception {
    // In its own JVM, because recordings of this one also contain events of other tests.
    Path file = ChildJob.record(folder.resolve("whole.jfr"));
    whole = Files.readAllBytes(file);
    intact = RecordingReader.read(file, done -> {});
    chunks = chunks(whole);
    assertThat(chunks).hasSizeGreaterThan(1);
    assertThat(intact.epochs()).hasSize(3);
  }

  private static List<byte[]> chunks(byte[] recording) {
    List<byte[]> chunks = new ArrayList<>();
    for (int at = 0; at < recording.length; ) {
      int size = (int) ByteBuffer.wrap(recording).getLong(at + SIZE_OFFSET);
      chunks.add(Arrays.copyOfRange(recording, at, at + size));
      at += size;
    }
    return chunks;
  }

  private static int times(int usual) {
    return usual * THOROUGH / (Boolean.getBoolean("coordl.full") ? 1 : 4);
  }

  /** How an attempt to read ended: refused for a reason, or read. */
  private sealed interface Outcome {
    record Refused(ExitStatus status, String sentence) implements Outcome {}

    record Read(JobRecording recording) implements Outcome {}
  }

  private Outcome read(byte[] bytes, String how) throws Exception {
    Path file = Files.write(folder.resolve("broken.jfr"), bytes);
    read(file, how, path -> RecordingReader.readInFull(path, done -> {}).recording());
    return read(file, how, path -> RecordingReader.read(path, done -> {}));
  }

  @FunctionalInterface
  private interface Reading {
    JobRecording read(Path file) throws RecordingException;
  }

  private static Outcome read(Path file, String how, Reading reading) {
    try {
      return new Outcome.Read(reading.read(file));
    } catch (RecordingException refused) {
      String sentence = String.valueOf(refused.getMessage());
      assertThat(sentence)
          .as("%s, seed %s", how, SEED)
          .startsWith(file.toString())
          .matches("[^\\n]*[.?]");
      return new Outcome.Refused(refused.status(), sentence);
    } catch (RuntimeException | Error e) {
      throw new AssertionError(how + ", seed " + SEED, e);
    }
  }

  private void assertRefused(byte[] bytes, String how, Set<ExitStatus> kinds) throws Exception {
    assertThat(read(bytes, how))
        .as("%s, seed %s", how, SEED)
        .isInstanceOfSatisfying(
            Outcome.Refused.class,
            refused -> assertThat(refused.status()).as(refused.sentence()).isIn(kinds));
  }

  private void assertSame(JobRecording read, String how) {
    assertThat(read)
        .as("%s, seed %s", how, SEED)
        .usingRecursiveComparison()
        .ignoringFields("file", "bytes")
        .isEqualTo(intact);
  }

  /**
   * A cut inside a chunk is refused; a cut between chunks yields a shorter complete recording,
   * perhaps without our events.
   */
  @Test
  void everyCutIsRefusedExceptBetweenChunks() throws Exception {
    Set<Integer> between = boundaries();
    for (int i = 0; i < times(300); i++) {
      int cut = i < 100 ? i : random.nextInt(whole.length);
      String how = "cut at " + cut + " of " + whole.length;
      if (cut == 0) {
        assertRefused(new byte[0], how, EnumSet.of(ExitStatus.NO_RECORDING));
      } else if (!between.contains(cut)) {
        assertRefused(Arrays.copyOf(whole, cut), how, EnumSet.of(ExitStatus.DAMAGED));
      }
    }
    for (int cut : between) {
      Outcome outcome = read(Arrays.copyOf(whole, cut), "cut between chunks at " + cut);
      if (outcome instanceof Outcome.Read shorter) {
        assertThat(intact.epochs())
            .usingRecursiveFieldByFieldElementComparator()
            .containsAll(shorter.recording().epochs());
      } else {
        assertThat(((Outcome.Refused) outcome).status()).isEqualTo(ExitStatus.WITHOUT_OUR_EVENTS);
      }
    }
  }

  private Set<Integer> boundaries() {
    List<Integer> boundaries = new ArrayList<>();
    int at = 0;
    for (byte[] chunk : chunks) {
      at += chunk.length;
      boundaries.add(at);
    }
    boundaries.remove(boundaries.size() - 1);
    return Set.copyOf(boundaries);
  }

  /** After a power cut, a file system may leave zeroes where data was not written back. */
  @Test
  void zeroesAreRefusedExceptInUnreadParts() throws Exception {
    for (int i = 0; i < times(100); i++) {
      int from = random.nextInt(whole.length - 1);
      byte[] tail = whole.clone();
      Arrays.fill(tail, from, tail.length, (byte) 0);
      String how = "zeroes from " + from + " of " + whole.length;
      if (read(tail, how) instanceof Outcome.Read read) {
        assertSame(read.recording(), how); // The zeroes are in unread parts of the last event.
      } else {
        assertRefused(
            tail,
            how,
            from < 4
                ? EnumSet.of(ExitStatus.NO_RECORDING)
                : EnumSet.of(ExitStatus.DAMAGED, ExitStatus.NO_RECORDING));
      }
      assertRefused(
          Arrays.copyOf(whole, whole.length + 1 + random.nextInt(5_000)),
          "zeroes appended",
          EnumSet.of(ExitStatus.DAMAGED));
    }
  }

  @Test
  void bytesAfterTheEndAreRefused() throws Exception {
    for (int i = 0; i < times(50); i++) {
      byte[] more = Arrays.copyOf(whole, whole.length + 1 + random.nextInt(300));
      byte[] rubbish = new byte[more.length - whole.length];
      random.nextBytes(rubbish);
      rubbish[0] = 'X';
      System.arraycopy(rubbish, 0, more, whole.length, rubbish.length);
      assertRefused(more, "rubbish appended", EnumSet.of(ExitStatus.DAMAGED));
    }
  }

  /** Chunks are self-contained, so reordering or repeating them changes nothing. */
  @Test
  void reorderedAndRepeatedChunksChangeNoFigure() throws Exception {
    for (int i = 0; i < 20; i++) {
      List<byte[]> shuffled = new ArrayList<>(chunks);
      Collections.shuffle(shuffled, random);
      shuffled.add(chunks.get(random.nextInt(chunks.size())));
      Outcome outcome = read(join(shuffled), "chunks in another order");
      assertThat(outcome).isInstanceOf(Outcome.Read.class);
      assertSame(((Outcome.Read) outcome).recording(), "chunks in another order");
    }
  }

  @Test
  void jobsOfOtherProcessesInOneFileAreRefusedInAnyOrder() throws Exception {
    byte[] other = Files.readAllBytes(ChildJob.record(folder.resolve("other.jfr")));
    List<byte[]> both = new ArrayList<>(chunks);
    both.addAll(chunks(other));
    for (int i = 0; i < 20; i++) {
      Collections.shuffle(both, random);
      assertRefused(join(both), "two processes", EnumSet.of(ExitStatus.SEVERAL_RUNS));
    }
    // If the second file is cut off, the first must not be read alone.
    for (int i = 0; i < 100; i++) {
      byte[] part = Arrays.copyOf(other, 1 + random.nextInt(chunks(other).get(0).length - 1));
      assertRefused(
          join(List.of(whole, part)), "half a file appended", EnumSet.of(ExitStatus.DAMAGED));
    }
  }

  /** A wrong length, however large, must exhaust neither memory nor time. */
  @Test
  void wrongLengthsAndPositionsAreRefusedOrIgnored() throws Exception {
    long[] lies = {
      -1, 0, 1, 67, 68, Integer.MAX_VALUE, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 60
    };
    for (int offset : new int[] {SIZE_OFFSET, CONSTANTS_OFFSET, METADATA_OFFSET}) {
      for (long lie : lies) {
        byte[] lying = whole.clone();
        ByteBuffer.wrap(lying).putLong(offset, lie);
        String how = "number at " + offset + " is " + lie;
        Outcome outcome = read(lying, how);
        if (outcome instanceof Outcome.Read same) {
          // The JDK finds the strings without this position.
          assertThat(offset).as(how).isEqualTo(CONSTANTS_OFFSET);
          assertSame(same.recording(), how);
        } else {
          assertThat(((Outcome.Refused) outcome).status())
              .as(how)
              .isIn(ExitStatus.DAMAGED, ExitStatus.NO_RECORDING);
        }
      }
    }
  }

  /**
   * JFR has no checksums, so a flipped bit can change a figure. The file is read or refused in one
   * sentence.
   */
  @Test
  void flippedBitsAreReadOrRefused() throws Exception {
    for (int i = 0; i < times(300); i++) {
      byte[] flipped = whole.clone();
      int flips = 1 + random.nextInt(3);
      StringBuilder how = new StringBuilder("bits flipped at");
      for (int flip = 0; flip < flips; flip++) {
        int at = random.nextInt(random.nextBoolean() ? 300 : whole.length);
        flipped[at] ^= (byte) (1 << random.nextInt(8));
        how.append(' ').append(at);
      }
      read(flipped, how.toString());
    }
  }

  /** Overwritten stretches, as on a disk that lost a block. */
  @Test
  void overwrittenStretchesAreReadOrRefused() throws Exception {
    for (int i = 0; i < times(100); i++) {
      byte[] broken = whole.clone();
      int from = random.nextInt(broken.length);
      byte[] rubbish = new byte[Math.min(512, broken.length - from)];
      if (random.nextBoolean()) {
        random.nextBytes(rubbish);
      } else {
        Arrays.fill(rubbish, (byte) 0xff);
      }
      System.arraycopy(rubbish, 0, broken, from, rubbish.length);
      read(broken, "512 bytes overwritten at " + from);
    }
  }

  /** Files that users might pass by mistake. */
  @Test
  void otherKindsOfFilesAreRefused() throws Exception {
    assertForeign("PK zip", this::zipped);
    assertForeign("gzip", this::gzipped);
    assertForeign("heap dump", bytes -> "JAVA PROFILE 1.0.2\0".getBytes(US_ASCII));
    assertForeign("page", bytes -> "<!DOCTYPE html>".getBytes(US_ASCII));
    assertForeign("one byte", bytes -> new byte[] {0});
    assertForeign("zeroes", bytes -> new byte[10_000]);
    assertForeign("JDK 8", bytes -> new byte[] {'F', 'L', 'R', '_'});
  }

  private void assertForeign(String what, UnaryOperator<byte[]> make) throws Exception {
    assertRefused(make.apply(whole), what, EnumSet.of(ExitStatus.NO_RECORDING));
  }

  private byte[] zipped(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("job.jfr"));
      zip.write(bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return out.toByteArray();
  }

  private byte[] gzipped(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return out.toByteArray();
  }

  private static byte[] join(List<byte[]> parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    parts.forEach(out::writeBytes);
    return out.toByteArray();
  }
}
