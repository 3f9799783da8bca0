package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The agent asks the kernel to back large buffers with huge pages. */
class HugePagesTest {
  private static final int LENGTH = 32 << 20;

  @Test
  void onlyLargeArraysGetHugePages() throws IOException {
    String setting = Files.readString(Path.of("/sys/kernel/mm/transparent_hugepage/enabled"));
    assumeThat(setting).as("the kernel decides itself").contains("[madvise]");
    ByteBuffer large = ByteBuffer.allocateDirect(LENGTH);
    ByteBuffer small = ByteBuffer.allocateDirect(1 << 20);
    HugePages.use(large);
    HugePages.use(small);
    assertThat(flags(large)).contains(" hg");
    assertThat(flags(small)).doesNotContain(" hg");
  }

  /** Returns the kernel's flags for the mapping that contains the middle of a buffer. */
  private static String flags(ByteBuffer buffer) throws IOException {
    long address =
        Pointer.nativeValue(Native.getDirectBufferPointer(buffer)) + buffer.capacity() / 2;
    List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
    boolean inside = false;
    for (String line : lines) {
      String[] range = line.split("[- ]", 3);
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        inside =
            Long.parseUnsignedLong(range[0], 16) <= address
                && address < Long.parseUnsignedLong(range[1], 16);
      } else if (inside && line.startsWith("VmFlags:")) {
        return line;
      }
    }
    return "";
  }
}
