package io.coordl.purity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.zip.CRC32;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Reads class files, for example to distinguish versions of code even in a fat jar without version
 * names.
 */
public final class ClassFiles {
  private ClassFiles() {}

  /**
   * Returns the checksum of the class file of a class, in hexadecimal.
   *
   * @throws IOException if it cannot be read
   */
  public static String checksum(Class<?> type) throws IOException {
    return checksum(type, "/" + type.getName().replace('.', '/'));
  }

  /**
   * Returns the checksum of a class file, in hexadecimal; the class is not loaded.
   *
   * @param beside a class whose loader finds it
   * @param resource path without {@code .class}: relative to {@code beside}, or absolute if it
   *     starts with a slash
   * @throws IOException if it cannot be read
   */
  public static String checksum(Class<?> beside, String resource) throws IOException {
    try (InputStream in = beside.getResourceAsStream(resource + ".class")) {
      if (in == null) {
        throw new IOException("the class file of " + resource + " cannot be found");
      }
      CRC32 crc = new CRC32();
      crc.update(in.readAllBytes());
      return Long.toHexString(crc.getValue());
    }
  }

  /** Returns {@link #checksum(Class, String)} of several class files, separated by spaces. */
  public static String checksums(Class<?> beside, String... resources) throws IOException {
    StringJoiner all = new StringJoiner(" ");
    for (String resource : resources) {
      all.add(checksum(beside, resource));
    }
    return all.toString();
  }

  /**
   * Returns the number of lambdas and method references of type {@code kind} in a class and all its
   * nested classes. The class of a lambda shows only its nest host, which is the outermost class,
   * not the class that created the lambda.
   *
   * @throws IOException if a class file cannot be read
   */
  public static long lambdas(Class<?> host, Class<?> kind) throws IOException {
    long count = 0;
    for (Class<?> member : host.getNestMembers()) {
      count +=
          read(member, member.getClassLoader()).methods.stream()
              .flatMap(method -> method.instructions.stream())
              .filter(it -> it.opcode() == Opcodes.INVOKEDYNAMIC)
              .map(it -> Type.getReturnType(it.member().descriptor()))
              .filter(Type.getType(kind)::equals)
              .count();
    }
    return count;
  }

  /**
   * Whether the canonical constructor of a record only sets the components to its arguments, like
   * the one that the compiler generates.
   *
   * @throws IOException if the class file cannot be read
   */
  public static boolean onlySetsComponents(Class<?> type) throws IOException {
    StringBuilder descriptor = new StringBuilder("(");
    for (RecordComponent component : type.getRecordComponents()) {
      descriptor.append(Type.getDescriptor(component.getType()));
    }
    String canonical = "<init>" + descriptor.append(")V");
    for (MethodCode method : read(type, type.getClassLoader()).methods) {
      if (method.signature().equals(canonical)) {
        return setsComponents(method.instructions, type.getRecordComponents());
      }
    }
    return false;
  }

  private static boolean setsComponents(
      List<MethodCode.Instruction> code, RecordComponent[] components) {
    if (code.size() != 3 + 3 * components.length
        || !loadsThis(code.get(0))
        || !code.get(1).member().owner().equals("java/lang/Record")
        || code.get(code.size() - 1).opcode() != Opcodes.RETURN) {
      return false;
    }
    int slot = 1;
    for (int i = 0; i < components.length; i++) {
      MethodCode.Instruction load = code.get(3 + 3 * i);
      MethodCode.Instruction set = code.get(4 + 3 * i);
      Type type = Type.getType(components[i].getType());
      if (!loadsThis(code.get(2 + 3 * i))
          || load.opcode() != type.getOpcode(Opcodes.ILOAD)
          || load.operand() != slot
          || set.opcode() != Opcodes.PUTFIELD
          || !set.member().name().equals(components[i].getName())) {
        return false;
      }
      slot += type.getSize();
    }
    return true;
  }

  private static boolean loadsThis(MethodCode.Instruction it) {
    return it.opcode() == Opcodes.ALOAD && it.operand() == 0;
  }

  private static ClassCode read(Class<?> type, @Nullable ClassLoader loader) throws IOException {
    ClassCode code = ClassCode.read(type.getName().replace('.', '/'), loader);
    if (code == null) {
      throw new IOException("the class file of " + type.getName() + " cannot be found");
    }
    return code;
  }

  /** Returns the fields and methods that a class of the agent uses. */
  public static Set<Member> uses(Class<?> ours) {
    Set<Member> used = new LinkedHashSet<>();
    try {
      for (MethodCode method : read(ours, ClassFiles.class.getClassLoader()).methods) {
        for (MethodCode.Instruction it : method.instructions) {
          if (it.opcode() >= Opcodes.GETSTATIC && it.opcode() <= Opcodes.INVOKEINTERFACE) {
            used.add(it.member());
          }
          for (Object constant : it.arguments()) {
            if (constant instanceof Handle made) {
              used.add(Member.of(made));
            }
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    used.removeIf(member -> member.owner().startsWith("["));
    return used;
  }

  /**
   * Whether a field of the program is a static setting: its value may come from arguments or
   * properties, so the class file does not determine it.
   */
  public static boolean isSetting(Field field) {
    Class<?> type = field.getType();
    return Modifier.isStatic(field.getModifiers())
        && !field.isSynthetic()
        && (type.isPrimitive()
            || type.isEnum()
            || (type.getName().startsWith("java.lang.")
                && Comparable.class.isAssignableFrom(type)));
  }
}
