package io.coordl.agent.packaging;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.commons.ClassRemapper;
import net.bytebuddy.jar.asm.commons.SimpleRemapper;

/**
 * Replaces the class with which a library deserialises bytes from other hosts by one that refuses
 * to. The old class is then unreferenced and does not enter the jar.
 */
public final class NoDeserialization {
  private NoDeserialization() {}

  /** Arguments: a folder of classes named {@code *.classdata}, the old class, the new one. */
  public static void main(String[] args) throws IOException {
    int replaced = 0;
    try (Stream<Path> files = Files.walk(Path.of(args[0]))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".classdata")).toList()) {
        replaced += replace(file, args[1], args[2]) ? 1 : 0;
      }
    }
    if (replaced == 0) {
      throw new IOException("no class below " + args[0] + " uses " + args[1]);
    }
  }

  private static boolean replace(Path file, String old, String by) throws IOException {
    ClassReader read = new ClassReader(Files.readAllBytes(file));
    if (read.getClassName().equals(old) || !names(read, old)) {
      return false;
    }
    ClassWriter written = new ClassWriter(0);
    read.accept(new ClassRemapper(written, new SimpleRemapper(Opcodes.ASM9, old, by)), 0);
    Files.write(file, written.toByteArray());
    return true;
  }

  private static boolean names(ClassReader read, String name) {
    char[] buffer = new char[read.getMaxStringLength()];
    for (int i = 1; i < read.getItemCount(); i++) {
      int at = read.getItem(i);
      if (at > 0 && read.readByte(at - 1) == 7 && name.equals(read.readUTF8(at, buffer))) {
        return true;
      }
    }
    return false;
  }
}
