package io.coordl.pipeline;

import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;

/**
 * The stages that make the samples of one data set: the data set is stage 0, and each transform
 * after it one more stage. This is all that {@link PreparedSamples} knows of a library. Made for
 * one batch.
 */
public interface SamplePipeline {
  /** The data set; two calls for the same data set find the same plan. */
  Object dataset();

  /** The class that best describes the data set to the user. */
  String name();

  /** Whether {@link PreparedSamples#changed} reports when the objects in its fields may change. */
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

  /** A copy of all settings that the program can change at any time. */
  Object settings();

  /** Whether the settings are still those that the program's own call would use. */
  boolean isCurrent(Object settings);

  /** Whether code other than the stages may run between two samples of a batch. */
  default boolean runsOtherCode(Object settings) {
    return true;
  }

  /** The program's objects of each stage. */
  List<List<@Nullable Object>> stages(Object settings);

  /**
   * Everything that determines a stage's behaviour, except the code of the program's own classes.
   *
   * @throws CannotShareException if that cannot be described
   */
  String describe(Object settings, int stage) throws CannotShareException;

  /**
   * Change times, as one number, of the files that {@link #describe} names without their change
   * times; 0 if there are none. If the number changes, a kept sample is compared with a newly made
   * one.
   */
  default long stamp() {
    return 0;
  }

  /** Global JDK settings that code reads and that the program can change at any time. */
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
