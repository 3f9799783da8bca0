package io.coordl.library.dl4j;

import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.datavec.api.writable.BooleanWritable;
import org.datavec.api.writable.ByteWritable;
import org.datavec.api.writable.DoubleWritable;
import org.datavec.api.writable.FloatWritable;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.LongWritable;
import org.datavec.api.writable.NDArrayWritable;
import org.datavec.api.writable.NullWritable;
import org.datavec.api.writable.Text;
import org.datavec.api.writable.Writable;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;

/**
 * A DataVec record, or a sequence of records, as bytes. Its arrays are the features of a {@link
 * BatchBytes}; one more entry of the layout holds the other values. The type of that entry has one
 * character for each value and for each start and end of a list, in order.
 */
final class RecordBytes implements PreparedBatch {
  private static final String RECORD = "record";
  private static final char TEXT = 'T';
  private static final char NULL = 'N';
  private static final char ARRAY = 'A';

  /** Starts an {@code ArrayList}; {@link #END} ends it. */
  private static final char LIST = '[';

  /** Starts a list as {@code Arrays.asList} returns it; {@link #END} ends it. */
  private static final char FIXED_LIST = '(';

  private static final char END = ']';

  private static final int MAX_VALUES = 1 << 15;

  private final BatchBytes arrays;
  private final byte[] values;

  private RecordBytes(BatchBytes arrays, byte[] values) {
    this.arrays = arrays;
    this.values = values;
  }

  /**
   * Returns the bytes of a record or of a sequence; null if no equal one can be created from them.
   */
  static @Nullable RecordBytes toKeep(List<?> record, List<BatchLayout.Array> files) {
    Values values = new Values();
    try {
      values.add(record);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalArgumentException e) {
      return null; // The record cannot be recreated from bytes.
    }
    byte[] bytes = values.bytes.toByteArray();
    List<BatchLayout.Array> parts = new ArrayList<>();
    parts.add(new BatchLayout.Array(RECORD, values.kinds.toString(), "", List.of(), bytes.length));
    parts.addAll(files);
    BatchBytes arrays =
        BatchBytes.toKeep(
            new MultiDataSet(values.arrays.toArray(INDArray[]::new), new INDArray[0]),
            parts,
            false);
    return arrays == null ? null : new RecordBytes(arrays, bytes);
  }

  /** Whether a layout is that of a record or of a sequence. */
  static boolean isIn(BatchLayout layout) {
    return find(layout) >= 0;
  }

  private static int find(BatchLayout layout) {
    for (int i = 0; i < layout.arrays().size(); i++) {
      if (layout.arrays().get(i).role().equals(RECORD)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns a new record, or a new sequence; {@link BatchBytes#copied} creates its arrays. */
  static List<?> copied(BatchLayout layout, ByteBuffer bytes) {
    MultiDataSet arrays = (MultiDataSet) BatchBytes.copied(layout, bytes);
    int at = find(layout);
    return new Reader(
            layout.arrays().get(at).type(),
            layout.values(bytes, at).order(ByteOrder.BIG_ENDIAN),
            arrays.getFeatures())
        .list();
  }

  @Override
  public long bytes() {
    return arrays.bytes();
  }

  @Override
  public void writeTo(ByteBuffer target) {
    arrays.writeTo(target);
    arrays.layout().values(target, find(arrays.layout())).put(values);
  }

  @Override
  public void close() {
    arrays.close();
  }

  /** Collects the values of a record or of a sequence, as bytes. */
  private static final class Values {
    private final StringBuilder kinds = new StringBuilder();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private final List<INDArray> arrays = new ArrayList<>();

    /** Objects added so far; one that occurs twice would be recreated as two. */
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    void add(List<?> list) throws IOException {
      boolean isFixed = list.getClass() == Arrays.asList().getClass();
      if (!isFixed && list.getClass() != ArrayList.class) {
        throw new IllegalArgumentException("it is a " + list.getClass().getName());
      }
      kinds.append(isFixed ? FIXED_LIST : LIST);
      for (Object value : list) {
        if (kinds.length() > MAX_VALUES || (value != NullWritable.INSTANCE && !seen.add(value))) {
          throw new IllegalArgumentException("it is too long, or contains an object twice");
        } else if (value instanceof List<?> inner && !isFixed) {
          add(inner);
        } else {
          add(value);
        }
      }
      kinds.append(END);
    }

    private void add(Object value) throws IOException {
      Class<?> type = value == null ? Object.class : value.getClass();
      if (type == IntWritable.class) {
        kinds.append('I');
        out.writeInt(((IntWritable) value).get());
      } else if (type == LongWritable.class) {
        kinds.append('J');
        out.writeLong(((LongWritable) value).get());
      } else if (type == FloatWritable.class) {
        kinds.append('F');
        out.writeInt(Float.floatToRawIntBits(((FloatWritable) value).get()));
      } else if (type == DoubleWritable.class) {
        kinds.append('D');
        out.writeLong(Double.doubleToRawLongBits(((DoubleWritable) value).get()));
      } else if (type == BooleanWritable.class) {
        kinds.append('Z');
        out.writeByte(((BooleanWritable) value).get() ? 1 : 0);
      } else if (type == ByteWritable.class) {
        kinds.append('B');
        out.writeByte(((ByteWritable) value).get());
      } else if (type == Text.class) {
        Text text = (Text) value;
        kinds.append(TEXT);
        out.writeInt(text.getLength());
        out.write(text.getBytes(), 0, text.getLength());
      } else if (value == NullWritable.INSTANCE) {
        kinds.append(NULL);
      } else if (type == NDArrayWritable.class) {
        INDArray array = ((NDArrayWritable) value).get();
        if (array == null) {
          throw new IllegalArgumentException("it has no array");
        }
        kinds.append(ARRAY);
        arrays.add(array);
      } else {
        throw new IllegalArgumentException("it has a " + type.getName());
      }
    }
  }

  /** Recreates the lists and values. */
  private static final class Reader {
    private final String kinds;
    private final ByteBuffer values;
    private final INDArray @Nullable [] arrays;
    private int at;
    private int array;

    Reader(String kinds, ByteBuffer values, INDArray @Nullable [] arrays) {
      this.kinds = kinds;
      this.values = values;
      this.arrays = arrays;
    }

    List<?> list() {
      boolean isFixed = kinds.charAt(at++) == FIXED_LIST;
      List<Object> list = new ArrayList<>();
      while (kinds.charAt(at) != END) {
        char kind = kinds.charAt(at);
        list.add(kind == LIST || kind == FIXED_LIST ? list() : value(kinds.charAt(at++)));
      }
      at++;
      return isFixed ? Arrays.asList(list.toArray(Writable[]::new)) : list;
    }

    private Writable value(char kind) {
      return switch (kind) {
        case 'I' -> new IntWritable(values.getInt());
        case 'J' -> new LongWritable(values.getLong());
        case 'F' -> new FloatWritable(Float.intBitsToFloat(values.getInt()));
        case 'D' -> new DoubleWritable(Double.longBitsToDouble(values.getLong()));
        case 'Z' -> new BooleanWritable(values.get() != 0);
        case 'B' -> new ByteWritable(values.get());
        case NULL -> NullWritable.INSTANCE;
        case ARRAY -> new NDArrayWritable(Objects.requireNonNull(arrays)[array++]);
        case TEXT -> {
          byte[] text = new byte[values.getInt()];
          values.get(text);
          yield new Text(text);
        }
        default -> throw new IllegalStateException("a value of unknown kind " + kind);
      };
    }
  }
}
