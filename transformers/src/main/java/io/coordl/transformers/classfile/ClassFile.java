package io.coordl.transformers.classfile;

import static io.coordl.transformers.classfile.ConstantPoolFilter.COUNT_OFFSET;
import static io.coordl.transformers.classfile.ConstantPoolFilter.FIRST_ENTRY_OFFSET;
import static io.coordl.transformers.classfile.ConstantPoolFilter.unsignedShort;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a class file that decide which rules apply to it: its name, the methods it refers
 * to, and the methods it declares. Of the few hundred classes that pass the {@link
 * ConstantPoolFilter}, only the few that a rule may change, judged by these parts, are then parsed.
 *
 * <p>Decodes strings as Latin-1. This is correct for ASCII strings, the only ones in rules; a
 * string with other characters matches no rule. Immutable.
 */
public final class ClassFile {
  /**
   * The newest version that the parser reads; {@code ClassFileTest} checks it against the parser.
   */
  public static final int NEWEST = 72;

  private static final int MAJOR_OFFSET = 6;
  private static final int METHODREF = 10;
  private static final int METHOD_HANDLE = 15;
  private static final int INVOKE_VIRTUAL = 0xb6;
  private static final int INVOKE_STATIC = 0xb8;
  private static final int STATIC = 0x0008;
  private static final int INTERFACE = 0x0200;

  private final byte[] bytes;

  /** Offset of each constant's tag, by index; 0 if there is none. */
  private final int[] constants;

  /** Offset of access flags, name, supertypes, fields and methods. */
  private final int body;

  private ClassFile(byte[] bytes, int[] constants, int body) {
    this.bytes = bytes;
    this.constants = constants;
    this.body = body;
  }

  /**
   * A method that the class declares.
   *
   * @param owner internal name of the class
   * @param maxLocals slots of its frame, including parameters; 0 if it is abstract or native
   */
  public record Method(String owner, int access, String name, String descriptor, int maxLocals) {
    public boolean isStatic() {
      return (access & STATIC) != 0;
    }
  }

  /**
   * Reads the class file in {@code bytes}, which are not copied; null if the constant pool is
   * malformed or has entries of an unknown kind.
   *
   * @throws IndexOutOfBoundsException here or later, if the class file is truncated
   */
  public static @Nullable ClassFile read(byte[] bytes) {
    if (bytes.length < FIRST_ENTRY_OFFSET) {
      return null;
    }
    int[] constants = new int[unsignedShort(bytes, COUNT_OFFSET)];
    int offset = FIRST_ENTRY_OFFSET;
    for (int index = 1; index < constants.length; index++) {
      constants[index] = offset;
      int size = ConstantPoolFilter.sizeOf(bytes, offset);
      if (size == 0) {
        return null;
      }
      if (ConstantPoolFilter.takesTwoIndices(bytes[offset])) {
        index++;
      }
      offset += size;
    }
    return new ClassFile(bytes, constants, offset);
  }

  /** The class file itself; must not be modified. */
  public byte[] bytes() {
    return bytes;
  }

  /** Major version. */
  public int version() {
    return unsignedShort(bytes, MAJOR_OFFSET);
  }

  /** Internal name of the class. */
  public String name() {
    return className(body + 2);
  }

  public boolean isInterface() {
    return (unsignedShort(bytes, body) & INTERFACE) != 0;
  }

  /** Size of the constant pool; indices start at 1. */
  public int constants() {
    return constants.length;
  }

  /** Whether a constant refers to a method of one of the given classes. */
  public boolean refersToMethodOf(ConstantPoolFilter owners, int index) {
    int constant = constants[index];
    if (constant == 0 || bytes[constant] != METHODREF) {
      return false;
    }
    int owner = constants[unsignedShort(bytes, constant + 1)];
    int name = constants[unsignedShort(bytes, owner + 1)];
    return owners.holds(bytes, name + 3, unsignedShort(bytes, name + 1));
  }

