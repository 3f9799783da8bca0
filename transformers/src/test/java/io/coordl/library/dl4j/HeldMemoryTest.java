package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;

/**
 * ND4J and OpenCV free memory once its owner is unreachable, even while its bytes are being read.
 * Each method that reads them by their address must keep the owner reachable until it is done.
 */
class HeldMemoryTest {
  /** Calls that return a buffer or pointer that does not keep the owner of its memory reachable. */
  private static final Set<String> LOOSE =
      Set.of("asByteBuffer", "asBuffer", "createBuffer", "createIndexer", "asNio", "asNioFloat");

  private static final String PAGED = "org/nd4j/linalg/api/memory/pointers/PagedPointer";

  /** The class whose buffers keep the memory under them reachable. */
  private static final String MAKER = "org/nd4j/linalg/factory/Nd4j";

  /**
   * Code that reads through a pointer whose owner the caller keeps reachable, or through a pointer
   * to memory without an owner, which is freed only by a call.
   */
  private static final Set<String> GIVEN =
      Set.of(
          "io/coordl/library/dl4j/Floats.bytes", "io/coordl/library/dl4j/IteratorWorkspaces.ended");

  /** A copy of an array that nothing holds, read by its address. */
  private static final Pattern DROPPED =
      Pattern.compile("\\)\\s*\\.data\\(\\)\\s*\\.(pointer|addressPointer|asNio\\w*)\\(\\)");

  /** Exempt, because this program shows what goes wrong. */
  private static final String SHOWS = "FreedMemory.java";

  @Test
  void everyMethodOfTheAgentHoldsWhatItReads() throws IOException {
    Set<String> reads = new TreeSet<>();
    Set<String> loose = new TreeSet<>();
    for (Path file : files(Path.of("target/classes/io/coordl/library/dl4j"), ".class")) {
      new ClassReader(Files.readAllBytes(file)).accept(methods(reads, loose), 0);
    }
    assertThat(reads).hasSizeGreaterThan(3);
    assertThat(loose).isSubsetOf(GIVEN);
  }

  private static ClassVisitor methods(Set<String> reads, Set<String> loose) {
    return new ClassVisitor(Opcodes.ASM9) {
      private String owner = "";

      @Override
      public void visit(int v, int access, String name, String s, String base, String[] types) {
        owner = name;
      }

      @Override
      public MethodVisitor visitMethod(int a, String method, String d, String s, String[] e) {
        return new MethodVisitor(Opcodes.ASM9) {
          private boolean isRead;
          private boolean isHeld;

          @Override
          public void visitMethodInsn(int o, String of, String name, String d, boolean i) {
            isRead |= LOOSE.contains(name) && !of.equals(MAKER);
            isRead |= of.equals(PAGED) && name.equals("<init>");
            isHeld |= name.equals("reachabilityFence");
          }

          @Override
          public void visitEnd() {
            if (isRead) {
              reads.add(owner + "." + method);
            }
            if (isRead && !isHeld) {
              loose.add(owner + "." + method);
            }
          }
        };
      }
    };
  }

  /**
   * A test program's checksum of freed memory once looked as if the agent had changed the batch.
   */
  @Test
  void noTestProgramReadsAnUnheldCopy() throws IOException {
    List<String> loose = new ArrayList<>();
    List<Path> sources = new ArrayList<>(files(Path.of("../examples"), ".java"));
    sources.addAll(files(Path.of("../agent/test-programs"), ".java"));
    for (Path file : sources) {
      if (!file.endsWith(SHOWS) && DROPPED.matcher(Files.readString(file)).find()) {
        loose.add(file.toString());
      }
    }
    assertThat(sources).hasSizeGreaterThan(100);
    assertThat(loose).isEmpty();
  }

  private static List<Path> files(Path folder, String ending) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      return tree.filter(file -> file.toString().endsWith(ending)).toList();
    }
  }
}
