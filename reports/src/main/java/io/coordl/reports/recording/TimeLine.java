package io.coordl.reports.recording;

import io.coordl.telemetry.advice.Part;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The activity of the training threads over time: nanoseconds of each part in slots of equal width.
 * There are at most {@value #SLOTS} slots: when time passes the last, pairs of slots are merged and
 * the width doubles, so only detail is lost. Confined to one thread.
 */
final class TimeLine {
  static final int SLOTS = 7_680;
  static final long MIN_SLOT_NANOS = 1_000_000;

  private final Map<Part, long[]> nanos = new EnumMap<>(Part.class);
  private final Set<Long> devices = new HashSet<>();
  private final long[] idle = new long[SLOTS];
  private final List<long[]> all;
  private long origin = Long.MAX_VALUE;
  private long width = MIN_SLOT_NANOS;
  private int used;

  TimeLine() {
    for (Part part : Part.values()) {
      nanos.put(part, new long[SLOTS]);
    }
    all = Stream.concat(nanos.values().stream(), Stream.of(idle)).toList();
  }

  /**
   * Distributes a time evenly over the span in which it passed.
   *
   * @param amount nanoseconds of the part
   * @param start start of the span, in nanoseconds since 1970; may precede times already added
   * @param duration length of the span, in nanoseconds
   * @throws ArithmeticException if the times are further apart than a recording can be long
   */
  void add(Part part, long amount, long start, long duration) {
    add(Objects.requireNonNull(nanos.get(part)), amount, start, duration);
  }

  /** Distributes the idle time of a device in the same way. */
  void addIdle(long device, long amount, long start, long duration) {
    devices.add(device);
    add(idle, amount, start, duration);
  }

  private void add(long[] slots, long amount, long start, long duration) {
    if (amount == 0) {
      return;
    }
    long end = start + Math.max(0, duration);
    if (end < start) {
      end = start;
    }
    include(start, end);
    long from = start - origin;
    long to = end - origin;
    int first = (int) (from / width);
    int last = (int) (to / width);
    long distributed = 0;
    for (int slot = first; slot < last; slot++) {
      long until = (long) ((double) amount * ((slot + 1) * width - from) / (to - from));
      slots[slot] += until - distributed;
      distributed = until;
    }
    slots[last] += amount - distributed;
    used = Math.max(used, last + 1);
  }

  /** Extends the time line to cover this span. */
  private void include(long start, long end) {
    if (used == 0) {
      origin = start;
    } else if (start < origin) {
      shift(start);
    }
    long length = Math.subtractExact(end, origin);
    while (length / width >= SLOTS) {
      merge();
    }
  }

  /** Shifts the slots so that the time line begins at or before {@code start}. */
  private void shift(long start) {
    long before = Math.subtractExact(origin, start);
    while (before / width + 1 + used > SLOTS) {
      merge();
    }
    int slots = (int) ((before + width - 1) / width);
    for (long[] part : all) {
      System.arraycopy(part, 0, part, slots, used);
      Arrays.fill(part, 0, slots, 0);
    }
    origin -= slots * width;
    used += slots;
  }

  private void merge() {
    if (width > Long.MAX_VALUE / 2 / SLOTS) {
      throw new ArithmeticException("times too far apart");
    }
    for (long[] part : all) {
      for (int slot = 0; slot < SLOTS / 2; slot++) {
        part[slot] = part[2 * slot] + part[2 * slot + 1];
      }
      Arrays.fill(part, SLOTS / 2, SLOTS, 0);
    }
    width *= 2;
    used = (used + 1) / 2;
  }

  Activity.Times times() {
    Map<Part, List<Long>> slots = new EnumMap<>(Part.class);
    nanos.forEach((part, each) -> slots.put(part, Arrays.stream(each, 0, used).boxed().toList()));
    List<Long> idles =
        devices.isEmpty()
            ? List.of()
            : Arrays.stream(idle, 0, used).mapToObj(each -> each / devices.size()).toList();
    return new Activity.Times(used == 0 ? 0 : origin, width, slots, idles);
  }
}
