package io.coordl.pipeline;

import java.util.List;
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

  /** How many samples the data set has. */
  long size();

  /** What the program can change at any time: a copy of it as it is now. */
  Object settings();

  /** Whether the program's own call would find the same now. */
  boolean isCurrent(Object settings);

  /** The program's objects of each stage. */
  List<List<@Nullable Object>> stages(Object settings);

  /**
   * Whatever decides what a stage does, but for the code of the program's own classes.
   *
   * @throws CannotShareException if that cannot be told
   */
  String describe(Object settings, int stage) throws CannotShareException;

  /** The text of an object that such code reads. */
  String describe(String name, @Nullable Object value) throws CannotShareException;
}
