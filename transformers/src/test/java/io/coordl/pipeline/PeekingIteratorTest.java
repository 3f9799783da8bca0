package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** The user sees what the plain iterator returns; the listener sees some elements earlier. */
class PeekingIteratorTest {
  private final List<Integer> seen = new ArrayList<>();

  @Test
  void listenerSeesExactlyTheElementsAhead() {
    PeekingIterator<Integer> ahead =
        new PeekingIterator<>(List.of(1, 2, 3, 4, 5).iterator(), 2, seen::add);
    assertThat(seen).containsExactly(1, 2);
    assertThat(ahead.peek()).isEqualTo(1);
    assertThat(ahead.next()).isEqualTo(1);
    assertThat(seen).containsExactly(1, 2, 3);
    List<Integer> rest = new ArrayList<>();
    ahead.forEachRemaining(rest::add);
    assertThat(rest).containsExactly(2, 3, 4, 5);
    assertThat(seen).containsExactly(1, 2, 3, 4, 5);
    assertThat(ahead.peek()).isNull();
    assertThat(ahead.hasNext()).isFalse();
    assertThatThrownBy(ahead::next).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void exceptionIsThrownInItsPlaceAndIterationContinues() {
    Iterator<Integer> failing =
        new Iterator<>() {
          private int at;

          @Override
          public boolean hasNext() {
            return at < 5;
          }

          @Override
          public Integer next() {
            at++;
            if (at == 3) {
              throw new IllegalStateException("third");
            }
            return at;
          }
        };
    PeekingIterator<Integer> ahead = new PeekingIterator<>(failing, 4, seen::add);
    assertThat(ahead.next()).isEqualTo(1);
    assertThat(ahead.next()).isEqualTo(2);
    assertThat(ahead.hasNext()).isTrue();
    assertThatThrownBy(ahead::next).isInstanceOf(IllegalStateException.class).hasMessage("third");
    assertThat(ahead.next()).isEqualTo(4);
    assertThat(ahead.next()).isEqualTo(5);
    assertThat(ahead.hasNext()).isFalse();
    assertThat(seen).containsSequence(1, 2);
  }

  @Test
  void behaviourAtTheEndIsTheIteratorsOwn() {
    Iterator<List<Long>> endless = // Like DJL's BatchSampler: no exception, but an empty batch.
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            return false;
          }

          @Override
          public List<Long> next() {
            return List.of();
          }
        };
    assertThat(new PeekingIterator<>(endless, 2, batch -> {}).next()).isEmpty();
  }
}
