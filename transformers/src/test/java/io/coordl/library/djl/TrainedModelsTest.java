package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The epochs and evaluations that a training thread remembers. */
class TrainedModelsTest {
  private static final List<Integer> ORDER = List.of(3, 1, 2);

  private final TrainedModels.Place place = new TrainedModels.Place();

  /** Takes batches of a data set, perhaps to its end. */
  private DataEpoch go(Object dataset, int batches) {
    DataEpoch epoch = place.begin(dataset, null);
    Iterator<Integer> order = epoch.follow(ORDER.iterator());
    for (int i = 0; i < batches && order.hasNext(); i++) {
      order.next();
      place.take(epoch);
    }
    return epoch;
  }

  private WeakReference<DataEpoch> forgettable(Object dataset, int batches) {
    return new WeakReference<>(go(dataset, batches));
  }

  private static void collect(List<WeakReference<DataEpoch>> all) {
    Predicate<WeakReference<DataEpoch>> there = one -> one.get() != null;
    for (int i = 0; i < 20 && all.stream().anyMatch(there); i++) {
      System.gc();
      all.removeIf(there.negate());
    }
  }

  @Test
  void droppedDataSetsAreForgottenAndOthersKeepTheirNumbers() {
    Object kept = new Object();
    assertThat(go(kept, 9).dataset).isZero();
    List<WeakReference<DataEpoch>> dropped = new ArrayList<>();
    dropped.add(forgettable(new Object(), 9));
    place.step();
    System.gc();
    DataEpoch again = go(kept, 9);
    assertThat(again.dataset).isZero();
    assertThat(again.count).isEqualTo(1);
    assertThat(again.number).isEqualTo(2);
    assertThat(go(new Object(), 9).dataset).isEqualTo(2);
    place.step();
    collect(dropped);
    assertThat(dropped).isEmpty();
  }

  @Test
  void evaluationsOfAThreadWithoutStepsAreForgotten() {
    Object dataset = new Object();
    List<WeakReference<DataEpoch>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(forgettable(dataset, 9));
    }
    go(dataset, 9);
    collect(all);
    assertThat(all).isEmpty();
    assertThat(place.step()).as("several at a time").isFalse();
  }

  @Test
  void severalUnfinishedEvaluationsAreDetectedAlthoughFewAreRemembered() {
    Object dataset = new Object();
    List<WeakReference<DataEpoch>> all = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      all.add(forgettable(dataset, 1));
    }
    go(dataset, 9);
    collect(all);
    assertThat(all).hasSizeLessThan(100);
    assertThat(place.step()).as("several at a time").isTrue();
    go(dataset, 9);
    assertThat(place.step()).isFalse();
  }
}
