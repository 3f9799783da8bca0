package io.coordl.pipeline;

import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.NotPreparedException;
import io.coordl.coordination.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of a data set with its sampler, transforms and batch size. This is all that the
 * policies know of a library, which implements the parts that its policies use.
 *
 * <p>Units are what the library hands out: batches, or the samples of a batch, numbered in the
 * order of the epoch. The stages that make a unit are the data set (stage 0) and each transform
 * after it.
 */
public interface LibraryEpoch {
  /**
   * Identifies a unit among those of the same description; units with equal keys are equal.
   *
   * @param checksum of the unit's records and the states of their files, without change times
   * @param stamp checksum of these change times
   */
  record Key(long checksum, long stamp) {
    public static final Key NONE = new Key(Checksum.NONE, Checksum.NONE);

    long index() {
      return checksum & Long.MAX_VALUE;
    }
  }

  // ---- identity

  /** The data set, by which its kept units and its prefetched batch are found again. */
  Object dataset();

  /** The class that best describes the data set to the user. */
  default String name() {
    return dataset().getClass().getName();
  }

  /** Number of units. */
  default long size() {
    return 1;
  }

  /** Whether the number of units is not known before the last one. */
  default boolean isOpenEnded() {
    return false;
  }

  /**
   * The parts that two jobs compare; called once, when the program asks for the first batch.
   *
   * @throws CannotShareException if a part cannot be compared
   */
  default Fingerprint fingerprint() throws CannotShareException {
    throw new CannotShareException(name());
  }

  /** The key of a unit; null if a file has changed. */
  default @Nullable Key identify(int unit) {
    return null;
  }

  /** Whether it uses {@code part} (a data set, a reader, a manager of arrays). */
  default boolean uses(Object part) {
    return false;
  }

  // ---- order and follow

  /** The samples of each batch, in the order of this job's own sampler. */
  default BatchOrder order() {
    return BatchOrder.evenly(new int[0], 1);
  }

  /**
   * Adopts {@code order}, which has the same batch sizes, for all later batches here and in the
   * program's own code; false, and nothing has changed, if it is not a valid order of this epoch.
   */
  default boolean follow(BatchOrder order) {
    return true;
  }

  /** The samples of the next batches; null if unknown. */
  default @Nullable PeekingIterator<?> upcoming() {
    return null;
  }

  /** The number of samples in a batch; 0 if their position does not matter. */
  default int count(Object samples) {
    return 0;
  }

  // ---- state of the source

  /**
   * A copy of all settings that decide how a unit is made and that the program can change at any
   * time. Does not refer to the epoch.
   */
  Object settings();

  /** Whether the settings are still those that the program's own call would use. */
  default boolean isCurrent(Object settings) {
    return settings.equals(settings());
  }

  /** What the program does if they are not, for the user. */
  default String change() {
    return "the program changes its transforms between its batches";
  }

  /** All that decides what {@link #make} returns for a unit; null: do not make it early. */
  default @Nullable Object state(int unit) {
    return null;
  }

  /** Whether units are made as they were when the epoch began. */
  default boolean isSteady() {
    return true;
  }

  /** Whether {@link PreparedSamples#changed} reports when the objects in its fields may change. */
  default boolean isAnnounced() {
    return true;
  }

  /** Whether code other than the stages may run between two units of a batch. */
  default boolean runsOtherCode(Object settings) {
    return true;
  }

  /**
   * Change times, as one number, of the files that {@link #describe} names without them; 0 if there
   * are none. If it changes, a kept unit is compared with a newly made one.
   */
  default long stamp() {
    return 0;
  }

  /** Accounts for the costs and savings of keeping; null if shared with others of this kind. */
  default @Nullable Worth worth() {
    return null;
  }

  /** Global JDK settings that code reads and that the program can change at any time. */
  static List<Object> defaults() {
    return List.of(
        Locale.getDefault(),
        Locale.getDefault(Locale.Category.FORMAT),
        Charset.defaultCharset(),
        TimeZone.getDefault());
  }

  // ---- provable parts

  /** The program's objects of each stage. */
  default List<List<@Nullable Object>> stages(Object settings) {
    return List.of(List.of(settings));
  }

  /**
   * All that determines a stage's behaviour, except the code of the program's own classes.
   *
   * @throws CannotShareException if that cannot be described
   */
  default String describe(Object settings, int stage) throws CannotShareException {
    throw new CannotShareException(name());
  }

  /** The text of an object that such code reads. */
  default String describe(String part, @Nullable Object value) throws CannotShareException {
    throw new CannotShareException(part);
  }

  /** Whether both settings have the same objects that make a unit. */
  default boolean haveSameParts(Object settings, Object other) {
    return settings.equals(other);
  }

  // ---- making units

  /** Sets the source to the first unit; false if its files have changed. */
  default boolean begin() {
    return true;
  }

  /** Makes a unit up to {@link #handOver}; throws what the program's code throws. */
  default Object make(int unit) {
    throw new IllegalStateException("units are made by the library's own call");
  }

  /** Whether an agent thread may make the next unit now. */
  default boolean mayRunEarly() {
    return true;
  }

  /** Called on an agent thread that is about to make units. */
  default void enterThread() {}

  /** How many threads may run {@link #prepare} at once; known once an order is adopted. */
  default int threads() {
    return 1;
  }

  /**
   * Prepares a batch for the group with the program's own code, on an agent thread.
   *
   * @throws NotPreparedException with the exception of the program's code
   * @throws CannotShareException if the batch is more than its bytes
   */
  default PreparedBatch prepare(int batch, int[] samples) throws Exception {
    throw new CannotShareException(name());
  }

  /**
   * Prepares a batch with the program's own code, on the prefetcher's thread; null if it cannot.
   *
   * @param samples as returned by {@link #upcoming}
   * @param position number of samples up to the end of the batch
   * @throws NotPreparedException with the exception of the program's code
   * @throws Exception if the agent fails
   */
  default @Nullable Object prefetch(Object settings, Object samples, int position)
      throws Exception {
    return null;
  }

  // ---- bytes of a unit and a unit from bytes

  /**
   * The bytes of a unit that the program still owns; null if no equal unit can be made from them.
   *
   * @param files that were opened; the unit's key may cover some of them
   */
  default @Nullable PreparedBatch toKeep(int unit, Object made, List<BatchLayout.Array> files) {
    return null;
  }

  /** Makes a unit with its own memory from kept bytes. */
  default Object read(BatchLayout layout, ByteBuffer bytes) {
    throw new IllegalStateException("nothing is kept");
  }

  /** Does what {@link #read} does and discards the result, only to measure the time. */
  default void probe(BatchLayout layout, ByteBuffer bytes) {
    read(layout, bytes);
  }

  /** Makes a unit with its own memory from the group's bytes; throws if they are not a unit. */
  default Object readStaged(ByteBuffer bytes) throws IOException {
    throw new IOException("nothing is staged");
  }

  // ---- hand over

  /**
   * Completes a unit on the program's thread, with all state changes that its own call would have
   * made; throws what the program's code throws. False if that is impossible; the program's own
   * call then reports why.
   */
  default boolean handOver(Object unit) {
    return true;
  }

  /** The result of {@link #handOver} cannot be kept, and need not be examined again. */
  default void leaveHandOver() {}

  // ---- end

  /** Frees resources, since no more units will be made. May be called more than once. */
  default void ended() {}
}
