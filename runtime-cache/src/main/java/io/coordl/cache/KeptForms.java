package io.coordl.cache;

import org.jspecify.annotations.Nullable;

/**
 * Which form of an item is kept where there are several. What a thread reads and decodes for a
 * sample that it keeps prepared needs no memory in another form: the stores of raw and decoded
 * items serve it, and keep nothing of it. While it is yet to be chosen what is kept of a data set,
 * they keep it and tell here what that takes and saves. Thread-safe.
 */
public final class KeptForms {
  @SuppressWarnings("ThreadLocalUsage") // There is one of these in a JVM.
  private final ThreadLocal<@Nullable Preparing> preparing = new ThreadLocal<>();

  /** A part of a sample, while a thread prepares it. */
  public static final class Preparing {
    private final boolean isKept;
    private final @Nullable Preparing outer;
    private long rawBytes;
    private long decodedBytes;
    private long readNanos;
    private long decodeNanos;

    private Preparing(boolean isKept, @Nullable Preparing outer) {
      this.isKept = isKept;
      this.outer = outer;
    }

    /** What the items read for it take, and save; zeros of a form in which nothing is kept. */
    public Rates items() {
      return new Rates(rawBytes, decodedBytes, readNanos, decodeNanos);
    }
  }

  /** This thread begins to prepare something that is kept or not; {@link #end} is due. */
  public Preparing begin(boolean isKept) {
    Preparing now = new Preparing(isKept, preparing.get());
    preparing.set(now);
    return now;
  }

  public void end(Preparing begun) {
    if (begun.outer == null) {
      preparing.remove();
    } else {
      preparing.set(begun.outer);
    }
  }

  /** Whether this thread's items are kept as a part of a sample. */
  boolean keepsSample() {
    Preparing now = preparing.get();
    return now != null && now.isKept;
  }

  void raw(long bytes, long readNanos) {
    Preparing now = preparing.get();
    if (now != null) {
      now.rawBytes += bytes;
      now.readNanos += readNanos;
    }
  }

  void decoded(long bytes, long decodeNanos) {
    Preparing now = preparing.get();
    if (now != null) {
      now.decodedBytes += bytes;
      now.decodeNanos += decodeNanos;
    }
  }
}
