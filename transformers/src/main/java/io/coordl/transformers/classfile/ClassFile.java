package io.coordl.transformers.classfile;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a class file that decide which rules concern it: its name, the methods it refers to,
 * the methods it declares. Of a few hundred classes that pass the {@link ConstantPool} this leaves
 * the few that a rule will change, and only those are worth visiting. Used by one thread.
 */
public final class ClassFile {
  /**
   * The newest version that the parser reads; {@code ClassFileTest} holds it against the parser.
   */
  public static final int NEWEST = 72;

  private static final int MAJOR_OFFSET = 6;
  private static final int METHODREF = 10;
  private static final int METHOD_HANDLE = 15;

  private final byte[] bytes;
  private final ClassReader reader;
  private final char[] buffer;

  private ClassFile(byte[] bytes, ClassReader reader) {
    this.bytes = bytes;
    this.reader = reader;
    this.buffer = new char[reader.getMaxStringLength()];
  }

  /**
   * A method that the class implements itself.
   *
   * @param maxLocals slots of its frame, parameters included; 0 if it is abstract or native
   */
  public record Method(int access, String name, String descriptor, int maxLocals) {}

  /**
   * The class file in {@code bytes}, which are not copied; null if the constant pool is none, or
   * holds entries of an unknown kind.
   *
   * @throws IndexOutOfBoundsException later, if the class file is cut off
   */
  public static @Nullable ClassFile read(byte[] bytes) {
    try {
      byte[] readable = bytes;
      if (version(bytes) > NEWEST) { // Up to the constant pool it is as it always was.
        readable = bytes.clone();
        readable[MAJOR_OFFSET] = 0;
        readable[MAJOR_OFFSET + 1] = NEWEST;
      }
      return new ClassFile(bytes, new ClassReader(readable));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      return null;
    }
  }

  /** The class file itself, not to be modified. */
  public byte[] bytes() {
    return bytes;
  }

  /** Major version. */
  public int version() {
    return version(bytes);
  }

  private static int version(byte[] bytes) {
    return (bytes[MAJOR_OFFSET] & 0xff) << 8 | (bytes[MAJOR_OFFSET + 1] & 0xff);
  }

  /** Internal name of the class. */
  public String name() {
    return reader.getClassName();
  }

  /** Whether it is an interface. */
  public boolean isInterface() {
    return (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
  }

  /** Number of entries of the constant pool; they count from 1. */
  public int constants() {
    return reader.getItemCount();
  }

  private boolean isOfKind(int index, int tag) {
    int constant = reader.getItem(index);
    return constant != 0 && reader.readByte(constant - 1) == tag;
  }

  /** Whether a constant is a reference to a method of one of the given classes. */
  public boolean refersToMethodOf(ConstantPool owners, int index) {
    if (!isOfKind(index, METHODREF)) {
      return false;
    }
    int owner = constantAt(reader.getItem(index));
    int name = constantAt(owner);
    return owners.holds(bytes, name + 2, reader.readUnsignedShort(name));
  }

  /** The constant whose index lies at {@code offset}. */
  private int constantAt(int offset) {
    return reader.getItem(reader.readUnsignedShort(offset));
  }

  /** Internal name of the class whose method a constant refers to. */
  public String ownerOf(int index) {
    return reader.readClass(reader.getItem(index), buffer);
  }

  /** Name of the method that a constant refers to. */
  public String nameOf(int index) {
    return reader.readUTF8(constantAt(reader.getItem(index) + 2), buffer);
  }

  /** Descriptor of the method that a constant refers to. */
  public String descriptorOf(int index) {
    return reader.readUTF8(constantAt(reader.getItem(index) + 2) + 2, buffer);
  }

  /** Whether a method handle among the constants is for one of these methods. */
  public boolean hasHandleOf(BitSet methods) {
    for (int i = 1; i < reader.getItemCount(); i++) {
      if (isOfKind(i, METHOD_HANDLE)
          && methods.get(reader.readUnsignedShort(reader.getItem(i) + 1))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Which methods of the class, counted from 0 in their order, may call one of these: their code is
   * searched, not parsed, so that one too many may be among them and none is missing.
   */
  public BitSet methodsThatMayCall(BitSet called) {
    BitSet calling = new BitSet();
    int offset = methodsOffset();
    int methods = reader.readUnsignedShort(offset);
    offset += 2;
    for (int i = 0; i < methods; i++) {
      int code = codeOf(offset + 6);
      if (code != 0 && mayCall(code, called)) {
        calling.set(i);
      }
      offset = afterAttributes(offset + 6);
    }
    return calling;
  }

  private boolean mayCall(int code, BitSet called) {
    int first = code + 14;
    int behind = first + reader.readInt(code + 10);
    for (int i = first; i + 2 < behind; i++) {
      int opcode = reader.readByte(i);
      if (opcode >= Opcodes.INVOKEVIRTUAL
          && opcode <= Opcodes.INVOKESTATIC
          && called.get(reader.readUnsignedShort(i + 1))) {
        return true;
      }
    }
    return false;
  }

  private int methodsOffset() {
    int interfaces = reader.readUnsignedShort(reader.header + 6);
    int offset = reader.header + 8 + 2 * interfaces;
    int fields = reader.readUnsignedShort(offset);
    offset += 2;
    for (int i = 0; i < fields; i++) {
      offset = afterAttributes(offset + 6);
    }
    return offset;
  }

  /** The methods of the class with one of these names, in their order. */
  public List<Method> methods(Set<String> names) {
    List<Method> found = new ArrayList<>();
    int offset = methodsOffset();
    int methods = reader.readUnsignedShort(offset);
    offset += 2;
    for (int i = 0; i < methods; i++) {
      String name = text(offset + 2);
      if (names.contains(name)) {
        int access = reader.readUnsignedShort(offset);
        found.add(new Method(access, name, text(offset + 4), maxLocals(offset + 6)));
      }
      offset = afterAttributes(offset + 6);
    }
    return found;
  }

  private int maxLocals(int attributes) {
    int code = codeOf(attributes);
    return code == 0 ? 0 : reader.readUnsignedShort(code + 8);
  }

  /** Where the code of a method with these attributes lies; 0 if there is none. */
  private int codeOf(int attributes) {
    int count = reader.readUnsignedShort(attributes);
    int offset = attributes + 2;
    for (int i = 0; i < count; i++) {
      if (text(offset).equals("Code")) {
        return offset;
      }
      offset += 6 + reader.readInt(offset + 2);
    }
    return 0;
  }

  private int afterAttributes(int attributes) {
    int count = reader.readUnsignedShort(attributes);
    int offset = attributes + 2;
    for (int i = 0; i < count; i++) {
      offset += 6 + reader.readInt(offset + 2);
    }
    return offset;
  }

  private String text(int offset) {
    return reader.readUTF8(offset, buffer);
  }
}
