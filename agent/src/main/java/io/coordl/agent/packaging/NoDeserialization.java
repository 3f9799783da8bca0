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
 * Replaces a library's class that deserialises bytes from other hosts with a class that throws, in
 * all code that refers to it. The old class is then unreferenced and stays out of the jar.
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

  private static boolean replace(Path file, String old, String replacement) throws IOException {
    ClassReader reader = new ClassReader(Files.readAllBytes(file));
    if (reader.getClassName().equals(old) || !refersTo(reader, old)) {
      return false;
    }
    ClassWriter writer = new ClassWriter(0);
    reader.accept(new ClassRemapper(writer, new SimpleRemapper(Opcodes.ASM9, old, replacement)), 0);
    Files.write(file, writer.toByteArray());
    return true;
  }

  private static boolean refersTo(ClassReader reader, String name) {
    char[] buffer = new char[reader.getMaxStringLength()];
    for (int i = 1; i < reader.getItemCount(); i++) {
      int at = reader.getItem(i);
      if (at > 0 && reader.readByte(at - 1) == 7 && name.equals(reader.readUTF8(at, buffer))) {
        return true;
      }
    }
    return false;
  }
}
