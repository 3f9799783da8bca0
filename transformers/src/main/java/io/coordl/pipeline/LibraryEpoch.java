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
 * One epoch of a data set with its sampler, transforms and batch size. The policies know the epochs
 * of a library only through this interface; a library implements the parts that its policies use.
 *
 * <p>A <i>unit</i> is a batch, or a sample of a batch, numbered in the order of the epoch. Its
 * <i>stages</i> are the data set (stage 0) and each transform.
 */
public interface LibraryEpoch {
  /**
   * Identifies a unit among those of the same description; units with equal keys are equal.
   *
   * @param checksum checksum of the unit's records and the states of their files, without change
   *     times
   * @param stamp checksum of these change times
   */
  record Key(long checksum, long stamp) {
    public static final Key NONE = new Key(Checksum.NONE, Checksum.NONE);

    /** Returns the index of a unit in this variant ({@link LibraryEpoch#variant}). */
    long index(long variant) {
      return (variant == 0 ? checksum : Checksum.mix(checksum, variant)) & Long.MAX_VALUE;
    }
  }

  // ---- identity

  /** Returns the data set, which identifies its cached units and its prefetched batch. */
  Object dataset();

  /** Returns the name of the class that best describes the data set to the user. */
  default String name() {
    return dataset().getClass().getName();
  }

  /** Returns the number of units. */
  default long size() {
    return 1;
  }

  /** Whether the number of units is unknown until the last one. */
  default boolean isOpenEnded() {
    return false;
  }

  /**
   * Returns the parts that two jobs compare; called once, when the program requests the first
   * batch.
   *
   * @throws CannotShareException if a part cannot be compared
   */
  default Fingerprint fingerprint() throws CannotShareException {
    throw new CannotShareException(name());
  }

  /** Returns the key of a unit; null if it has none, for example because a file has changed. */
  default @Nullable Key identify(int unit) {
    return null;
  }

  /**
   * Returns a number that distinguishes units that differ only in where the current thread creates
   * their arrays.
   */
  default long variant() {
    return 0;
  }

  /** Whether this epoch uses {@code part} (a data set, a reader, a manager of arrays). */
  default boolean uses(Object part) {
    return false;
  }

  // ---- order

  /** Returns the samples of each batch, in the order of this job's own sampler. */
  default BatchOrder order() {
    return BatchOrder.evenly(new int[0], 1);
  }

  /**
   * Adopts {@code order}, which has the same batch sizes, for all later batches here and in the
   * program's own code. Returns false, without any change, if it is not a valid order of this
   * epoch.
   */
  default boolean follow(BatchOrder order) {
    return true;
  }

  /** Returns the samples of the next batches; null if unknown. */
  default @Nullable PeekingIterator<?> upcoming() {
    return null;
  }

  /** Returns the number of samples in a batch; 0 if their position does not matter. */
  default int count(Object samples) {
    return 0;
  }

  // ---- state of the source

  /**
   * Returns a copy of all settings that affect a unit and that the program can change at any time.
   * The copy does not refer to the epoch.
   */
  Object settings();

  /** Whether the settings are still those that the program's own call would use. */
  default boolean isCurrent(Object settings) {
    return settings.equals(settings());
  }

  /** Returns a clause for the user that says how the program changes the settings. */
  default String change() {
    return "the program changes its transforms, or settings such as the locale, between batches";
  }

  /** Returns all inputs of {@link #make} for a unit; null if it must not be prepared early. */
  default @Nullable Object state(int unit) {
    return null;
  }

  /** Whether units are still prepared as they were when the epoch began. */
  default boolean isSteady() {
    return true;
  }

  /** Whether {@link PreparedSamples#changed} is called when the stages' objects may change. */
  default boolean isAnnounced() {
    return true;
  }

  /** Whether code other than the stages may run between two units of a batch. */
  default boolean runsOtherCode(Object settings) {
    return true;
  }

  /**
   * Returns a checksum of the change times of the files in {@link #describe}; 0 if there are none.
   * If it changes, a cached unit is compared with a newly prepared one.
   */
  default long stamp() {
    return 0;
  }

