package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;

/**
 * A number with its error.
 *
 * @param unit such as {@code samples/s}, {@code bytes/s}, {@code threads}; {@code times} is a
 *     factor, {@code share} a part from 0 to 1
 */
public record Figure(String name, String unit, Measure measure) {}
