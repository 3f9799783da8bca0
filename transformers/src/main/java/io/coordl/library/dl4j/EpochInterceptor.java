package io.coordl.library.dl4j;

import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.log.OnceLog;
import io.coordl.pipeline.BatchPrefetcher;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.EpochCoordinator;
import io.coordl.pipeline.EpochEngine;
import io.coordl.pipeline.EpochSource;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.pipeline.Worth;
import io.coordl.purity.ClassFiles;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.staging.Fingerprint;
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
import java.util.TimeZone;
import java.util.WeakHashMap;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prep=coordinate}, {@code prepared=share} and {@code prefetch=N} in DL4J: {@code next(int)}
 * and {@code reset()} of {@code RecordReaderDataSetIterator}, {@code
 * SequenceRecordReaderDataSetIterator} and {@code RecordReaderMultiDataSetIterator}, over the
 * library's readers. Batches that are the same in each epoch are kept. Otherwise epochs are shared
 * from their first batch on, or the next batch is made early. Other readers are left alone, which
 * is logged once.
 *
 * <p>At the first batch, each reader reports the order of its records ({@link SeekableReader}), and
 * is set to the adopted order. {@code hasNext()} and all other code of the library then work on
 * that order unchanged. {@code next(int)} returns a kept or staged batch, or one that this job
 * makes, and moves the readers past it. In all other cases (the program's code throws, the program
 * asks for another number of examples, takes a record itself, changes the preprocessor), the
 * library continues with the remaining records.
 *
 * <p>For an iterator of the program's own class, or with a limit, the underlying iterator is
 * intercepted.
 */
public final class EpochInterceptor implements LibraryHooks {
  private static final String IMAGES = "org.datavec.image.";

  private final EpochEngine engine;
  private final boolean fetchesItems;
  private final PurityAnalyzer pure;
  private final OnceLog log;
  private final String code;
  private final ProgramReaders readers = new ProgramReaders();

  /** Preprocessors that may behave differently each time, by iterator. */
  private final Map<Object, WeakReference<Object>> unsteady =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** A checksum of the order of each iterator's last epoch. */
  private final Map<Object, Integer> orders = Collections.synchronizedMap(new WeakHashMap<>());

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
    this.log = new OnceLog(services.log());
    this.pure =
        new PurityAnalyzer(
            "", new KnownDl4j(false), name -> prepared != null && prepared.trusts(name));
    this.engine =
        new EpochEngine(
            Dl4j.NAME,
            services,
            prepared == null ? null : new PreparedSamples(services, pure),
            services.prefetcher() == null
                ? null
                : new BatchPrefetcher(
                    services, pure, new ForkableRandom(0), "a generator", batch -> {}));
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
      if (method.equals("reset")) {
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
    IteratorEpoch epoch = epochOf(new ProgramIterator(iterator));
    if (epoch != null) {
      epoch.reset();
    }
  }

  /**
   * The library has opened files again, which the program may replace before it requests a batch.
   */
  private void opened(Object iterator) {
    try {
      for (SeekableReader reader : readers.of(new ProgramIterator(iterator)).values()) {
        reader.opened();
      }
    } catch (CannotShareException e) {
      return; // The library may open any file for batches that it makes itself.
    }
  }

  /** Whether a next batch is known to exist; if false, the library has to look itself. */
  private boolean hasNext(Object iterator) {
    ProgramIterator program = new ProgramIterator(iterator);
    IteratorEpoch epoch = program.hasBatchAtHand() ? null : epochOf(program);
    return epoch != null && epoch.hasNext();
  }

