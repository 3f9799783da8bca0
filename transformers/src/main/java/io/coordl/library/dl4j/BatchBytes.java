package io.coordl.library.dl4j;

import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.Checksum;
import io.coordl.pipeline.LibraryField;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.factory.Nd4j;

/**
 * A DL4J batch as bytes: each array with its strides, gaps included. The first entry of the layout
 * is the batch itself, without values; its name gives the number of features, of labels and of each
 * kind of mask, -1 if there is no such list. An array that occurs more than once (for example, as
 * features and as labels) is stored once. In a cached batch, an array of images takes one byte per
 * value if all values are whole numbers from 0 to 255, that is, before a preprocessor has scaled
 * them.
 */
final class BatchBytes implements PreparedBatch {
  private static final String BATCH = "batch";
  private static final String NULL = "null";
  private static final String SAME = "same as";
  private static final String PREPROCESSED = " preprocessed";
  private static final String ATTACHED = "attached";

  /** Replaces the type of an array of floats that are whole numbers and are stored as bytes. */
  private static final String PACKED = "WHOLE";

  /** Number of dimensions of an array of images. */
  private static final int IMAGES = 4;

  private static final LibraryField<Object> COLUMN_NAMES =
      SeekableReader.field(DataSet.class, "columnNames");
  private static final List<String> ROLES =
      List.of("features", "labels", "features mask", "labels mask");

  private final List<BatchLayout.Array> described = new ArrayList<>();
  private final List<@Nullable INDArray> arrays = new ArrayList<>();

  /** For each array that is stored as one byte per value, these bytes; null for the others. */
  private final List<byte @Nullable []> packed = new ArrayList<>();

  private final boolean packs;
  private final BatchLayout layout;
  private final Runnable done;

  /** Creates the bytes of a batch without files. */
  BatchBytes(Object batch, Runnable done) {
    this(batch, List.of(), false, done);
  }

  /**
   * Creates the bytes of a batch, valid as long as its arrays are.
   *
   * @param files additional parts of the layout, without values, after its own
   * @param packs whether images may be stored as bytes
   * @param done run when the bytes are no longer needed
   * @throws IllegalArgumentException if some of the batch's content would be lost
   */
  private BatchBytes(Object batch, List<BatchLayout.Array> files, boolean packs, Runnable done) {
    this.packs = packs;
    this.done = done;
    if (batch.getClass() == DataSet.class) { // A subclass has more, which would be lost.
      DataSet one = (DataSet) batch;
      refuseAny(one.getExampleMetaData());
      refuse(one.getLabelNamesList(), "label names");
      refuse((List<?>) COLUMN_NAMES.get(one), "column names");
      add(
          DataSet.class.getSimpleName() + (one.isPreProcessed() ? PREPROCESSED : ""),
          group(one.getFeatures()),
          group(one.getLabels()),
          group(one.getFeaturesMaskArray()),
          group(one.getLabelsMaskArray()));
    } else if (batch.getClass() == MultiDataSet.class) {
      MultiDataSet several = (MultiDataSet) batch;
      refuseAny(several.getExampleMetaData());
      add(
          MultiDataSet.class.getSimpleName(),
          several.getFeatures(),
          several.getLabels(),
          several.getFeaturesMaskArrays(),
          several.getLabelsMaskArrays());
    } else {
      throw new IllegalArgumentException("it is a " + batch.getClass().getName());
    }
    refuseOverlaps();
    described.addAll(files);
    layout = new BatchLayout(described);
  }

  /** Rejects arrays that share memory, because their copies would not. */
  private void refuseOverlaps() {
    TreeMap<Long, Long> ends = new TreeMap<>();
    for (INDArray array : arrays) {
      if (array != null) {
        long from = Memory.address(array);
        long end = from + Memory.length(array);
        Map.Entry<Long, Long> before = ends.lowerEntry(end);
        if (before != null && before.getValue() > from) {
          throw new IllegalArgumentException("it has arrays that share memory");
        }
        ends.put(from, end);
      }
    }
  }

  /**
   * Returns the bytes of a batch to cache; null if no equal batch can be created from them.
   *
   * @param ofImages whether its arrays may be images
   */
  static @Nullable BatchBytes toKeep(
      Object batch, List<BatchLayout.Array> files, boolean ofImages) {
    try {
      BatchBytes bytes = new BatchBytes(batch, files, ofImages, () -> {});
      return bytes.arrays.stream().anyMatch(BatchBytes::isPart) ? null : bytes;
    } catch (IllegalArgumentException e) {
      return null; // The batch is more than arrays.
    }
  }

