package io.coordl.library.declared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@SuppressWarnings("ArrayRecordComponent") // Programs have such records.
class JavaBatchTest {
  private static final float OTHER_NAN = Float.intBitsToFloat(0x7fa00001);

  private record Rows(float[][] rows, int[] labels) {}

  private record Mixed(
      boolean flag,
      byte small,
      short less,
      char letter,
      int number,
      float ratio,
      long large,
      double exact,
      @Nullable Rows inner,
      Object[] any) {}

  private record Buffered(FloatBuffer features, ByteBuffer labels, LongBuffer ids) {}

  /** Its constructor changes its argument. */
  private record Scaled(float[] values) {
    Scaled {
      values[0] /= 2;
    }
  }

  /** Its constructor copies its argument. */
  private record Copied(float[] values) {
    Copied(float[] values) {
      this.values = values.clone();
    }
  }

  private record Swapped(int one, int two) {
    Swapped(int one, int two) {
      this.one = two;
      this.two = one;
    }
  }

  static List<Object> batches() {
    float[] row = {1, -0f, Float.NaN, OTHER_NAN};
    ByteBuffer bytes = ByteBuffer.allocateDirect(9).put(new byte[] {1, 2, 3});
    return List.of(
        row,
        new float[0],
        new float[][] {row, {}, row},
        new Object[] {new long[] {Long.MIN_VALUE}, new double[][] {{1}, null}, null},
        new boolean[] {true, false},
        new char[] {'a', 0xffff},
        new short[] {-1},
        new byte[][] {{1}, {2, 3}},
        new Rows(new float[][] {row}, new int[] {1, 2}),
        new Rows[] {new Rows(new float[0][], new int[0]), null},
        new Mixed(
            true, (byte) 1, (short) 2, 'c', 3, OTHER_NAN, 5, Double.NaN, null, new Object[] {row}),
        bytes,
        bytes.duplicate().flip().mark().position(1),
        bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).asReadOnlyBuffer(),
        ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder()).asFloatBuffer().put(OTHER_NAN),
        ByteBuffer.allocateDirect(16).asDoubleBuffer().put(1),
        DoubleBuffer.wrap(new double[] {1, 2, 3}, 1, 1),
        IntBuffer.wrap(new int[] {1, 2, 3}, 1, 2).slice().put(7),
        new Buffered(
            ByteBuffer.allocateDirect(8).asFloatBuffer(),
            ByteBuffer.allocateDirect(3),
            ByteBuffer.allocateDirect(0).asLongBuffer()));
  }

  private static Object again(Object batch) throws Exception {
    PreparedBatch kept =
        new JavaBatch(batch, JavaBatchTest.class.getClassLoader()).bytes(List.of());
    assertThat(kept).isNotNull();
    ByteBuffer bytes =
        ByteBuffer.allocate(Math.toIntExact(kept.bytes())).order(ByteOrder.nativeOrder());
    kept.writeTo(bytes);
    return JavaBatch.read(BatchLayout.read(bytes), bytes, JavaBatchTest.class.getClassLoader());
  }

  @ParameterizedTest
  @MethodSource("batches")
  void aBatchIsMadeAnewWithTheSameBits(Object batch) throws Exception {
    Object again = again(batch);
    assertThat(again).isNotSameAs(batch).hasSameClassAs(batch);
    assertThat(Described.of(again)).isEqualTo(Described.of(batch));
  }

  @Test
  void aPartThatOccursTwiceOccursTwiceInTheCopy() throws Exception {
    float[] row = {1};
    float[][] again = (float[][]) again(new float[][] {row, row, {1}});
    assertThat(again[0]).isSameAs(again[1]).isNotSameAs(again[2]);
    Object[] views = (Object[]) again(new Object[] {FloatBuffer.wrap(row), row});
    assertThat(((FloatBuffer) views[0]).array()).isSameAs(views[1]);
  }

  @Test
  void buffersThatShareMemoryAreRefused() throws Exception {
    ByteBuffer whole = ByteBuffer.allocateDirect(64);
    for (Buffer[] both :
        new Buffer[][] {
          {whole, whole.duplicate()},
          {whole.slice(8, 8), whole},
          {whole.slice(0, 16).asFloatBuffer(), whole.slice(12, 16)},
          {ByteBuffer.allocateDirect(8).asReadOnlyBuffer(), ByteBuffer.allocateDirect(8)}
        }) {
      assertThat(new JavaBatch(both, null).bytes(List.of())).isNull();
    }
    whole.put(0, (byte) 9);
    assertThat(
            new JavaBatch(new Buffer[] {whole.slice(0, 8), whole.slice(8, 8)}, null)
                .bytes(List.of()))
        .isNotNull();
    assertThat(whole.get(0)).isEqualTo((byte) 9);
    assertThat(whole.get(8)).isZero();
  }

  @Test
  void batchesThatCannotBeCopiedExactlyAreRefused() {
    Object[] itself = new Object[1];
    itself[0] = itself;
    Object[] deep = {1f};
    for (int i = 0; i < 40; i++) {
      deep = new Object[] {deep};
    }
    for (Object batch :
        Arrays.asList(
            "text",
            new Object[] {1},
            List.of(new float[1]),
            itself,
            deep,
            new Scaled(new float[] {2}),
            new Copied(new float[] {2}),
            new Swapped(1, 2),
            ByteBuffer.allocate(8).asFloatBuffer(),
            ByteBuffer.allocate(8).asReadOnlyBuffer())) {
      assertThatThrownBy(() -> new JavaBatch(batch, JavaBatchTest.class.getClassLoader()))
          .isInstanceOf(CannotShareException.class);
    }
  }

  @Test
  void typesWhoseObjectsMayBeBatchesAreRecognised() {
    assertThat(
            List.of(
                float[].class,
                float[][].class,
                Object.class,
                Object[].class,
                Rows.class,
                Rows[].class,
                FloatBuffer.class,
                Comparable.class))
        .allMatch(JavaBatch::mayBe);
    assertThat(List.of(String.class, float.class, Integer[].class, Thread.class))
        .noneMatch(JavaBatch::mayBe);
  }
}
