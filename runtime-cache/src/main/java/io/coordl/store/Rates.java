package io.coordl.store;

import java.util.List;

/**
 * Sizes and times of an item in raw and decoded form, or the totals or means of several items.
 *
 * @param rawBytes length of its file
 * @param decodedBytes length of its decoded form
 * @param readNanos time to read the file from storage
 * @param decodeNanos time to decode the file's bytes
 */
public record Rates(long rawBytes, long decodedBytes, long readNanos, long decodeNanos) {
  /**
   * Whether a byte of raw items saves more than one of decoded items: {@code readNanos / rawBytes >
   * (readNanos + decodeNanos) / decodedBytes}. False if the decoded form is smaller; if it is
   * larger, true once storage is slow enough.
   */
  public boolean rawFirst() {
    return (double) readNanos * decodedBytes > (double) savedByDecoded() * rawBytes;
  }

  /** Returns the time that a decoded item saves when it is found in memory. */
  public long savedByDecoded() {
    return readNanos + decodeNanos;
  }

  public static Rates sum(List<Rates> parts) {
    return new Rates(
        parts.stream().mapToLong(Rates::rawBytes).sum(),
        parts.stream().mapToLong(Rates::decodedBytes).sum(),
        parts.stream().mapToLong(Rates::readNanos).sum(),
        parts.stream().mapToLong(Rates::decodeNanos).sum());
  }

  public Rates by(int count) {
    return new Rates(
        rawBytes / count, decodedBytes / count, readNanos / count, decodeNanos / count);
  }
}
