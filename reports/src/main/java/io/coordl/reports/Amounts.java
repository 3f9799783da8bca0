package io.coordl.reports;

import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

final class Amounts {
  private static final Pattern AMOUNT =
      Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([kmgt]?)(i?b)?(?:/s)?", Pattern.CASE_INSENSITIVE);
  private static final Map<String, Integer> POWERS = Map.of("", 0, "k", 1, "m", 2, "g", 3, "t", 4);
  private static final double ABOVE_ZERO = Double.MIN_VALUE;
  private static final int MAX_COUNT = 100_000;

  private Amounts() {}

  private static double parse(
      double min, double max, String text, ToDoubleFunction<String> parser, String expected) {
    double number;
    try {
      number = parser.applyAsDouble(text.strip());
    } catch (NumberFormatException e) {
      number = Double.NaN;
    }
    if (!(number >= min && number <= max)) {
      throw new TypeConversionException("'" + text + "' is not a " + expected);
    }
    return number;
  }

  /** A cache size, in bytes or as a share of the data set; the other field is 0. */
  record Size(double bytes, double share) {}

  /** Parses {@code 8g} and {@code 8GiB} as binary, like the agent, and {@code 8GB} as decimal. */
  static final class ToBytes implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      String expected = "size or rate above 0 such as 8g, 500MB or 1.2GB/s";
      return parse(ABOVE_ZERO, Double.MAX_VALUE, text, ToBytes::bytes, expected);
    }

    private static double bytes(String text) {
      Matcher amount = AMOUNT.matcher(text);
      if (!amount.matches()) {
        return Double.NaN;
      }
      Integer power = POWERS.get(amount.group(2).toLowerCase(Locale.ROOT));
      int base = "b".equalsIgnoreCase(amount.group(3)) ? 1000 : 1024;
      return Double.parseDouble(amount.group(1)) * Math.pow(base, power == null ? 0 : power);
    }
  }

  /** Parses a size like {@link ToBytes}, or a share of the data set such as {@code 35%}. */
  static final class ToSize implements ITypeConverter<Size> {
    private static final Pattern PERCENT = Pattern.compile("(\\d{1,3}(?:\\.\\d+)?)\\s*%");

    @Override
    public Size convert(String text) {
      Matcher percent = PERCENT.matcher(text.strip());
      if (!percent.matches()) {
        return new Size(new ToBytes().convert(text), 0);
      }
      ToDoubleFunction<String> share = any -> Double.parseDouble(percent.group(1)) / 100;
      return new Size(0, parse(ABOVE_ZERO, 1, text, share, "share above 0% and up to 100%"));
    }
  }

  static final class ToFactor implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      return parse(ABOVE_ZERO, Double.MAX_VALUE, text, Double::parseDouble, "number above 0");
    }
  }

  static final class ToCores implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      return parse(0, Double.MAX_VALUE, text, Double::parseDouble, "number of at least 0");
    }
  }

  static final class ToCount implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int)
          parse(1, MAX_COUNT, text, Integer::parseInt, "whole number from 1 to " + MAX_COUNT);
    }
  }
}
