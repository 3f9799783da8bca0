package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import io.coordl.peers.hosts.WireException.Kind;
import io.coordl.store.ItemStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The wire protocol; all numbers are big-endian.
 *
 * <p>Both sides first send a hello, the client first: magic, version, length of the group's name,
 * and the name. A peer with another version or group still receives the server's hello before the
 * connection closes; a stranger does not. The client then sends requests of {@link #REQUEST_BYTES},
 * one at a time: verb, item length and key. An answer has {@link #ANSWER_BYTES}: its kind and the
 * number of following bytes.
 *
 * <pre>
 * FIND    FOUND and the item; BUSY: a job is already reading it; ROOM: absent, and there is room;
 *         FULL: absent, and there will be no room; LATER: absent, and there is no room now
 * CLAIM   FOUND and the item; FULL, LATER or BUSY; or GRANTED. After GRANTED the client sends STILL
 *         repeatedly while it reads storage. It then either disconnects, or sends BYTES and the
 *         item; the answer is KEPT, or FULL, LATER or BUSY if the item is not cached
 * </pre>
 */
final class Wire {
  static final long MAGIC = 0x436f6f72444c7031L; // CoorDLp1
  static final int VERSION = 2;

  /** Length of magic and version, which every version of the protocol sends. */
  static final int HELLO_START_BYTES = 12;

  /** Maximum length of a group name in bytes; longer names are truncated. */
  static final int MAX_GROUP_BYTES = 256;

  static final int REQUEST_BYTES = 24;
  static final int ANSWER_BYTES = 8;

  static final int MAX_ITEM_BYTES = ItemStore.MAX_ITEM_BYTES;

  /** Items are written in pieces of this many bytes. */
  static final int PIECE = 256 << 10;

  static final int FIND = 0x46494e44;
  static final int CLAIM = 0x434c4149;

  static final int FOUND = 0x464f554e;
  static final int ROOM = 0x524f4f4d;
  static final int FULL = 0x46554c4c;
  static final int LATER = 0x4c415452;
  static final int BUSY = 0x42555359;
  static final int GRANTED = 0x4752414e;
  static final int KEPT = 0x4b455054;

  static final int STILL = 0x5354494c;
  static final int BYTES = 0x42595445;

  private Wire() {}

  /** Returns the first message of either side. */
  static byte[] hello(String group) {
    byte[] name = name(group);
    return ByteBuffer.allocate(HELLO_START_BYTES + 4 + name.length)
        .putLong(MAGIC)
        .putInt(VERSION)
        .putInt(name.length)
        .put(name)
        .array();
  }

  private static byte[] name(String group) {
    byte[] name = group.getBytes(StandardCharsets.UTF_8);
    return name.length > MAX_GROUP_BYTES ? Arrays.copyOf(name, MAX_GROUP_BYTES) : name;
  }

  interface Reads {
    void read(byte[] target, int offset, int length) throws IOException;
  }

  /** Reads the other side's hello; throws if it is not acceptable. */
  static void checkHello(Reads from, String group) throws IOException {
    byte[] start = new byte[HELLO_START_BYTES];
    from.read(start, 0, start.length);
    ByteBuffer numbers = ByteBuffer.wrap(start);
    if (numbers.getLong() != MAGIC) {
      throw new WireException(Kind.STRANGER, "it does not speak the peers' protocol");
    }
    int version = numbers.getInt();
    if (version != VERSION) {
      throw new WireException(
          Kind.INCOMPATIBLE,
          "it speaks version " + Integer.toUnsignedString(version) + ", not " + VERSION);
    }
    byte[] length = new byte[4];
    from.read(length, 0, length.length);
    int count = ByteBuffer.wrap(length).getInt();
    if (count < 0 || count > MAX_GROUP_BYTES) {
      throw new WireException(Kind.STRANGER, "the name of its group has " + count + " bytes");
    }
    byte[] name = new byte[count];
    from.read(name, 0, count);
    if (!Arrays.equals(name, name(group))) {
      throw new WireException(
          Kind.INCOMPATIBLE,
          "it belongs to group "
              + new String(name, StandardCharsets.UTF_8).replaceAll("[^\\p{Graph} ]", "?")
              + ", not "
              + group);
    }
  }

  static void putRequest(byte[] target, int verb, ItemKey key, int length) {
    ByteBuffer.wrap(target).putInt(verb).putInt(length).putLong(key.high()).putLong(key.low());
  }
}
