package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code FileChannel.map} into an arena (JDK 22), which the agent's channel cannot implement. */
final class ArenaMapTest {
  private static final String MAP =
      "(Ljava/nio/channels/FileChannel$MapMode;JJLjava/lang/foreign/Arena;)"
          + "Ljava/lang/foreign/MemorySegment;";

  @TempDir Path directory;

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  /**
   * {@code long size(FileChannel c) { return c.map(READ_ONLY, 0, 5, Arena.global()).byteSize(); }}
   */
  private static byte[] program() {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    writer.visit(
        Opcodes.V17 + 5, Opcodes.ACC_PUBLIC, "some/Mapper", null, "java/lang/Object", null);
    MethodVisitor method =
        writer.visitMethod(
            Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC,
            "size",
            "(Ljava/nio/channels/FileChannel;)J",
            null,
            null);
    method.visitCode();
    method.visitVarInsn(Opcodes.ALOAD, 0);
    method.visitFieldInsn(
        Opcodes.GETSTATIC,
        "java/nio/channels/FileChannel$MapMode",
        "READ_ONLY",
        "Ljava/nio/channels/FileChannel$MapMode;");
    method.visitInsn(Opcodes.LCONST_0);
    method.visitLdcInsn(5L);
    method.visitMethodInsn(
        Opcodes.INVOKESTATIC,
        "java/lang/foreign/Arena",
        "global",
        "()Ljava/lang/foreign/Arena;",
        true);
    method.visitMethodInsn(
        Opcodes.INVOKEVIRTUAL, "java/nio/channels/FileChannel", "map", MAP, false);
    method.visitMethodInsn(
        Opcodes.INVOKEINTERFACE, "java/lang/foreign/MemorySegment", "byteSize", "()J", true);
    method.visitInsn(Opcodes.LRETURN);
    method.visitMaxs(0, 0);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  @Test
  @SuppressWarnings("try") // A channel is used after it is closed.
  void arenaMapsTheFileItself() throws Exception {
    byte[] rewritten =
        Rewritten.rewrite(new CallSiteRewriter(), program(), new Rewritten("").listener());
    assertThat(rewritten).isNotNull();
    if (Runtime.version().feature() < 22) {
      return; // This JDK has no arenas.
    }
    Class<?> mapper =
        new ClassLoader(ArenaMapTest.class.getClassLoader()) {
          Class<?> define() {
            return defineClass("some.Mapper", rewritten, 0, rewritten.length);
          }
        }.define();
    Path path = Files.writeString(directory.resolve("file"), "12345");
    Bridge.install(SpanSink.NONE, new FakeItems(FakeItems.Mode.CONTENT), FaultListener.NONE);

    try (FileChannel served = FileReads.open(path);
        FileChannel plain = FileChannel.open(path)) {
      assertThat(served.getClass()).isNotEqualTo(plain.getClass());
      assertThat(mapper.getMethod("size", FileChannel.class).invoke(null, served)).isEqualTo(5L);
      assertThat(mapper.getMethod("size", FileChannel.class).invoke(null, plain)).isEqualTo(5L);
    }
    FileChannel closed;
    try (FileChannel served = FileReads.open(path)) {
      closed = served;
    }
    assertThatThrownBy(() -> mapper.getMethod("size", FileChannel.class).invoke(null, closed))
        .hasCauseInstanceOf(ClosedChannelException.class);
  }
}