  /** Whether an array is a view of a larger one, which would be lost. */
  private static boolean isPart(@Nullable INDArray array) {
    return array != null
        && (array.isView() || array.data().length() != Memory.span(array.shape(), array.stride()));
  }

  private static void refuseAny(@Nullable Object metadata) {
    if (metadata != null) {
      throw new IllegalArgumentException("it has example metadata");
    }
  }

  private static void refuse(@Nullable List<?> more, String what) {
    if (more != null && !more.isEmpty()) {
      throw new IllegalArgumentException("it has " + what);
    }
  }

  private static @Nullable INDArray @Nullable [] group(@Nullable INDArray array) {
    return array == null ? null : new INDArray[] {array};
  }

  /** Adds a group of arrays for each role; a group is null if the batch has no such list. */
  private void add(String kind, @Nullable INDArray[] @Nullable ... groups) {
    long[] counts =
        Arrays.stream(groups).mapToLong(group -> group == null ? -1 : group.length).toArray();
    arrays.add(null);
    packed.add(null);
    described.add(new BatchLayout.Array(BATCH, kind, text(counts), List.of(), 0));
    for (int g = 0; g < groups.length; g++) {
      @Nullable INDArray @Nullable [] group = groups[g];
      if (group != null) {
        for (INDArray array : group) {
          add(ROLES.get(g), array);
        }
      }
    }
  }

  private void add(String role, @Nullable INDArray array) {
    int before = array == null ? -1 : numberOf(array);
    arrays.add(before < 0 ? array : null);
    byte[] bytes =
        packs
                && array != null
                && before < 0
                && array.rank() == IMAGES
                && array.dataType() == DataType.FLOAT
            ? Floats.packed(array)
            : null;
    packed.add(bytes);
    if (array == null) {
      described.add(new BatchLayout.Array(role, NULL, "", List.of(), 0));
      return;
    }
    if (before >= 0) {
      described.add(new BatchLayout.Array(role, SAME, Integer.toString(before), List.of(), 0));
      return;
    }
    if (array.isEmpty() || array.dataType().width() < 1 || array.dataType() == DataType.UTF8) {
      throw new IllegalArgumentException("it has an array of type " + array.dataType());
    }
    described.add(
        new BatchLayout.Array(
            role,
            (bytes == null ? array.dataType().toString() : PACKED)
                + " "
                + array.ordering()
                + (array.isAttached() ? " " + ATTACHED : ""),
            text(array.stride()),
            Arrays.stream(array.shape()).boxed().toList(),
            bytes == null ? Memory.length(array) : bytes.length));
  }

  /** Returns the number of this array if it was added before, by identity; otherwise -1. */
  private int numberOf(INDArray array) {
    for (int i = 0; i < arrays.size(); i++) {
      if (arrays.get(i) == array) {
        return i;
      }
    }
    return -1;
  }

  private static String text(long[] numbers) {
    return Arrays.toString(numbers).replaceAll("[\\[\\] ]", "");
  }

  private static long[] numbers(String text) {
    if (text.isEmpty()) {
      return new long[0];
    }
    String[] parts = text.split(",", -1);
    long[] numbers = new long[parts.length]; // No stream: the code of cached batches runs cold.
    for (int i = 0; i < parts.length; i++) {
      numbers[i] = Long.parseLong(parts[i]);
    }
    return numbers;
  }

  BatchLayout layout() {
    return layout;
  }

  @Override
  public long bytes() {
    return layout.bytes();
  }

  /** Returns a checksum of the arrays and their layout, without copying them. */
  long checksum() {
    long[] checksum = {Checksum.mix(Checksum.NONE, described.hashCode())};
    for (INDArray array : arrays) {
      if (array != null) {
        Memory.bytes(array, bytes -> checksum[0] = Checksum.mix(checksum[0], bytes));
      }
    }
    return checksum[0];
  }

  @Override
  public void writeTo(ByteBuffer target) {
    layout.writeTo(target);
    for (int i = 0; i < arrays.size(); i++) {
      INDArray array = arrays.get(i);
      byte[] bytes = packed.get(i);
      if (bytes != null) {
        layout.values(target, i).put(bytes);
      } else if (array != null) {
        Memory.bytes(array, layout.values(target, i)::put);
      }
    }
  }

