package io.coordl.purity;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/** The contents of a class file; reading it does not load the class. */
final class ClassCode extends ClassVisitor {
  final String name;
  final Map<String, Integer> fields = new HashMap<>();
  final List<MethodCode> methods = new ArrayList<>();
  final List<String> parents = new ArrayList<>();

  /**
   * The members of this class's nest if it is the nest's host; otherwise only this class. See
   * {@link #host}.
   */
  final List<String> nest = new ArrayList<>();

  /** Checksum of the class file. */
  final long checksum;

  String host;
  boolean isInterface;

  private ClassCode(String name, byte[] file) {
    super(OpenedClassReader.ASM_API);
    CRC32 crc = new CRC32();
    crc.update(file);
    this.name = name;
    this.checksum = crc.getValue();
    host = name;
  }

  /** Reads a class file; returns null if there is none. */
  static @Nullable ClassCode read(String name, @Nullable ClassLoader loader) {
    String file = name + ".class";
    try (InputStream in =
        loader == null
            ? ClassLoader.getSystemResourceAsStream(file)
            : loader.getResourceAsStream(file)) {
      if (in == null) {
        return null;
      }
      byte[] bytes = in.readAllBytes();
      ClassCode code = new ClassCode(name, bytes);
      OpenedClassReader.of(bytes).accept(code, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return code;
    } catch (IOException e) {
      return null;
    }
  }

  /** Whether the class itself declares this method, neither static nor abstract. */
  boolean declares(Member called) {
    return methods.stream()
        .anyMatch(
            method ->
                method.signature().equals(called.name() + called.descriptor())
                    && (method.access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0);
  }

  @Override
  public void visit(
      int version,
      int access,
      String named,
      @Nullable String signature,
      @Nullable String parent,
      String @Nullable [] interfaces) {
    nest.add(name);
    isInterface = (access & Opcodes.ACC_INTERFACE) != 0;
    if (parent != null) {
      parents.add(parent);
    }
    if (interfaces != null) {
      parents.addAll(List.of(interfaces));
    }
  }

  @Override
  public void visitNestHost(String nestHost) {
    host = nestHost;
  }

  @Override
  public void visitNestMember(String member) {
    nest.add(member);
  }

  @Override
  public @Nullable FieldVisitor visitField(
      int access,
      String field,
      String descriptor,
      @Nullable String signature,
      @Nullable Object value) {
    fields.put(field + descriptor, access);
    return null;
  }

  @Override
  public MethodVisitor visitMethod(
      int access,
      String method,
      String descriptor,
      @Nullable String signature,
      String @Nullable [] exceptions) {
    MethodCode code = new MethodCode(name, access, method, descriptor);
    methods.add(code);
    return code;
  }
}
