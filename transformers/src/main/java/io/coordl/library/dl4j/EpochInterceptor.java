package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.coordination.Fingerprint;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.EpochEngine;
import io.coordl.pipeline.EpochSource;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.pipeline.Worth;
import io.coordl.purity.ClassFiles;
import io.coordl.purity.PurityAnalyzer;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TimeZone;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prep=coordinate}, {@code prepared=share} and {@code prefetch=N} in DL4J. Intercepts {@code
 * next(int)}, {@code hasNext()} and {@code reset()} of {@code RecordReaderDataSetIterator}, {@code
 * SequenceRecordReaderDataSetIterator} and {@code RecordReaderMultiDataSetIterator} over the
 * library's readers. Batches that are the same in each epoch are cached. Otherwise epochs are
 * shared, starting with their first batch, or the next batch is prefetched. Other readers are
 * ignored, which is logged once.
 *
 * <p>At the first batch, or at the first after caching has begun, each reader reports the order of
 * its records ({@link SeekableReader}), and is set to the adopted order. {@code hasNext()} returns
 * true if a next batch is known to exist. All other code of the library works on that order
 * unchanged. {@code next(int)} returns a cached or staged batch, or one that this job prepares, and
 * moves the readers past it. In all other cases (the program's code throws, requests another number
 * of examples, takes a record itself, changes the preprocessor), the library continues with the
 * remaining records.
 *
 * <p>For iterators of the program's own classes, and for iterators with a limit, the underlying
 * iterator is intercepted.
 */
public final class EpochInterceptor implements LibraryHooks {
  private final EpochEngine engine;
  private final boolean fetchesItems;
  private final String code;
  private final ProgramReaders readers = new ProgramReaders();

