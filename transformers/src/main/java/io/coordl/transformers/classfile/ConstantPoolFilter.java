package io.coordl.transformers.classfile;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The prefilter: decides from a class file's constant pool alone, without parsing the class,
 * whether any rule can apply. Nearly all classes stop here, so this is the agent's cost per class:
 * one length comparison per string, a comparison of contents only if an interesting string has the
 * same length, and no allocation. Immutable and safe for concurrent use.
 */
public final class ConstantPoolFilter {
  static final int COUNT_OFFSET = 8;
  static final int FIRST_ENTRY_OFFSET = 10;
  private static final byte UTF8 = 1;
  private static final byte LONG = 5;
  private static final byte DOUBLE = 6;

  /** The interesting strings, by their length in bytes. */
  private final byte[][][] byLength;

  /** Creates a filter for the given ASCII strings, for example internal class names. */
  public ConstantPoolFilter(Iterable<String> interesting) {
    byte[][][] strings = new byte[0][][];
    for (String string : interesting) {
      byte[] bytes = string.getBytes(StandardCharsets.US_ASCII);
      if (bytes.length >= strings.length) {
        strings = Arrays.copyOf(strings, bytes.length + 1);
      }
      byte[][] same = strings[bytes.length];
      byte[][] more = same == null ? new byte[1][] : Arrays.copyOf(same, same.length + 1);
      more[more.length - 1] = bytes;
      strings[bytes.length] = more;
    }
    byLength = strings;
  }

  /**
   * Whether the constant pool contains one of the strings. Searches only up to an entry of an
   * unknown kind.
   */
  public boolean mentionsAny(byte[] classFile) {
    if (classFile.length < FIRST_ENTRY_OFFSET) {
      return false;
    }
    int count = unsignedShort(classFile, COUNT_OFFSET);
    int offset = FIRST_ENTRY_OFFSET;
    for (int index = 1; index < count; index++) {
      int size = sizeOf(classFile, offset);
      if (size == 0) {
        return false;
      }
      byte tag = classFile[offset];
      if (tag == UTF8 && holds(classFile, offset + 3, size - 3)) {
        return true;
      }
      if (takesTwoIndices(tag)) {
        index++;
      }
      offset += size;
    }
    return false;
  }

  /**
   * Size in bytes of the constant at {@code offset}, including its tag; 0 if its kind is unknown.
   */
  static int sizeOf(byte[] classFile, int offset) {
    if (offset + 3 > classFile.length) {
      return 0;
    }
    return switch (classFile[offset]) {
      case UTF8 -> 3 + unsignedShort(classFile, offset + 1);
      case 3, 4, 9, 10, 11, 12, 17, 18 -> 5;
      case LONG, DOUBLE -> 9;
      case 7, 8, 16, 19, 20 -> 3;
      case 15 -> 4;
      default -> 0;
    };
  }

  static boolean takesTwoIndices(byte tag) {
    return tag == LONG || tag == DOUBLE;
  }

  /** Whether the {@code length} bytes from {@code start} equal one of the strings. */
  boolean holds(byte[] classFile, int start, int length) {
    if (length >= byLength.length || start + length > classFile.length) {
      return false;
    }
    byte[][] candidates = byLength[length];
    if (candidates != null) {
      for (byte[] candidate : candidates) {
        if (Arrays.equals(classFile, start, start + length, candidate, 0, length)) {
          return true;
        }
      }
    }
    return false;
  }

  static int unsignedShort(byte[] bytes, int offset) {
    return ((bytes[offset] & 0xff) << 8) | (bytes[offset + 1] & 0xff);
  }
}