  private @Nullable IteratorEpoch epochOf(ProgramIterator program) {
    try {
      return epochOf(program.get(), readers.of(program));
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

  /** The next batch with this many examples; null if the library is to make it. */
  private @Nullable InterceptedCall next(Object iterator, int num) throws IOException {
    ProgramIterator program = new ProgramIterator(iterator);
    if (program.hasBatchAtHand() || (engine.group() == null && !engine.keeps() && !prefetches())) {
      return null;
    }
    try {
      Map<String, SeekableReader> found = readers.of(program);
      if (found.values().stream().allMatch(reader -> reader.current() == null)) {
        begin(program, found, num);
      }
      IteratorEpoch epoch = epochOf(iterator, found);
      return epoch == null ? null : epoch.next(num);
    } catch (CannotShareException e) {
      engine.leave(e);
      return null;
    }
  }

  /**
   * One per kind of iterator with similar costs, since a program may create a new iterator for each
   * epoch.
   */
  private Worth worth(ProgramIterator program, Map<String, SeekableReader> found, int num) {
    Object preprocessor = program.preprocessor();
    StringBuilder kind = new StringBuilder();
    kind.append(program.get().getClass().getName()).append(' ').append(num);
    kind.append(preprocessor == null ? "" : " " + preprocessor.getClass().getName());
    found.values().forEach(one -> kind.append(' ').append(one.reader().getClass().getName()));
    return engine.worth(kind.toString());
  }

  // ---- start of an epoch

  private void begin(ProgramIterator program, Map<String, SeekableReader> first, int num)
      throws CannotShareException, IOException {
    if (!program.isIntercepted()) {
      return; // The underlying iterator is called next.
    }
    Worth worth = worth(program, first, num);
    if (engine.group() == null && !worth.isIt()) {
      return;
    }
    if (engine.group() == null && !engine.keeps() && hasItemsFetched(first.values())) {
      return; // The order of its files is known while the library itself iterates over them.
    }
    Map<String, SeekableReader> found = first;
    RecordReaderMultiDataSetIterator arrays = program.arrays();
    if (arrays == null && makeReady(program, List.copyOf(first.values()))) {
      arrays = program.arrays();
      found = readers.of(program); // With the names used to make the arrays.
    }
    if (arrays == null) {
      return;
    }
    if (arrays.isCollectMetaData()) {
      throw new CannotShareException("iterators that collect metadata");
    }
    if (program.beginsAtRandom()) {
      throw new CannotShareException("iterators that begin time series at random");
    }
    if (num != arrays.getBatchSize()) {
      return;
    }
    List<int[]> orders = ProgramReaders.orders(found.values());
    if (orders == null) {
      return;
    }
    new Beginning(new ProgramEpoch(program, found, orders, num), worth).begin();
  }

  /**
   * Prepares the iterator. If this throws, the library does the same again and throws again, from
   * the same record on.
   *
   * @return false if the library is to do it
   */
  private static boolean makeReady(ProgramIterator program, List<SeekableReader> all)
      throws CannotShareException {
    List<int[]> before = ProgramReaders.orders(all);
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

  /** Whether batches are made early; not those requested by the library's own thread. */
  private boolean prefetches() {
    return engine.prefetches()
        && engine.group() == null
        && !ReaderEpoch.isOfLibrary(Thread.currentThread());
  }

  /** An epoch that the program's iterator begins, and the sources of its batches. */
  private final class Beginning {
    private final ProgramEpoch epoch;
    private final Worth worth;
    private final boolean isEarly;
    private @Nullable ReaderPipeline pipeline;
    private @Nullable ReaderEpoch ours;

    Beginning(ProgramEpoch epoch, Worth worth) {
      this.epoch = epoch;
      this.worth = worth;
      this.isEarly = prefetches() && !hasItemsFetched(epoch.readers().values());
    }

    void begin() throws CannotShareException, IOException {
      EpochSource source =
          EpochEngine.choose(true, this::prefetched, this::staged, this::kept, this::own);
      if (source != null) {
        new IteratorEpoch(epoch, source).begin(Objects.requireNonNull(pipeline).orders());
      }
    }

    private @Nullable EpochSource kept(EpochEngine.Chosen<EpochSource> next)
        throws CannotShareException, IOException {
      EpochSource kept = engine.keeps() ? made(true) : null;
      return kept == null ? next.get() : kept;
    }

    private @Nullable EpochSource own() throws CannotShareException, IOException {
      return isEarly ? made(false) : null;
    }

    /** Batches that this job makes instead of the library; null if the library is to make them. */
    private @Nullable EpochSource made(boolean keeps) throws CannotShareException, IOException {
      if (!worth.isIt()) {
        return null;
      }
      long start = System.nanoTime();
      String reason = reasonToLeave(keeps);
      if (reason != null) {
        log.once(
            keeps ? PreparedSamples.leaves(epoch.name(), reason) : BatchPrefetcher.leaves(reason));
        return null;
      }
      Fingerprint fingerprint = new Fingerprint(parts(epoch));
      String text = Surroundings.process() + "\n" + fingerprint.parts();
      ReaderPipeline copies = new ReaderPipeline(epoch, fingerprint, false);
      ReaderEpoch mine = new ReaderEpoch(epoch, copies, text, unsteady, worth);
      EpochSource source =
          keeps
              ? engine.kept(mine, worth)
              : pure.reasonToLeave(OwnCode.of(epoch.readers().values())) == null
                  ? engine.own(mine, worth)
                  : null;
      worth.begun(System.nanoTime() - start, epoch.batches());
      pipeline = copies;
      ours = mine;
      return source;
    }

    private @Nullable String reasonToLeave(boolean keeps) {
      String reason =
          epoch.readers().values().stream()
              .map(SeekableReader::reasonNotToKeep)
              .filter(Objects::nonNull)
              .findFirst()
              .orElse(null);
      return reason == null && keeps ? reasonNotToKeep(epoch) : reason;
    }

    private @Nullable EpochSource staged(EpochEngine.Chosen<EpochSource> next)
        throws CannotShareException, IOException {
      EpochCoordinator group = engine.group();
      if (group == null) {
        return next.get();
      }
      Map<String, String> parts = parts(epoch);
      epoch
          .readers()
          .forEach((name, reader) -> parts.put(prefix(epoch, name) + "records", reader.content()));
      parts.put("preprocessor", Description.of("preprocessor", epoch.program().preprocessor()));
      ReaderPipeline copies = new ReaderPipeline(epoch, new Fingerprint(parts), true);
      for (SeekableReader reader : epoch.readers().values()) {
        // A program that initialises a reader during an epoch does not reset the iterator first,
        // and that epoch uses the same transform.
        group.end(reader.reader());
      }
      pipeline = copies;
      EpochSource staged = engine.staged(copies);
      return staged == null ? next.get() : staged;
    }

    private @Nullable EpochSource prefetched(EpochEngine.Chosen<EpochSource> next)
        throws CannotShareException, IOException {
      EpochSource won = next.get();
      ReaderEpoch mine = ours;
      return won == null || mine == null || !isEarly ? won : engine.prefetched(won, mine);
    }
  }

  /** Items of images are fetched by several threads, batches are made by one. */
  private boolean hasItemsFetched(Collection<SeekableReader> readers) {
    return fetchesItems
        && readers.stream()
            .anyMatch(reader -> reader.reader().getClass().getName().startsWith(IMAGES));
  }

  private @Nullable String reasonNotToKeep(ProgramEpoch epoch) {
    int order = 0;
    for (int[] one : epoch.orders()) {
      order = 31 * order + Arrays.hashCode(one);
    }
    Integer before = orders.put(epoch.program().get(), order);
    return before == null || before == order
        ? null
        : "its records come in another order in each epoch (decoded=share keeps images)";
  }

  private static String prefix(ProgramEpoch epoch, String name) {
    return epoch.readers().size() == 1 ? "" : name + ": ";
  }

  private Map<String, String> parts(ProgramEpoch epoch) throws CannotShareException, IOException {
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
