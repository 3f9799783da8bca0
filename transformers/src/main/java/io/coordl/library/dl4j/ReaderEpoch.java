package io.coordl.library.dl4j;

import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.Worth;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An epoch of this job over readers. Its units are whole batches with two stages: {@code pipeline}
 * creates them from records, and the program's preprocessor runs when they are handed over.
 *
 * @param text determines the first stage, apart from the records
 * @param unsteady preprocessors that may behave differently each time, by iterator
 * @param worth account of the costs and savings for this kind of iterator
 */
record ReaderEpoch(
    ProgramEpoch epoch,
    ReaderPipeline pipeline,
    String text,
    Map<Object, WeakReference<Object>> unsteady,
    Worth worth)
    implements LibraryEpoch {
  /**
   * @param text determines the first stage; may be long
   * @param around settings that the program can change at any time
   */
  private record Settings(String text, List<Object> around, Preprocessor preprocessor) {}

  private ProgramIterator iterator() {
    return epoch.program();
  }

  private Collection<SeekableReader> readers() {
    return epoch.readers().values();
  }

  @Override
  public Object dataset() {
    return iterator().wrapped();
  }

  @Override
  public String name() {
    return epoch.name();
  }

  @Override
  public long size() {
    return epoch.batches();
  }

  @Override
  public @Nullable Key identify(int batch) {
    return pipeline.identify(batch);
  }

  @Override
  public long variant() {
    return Surroundings.areInWorkspace() ? 1 : 0;
  }

  @Override
  public Object settings() {
    Object preprocessor = iterator().preprocessor();
    Preprocessor now;
    if (preprocessor == null) {
      now = Preprocessor.NONE;
    } else if (isUnsteady(preprocessor)) {
      now = Preprocessor.unknown(preprocessor);
    } else {
      now = Preprocessor.of(preprocessor);
    }
    return new Settings(text, Surroundings.settings(), now);
  }

  private boolean isUnsteady(Object preprocessor) {
    WeakReference<Object> reference = unsteady.get(dataset());
    return reference != null && reference.refersTo(preprocessor);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Object preprocessor = iterator().preprocessor();
    Settings then = (Settings) settings;
    return then.text.equals(text)
        && then.around.equals(Surroundings.settings())
        && (preprocessor == null
            ? then.preprocessor.object() == null
            : then.preprocessor.isOf(preprocessor));
  }

  @Override
  public @Nullable Object state(int batch) {
    Key records = isSteady() ? identify(batch) : null;
    return records == null ? null : text + Surroundings.settings() + variant() + records;
  }

  @Override
  public boolean isSteady() {
    return readers().stream().allMatch(SeekableReader::isSteady);
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Preprocessor preprocessor = ((Settings) settings).preprocessor;
    List<List<@Nullable Object>> stages = new ArrayList<>();
    stages.add(new ArrayList<>(OwnCode.of(readers())));
    if (preprocessor.text() != null) {
      WeakReference<Object> object = preprocessor.object();
      stages.add(Collections.singletonList(object == null ? null : object.get()));
    }
    return stages;
  }

  @Override
  public String describe(Object settings, int stage) {
    Settings now = (Settings) settings;
    return stage == 0 ? now.text + "\n" + now.around : String.valueOf(now.preprocessor.text());
  }

  @Override
  public String describe(String part, @Nullable Object value) throws CannotShareException {
    return Description.ofCodeInput(part, value);
  }

  @Override
  public boolean begin() {
    return pipeline.begin();
  }

  @Override
  public Object make(int batch) {
    return pipeline.make(batch);
  }

  /** False while the library's own thread requests batches, or in a workspace. */
  @Override
  public boolean mayRunEarly() {
    return !isOfLibrary(Thread.currentThread()) && !Surroundings.areInWorkspace();
  }

  /** Whether this is the library's thread that prefetches batches for {@code fit}. */
  static boolean isOfLibrary(Thread thread) {
    return thread.getClass().getSimpleName().equals("AsyncPrefetchThread");
  }

  @Override
  public void enterThread() {
    pipeline.enterThread();
  }

  @Override
  public @Nullable PreparedBatch toKeep(int batch, Object made, List<BatchLayout.Array> files) {
    Set<String> covered = pipeline.paths(batch);
    return BatchBytes.toKeep(
        made, files.stream().filter(file -> !covered.contains(file.name())).toList(), keepsItems());
  }

  @Override
  public Object read(BatchLayout layout, ByteBuffer bytes) {
    return BatchBytes.copied(layout, bytes);
  }

  @Override
  public void probe(BatchLayout layout, ByteBuffer bytes) {
    BatchBytes.probe(layout, bytes);
  }

  @Override
  public boolean handOver(Object batch) {
    iterator().preprocess(batch);
    return true;
  }

  @Override
  public void leaveHandOver() {
    Object preprocessor = iterator().preprocessor();
    if (preprocessor != null) {
      unsteady.put(dataset(), new WeakReference<>(preprocessor)); // It may refer to the iterator.
    }
  }

  @Override
  public boolean keepsItems() {
    return isOfImages(readers());
  }

  /** Whether some of the program's records are images, which are cached one by one. */
  static boolean isOfImages(Collection<SeekableReader> readers) {
    return readers.stream()
        .anyMatch(reader -> reader.reader().getClass().getName().startsWith("org.datavec.image."));
  }

  @Override
  public void ended() {
    pipeline.ended();
  }
}
