package io.coordl.store;

import io.coordl.telemetry.log.UserLog;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Maximum number of bytes that a store may take: {@code auto}, a size ({@code 8g}, {@code 512m},
 * {@code 0}) or a share ({@code 50%}) of the memory that is free when the store is opened.
 *
 * @param text budget as the user wrote it
 * @param bytes requested size; -1 if a share was requested
 * @param share requested share of the free memory, from 0 to 1; 1 if a size was requested
 */
public record ByteBudget(String text, long bytes, double share) {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,18})([kmgt]?)(i?b)?");
  private static final Pattern PERCENT = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,6})?)%");
  private static final String UNITS = "kmgt";

  /** Half of the free memory: the program's own memory has yet to grow. */
  public static final double AUTO_SHARE = 0.5;

  /**
   * Parses a budget; units are powers of 1024.
   *
   * @throws IllegalArgumentException with a sentence for the user if the text is not a budget
   */
  public static ByteBudget parse(String text) {
    return parse(text, AUTO_SHARE);
  }

  /** Like {@link #parse(String)}; {@code auto} is this share of free memory, from 0 to 1. */
  public static ByteBudget parse(String text, double autoShare) {
    String value = text.trim().toLowerCase(Locale.ROOT);
    if (value.equals("auto")) {
      return new ByteBudget(text, -1, autoShare);
    }
    Matcher percent = PERCENT.matcher(value);
    if (percent.matches() && Double.parseDouble(percent.group(1)) <= 100) {
      return new ByteBudget(text, -1, Double.parseDouble(percent.group(1)) / 100);
    }
    Matcher size = SIZE.matcher(value);
    if (size.matches()) {
      int shift = 10 * (UNITS.indexOf(size.group(2)) + 1) * size.group(2).length();
      long number = Long.parseLong(size.group(1));
      if (number <= Long.MAX_VALUE >> shift) {
        return new ByteBudget(text, number << shift, 1);
      }
    }
    throw new IllegalArgumentException(
        "The byte budget \""
            + text
            + "\" is invalid: expected auto, a size such as 8g, 512m or 0, or a share such as"
            + " 50%.");
  }

  /** Whether the user set the budget; if so, none of it is given back when memory is short. */
  public boolean isNamed() {
    return !text.trim().equalsIgnoreCase("auto");
  }

  /**
   * Returns the bytes to take.
   *
   * @param free maximum bytes that the store may take
   * @param log receives a line if {@code free} is less than the requested size
   */
  public long resolve(long free, UserLog log) {
    long bound = Math.max(0, free);
    if (bytes < 0) {
      return (long) (bound * share);
    }
    if (bytes > bound) {
      log.say("The byte budget %s is more than is free: it is reduced to %s bytes.", text, bound);
      return bound;
    }
    return bytes;
  }
}
