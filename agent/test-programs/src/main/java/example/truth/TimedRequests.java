package example.truth;

import java.util.List;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/**
 * A custom iterator that wraps another and times every {@code hasNext} and {@code next}, for which
 * the calling loop waits. It does not allow the loop to add a prefetch thread; the inner iterator
 * may have one.
 */
final class TimedRequests implements DataSetIterator {
  private final DataSetIterator data;
  private final Waits waits;

  TimedRequests(DataSetIterator data, Waits waits) {
    this.data = data;
    this.waits = waits;
  }

  @Override
  public boolean hasNext() {
    long start = System.nanoTime();
    boolean more = data.hasNext();
    waits.waited(System.nanoTime() - start);
    return more;
  }

  @Override
  public DataSet next() {
    long start = System.nanoTime();
    DataSet batch = data.next();
    waits.waited(System.nanoTime() - start);
    return batch;
  }

  @Override
  public DataSet next(int examples) {
    long start = System.nanoTime();
    DataSet batch = data.next(examples);
    waits.waited(System.nanoTime() - start);
    return batch;
  }

  @Override
  public void reset() {
    data.reset();
  }

  @Override
  public boolean resetSupported() {
    return data.resetSupported();
  }

  @Override
  public boolean asyncSupported() {
    return false;
  }

  @Override
  public int inputColumns() {
    return data.inputColumns();
  }

  @Override
  public int totalOutcomes() {
    return data.totalOutcomes();
  }

  @Override
  public int batch() {
    return data.batch();
  }

  @Override
  public void setPreProcessor(DataSetPreProcessor preProcessor) {
    data.setPreProcessor(preProcessor);
  }

  @Override
  public DataSetPreProcessor getPreProcessor() {
    return data.getPreProcessor();
  }

  @Override
  public List<String> getLabels() {
    return data.getLabels();
  }
}
