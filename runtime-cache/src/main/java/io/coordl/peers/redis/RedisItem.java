package io.coordl.peers.redis;

import io.coordl.items.ItemKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * Layout of keys and values in Redis. Keys are printable, so that {@code redis-cli} can find and
 * remove a group's keys: {@code coordl:1:GROUP:} and 32 hexadecimal digits; 1 is the layout
 * version. A value is either an item or a reader's claim; a claim has a different magic and expires
 * with its lease. Numbers are big-endian.
 */
final class RedisItem {
  /** Header of an item: magic, length, and a CRC-32C of key, length and bytes. */
  static final int HEADER_BYTES = 12;

  private static final int ITEM_MAGIC = 0xC00D17E4;
  private static final int CLAIM_MAGIC = 0xC00DC1A1;
  private static final int CLAIM_BYTES = 20;

  private RedisItem() {}

  static byte[] key(String group, ItemKey key) {
    HexFormat hex = HexFormat.of();
    return ("coordl:1:" + group + ':' + hex.toHexDigits(key.high()) + hex.toHexDigits(key.low()))
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Writes the header in front of the item's bytes. */
  static void seal(byte[] value, ItemKey key) {
    System.arraycopy(header(value, key), 0, value, 0, HEADER_BYTES);
  }

  /** Whether this is the intact item with {@code length} bytes. */
  static boolean isItem(byte[] value, ItemKey key, int length) {
    return value.length == HEADER_BYTES + length
        && Arrays.equals(value, 0, HEADER_BYTES, header(value, key), 0, HEADER_BYTES);
  }

  private static byte[] header(byte[] value, ItemKey key) {
    byte[] identity = new byte[20];
    ByteBuffer.wrap(identity).putLong(key.high()).putLong(key.low()).putInt(value.length);
    int length = value.length - HEADER_BYTES;
    CRC32C crc = new CRC32C();
    crc.update(identity);
    crc.update(value, HEADER_BYTES, length);
    ByteBuffer header = ByteBuffer.wrap(identity, 0, HEADER_BYTES);
    header.putInt(ITEM_MAGIC).putInt(length).putInt((int) crc.getValue());
    return identity;
  }

  /** Returns a read-only buffer of the item's bytes. */
  static ByteBuffer content(byte[] value) {
    ByteBuffer whole = ByteBuffer.wrap(value).asReadOnlyBuffer();
    return whole.slice(HEADER_BYTES, value.length - HEADER_BYTES);
  }

  /** Returns a claim: its owner, and a number unique to that owner. */
  static byte[] claim(long owner, long number) {
    ByteBuffer claim = ByteBuffer.allocate(CLAIM_BYTES);
    return claim.putInt(CLAIM_MAGIC).putLong(owner).putLong(number).array();
  }

  static boolean isClaim(byte[] value) {
    return value.length == CLAIM_BYTES && ByteBuffer.wrap(value).getInt() == CLAIM_MAGIC;
  }
}
