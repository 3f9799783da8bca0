package ai.djl.examples;

import ai.djl.ndarray.NDArray;
import ai.djl.translate.Transform;

/** A program's class in a package below DJL's, as in copies of DJL's examples. */
public final class Scaled implements Transform {
  /** Set between batches. */
  public static float factor = 1;

  @Override
  public NDArray transform(NDArray array) {
    return array.mul(factor);
  }
}
