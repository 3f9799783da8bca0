package io.coordl.djl;

import ai.djl.Device;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.training.dataset.DataIterable;
import io.coordl.pipeline.SamplePipeline;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a data set looks at beside its own fields, and the program can change at any time.
 *
 * @param device where its arrays are made
 * @param columns of a table
 * @param defaults of the JDK
 */
record Surroundings(
    @Nullable ImageFactory factory, Device device, List<Object> columns, List<Object> defaults) {
  static Surroundings of(DataIterable iterable, IterableFields fields) {
    return new Surroundings(
        ImageFactory.getInstance(),
        fields.manager.require(iterable).getDevice(),
        Tables.columns(fields.dataset.require(iterable)),
        SamplePipeline.defaults());
  }
}
