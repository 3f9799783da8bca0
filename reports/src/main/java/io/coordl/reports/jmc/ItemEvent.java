package io.coordl.reports.jmc;

import io.coordl.reports.recording.JobEvent;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmc.common.item.IAccessorKey;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.IUnit;
import org.openjdk.jmc.common.unit.KindOfQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;

/** An event read by Mission Control. */
record ItemEvent(IItem item, Map<String, IMemberAccessor<?, IItem>> fields) implements JobEvent {
  private static final String START = "startTime";
  private static final String END = "(endTime)";

  /** Returns the accessors of all fields of an event type. */
  static Map<String, IMemberAccessor<?, IItem>> fields(IType<IItem> type) {
    Map<String, IMemberAccessor<?, IItem>> fields = new HashMap<>();
    for (IAccessorKey<?> key : type.getAccessorKeys().keySet()) {
      fields.put(key.getIdentifier(), type.getAccessor(key));
    }
    return fields;
  }

  @Override
  public Instant start() {
    return instant(has(START) ? START : END);
  }

  @Override
  public Instant end() {
    return instant(has(END) ? END : START);
  }

  private Instant instant(String field) {
    return value(field) instanceof IQuantity time
        ? Instant.EPOCH.plus(time.clampedLongValueIn(UnitLookup.EPOCH_NS), ChronoUnit.NANOS)
        : Instant.EPOCH;
  }

  @Override
  public boolean has(String field) {
    return fields.containsKey(field);
  }

  @Override
  public long number(String field) {
    return value(field) instanceof IQuantity quantity
        ? quantity.clampedLongValueIn(unit(quantity))
        : bare(field).longValue();
  }

  @Override
  public double real(String field) {
    return value(field) instanceof IQuantity quantity
        ? quantity.doubleValueIn(unit(quantity))
        : bare(field).doubleValue();
  }

  /** Returns a field without a unit; Mission Control returns a process id as text. */
  private Number bare(String field) {
    Object value = value(field);
    if (value instanceof Number number) {
      return number;
    }
    if (value instanceof String digits && digits.matches("\\d{1,18}")) {
      return Long.valueOf(digits);
    }
    throw new IllegalArgumentException("field '" + field + "' is '" + value + "', not a number");
  }

  @Override
  public boolean flag(String field) {
    return Boolean.TRUE.equals(value(field));
  }

  @Override
  public @Nullable String text(String field) {
    Object value = value(field);
    return value == null ? null : value.toString();
  }

  /** Returns the unit that the agent writes; Mission Control may store values in other units. */
  private static IUnit unit(IQuantity quantity) {
    KindOfQuantity<?> kind = quantity.getType();
    if (kind.equals(UnitLookup.TIMESPAN)) {
      return UnitLookup.NANOSECOND;
    }
    if (kind.equals(UnitLookup.TIMESTAMP)) {
      return UnitLookup.EPOCH_MS;
    }
    if (kind.equals(UnitLookup.MEMORY)) {
      return UnitLookup.BYTE;
    }
    return quantity.getUnit();
  }

  private @Nullable Object value(String field) {
    IMemberAccessor<?, IItem> accessor = fields.get(field);
    return accessor == null ? null : accessor.getMember(item);
  }
}