  @Override
  public void close() {
    done.run();
  }

  /**
   * Returns the batch in these bytes. Its arrays use the buffer and keep it reachable; they belong
   * to no workspace.
   *
   * @throws IOException if the bytes are not a batch
   */
  static Object inPlace(ByteBuffer staged) throws IOException {
    return read(
        BatchLayout.read(staged),
        staged,
        (values, type, shape, stride, order, attached) ->
            Memory.array(staged, values, type, shape, stride, order));
  }

  /**
   * Like {@link #inPlace}, but the arrays have their own memory: in the open workspace, if they
   * were created in one.
   */
  static Object copied(BatchLayout layout, ByteBuffer staged) {
    return read(layout, staged, Memory::copy);
  }

  /**
   * Creates a batch as {@link #copied} does and discards it. Needs no memory in an open workspace.
   */
  @SuppressWarnings("try") // Open only while the arrays are made.
  static void probe(BatchLayout layout, ByteBuffer staged) {
    try (MemoryWorkspace none = Nd4j.getMemoryManager().scopeOutOfWorkspaces()) {
      copied(layout, staged);
    }
  }

  /**
   * Like {@link #copied}, for a batch that may come from another thread without an open workspace.
   * If this thread has a workspace open, the arrays of such a batch are allocated as direct
   * buffers, whose total size the JVM limits.
   *
   * @throws IOException if the bytes are not a batch
   */
  static Object copiedOfStaged(ByteBuffer staged) throws IOException {
    return read(BatchLayout.read(staged), staged, Memory::copyWithinLimit);
  }

  /**
   * Creates an array from these values; {@code attached} is whether the original array was created
   * in a workspace.
   */
  private interface Maker {
    INDArray of(
        ByteBuffer values,
        DataType type,
        long[] shape,
        long[] stride,
        char order,
        boolean attached);
  }

  private static Object read(BatchLayout layout, ByteBuffer staged, Maker maker) {
    List<BatchLayout.Array> described = layout.arrays();
    String kind = described.get(0).type();
    long[] counts = numbers(described.get(0).name());
    @Nullable INDArray[] arrays = new @Nullable INDArray[described.size()];
    @Nullable INDArray[] @Nullable [] groups = new @Nullable INDArray[counts.length][];
    int next = 1;
    for (int g = 0; g < counts.length; g++) {
      if (counts[g] >= 0) {
        @Nullable INDArray[] group = new @Nullable INDArray[(int) counts[g]];
        for (int i = 0; i < group.length; i++) {
          BatchLayout.Array array = described.get(next);
          arrays[next] =
              switch (array.type()) {
                case NULL -> null;
                case SAME -> arrays[Integer.parseInt(array.name())];
                default -> array(staged, layout, next, maker);
              };
          group[i] = arrays[next++];
        }
        groups[g] = group;
      }
    }
    if (kind.equals(MultiDataSet.class.getSimpleName())) {
      return new MultiDataSet(groups[0], groups[1], groups[2], groups[3]);
    }
    DataSet batch =
        new DataSet(first(groups[0]), first(groups[1]), first(groups[2]), first(groups[3]));
    if (kind.endsWith(PREPROCESSED)) {
      batch.markAsPreProcessed();
    }
    return batch;
  }

  private static @Nullable INDArray first(@Nullable INDArray @Nullable [] group) {
    return group == null ? null : group[0];
  }

  private static INDArray array(ByteBuffer staged, BatchLayout layout, int number, Maker maker) {
    BatchLayout.Array described = layout.arrays().get(number);
    String[] type = described.type().split(" ", -1);
    long[] shape = new long[described.shape().size()];
    for (int i = 0; i < shape.length; i++) {
      shape[i] = described.shape().get(i);
    }
    long[] stride = numbers(described.name());
    char order = type[1].charAt(0);
    ByteBuffer bytes = layout.values(staged, number);
    boolean attached = type.length > 2;
    INDArray array =
        type[0].equals(PACKED)
            ? Memory.expanded(bytes, shape, stride, order, attached)
            : maker.of(bytes, DataType.valueOf(type[0]), shape, stride, order, attached);
    Nd4j.getAffinityManager().tagLocation(array, AffinityManager.Location.HOST);
    return array;
  }
}
