package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes of the arena are written to the arena's file and to no other. */
class MappedMemoryTest {
  @TempDir Path directory;

  private MappedMemory map() throws IOException {
    return MappedMemory.map(Files.createFile(directory.resolve("arena")), 1 << 20);
  }

  @Test
  void theDescriptorIsNotClosedDuringAWrite() throws Exception {
    MappedMemory memory = map();
    Field file = MappedMemory.class.getDeclaredField("file");
    file.setAccessible(true);
    Thread closer = new Thread(memory::close);
    synchronized (file.get(memory)) { // A write takes the same lock.
      closer.start();
      while (closer.getState() != Thread.State.BLOCKED) {
        assertThat(closer.getState()).isNotEqualTo(Thread.State.TERMINATED);
        Thread.onSpinWait();
      }
      memory.write(0, new byte[] {1}, 0, 1);
    }
    closer.join();
    assertThat(memory.segment(0).get(0)).isEqualTo((byte) 1);
  }

  @Test
  void aWriteAfterCloseThrows() throws IOException {
    MappedMemory memory = map();
    memory.close();
    assertThatThrownBy(() -> memory.write(0, new byte[] {1}, 0, 1)).isInstanceOf(IOException.class);
  }

  @Test
  void anArenaOfSeveralSegmentsIsOneFile() throws IOException {
    long gib = 1L << 30;
    Path file = Files.createFile(directory.resolve("large"));
    MappedMemory memory = MappedMemory.map(file, 2 * gib);
    assertThat(file).hasSize(2 * gib);
    for (long at : new long[] {0, memory.stride() - 8, memory.stride(), gib, 2 * gib - 8}) {
      byte[] bytes = {1, 2, 3, 4, 5, 6, 7, (byte) (at >>> 20)};
      memory.write(at, bytes, 0, 8);
      assertThat(Items.bytes(memory.view(at, 8))).isEqualTo(bytes);
    }
    assertThat(memory.fit(gib - 8, 8)).isEqualTo(gib - 8);
    memory.close();
  }

  @Test
  void aTruncatedFileIsNeitherChangedNorExtended() throws IOException {
    MappedMemory memory = map();
    Path file = directory.resolve("arena");
    memory.set(0, 7);
    try (RandomAccessFile other = new RandomAccessFile(file.toFile(), "rw")) {
      other.setLength(1 << 19);
    }
    List<ThrowingCallable> changes =
        List.of(
            () -> memory.set(0, 8),
            () -> memory.compareAndSet(0, 7, 8),
            () -> memory.getAndAdd(0, 1),
            () -> memory.write(0, new byte[] {1}, 0, 1));
    for (ThrowingCallable change : changes) {
      assertThatThrownBy(change)
          .isInstanceOf(InternalError.class)
          .hasMessage("its file has 524288 bytes, not 1048576");
    }
    assertThat(memory.get(0)).isEqualTo(7);
    assertThat(file).hasSize(1 << 19);
  }

  @Test
  void aFileThatCannotBeMappedIsClosed() throws IOException {
    Path file = Files.createFile(directory.resolve("huge"));
    assertThatThrownBy(() -> MappedMemory.map(file, Long.MAX_VALUE))
        .isInstanceOf(IOException.class);
    assertThat(Items.descriptors(file)).isZero();
    MappedMemory memory = MappedMemory.map(file, 4096);
    assertThat(Items.descriptors(file)).isEqualTo(1);
    memory.close();
    assertThat(Items.descriptors(file)).isZero();
  }
}