  /** Preprocessors that may behave differently each time, by iterator. */
  private final Map<Object, WeakReference<Object>> unsteady =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** Iterators already passed to {@link #examine}. */
  private final Set<Object> examined =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  /** Progress of the library itself in the epoch of each iterator. */
  private final Map<Object, LibraryProgress> progress =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** A checksum of the order of each iterator's last epoch. */
  private final Map<Object, Integer> orders = Collections.synchronizedMap(new WeakHashMap<>());

  /** Checksums of the orders of the first epochs of iterators over shuffled files. */
  private final Set<Integer> firstOrders = ConcurrentHashMap.newKeySet();

  public EpochInterceptor(Class<?> declaring, Services services)
      throws ReflectiveOperationException, IOException {
    Symbols.field(DataSet.class, "columnNames", List.class);
    Symbols.require(BatchBytes.class, Memory.class, ProgramIterator.class, ReaderPipeline.class);
    ProgramIterator.require();
    this.fetchesItems = services.items() != null;
    Prepared prepared = services.prepared();
    if (prepared != null || services.prefetcher() != null) {
      Symbols.require(ReaderEpoch.class, Preprocessor.class, Surroundings.class);
    }
    PurityAnalyzer pure =
        new PurityAnalyzer(
            "", new KnownDl4j(false), name -> prepared != null && prepared.trusts(name));
    this.engine = new EpochEngine(Dl4j.NAME, services, pure);
    this.code =
        ClassFiles.checksums(
            declaring,
            "RecordReaderMultiDataSetIterator",
            "RecordReaderDataSetIterator",
            "SequenceRecordReaderDataSetIterator");
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    try {
      if (self instanceof LineRecordReader reader) {
        return InterceptedCall.after(
            own -> {
              readers.opened(reader);
              return own;
            });
      } else if (method.equals("reset")) {
        reset(self);
        return InterceptedCall.after(
            own -> {
              opened(self);
              return own;
            });
      } else if (method.equals("hasNext")) {
        return hasNext(self) ? new InterceptedCall(true) : null;
      }
      return next(self, (Integer) arguments[0]);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void reset(Object iterator) {
    progress.put(iterator, new LibraryProgress());
    IteratorEpoch epoch = epochOf(new ProgramIterator(iterator));
    if (epoch != null) {
      epoch.reset();
    }
  }

  /**
   * Called when the library has reset an iterator's readers. If another class loader loads the
   * readers, their own resets are not intercepted.
   */
  private void opened(Object iterator) {
    new ProgramIterator(iterator).readers().values().forEach(readers::opened);
  }

  /** True if a next batch is known to exist; if false, the library's own check decides. */
  private boolean hasNext(Object iterator) {
    ProgramIterator program = new ProgramIterator(iterator);
    IteratorEpoch epoch = program.hasBatchAtHand() ? null : epochOf(program);
    return epoch != null && epoch.hasNext();
  }

  private @Nullable IteratorEpoch epochOf(ProgramIterator program) {
    try {
      return epochOf(program.wrapped(), readers.of(program));
    } catch (CannotShareException e) {
      return null; // Then no epoch was shared.
    }
  }

  private static @Nullable IteratorEpoch epochOf(
      Object iterator, Map<String, SeekableReader> readers) {
    for (SeekableReader reader : readers.values()) {
      EpochRecords<?> now = reader.current();
      IteratorEpoch epoch = now == null ? null : now.sharedOf(iterator);
      if (epoch != null) {
        return epoch;
      }
    }
    return null;
  }

  /** Returns the next batch with this many examples; null if the library must prepare it. */
  private @Nullable InterceptedCall next(Object iterator, int num) throws IOException {
    ProgramIterator program = new ProgramIterator(iterator);
    if (program.hasBatchAtHand()) {
      return null;
    }
    if (engine.mayKeepBatches() && !program.ownReaders().isEmpty()) {
      return null; // Records are cached instead of batches (OwnSources).
    }
    if (!engine.serves(isOfProgram())) {
      examine(program);
      return leaveToLibrary(program, num);
    }
    try {
      Map<String, SeekableReader> found = readers.of(program);
      if (found.values().stream().allMatch(reader -> reader.current() == null)) {
        begin(program, found, num);
      }
      IteratorEpoch epoch = epochOf(iterator, found);
      if (epoch != null && epoch.missesCaching(engine, num)) {
        epoch.end();
        begin(epoch.ofProgram(), epoch.batches(), worth(program, found, num));
        epoch = epochOf(iterator, found);
      }
      if (epoch != null) {
        return epoch.next(num);
      }
    } catch (CannotShareException e) {
      engine.leave(e);
    }
    return leaveToLibrary(program, num);
  }

  /** Called when the library prepares a batch: caching may begin after it, within its epoch. */
  private @Nullable InterceptedCall leaveToLibrary(ProgramIterator program, int num) {
    Object iterator = program.wrapped();
    Object arrays = program.isIntercepted() ? program.arrays() : null;
    if (arrays != null && arrays != iterator) {
      progress.computeIfAbsent(arrays, any -> new LibraryProgress()).leave();
    }
    if (!engine.wantsReports()) {
      return null;
    }
    LibraryProgress now = progress.computeIfAbsent(iterator, any -> new LibraryProgress());
    if (now.isAtStart()) {
      return InterceptedCall.after(own -> begun(program, num, now, own));
    }
    now.next(num);
    return null;
  }

  /** Called when the library has prepared the first batch of an epoch. */
  private @Nullable Object begun(
      ProgramIterator program, int num, LibraryProgress now, @Nullable Object batch) {
    try {
      now.begun(num, readers.of(program).values());
    } catch (CannotShareException e) {
      now.leave();
    }
    return batch;
  }

  /**
   * Returns the account that iterators with similar costs share, because a program may create a new
   * iterator for each epoch.
   */
  private Worth worth(ProgramIterator program, Map<String, SeekableReader> found, int num) {
    Object preprocessor = program.preprocessor();
    StringBuilder kind = new StringBuilder();
    kind.append(program.wrapped().getClass().getName()).append(' ').append(num);
    kind.append(preprocessor == null ? "" : " " + preprocessor.getClass().getName());
    for (SeekableReader one : found.values()) {
      kind.append(' ').append(one.reader().getClass().getName()).append(' ');
      kind.append(one.firstFile()); // Training and test data are judged separately.
    }
    String name = found.values().iterator().next().reader().getClass().getName();
    return engine.worth(kind.toString(), name);
  }

  // ---- start of an epoch

  /**
   * Called at the first batch of an iterator, before anything is cached: reports whether only the
   * images in its batches can be cached. Reads no files.
   */
  private void examine(ProgramIterator program) {
    if (!engine.wantsReports() || !examined.add(program.wrapped())) {
      return;
    }
    try {
      Collection<SeekableReader> found = readers.of(program).values();
      if (ReaderEpoch.isOfImages(found)) {
        engine.reportBatches(
            found.stream().anyMatch(one -> one.isShuffled() || one.reasonNotToKeep() != null));
      }
    } catch (CannotShareException e) {
      // Reported once batches are to be cached.
    }
  }

  private void begin(ProgramIterator program, Map<String, SeekableReader> first, int num)
      throws CannotShareException, IOException {
    if (!program.isIntercepted()) {
      return; // The underlying iterator is called next.
    }
    Worth worth = worth(program, first, num);
    if (engine.group() == null && !worth.paysOff()) {
      return;
    }
    if (!engine.serves(!hasItemsFetched(first.values()))) {
      examine(program);
      return; // At most its files are prefetched, while the library itself iterates over them.
    }
    Map<String, SeekableReader> found = first;
    RecordReaderMultiDataSetIterator arrays = program.arrays();
    if (arrays == null && makeReady(program, List.copyOf(first.values()))) {
      arrays = program.arrays();
      found = readers.of(program); // With the names used to create the arrays.
    }
    if (arrays == null) {
      return;
    }
    if (arrays.isCollectMetaData()) {
      throw new CannotShareException("iterators that collect metadata");
    }
    if (program.beginsAtRandom()) {
      throw new CannotShareException("iterators that begin time series at random places");
    }
    if (num != arrays.getBatchSize()) {
      return;
    }
    LibraryProgress before = progress.get(program.wrapped());
    int batch = before == null ? 0 : before.batches(num, found.values());
    if (batch < 0) {
      return;
    }
    if (before != null && batch > 0) {
      before.leave(); // Only one attempt per epoch.
    }
    List<int[]> orders = ProgramReaders.orders(found.values(), batch * num);
    if (orders != null) {
      begin(new ProgramEpoch(program, found, orders, num), batch, worth);
    }
  }

  /**
   * Begins to supply the batches of an epoch.
   *
   * @param batch number of batches that the program has already got
   */
  private void begin(ProgramEpoch epoch, int batch, Worth worth)
      throws CannotShareException, IOException {
    boolean keeps = engine.keepsBatches();
    Beginning begun = new Beginning(epoch, worth);
    EpochSource source = engine.begin(begun);
    if (source != null) {
      new IteratorEpoch(epoch, source, keeps)
          .begin(Objects.requireNonNull(begun.copies).orders(), batch);
    }
  }

  /**
   * Prepares the iterator. If the library's code throws, the readers are set back, so that its own
   * attempt starts at the same record and throws, too.
   *
   * @return false if the library must do it
   */
  private static boolean makeReady(ProgramIterator program, List<SeekableReader> all)
      throws CannotShareException {
    List<int[]> before = ProgramReaders.orders(all, 0);
    if (before == null || !all.stream().allMatch(reader -> reader.reader().resetSupported())) {
      return false;
    }
    try {
      return program.makeReady();
    } catch (RuntimeException | LinkageError e) {
      for (int i = 0; i < all.size(); i++) {
        all.get(i).begin(before.get(i), null);
      }
      return false;
    }
  }

  /** Whether batches are requested by a thread of the program, not by the library's own. */
  private static boolean isOfProgram() {
    return !ReaderEpoch.isOfLibrary(Thread.currentThread());
  }

  /** An epoch that the program's iterator begins. */
  private final class Beginning implements EpochEngine.Beginning {
    private final ProgramEpoch epoch;
    private final Worth worth;

    /** The copies that {@link #ofJob} or {@link #ofGroup} made last. */
    private @Nullable ReaderPipeline copies;

    Beginning(ProgramEpoch epoch, Worth worth) {
      this.epoch = epoch;
      this.worth = worth;
    }

    private Collection<SeekableReader> readers() {
      return epoch.readers().values();
    }

    @Override
    public String name() {
      return epoch.name();
    }

    @Override
    public int batches() {
      return epoch.batches();
    }

    @Override
    public Worth worth() {
      return worth;
    }

    @Override
    public boolean mayRunEarly() {
      return isOfProgram() && !hasItemsFetched(readers());
    }

    @Override
    public @Nullable String reasonToLeave(boolean keeps) {
      String reason =
          readers().stream()
              .map(SeekableReader::reasonNotToKeep)
              .filter(Objects::nonNull)
              .findFirst()
              .orElse(null);
      return reason == null && keeps ? reasonNotToKeep(epoch) : reason;
    }

    @Override
    public boolean keepsItems() {
      return ReaderEpoch.isOfImages(readers());
    }

    @Override
    public List<Object> parts() {
      return OwnCode.of(readers());
    }

    @Override
    public LibraryEpoch ofJob() throws CannotShareException, IOException {
      Fingerprint fingerprint = new Fingerprint(describe(epoch));
      String text = Surroundings.process() + "\n" + fingerprint.parts();
      ReaderPipeline made = new ReaderPipeline(epoch, fingerprint, false);
      copies = made;
      return new ReaderEpoch(epoch, made, text, unsteady, worth);
    }

    @Override
    public LibraryEpoch ofGroup() throws CannotShareException, IOException {
      Map<String, String> parts = describe(epoch);
      epoch
          .readers()
          .forEach((name, reader) -> parts.put(prefix(epoch, name) + "records", reader.content()));
      parts.put("preprocessor", Description.of("preprocessor", epoch.program().preprocessor()));
      ReaderPipeline made = new ReaderPipeline(epoch, new Fingerprint(parts), true);
      for (SeekableReader reader : readers()) {
        // A program may initialise a reader during an epoch without resetting the iterator. That
        // epoch, which uses the same transform, must end first.
        Objects.requireNonNull(engine.group()).end(reader.reader());
      }
      copies = made;
      return made;
    }
  }

  /**
   * Whether items are fetched ahead instead of batches: several threads can fetch images, but only
   * one prepares batches.
   */
  private boolean hasItemsFetched(Collection<SeekableReader> readers) {
    return fetchesItems && ReaderEpoch.isOfImages(readers);
  }

  private @Nullable String reasonNotToKeep(ProgramEpoch epoch) {
    int order = 0;
    for (int[] one : epoch.orders()) {
      order = 31 * order + Arrays.hashCode(one);
    }
    Integer before = orders.put(epoch.program().wrapped(), order);
    if (before != null) {
      return before == order ? null : "its records come in another order in each epoch";
    }
    // A program may create an iterator for each epoch, with the same seed.
    return epoch.readers().values().stream().anyMatch(SeekableReader::isShuffled)
            && firstOrders.add(order)
        ? "its files are shuffled before each epoch"
        : null;
  }

  private static String prefix(ProgramEpoch epoch, String name) {
    return epoch.readers().size() == 1 ? "" : name + ": ";
  }

  private Map<String, String> describe(ProgramEpoch epoch)
      throws CannotShareException, IOException {
    Map<String, String> parts = new LinkedHashMap<>();
    for (Map.Entry<String, SeekableReader> reader : epoch.readers().entrySet()) {
      reader.getValue().describe(parts, prefix(epoch, reader.getKey()));
    }
    epoch.program().describe(parts);
    parts.put("data types", Nd4j.dataType() + " and " + Nd4j.defaultFloatingPointType());
    parts.put("locale", Locale.getDefault() + " " + TimeZone.getDefault().getID());
    parts.put("code of DL4J", code);
    return parts;
  }
}
