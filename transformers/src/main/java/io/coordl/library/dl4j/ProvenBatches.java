package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.PurityAnalyzer;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.datavec.api.records.reader.RecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the batches of an iterator could be cached, apart from the order of its records,
 * which is known only after several epochs. Read-only; any thread.
 */
public final class ProvenBatches implements Function<Object, @Nullable SampleVerdict> {
  private static final List<String> LIBRARY = List.of("org.deeplearning4j.", "org.nd4j.");

  private final BackedIterator backed;
  private final ProgramReaders readers = new ProgramReaders();

  public ProvenBatches() throws NoSuchFieldException {
    backed = new BackedIterator();
    ProgramIterator.require();
  }

  @Override
  public @Nullable SampleVerdict apply(Object iterator) {
    Object inner = backed.apply(iterator);
    String source = inner.getClass().getName();
    if (OwnSource.isOwn(inner.getClass())) {
      return ofOwn(inner);
    }
    if (!(inner instanceof RecordReaderDataSetIterator
        || inner instanceof RecordReaderMultiDataSetIterator
        || inner instanceof SequenceRecordReaderDataSetIterator)) {
      // Classes of the program may wrap iterators whose batches can be cached.
      return LIBRARY.stream().anyMatch(source::startsWith)
          ? refused(
              source, "of the library's iterators, only those over DataVec readers are cached", "")
          : null;
    }
    ProgramIterator program = new ProgramIterator(inner);
    List<RecordReader> ownReaders = program.ownReaders();
    if (!ownReaders.isEmpty()) {
      return ofOwn(ownReaders.get(0));
    }
    try {
      Collection<SeekableReader> found = readers.of(program).values();
      String reason =
          found.stream()
              .map(SeekableReader::reasonNotToKeep)
              .filter(Objects::nonNull)
              .findFirst()
              .orElse(null);
      if (reason != null) {
        return refused(source, reason, "");
      }
      List<Object> own = OwnCode.of(found);
      reason = new PurityAnalyzer("", new KnownDl4j(false)).reasonToLeave(own);
      return reason == null
          ? new SampleVerdict(source, 1, 1, "", "", null)
          : refused(source, reason, own.isEmpty() ? "" : own.get(0).getClass().getName());
    } catch (CannotShareException e) {
      return refused(source, "it does not support " + e.getMessage(), "");
    }
  }

  /** Checks an iterator or a reader of the program's own class. */
  private static SampleVerdict ofOwn(Object own) {
    String source = own.getClass().getName();
    String reason = new PurityAnalyzer("", new KnownDl4j(true)).reasonToLeave(List.of(own));
    return reason == null
        ? new SampleVerdict(source, 1, 1, "", "", null)
        : refused(source, reason, "");
  }

  private static SampleVerdict refused(String source, String reason, String vouch) {
    return new SampleVerdict(source, 1, 0, reason, vouch, null);
  }
}
