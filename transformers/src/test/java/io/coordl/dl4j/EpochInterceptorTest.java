package io.coordl.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.staging.BatchOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The orders of several readers travel as one. */
class EpochInterceptorTest {
  private static final int[] ONE = {2, 0, 1, 4, 3};
  private static final int[] OTHER = {4, 3, 2, 1, 0};

  @Test
  void theOrdersOfSeveralReadersComeApartAgain() {
    BatchOrder order = ReaderPipeline.together(List.of(ONE, OTHER), 2);
    assertThat(order.batches()).isEqualTo(3);
    assertThat(order.items(0)).containsExactly(2, 0, 9, 8);
    assertThat(order.items(2)).containsExactly(3, 5);
    assertThat(ReaderPipeline.apart(order, 2, 5, 2)).containsExactly(ONE, OTHER);
  }

  @Test
  void anOrderOfOtherBatchesIsNone() {
    BatchOrder order = ReaderPipeline.together(List.of(ONE), 2);
    assertThat(ReaderPipeline.apart(order, 1, 5, 2)).containsExactly(ONE);
    assertThat(ReaderPipeline.apart(order, 1, 5, 3)).isNull();
    assertThat(ReaderPipeline.apart(order, 1, 6, 2)).isNull();
    assertThat(ReaderPipeline.apart(order, 2, 5, 2)).isNull();
  }
}
