package io.coordl.reports.plan;

import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Amounts as users write them: a number, or a number with a unit of the right kind. */
enum Quantity {
  CORES("a number of cores such as 24"),
  /** In GiB. */
  MEMORY("a size such as 500GiB"),
  /** In MB/s. */
  RATE("a rate such as 500MB/s"),
  /** In Gbit/s. */
  NETWORK("a rate such as 40Gbit/s");

  private static final Pattern AMOUNT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([A-Za-z/]*)");
  private static final double MAX = 1e9;
  private static final Map<String, Integer> POWERS = Map.of("k", 1, "m", 2, "g", 3, "t", 4);

  final String expected;

  Quantity(String expected) {
    this.expected = expected;
  }

  /**
   * Returns the value in the unit of this kind; empty if the text is not such an amount, or if the
   * value is not above 0 and below 1e9.
   */
  OptionalDouble parse(String text) {
    Matcher amount = AMOUNT.matcher(text.strip());
    if (!amount.matches()) {
      return OptionalDouble.empty();
    }
    double value = Double.parseDouble(amount.group(1)) * factor(amount.group(2));
    return value > 0 && value < MAX ? OptionalDouble.of(value) : OptionalDouble.empty();
  }

  /** Returns the factor from {@code unit} to the unit of this kind; NaN for any other unit. */
  private double factor(String unit) {
    if (unit.isEmpty()) {
      return 1;
    }
    String lower = unit.toLowerCase(Locale.ROOT);
    Integer power = POWERS.get(lower.substring(0, 1));
    String rest = lower.substring(1);
    if (power == null) {
      return Double.NaN;
    }
    return switch (this) {
      case CORES -> Double.NaN;
      case MEMORY ->
          switch (rest) {
            case "ib", "i", "" -> Math.pow(1024, power - 3);
            case "b" -> Math.pow(1000, power) / (1L << 30);
            default -> Double.NaN;
          };
      case RATE ->
          switch (rest) {
            case "b/s" -> Math.pow(1000, power - 2);
            case "ib/s" -> Math.pow(1024, power) / 1e6;
            default -> Double.NaN;
          };
      case NETWORK -> rest.equals("bit/s") ? Math.pow(1000, power - 3) : Double.NaN;
    };
  }
}
