package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A written layout is read back; other bytes are refused. */
class BatchLayoutTest {
  private static final BatchLayout LAYOUT =
      new BatchLayout(
          List.of(
              new BatchLayout.Array("data", "FLOAT32", "", List.of(2L, 3L), 24),
              new BatchLayout.Array("data", "UINT8", "mask \u00e4", List.of(), 1),
              new BatchLayout.Array("labels", "INT64", "y", List.of(2L, 0L), 0)));

  private static ByteBuffer written() {
    ByteBuffer batch = ByteBuffer.allocateDirect((int) LAYOUT.bytes());
    LAYOUT.writeTo(batch);
    return batch;
  }

  @Test
  void writtenLayoutIsReadBack() throws IOException {
    ByteBuffer batch = written();
    LAYOUT.values(batch, 0).putFloat(20, 1.5f);
    LAYOUT.values(batch, 1).put(0, (byte) 7);

    BatchLayout read = BatchLayout.read(batch);

    assertThat(read).isEqualTo(LAYOUT);
    assertThat(read.values(batch, 0).getFloat(20)).isEqualTo(1.5f);
    assertThat(read.values(batch, 1).get(0)).isEqualTo((byte) 7);
    assertThat(read.values(batch, 2).remaining()).isZero();
    assertThat(batch.position()).isZero();
  }

  @Test
  void valuesAreAlignedAndDoNotOverlap() {
    ByteBuffer batch = ByteBuffer.allocateDirect((int) LAYOUT.bytes() + 8192).alignedSlice(4096);
    for (int i = 0; i < LAYOUT.arrays().size(); i++) {
      ByteBuffer values = LAYOUT.values(batch, i);
      assertThat(values.alignmentOffset(0, BatchLayout.ALIGNMENT)).isZero();
      assertThat(values.order()).isEqualTo(ByteOrder.nativeOrder());
      while (values.hasRemaining()) {
        values.put((byte) 1);
      }
    }
    int set = 0;
    for (int i = 0; i < LAYOUT.bytes(); i++) {
      set += batch.get(i);
    }
    assertThat(set).isEqualTo(25);
  }

  @Test
  void batchWithoutArraysIsValid() throws IOException {
    BatchLayout none = new BatchLayout(List.of());
    ByteBuffer batch = ByteBuffer.allocate((int) none.bytes());
    none.writeTo(batch);
    assertThat(BatchLayout.read(batch)).isEqualTo(none);
  }

  @Test
  void otherBytesAreRefused() {
    ByteBuffer longer = written();
    longer.putInt(0, 1 << 30);
    ByteBuffer shorter = written();
    shorter.putInt(0, 5);
    ByteBuffer cut = written();
    cut.limit(cut.limit() - 1);

    for (ByteBuffer wrong : List.of(longer, shorter, cut, ByteBuffer.allocate(3))) {
      assertThatThrownBy(() -> BatchLayout.read(wrong)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void onlyALayoutUnlikeTheExpectedOneIsParsed() throws IOException {
    ByteBuffer batch = written().position(3);
    assertThat(BatchLayout.read(batch, LAYOUT)).isSameAs(LAYOUT);
    assertThat(batch.position()).isEqualTo(3);
    List<BatchLayout.Array> arrays = new ArrayList<>(LAYOUT.arrays());
    arrays.set(1, new BatchLayout.Array("data", "UINT8", "mask \u00f6", List.of(), 1));
    BatchLayout other = new BatchLayout(arrays);
    BatchLayout fewer = new BatchLayout(arrays.subList(0, 1));
    for (BatchLayout likely : List.of(other, fewer, new BatchLayout(List.of()))) {
      assertThat(BatchLayout.read(batch, likely)).isEqualTo(LAYOUT);
    }
    ByteBuffer cut = written();
    cut.limit(cut.limit() - 1);
    assertThatThrownBy(() -> BatchLayout.read(cut, LAYOUT)).isInstanceOf(IOException.class);
    ByteBuffer more = written();
    more.putInt(0, more.getInt(0) + 4);
    assertThatThrownBy(() -> BatchLayout.read(more)).isInstanceOf(IOException.class);
  }
}
