package io.coordl.pipeline;

import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;

/**
 * What makes the samples of one data set, stage by stage: the data set itself is stage 0, and each
 * transform behind it one more. All that {@link PreparedSamples} knows of a library. Made for one
 * batch.
 */
public interface SamplePipeline {
  /** The data set; two calls for the same one find the same plan. */
  Object dataset();

  /** The class that tells what kind of data set it is, for the user. */
  String name();

  /** Whether {@link PreparedSamples#changed} tells when objects in its fields may be others. */
  default boolean isAnnounced() {
    return true;
  }

  long size();

  /**
   * Accounts for the costs and savings of keeping; null if shared with other pipelines of this
   * kind.
   */
  default @Nullable Worth worth() {
    return null;
  }

  /** What the program can change at any time: a copy of it as it is now. */
  Object settings();

  /** Whether the program's own call would find the same now. */
  boolean isCurrent(Object settings);

  /** Whether code beside the stages may run between two samples of a batch. */
  default boolean runsOtherCode(Object settings) {
    return true;
  }

  /** The program's objects of each stage. */
  List<List<@Nullable Object>> stages(Object settings);

  /**
   * Whatever decides what a stage does, but for the code of the program's own classes.
   *
   * @throws CannotShareException if that cannot be told
   */
  String describe(Object settings, int stage) throws CannotShareException;

  /**
   * Change times, as one number, of the files that {@link #describe} names without their change
   * times: 0 if there are none. If it is another number, a kept sample is compared with one made
   * anew.
   */
  default long stamp() {
    return 0;
  }

  /** What code of the JDK looks at beside what it is given, and the program can set at any time. */
  static List<Object> defaults() {
    return List.of(
        Locale.getDefault(),
        Locale.getDefault(Locale.Category.FORMAT),
        Charset.defaultCharset(),
        TimeZone.getDefault());
  }

  /** The text of an object that such code reads. */
  String describe(String name, @Nullable Object value) throws CannotShareException;
}
