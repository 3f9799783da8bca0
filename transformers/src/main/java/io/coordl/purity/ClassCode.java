package io.coordl.purity;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.MethodNode;

/** A class as its file on disk has it; the class is not loaded. */
final class ClassCode {
  final Map<String, Integer> fields = new HashMap<>();
  final List<MethodCode> methods = new ArrayList<>();
  final List<String> parents = new ArrayList<>();

  /** The classes that see its private members, itself included. */
  final List<String> nest = new ArrayList<>();

  final String host;

  /** Of the class file. */
  final long checksum;

  private ClassCode(byte[] file, String getsItem) {
    CRC32 crc = new CRC32();
    crc.update(file);
    checksum = crc.getValue();
    ClassNode node = new ClassNode();
    new ClassReader(file).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    host = Objects.requireNonNullElse(node.nestHostClass, node.name);
    nest.add(node.name);
    nest.addAll(Objects.requireNonNullElse(node.nestMembers, List.of()));
    if (node.superName != null) {
      parents.add(node.superName);
    }
    parents.addAll(node.interfaces);
    for (FieldNode field : node.fields) {
      fields.put(field.name + field.desc, field.access);
    }
    for (MethodNode method : node.methods) {
      methods.add(new MethodCode(node.name, method, getsItem.equals(method.name + method.desc)));
    }
  }

  /**
   * Reads a class file; null if there is none.
   *
   * @param getsItem name and descriptor of the method that is told which item of a data set to get
   */
  static @Nullable ClassCode read(String name, @Nullable ClassLoader loader, String getsItem) {
    String file = name + ".class";
    try (InputStream in =
        loader == null
            ? ClassLoader.getSystemResourceAsStream(file)
            : loader.getResourceAsStream(file)) {
      return in == null ? null : new ClassCode(in.readAllBytes(), getsItem);
    } catch (IOException e) {
      return null;
    }
  }
}
