package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.coordination.BatchOrder;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Services;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.datavec.api.records.reader.impl.collection.CollectionRecordReader;
import org.datavec.api.writable.IntWritable;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.junit.jupiter.api.Test;

/** The orders of several readers are merged; an iterator left alone costs one check. */
class EpochInterceptorTest {
  private static final int[] ONE = {2, 0, 1, 4, 3};
  private static final int[] OTHER = {4, 3, 2, 1, 0};

  @Test
  void ordersOfSeveralReadersAreMergedAndSplitAgain() {
    BatchOrder order = ReaderPipeline.combine(List.of(ONE, OTHER), 2);
    assertThat(order.batches()).isEqualTo(3);
    assertThat(order.items(0)).containsExactly(2, 0, 9, 8);
    assertThat(order.items(2)).containsExactly(3, 5);
    assertThat(ReaderPipeline.split(order, 2, 5, 2)).containsExactly(ONE, OTHER);
  }

  @Test
  void orderOfOtherBatchesIsRefused() {
    BatchOrder order = ReaderPipeline.combine(List.of(ONE), 2);
    assertThat(ReaderPipeline.split(order, 1, 5, 2)).containsExactly(ONE);
    assertThat(ReaderPipeline.split(order, 1, 5, 3)).isNull();
    assertThat(ReaderPipeline.split(order, 1, 6, 2)).isNull();
    assertThat(ReaderPipeline.split(order, 2, 5, 2)).isNull();
  }

  /** A check at each batch would be slow if batches are small. */
  @Test
  void readersOfAnIteratorLeftAloneAreCheckedOnce() throws Exception {
    CollectionRecordReader reader =
        new CollectionRecordReader(
            List.of(List.of(new IntWritable(1)), List.of(new IntWritable(2))));
    Class<?> type = RecordReaderMultiDataSetIterator.class;
    RecordReaderMultiDataSetIterator iterator =
        new RecordReaderMultiDataSetIterator.Builder(2)
            .addReader("reader", reader)
            .addInput("reader")
            .build();
    AtomicInteger looks = new AtomicInteger();
    SeekableReader.field(type, "recordReaders")
        .set(
            iterator,
            new HashMap<>(Map.of("reader", reader)) {
              @Override
              public Set<Map.Entry<String, CollectionRecordReader>> entrySet() {
                looks.incrementAndGet();
                return super.entrySet();
              }
            });
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 1)) {
      Services services = Services.builder(sentence -> {}).prefetcher(prefetcher, 1).build();
      EpochInterceptor interceptor = new EpochInterceptor(type, services);

      // The program requests a number of examples other than the iterator's batch size.
      assertThat(interceptor.enter("", type, "next", iterator, new Object[] {1})).isNull();
      assertThat(looks).hasValue(1);
    }
  }
}
