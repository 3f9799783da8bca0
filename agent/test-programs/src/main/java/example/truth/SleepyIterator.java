package example.truth;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.factory.Nd4j;

/** A custom iterator; each batch takes a known time to make. */
final class SleepyIterator implements DataSetIterator {
  static final int EXAMPLES = 16;
  static final int INPUTS = 8;
  static final int CLASSES = 4;

  /** Live objects for the garbage collector; if there are any, each batch requests a collection. */
  private static final Object[] COLLECTED =
      Stream.generate(() -> new byte[1_000])
          .limit(Integer.getInteger("truth.collected", 0))
          .toArray();

  private final Settings settings;
  private final Waits waits;
  private final boolean async;
  private final byte[] buffer = new byte[1 << 16];
  private volatile int next;

  SleepyIterator(Settings settings, Waits waits, boolean async) {
    this.settings = settings;
    this.waits = waits;
    this.async = async;
  }

  @Override
  public boolean hasNext() {
    return next < settings.batches();
  }

  @Override
  public DataSet next() {
    return next(EXAMPLES);
  }

  @Override
  public DataSet next(int examples) {
    int batch = next;
    next = batch + 1;
    long begun = System.nanoTime();
    if (settings.reads()) {
      fetch();
      waits.fetched(System.nanoTime() - begun);
    }
    Hang.hangIfDue(settings);
    Pause.millis(settings.prepMillis());
    if (COLLECTED.length > 0) {
      System.gc();
    }
    INDArray data = Nd4j.ones(DataType.FLOAT, examples, INPUTS).muli(batch + 1);
    INDArray labels = Nd4j.zeros(DataType.FLOAT, examples, CLASSES);
    for (int i = 0; i < examples; i++) {
      labels.putScalar(i, (i + batch) % CLASSES, 1);
    }
    waits.produced(batch, begun, System.nanoTime());
    return new Noted(data, labels, batch, waits);
  }

  /** Reads the file from the page cache or a disk; how long this takes is measured, not known. */
  private void fetch() {
    try (InputStream in = new FileInputStream(settings.file())) {
      while (in.read(buffer) >= 0) {
        // Read all of it.
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A custom batch that notes when the training thread first looks into it. */
  @SuppressWarnings("serial")
  private static final class Noted extends DataSet {
    private final transient int batch;
    private final transient Waits waits;

    Noted(INDArray data, INDArray labels, int batch, Waits waits) {
      super(data, labels);
      this.batch = batch;
      this.waits = waits;
    }

    @Override
    public INDArray getFeatures() {
      if (waits != null) { // The super constructor may call this.
        waits.read(batch);
      }
      return super.getFeatures();
    }
  }

  @Override
  public void reset() {
    waits.restart();
    next = 0;
  }

  @Override
  public boolean resetSupported() {
    return true;
  }

  @Override
  public boolean asyncSupported() {
    return async;
  }

  @Override
  public int inputColumns() {
    return INPUTS;
  }

  @Override
  public int totalOutcomes() {
    return CLASSES;
  }

  @Override
  public int batch() {
    return EXAMPLES;
  }

  @Override
  public void setPreProcessor(DataSetPreProcessor preProcessor) {
    throw new UnsupportedOperationException("This iterator has no preprocessor.");
  }

  @Override
  public DataSetPreProcessor getPreProcessor() {
    return null;
  }

  @Override
  public List<String> getLabels() {
    return null;
  }
}