  /** Returns the account of costs and savings of caching; null to share one with similar epochs. */
  default @Nullable Worth worth() {
    return null;
  }

  /** Returns global JDK settings that code reads; the program can change most of them. */
  static List<Object> defaults() {
    return List.of(
        Locale.getDefault(),
        Locale.getDefault(Locale.Category.FORMAT),
        Charset.defaultCharset(),
        TimeZone.getDefault());
  }

  // ---- provable parts

  /** Returns the program's objects of each stage. */
  default List<List<@Nullable Object>> stages(Object settings) {
    return List.of(List.of(settings));
  }

  /**
   * Describes everything that determines a stage's behaviour, except the code of the program's own
   * classes.
   *
   * @throws CannotShareException if that cannot be described
   */
  default String describe(Object settings, int stage) throws CannotShareException {
    throw new CannotShareException(name());
  }

  /** Describes an object that the code of a stage reads from a static field. */
  default String describe(String part, @Nullable Object value) throws CannotShareException {
    throw new CannotShareException(part);
  }

  /** Whether both settings have the same objects in their stages. */
  default boolean haveSameParts(Object settings, Object other) {
    return settings.equals(other);
  }

  // ---- preparing units

  /** Sets the source to the first unit; returns false if its files have changed. */
  default boolean begin() {
    return true;
  }

  /** Prepares a unit up to {@link #handOver}; throws what the program's code throws. */
  default Object make(int unit) {
    throw new IllegalStateException("units are made by the library's own call");
  }

  /** Whether an agent thread may prepare the next unit now. */
  default boolean mayRunEarly() {
    return true;
  }

  /** Called on an agent thread that is about to prepare units. */
  default void enterThread() {}

  /**
   * Returns how many threads may run {@link #prepare} concurrently; known once an order is adopted.
   */
  default int threads() {
    return 1;
  }

  /**
   * Prepares a batch for the group with the program's own code, on an agent thread.
   *
   * @throws NotPreparedException with the exception of the program's code
   * @throws CannotShareException if bytes alone cannot represent the batch
   */
  default PreparedBatch prepare(int batch, int[] samples) throws Exception {
    throw new CannotShareException(name());
  }

  /**
   * Prepares a batch with the program's own code, on the prefetcher's thread; returns null if only
   * the program's own call can prepare it.
   *
   * @param samples an element of {@link #upcoming}
   * @param position number of samples up to the end of the batch
   * @throws NotPreparedException with the exception of the program's code
   * @throws Exception if the agent fails
   */
  default @Nullable Object prefetch(Object settings, Object samples, int position)
      throws Exception {
    return null;
  }

  // ---- units to bytes and back

  /**
   * Returns the bytes of a unit that the program still owns; null if no equal unit can be created
   * from them.
   *
   * @param files the opened files; the unit's key may cover some of them
   */
  default @Nullable PreparedBatch toKeep(int unit, Object made, List<BatchLayout.Array> files) {
    return null;
  }

  /** Creates a unit with its own memory from cached bytes. */
  default Object read(BatchLayout layout, ByteBuffer bytes) {
    throw new IllegalStateException("nothing is kept");
  }

  /** Runs {@link #read} and discards the result, only to measure the time. */
  default void probe(BatchLayout layout, ByteBuffer bytes) {
    read(layout, bytes);
  }

  /** Creates a unit with its own memory from the group's bytes; throws if they do not form one. */
  default Object readStaged(ByteBuffer bytes) throws IOException {
    throw new IOException("nothing is staged");
  }

  // ---- hand over

  /**
   * Completes a unit on the program's thread, with all state changes that the program's own call
   * would have made; throws what the program's code throws. Returns false if that is impossible;
   * the program's own call then reports why.
   */
  default boolean handOver(Object unit) {
    return true;
  }

  /**
   * Records that the result of {@link #handOver} cannot be cached and need not be examined again.
   */
  default void leaveHandOver() {}

  /** Whether the items of units that are not cached are cached one by one. */
  default boolean keepsItems() {
    return false;
  }

  // ---- end

  /** Frees resources, because no more units will be prepared. May be called more than once. */
  default void ended() {}
}
