package example.prepared;

import ai.djl.modality.cv.output.Rectangle;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.util.PairList;
import ai.djl.util.RandomUtils;
import java.util.ArrayList;
import java.util.List;

/** Data sets that keep objects of DJL, which the program can change. */
final class LibraryParts {
  private LibraryParts() {}

  /** Applies a pipeline of its own, not the library's. */
  static final class OwnTransforms extends DjlSamples.Counting {
    final Pipeline transforms;

    OwnTransforms(DjlSamples.Builder builder, Transform... transforms) {
      super(builder);
      this.transforms = new Pipeline(transforms);
    }

    @Override
    public Record get(NDManager manager, long index) {
      NDList data = transforms.transform(new NDList(manager.create(Everyday.wave((float) index))));
      return new Record(data, new NDList(manager.create(index % 2)));
    }
  }

  /** Depends only on its argument. */
  static final class Halved implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(0.5f);
    }
  }

  /** Draws from the library's generator. */
  static final class Scaled implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(RandomUtils.nextFloat());
    }
  }

  /** Labels its samples with boxes. */
  static final class Boxes extends DjlSamples.Counting {
    final List<PairList<Long, Rectangle>> boxes = new ArrayList<>();

    Boxes(DjlSamples.Builder builder) {
      super(builder);
      for (long index = 0; index < availableSize(); index++) {
        PairList<Long, Rectangle> ofSample = new PairList<>();
        ofSample.add(index % 3, new Rectangle(0.01 * index, 0.2, 0.3, 0.4));
        boxes.add(ofSample);
      }
    }

    /** Adds a box to each sample. */
    void add(int kind) {
      boxes.forEach(each -> each.add((long) kind, new Rectangle(0.1, 0.01 * kind, 0.5, 0.5)));
    }

    @Override
    public Record get(NDManager manager, long index) {
      PairList<Long, Rectangle> ofSample = boxes.get(Math.toIntExact(index));
      float[] label = new float[3];
      for (int i = 0; i < ofSample.size(); i++) {
        Rectangle box = ofSample.valueAt(i);
        label[0] += ofSample.keyAt(i);
        label[1] += (float) box.getX();
        label[2] += (float) box.getHeight();
      }
      return new Record(
          new NDList(manager.create(Everyday.wave((float) index))),
          new NDList(manager.create(label)));
    }
  }
}