  /** Internal name of the class of the method to which a constant refers. */
  public String ownerOf(int index) {
    return className(constants[index] + 1);
  }

  public String nameOf(int index) {
    return string(nameAndType(index) + 1);
  }

  public String descriptorOf(int index) {
    return string(nameAndType(index) + 3);
  }

  private int nameAndType(int index) {
    return constants[unsignedShort(bytes, constants[index] + 3)];
  }

  /** Whether any constant is a method handle of one of these methods. */
  public boolean hasHandleOf(BitSet methods) {
    for (int constant : constants) {
      if (constant != 0
          && bytes[constant] == METHOD_HANDLE
          && methods.get(unsignedShort(bytes, constant + 2))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Indices of the declared methods that may call one of {@code called}. Searches the code without
   * parsing it, so the result may include too many methods, but misses none.
   */
  public BitSet methodsThatMayCall(BitSet called) {
    BitSet calling = new BitSet();
    int[] methods = methods();
    for (int i = 0; i < methods.length; i++) {
      int code = codeOf(methods[i] + 6);
      if (code != 0 && mayCall(code, called)) {
        calling.set(i);
      }
    }
    return calling;
  }

  private boolean mayCall(int code, BitSet called) {
    int first = code + 14;
    int end = first + integer(code + 10);
    for (int i = first; i + 2 < end; i++) {
      int opcode = bytes[i] & 0xff;
      if (opcode >= INVOKE_VIRTUAL
          && opcode <= INVOKE_STATIC
          && called.get(unsignedShort(bytes, i + 1))) {
        return true;
      }
    }
    return false;
  }

  /** Offsets of the methods, in declaration order. */
  private int[] methods() {
    int interfaces = unsignedShort(bytes, body + 6);
    int offset = body + 8 + 2 * interfaces;
    int fields = unsignedShort(bytes, offset);
    offset += 2;
    for (int i = 0; i < fields; i++) {
      offset = afterAttributes(offset + 6);
    }
    int[] methods = new int[unsignedShort(bytes, offset)];
    offset += 2;
    for (int i = 0; i < methods.length; i++) {
      methods[i] = offset;
      offset = afterAttributes(offset + 6);
    }
    return methods;
  }

  /** The declared methods with one of these names, in declaration order. */
  public List<Method> methods(Set<String> names) {
    List<Method> found = new ArrayList<>();
    for (int offset : methods()) {
      String name = string(offset + 2);
      if (names.contains(name)) {
        int access = unsignedShort(bytes, offset);
        found.add(new Method(name(), access, name, string(offset + 4), maxLocals(offset + 6)));
      }
    }
    return found;
  }

  private int maxLocals(int attributes) {
    int code = codeOf(attributes);
    return code == 0 ? 0 : unsignedShort(bytes, code + 8);
  }

  /** Offset of the Code attribute among these attributes; 0 if there is none. */
  private int codeOf(int attributes) {
    int count = unsignedShort(bytes, attributes);
    int offset = attributes + 2;
    for (int i = 0; i < count; i++) {
      if (string(offset).equals("Code")) {
        return offset;
      }
      offset += 6 + integer(offset + 2);
    }
    return 0;
  }

  private int afterAttributes(int attributes) {
    int count = unsignedShort(bytes, attributes);
    int offset = attributes + 2;
    for (int i = 0; i < count; i++) {
      offset += 6 + integer(offset + 2);
    }
    return offset;
  }

  /** The name of the class whose index is at {@code offset}. */
  private String className(int offset) {
    return string(constants[unsignedShort(bytes, offset)] + 1);
  }

  /** The string whose index is at {@code offset}. */
  private String string(int offset) {
    int constant = constants[unsignedShort(bytes, offset)];
    int length = unsignedShort(bytes, constant + 1);
    return new String(bytes, constant + 3, length, StandardCharsets.ISO_8859_1);
  }

  private int integer(int offset) {
    return (unsignedShort(bytes, offset) << 16) | unsignedShort(bytes, offset + 2);
  }
}
