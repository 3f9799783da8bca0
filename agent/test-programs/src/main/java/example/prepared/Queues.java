package example.prepared;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;

/** Iterators that take the offsets of their examples from a queue, as in many time series. */
@SuppressWarnings("JdkObsolete") // Such programs use linked lists.
final class Queues {
  private static final int COUNT = 96;

  private Queues() {}

  static Offsets of(String kind, Path table) {
    return switch (kind) {
      case "own-queue", "own-queue-grown" -> new Offsets(table, new LinkedList<>());
      case "own-queue-array" -> new Polled(table);
      case "own-queue-shuffled" -> new Shuffled(table);
      case "own-queue-twice" -> new Twice(table, new LinkedList<>());
      case "own-queue-cycled" -> new Cycled(table);
      case "own-queue-iterated" -> new Iterated(table);
      case "own-queue-passed" -> new Passed(table);
      case "own-queue-mixed" -> new Mixed(table);
      default -> throw new IllegalArgumentException(kind + " is not an iterator of this class.");
    };
  }

  /** A queue of numbers that {@code reset} fills. */
  static class Offsets extends OwnIterators.Rows {
    private final List<Float> series;
    final Deque<Object> offsets;

    Offsets(Path table, Deque<Object> offsets) {
      super(table);
      List<Float> values = new ArrayList<>();
      for (int i = 0; i < 2 * COUNT; i++) {
        values.add((float) Math.sin(i));
      }
      series = values.subList(0, COUNT + 20);
      this.offsets = offsets;
      fill();
    }

    void fill() {
      offsets.clear();
      for (int i = 0; i < COUNT; i++) {
        offsets.add(i);
      }
    }

    int take() {
      return (Integer) offsets.removeFirst();
    }

    @Override
    public DataSet next(int count) {
      int size = Math.min(count, offsets.size());
      float[][] features = new float[size][8];
      float[][] labels = new float[size][2];
      for (int i = 0; i < size; i++) {
        int offset = take();
        for (int k = 0; k < 8; k++) {
          features[i][k] = series.get(offset + k);
        }
        labels[i][offset % 2] = 1;
      }
      return new DataSet(Nd4j.create(features), Nd4j.create(labels));
    }

    @Override
    public boolean hasNext() {
      return !offsets.isEmpty();
    }

    @Override
    public void reset() {
      fill();
    }
  }

  private static final class Polled extends Offsets {
    Polled(Path table) {
      super(table, new ArrayDeque<>());
    }

    @Override
    int take() {
      return (Integer) offsets.poll();
    }
  }

  /** In another order in each epoch. */
  private static final class Shuffled extends Offsets {
    private Random random;

    Shuffled(Path table) {
      super(table, new LinkedList<>());
    }

    @Override
    void fill() {
      super.fill();
      if (random == null) {
        random = new Random(3);
      }
      Collections.shuffle((List<?>) offsets, random);
    }
  }

  /** Keeps its queue in two fields. */
  private static final class Twice extends Offsets {
    private final Queue<Object> same;

    Twice(Path table, Deque<Object> offsets) {
      super(table, offsets);
      same = offsets;
    }

    @Override
    int take() {
      int first = (Integer) offsets.removeFirst();
      return same.size() % 2 == 0 ? first : COUNT - first;
    }
  }

  /** Puts each offset back. */
  private static final class Cycled extends Offsets {
    private int taken;

    Cycled(Path table) {
      super(table, new LinkedList<>());
    }

    @Override
    int take() {
      taken++;
      offsets.addLast((int) offsets.getFirst() / 2);
      return super.take();
    }

    @Override
    public boolean hasNext() {
      return taken < COUNT;
    }

    @Override
    public void reset() {
      taken = 0;
    }
  }

  /** Takes the second offset. */
  private static final class Iterated extends Offsets {
    Iterated(Path table) {
      super(table, new LinkedList<>());
    }

    @Override
    int take() {
      Iterator<Object> all = offsets.iterator();
      Object found = all.next();
      if (all.hasNext()) {
        found = all.next();
      }
      all.remove();
      return (Integer) found;
    }
  }

  /** Lets another method take the last offset. */
  private static final class Passed extends Offsets {
    Passed(Path table) {
      super(table, new LinkedList<>());
    }

    @Override
    int take() {
      return last(offsets);
    }

    private static int last(Deque<Object> from) {
      return (Integer) from.removeLast();
    }
  }

  /** Has strings in its queue in every other epoch. */
  private static final class Mixed extends Offsets {
    private int epoch;

    Mixed(Path table) {
      super(table, new LinkedList<>());
    }

    @Override
    void fill() {
      super.fill();
      if (++epoch % 2 == 0) {
        for (int i = 0; i < COUNT; i++) {
          offsets.add("longer".repeat(1 + epoch * i % 5));
          offsets.removeFirst();
        }
      }
    }

    @Override
    int take() {
      return offsets.removeFirst().toString().length();
    }
  }
}
