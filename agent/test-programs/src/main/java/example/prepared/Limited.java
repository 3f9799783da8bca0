package example.prepared;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Record;

/** A data set whose samples depend on {@code size()}, which it inherits through another class. */
final class Limited extends DjlSamples.Counting {
  Limited(DjlSamples.Builder builder) {
    super(builder);
  }

  static void limit(Limited data, long limit) {
    data.limit = limit;
  }

  @Override
  public Record get(NDManager own, long index) {
    return new Record(new NDList(own.create((float) size())), new NDList(own.create(index)));
  }
}
