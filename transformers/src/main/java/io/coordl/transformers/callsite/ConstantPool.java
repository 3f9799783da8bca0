package io.coordl.transformers.callsite;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The prefilter: tells from a class file's constant pool alone, without parsing the class, whether
 * it can refer to anything a rule is about. Nearly all classes end here, so this is the cost of the
 * agent on a class. Immutable and safe for concurrent use.
 */
public final class ConstantPool {
  private static final int COUNT_OFFSET = 8;
  private static final int FIRST_ENTRY_OFFSET = 10;

  /** The interesting strings, by their length in bytes. */
  private final byte[][][] byLength;

  /** A filter for the given strings, for example internal class names; they must be ASCII. */
  public ConstantPool(Iterable<String> interesting) {
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
   * Whether the constant pool holds one of the strings. False for what is no class file or holds
   * entries of an unknown kind: such a class is not ours to touch.
   */
  public boolean mentionsAny(byte[] classFile) {
    if (classFile.length < FIRST_ENTRY_OFFSET) {
      return false;
    }
    int count = unsignedShort(classFile, COUNT_OFFSET);
    int offset = FIRST_ENTRY_OFFSET;
    for (int index = 1; index < count; index++) {
      if (offset + 3 > classFile.length) {
        return false;
      }
      switch (classFile[offset]) {
        case 1 -> { // Utf8
          int length = unsignedShort(classFile, offset + 1);
          int start = offset + 3;
          if (isInteresting(classFile, start, length)) {
            return true;
          }
          offset = start + length;
        }
        case 3, 4, 9, 10, 11, 12, 17, 18 -> offset += 5;
        case 5, 6 -> { // Long and Double take two indices.
          offset += 9;
          index++;
        }
        case 7, 8, 16, 19, 20 -> offset += 3;
        case 15 -> offset += 4;
        default -> {
          return false;
        }
      }
    }
    return false;
  }

  private boolean isInteresting(byte[] classFile, int start, int length) {
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

  private static int unsignedShort(byte[] bytes, int offset) {
    return ((bytes[offset] & 0xff) << 8) | (bytes[offset + 1] & 0xff);
  }
}
