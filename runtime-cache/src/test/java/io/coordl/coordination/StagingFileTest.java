package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.PAGE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.host.Contents.Header;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The layout of a staging file, and its behaviour when another program damages it. */
class StagingFileTest {
  private static final Fingerprint PIPELINE = new Fingerprint(Map.of("data set", "synthetic"));
  private static final int SLOTS = 4;

  @TempDir Path directory;
  private final HeartbeatThread heartbeat = new HeartbeatThread(() -> {});
  private final StagingContents contents =
      new StagingContents(PIPELINE, BatchOrder.evenly(new int[100], 10), heartbeat);
  private Path path;
  private StagingFile memory;
  private long slots;

  @BeforeEach
  void make() throws IOException {
    path = Files.createFile(directory.resolve("a.staging"));
    memory = contents.map(path, contents.capacity(SLOTS * PAGE + 5));
    contents.format(memory);
    contents.header().write(memory, 42, memory.length());
    slots = StagingDescriptor.slotsOffset(memory.itemRoom(), memory.batchRoom());
    memory.set(StagingDescriptor.SLOT_BYTES, PAGE);
  }

  @AfterEach
  void close() {
    memory.close();
    heartbeat.stop();
  }

  private byte[] bytes(long at, int count) throws IOException {
    byte[] bytes = new byte[count];
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      file.seek(at);
      file.readFully(bytes);
    }
    return bytes;
  }

  /** Fills all slots. */
  private void fill(int value) throws IOException {
    byte[] bytes = new byte[(int) (SLOTS * PAGE)];
    Arrays.fill(bytes, (byte) value);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(slots);
      file.write(bytes);
    }
  }

  private static byte[] page(int value) {
    byte[] bytes = new byte[(int) PAGE];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  @Test
  void theHeaderDescribesTheFile() throws IOException {
    byte[] text = PIPELINE.text().getBytes(StandardCharsets.UTF_8);
    assertThat(memory.get(Header.MAGIC)).isEqualTo(contents.header().magic());
    assertThat(memory.get(Header.VERSION)).isEqualTo(contents.header().version());
    assertThat(memory.get(Header.LAYOUT)).isEqualTo(contents.header().layout());
    assertThat(memory.get(Header.UID)).isEqualTo(42);
    assertThat(memory.get(Header.CAPACITY)).isEqualTo(path.toFile().length());
    assertThat(path.toFile().length()).isEqualTo(slots + SLOTS * PAGE);
    assertThat(memory.get(StagingDescriptor.BUDGET)).isEqualTo(SLOTS * PAGE);
    assertThat(contents.minimum()).isEqualTo(slots + 2 * PAGE);
    assertThat(contents.header().suffix()).isEqualTo(".staging");
    // 1.25 times the order's size, plus 1,024 items or 64 batches; rounded down to a multiple of 8.
    assertThat(memory.itemRoom()).isEqualTo(1144);
    assertThat(memory.batchRoom()).isEqualTo(72);
    assertThat(memory.get(StagingDescriptor.TEXT_BYTES)).isEqualTo(text.length);
    assertThat(memory.getBytes(StagingDescriptor.TEXT, text.length)).isEqualTo(text);
  }

  @Test
  void aJoiningJobUsesTheTableSizesOfTheCreator() throws IOException {
    memory.putInts(memory.epoch(1).itemTable(), new int[] {7, 8, 9});
    StagingContents other =
        new StagingContents(PIPELINE, BatchOrder.evenly(new int[5_000], 1), heartbeat);
    try (StagingFile joined = other.map(path, path.toFile().length())) {
      assertThat(joined.itemRoom()).isEqualTo(memory.itemRoom());
      assertThat(joined.batchRoom()).isEqualTo(memory.batchRoom());
      assertThat(joined.getInts(joined.epoch(1).itemTable(), 3)).containsExactly(7, 8, 9);
      assertThat(joined.compareAndSet(StagingDescriptor.SIZER, 1, 2)).isFalse();
      assertThat(joined.compareAndSet(StagingDescriptor.SIZER, 0, 2)).isTrue();
    }
    assertThat(memory.get(StagingDescriptor.SIZER)).isEqualTo(2);
  }

  @Test
  void anOrderOrDescriptionThatIsTooLongIsRefused() throws IOException {
    memory.set(StagingDescriptor.ITEM_ROOM, 1L << 40);
    assertThatThrownBy(() -> contents.map(path, path.toFile().length()))
        .hasMessageContaining("too long to be shared");
    memory.set(StagingDescriptor.ITEM_ROOM, -8);
    assertThatThrownBy(() -> contents.map(path, path.toFile().length()))
        .hasMessageContaining("too long to be shared");
    assertThat(descriptors()).as("only the first is open").isEqualTo(1);
    Fingerprint endless = new Fingerprint(Map.of("data set", "x".repeat(100_000)));
    StagingContents wordy =
        new StagingContents(endless, BatchOrder.evenly(new int[1], 1), heartbeat);
    assertThatThrownBy(() -> wordy.format(memory)).hasMessageContaining("description is too long");
  }

  /** Returns the number of this process's descriptors of the file. */
  private long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(
              one -> {
                try {
                  return Files.readSymbolicLink(one).equals(path.toRealPath());
                } catch (IOException e) {
                  return false; // Just closed.
                }
              })
          .count();
    }
  }

  @Test
  void aSlotIsReservedByWritingItOnce() throws IOException {
    fill(5);

    ByteBuffer slot = memory.writable(1, 10);

    assertThat(slot.capacity()).isEqualTo(10);
    assertThat(slot.order()).isEqualTo(ByteOrder.nativeOrder());
    assertThat(bytes(slots, (int) PAGE)).isEqualTo(page(5));
    assertThat(bytes(slots + PAGE, (int) PAGE)).as("reserved").isEqualTo(page(0));
    assertThat(bytes(slots + 2 * PAGE, (int) PAGE)).isEqualTo(page(5));
    fill(6);
    assertThat(memory.writable(1, 10).get(9)).as("unchanged").isEqualTo((byte) 6);
    memory.writable(1, 10).put(0, (byte) 7);
    assertThat(memory.readable(1, 10).get(0)).isEqualTo((byte) 7);
    memory.writable(0, 10);
    assertThat(bytes(slots, (int) PAGE)).as("another slot").isEqualTo(page(0));
    assertThat(memory.get(StagingDescriptor.RESERVED)).isEqualTo(3);
  }

  @Test
  void aTruncatedFileIsNoLongerUsedAndIsReportedOnce() throws IOException {
    List<String> reported = new ArrayList<>();
    memory.whenDamaged(error -> reported.add(error.getMessage()));
    assertThat(memory.isSound()).isTrue();
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(slots + 1);
    }

    assertThat(memory.isSound()).isFalse();
    assertThatThrownBy(() -> memory.readable(0, 10))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("damaged the staging buffer");
    assertThatThrownBy(() -> memory.writable(0, 10)).isInstanceOf(IOException.class);
    memory.set(StagingDescriptor.SIZER, 7);
    assertThat(memory.compareAndSet(StagingDescriptor.SIZER, 0, 7)).isFalse();
    assertThat(bytes(StagingDescriptor.SIZER, 8)).containsOnly(0);
    assertThat(memory.get(Header.MAGIC)).as("reads zeros").isZero();
    assertThat(path.toFile().length()).isEqualTo(slots + 1);
    assertThat(reported)
        .containsExactly("its file has " + (slots + 1) + " bytes, not " + (slots + SLOTS * PAGE));
    memory.whenDamaged(error -> reported.add("later"));
    assertThat(reported).hasSize(2).endsWith("later");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void theFirstReadAfterTruncationReturnsZerosAndReportsTheDamage(int read) throws IOException {
    List<InternalError> reported = new ArrayList<>();
    memory.whenDamaged(reported::add);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(0);
    }

    if (read == 0) {
      assertThat(memory.get(Header.MAGIC)).isZero();
    } else if (read == 1) {
      assertThat(memory.getInts(Header.MAGIC, 2)).containsOnly(0);
    } else {
      assertThat(memory.getBytes(Header.MAGIC, 8)).containsOnly(0);
    }

    assertThat(reported).hasSize(1);
  }

  @Test
  void aClosedFileHasNoDescriptorAndIsNotSound() throws IOException {
    memory.close();
    assertThat(descriptors()).isZero();
    assertThat(memory.isSound()).isFalse();
  }
}
