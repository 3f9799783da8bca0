package io.coordl.telemetry.advice;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Formats figures for people: the same in every locale, and without meaningless digits. */
public final class Text {
  private static final String[] SIZES = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};

  private Text() {}

  /** A duration, printed with the unit that fits it. */
  public record Nanos(long nanos) {
    @Override
    public String toString() {
      if (nanos < 1_000) {
        return nanos + " ns";
      }
      if (nanos < 1_000_000) {
        return format("%.1f us", nanos / 1e3);
      }
      if (nanos < 1_000_000_000) {
        return format("%.1f ms", nanos / 1e6);
      }
      return seconds(nanos) + " s";
    }
  }

  /** A size, printed with the unit that fits it. */
  public record Bytes(long bytes) {
    @Override
    public String toString() {
      int unit = 0;
      double size = bytes;
      while (size >= 1024 && unit < SIZES.length - 1) {
        size /= 1024;
        unit++;
      }
      return unit == 0 ? bytes + " bytes" : format("%.1f ", size) + SIZES[unit];
    }
  }

  public static String seconds(long nanos) {
    return format("%.2f", nanos / 1e9);
  }

  /** Formats a remaining time: {@code 2 h 5 min}, {@code 4 min 25 s}, {@code 12 s}. */
  public static String roughly(long nanos) {
    long seconds = (nanos + 999_999_999) / 1_000_000_000;
    if (seconds < 60) {
      return seconds + " s";
    }
    return seconds < 3600
        ? seconds / 60 + " min " + seconds % 60 + " s"
        : seconds / 3600 + " h " + seconds / 60 % 60 + " min";
  }

  public static String percent(long part, long whole) {
    return whole <= 0 ? "-" : format("%.1f %%", 100.0 * part / whole);
  }

  public static String rate(double perSecond) {
    return format(perSecond >= 100 ? "%,.0f" : perSecond >= 10 ? "%.1f" : "%.2f", perSecond);
  }

  public static String count(long number, String singular, String plural) {
    return format("%,d ", number) + (number == 1 ? singular : plural);
  }

  /**
   * Returns text from a program as one line of at most {@code maxLength} characters, without
   * control characters.
   */
  public static String line(String text, int maxLength) {
    String clean = text.replaceAll("\\p{Cntrl}+", " ").strip();
    return clean.length() <= maxLength ? clean : clean.substring(0, maxLength - 3) + "...";
  }

  /** Breaks a text into lines at spaces; every line but the first begins with {@code indent}. */
  public static List<String> fold(String text, String indent, int width) {
    List<String> folded = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    boolean start = true;
    for (String word : text.split(" ", -1)) {
      if (!line.toString().isBlank() && line.length() + 1 + word.length() > width) {
        folded.add(line.toString().stripTrailing());
        line = new StringBuilder(indent).append(word);
      } else {
        line.append(start ? "" : " ").append(word);
      }
      start = false;
    }
    folded.add(line.toString());
    return folded;
  }

  public static String format(String format, @Nullable Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
