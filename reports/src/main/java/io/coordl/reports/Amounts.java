package io.coordl.reports;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes and rates on a command line. */
final class Amounts {
  private static final Pattern AMOUNT =
      Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([kmgt]?)(i?b)?(?:/s)?", Pattern.CASE_INSENSITIVE);
  private static final Map<String, Integer> POWERS = Map.of("", 0, "k", 1, "m", 2, "g", 3, "t", 4);

  private Amounts() {}

  /** A cache's size: bytes, or a part of the data set. */
  record Size(double bytes, double share) {}

  /** {@code 8g} and {@code 8GiB} are binary as for the agent, {@code 8GB} is decimal. */
  static final class ToBytes implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      Matcher amount = AMOUNT.matcher(text.strip());
      double bytes = amount.matches() ? bytes(amount) : 0;
      if (bytes <= 0 || !Double.isFinite(bytes)) {
        throw new TypeConversionException(
            "'" + text + "' is no size or rate above 0 such as 8g, 500MB or 1.2GB/s");
      }
      return bytes;
    }

    private static double bytes(Matcher amount) {
      String unit = amount.group(3) == null ? "" : amount.group(3).toLowerCase(Locale.ROOT);
      Integer power = POWERS.get(amount.group(2).toLowerCase(Locale.ROOT));
      int base = unit.equals("b") ? 1000 : 1024;
      return Double.parseDouble(amount.group(1)) * Math.pow(base, power == null ? 0 : power);
    }
  }

  /** A size as above, or a part of the data set such as {@code 35%}. */
  static final class ToSize implements ITypeConverter<Size> {
    private static final Pattern PERCENT = Pattern.compile("(\\d{1,3}(?:\\.\\d+)?)\\s*%");

    @Override
    public Size convert(String text) {
      Matcher percent = PERCENT.matcher(text.strip());
      if (!percent.matches()) {
        return new Size(new ToBytes().convert(text), 0);
      }
      double share = Double.parseDouble(percent.group(1)) / 100;
      if (share <= 0 || share > 1) {
        throw new TypeConversionException("'" + text + "' is no part above 0% and up to 100%");
      }
      return new Size(0, share);
    }
  }

  /** A number above 0. */
  static final class ToFactor implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      double factor;
      try {
        factor = Double.parseDouble(text);
      } catch (NumberFormatException e) {
        factor = 0;
      }
      if (factor <= 0 || !Double.isFinite(factor)) {
        throw new TypeConversionException("'" + text + "' is no number above 0");
      }
      return factor;
    }
  }

  /** A whole number from 1 to 100,000. */
  static final class ToCount implements ITypeConverter<Integer> {
    private static final int MOST = 100_000;

    @Override
    public Integer convert(String text) {
      int count;
      try {
        count = Integer.parseInt(text);
      } catch (NumberFormatException e) {
        count = 0;
      }
      if (count < 1 || count > MOST) {
        throw new TypeConversionException("'" + text + "' is no whole number from 1 to " + MOST);
      }
      return count;
    }
  }
}
