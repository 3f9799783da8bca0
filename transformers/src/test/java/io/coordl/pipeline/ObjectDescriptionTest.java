package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Deeply nested objects are described as text, within bounds. */
class ObjectDescriptionTest {
  private record Nothing(int maxObjects) implements ObjectDescription.Library {
    @Override
    public boolean has(String className) {
      return false;
    }

    @Override
    public boolean describe(Object object, ObjectDescription to) {
      return false;
    }

    @Override
    public boolean isScratch(Field field) {
      return false;
    }
  }

  /** A link of a chain. */
  static final class Link {
    final @Nullable Link next;
    final int number;

    Link(@Nullable Link next, int number) {
      this.next = next;
      this.number = number;
    }
  }

  private static Link chain(int length, int last) {
    Link link = new Link(null, last);
    for (int i = 1; i < length; i++) {
      link = new Link(link, i);
    }
    return link;
  }

  private static String text(Object object) throws CannotShareException {
    return ObjectDescription.of("object", object, new Nothing(100_000));
  }

  @Test
  void deepDifferencesAreVisible() throws CannotShareException {
    for (int length : new int[] {2, 24, 25, 30, 60, 20_000}) {
      assertThat(text(chain(length, 1))).isEqualTo(text(chain(length, 1)));
      assertThat(text(chain(length, 1))).isNotEqualTo(text(chain(length, 2)));
      assertThat(text(chain(length, 1))).isNotEqualTo(text(chain(length + 1, 1)));
    }
  }

  @Test
  void sharedObjectsDifferFromEqualOnes() throws CannotShareException {
    Link shared = chain(40, 1);
    Object[] same = {shared, shared};
    Object[] equal = {chain(40, 1), chain(40, 1)};

    assertThat(text(same)).isNotEqualTo(text(equal));
  }

  /** Equal texts of formatters may parse differently. */
  @Test
  void formattersAreComparedByIdentity() throws CannotShareException {
    DateTimeFormatter day = DateTimeFormatter.ofPattern("dd.MM.yyyy");

    assertThat(text(day)).isEqualTo(text(day));
    assertThat(text(day)).isNotEqualTo(text(DateTimeFormatter.ofPattern("dd.MM.yyyy")));
  }

  @Test
  void workIsBounded() {
    assertThatThrownBy(() -> text(chain(200_000, 1)))
        .hasMessageContaining("more than 100000 objects");
  }

  @Test
  void nestedSetsAreBounded() {
    Set<Object> set = new HashSet<>();
    for (int i = 0; i < 2_000; i++) {
      set = new HashSet<>(Set.of(set));
    }
    Set<Object> deepest = set;
    assertThatThrownBy(() -> text(deepest)).hasMessageContaining("nested more than 24 deep");
  }
}
