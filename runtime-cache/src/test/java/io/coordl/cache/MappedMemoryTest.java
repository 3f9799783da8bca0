package io.coordl.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes of the arena go into the file of the arena and into no other. */
class MappedMemoryTest {
  @TempDir Path directory;

  private MappedMemory map() throws IOException {
    return MappedMemory.map(Files.createFile(directory.resolve("arena")), 1 << 20);
  }

  @Test
  void theDescriptorIsNotGivenBackWhileAWriteIsUnderWay() throws Exception {
    MappedMemory memory = map();
    Field file = MappedMemory.class.getDeclaredField("file");
    file.setAccessible(true);
    Thread closer = new Thread(memory::close);
    synchronized (file.get(memory)) { // As a write does.
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
  void aWriteAfterTheCloseIsAnError() throws IOException {
    MappedMemory memory = map();
    memory.close();
    assertThatThrownBy(() -> memory.write(0, new byte[] {1}, 0, 1)).isInstanceOf(IOException.class);
  }
}
