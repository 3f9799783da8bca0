package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.staging.Fingerprint;
import java.net.URI;
import java.util.Random;
import java.util.stream.Stream;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.io.labels.PathLabelGenerator;
import org.datavec.api.writable.Text;
import org.datavec.api.writable.Writable;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.transform.ImageTransform;
import org.datavec.image.transform.ResizeImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;

/** Of two jobs whose batches may differ, each is told exactly what differs. */
class PipelinePartsTest {
  /** Labels of the program's own. */
  private static final class NamesOfFiles implements PathLabelGenerator {
    private static final long serialVersionUID = 1;

    @Override
    public Writable getLabelForPath(String path) {
      return new Text(path);
    }

    @Override
    public Writable getLabelForPath(URI path) {
      return getLabelForPath(path.getPath());
    }

    @Override
    public boolean inferLabelClasses() {
      return true;
    }
  }

  /** A job's settings, one of which another changes. */
  private record Job(
      String images,
      int size,
      int batchSize,
      String dataType,
      PathLabelGenerator labels,
      ImageTransform transform,
      int classes) {
    static final Job USUAL =
        new Job("6 images", 32, 4, "FLOAT", new ParentPathLabelGenerator(), resize(8), 3);

    private static ImageTransform resize(int size) {
      return new ResizeImageTransform(new Random(1), size, size);
    }
  }

  private record Change(String what, Job other, String told) {
    @Override
    public String toString() {
      return what;
    }
  }

  static Stream<Change> changes() {
    Job u = Job.USUAL;
    return Stream.of(
        new Change(
            "images",
            new Job("7 images", 32, 4, "FLOAT", u.labels, u.transform, 3),
            "its images is 7 images, not 6 images"),
        new Change(
            "size",
            new Job(u.images, 64, 4, "FLOAT", u.labels, u.transform, 3),
            "its image size (channels x height x width) is 3x64x64, not 3x32x32"),
        new Change(
            "batch size",
            new Job(u.images, 32, 8, "FLOAT", u.labels, u.transform, 3),
            "its batch size is 8, not 4"),
        new Change(
            "data type",
            new Job(u.images, 32, 4, "DOUBLE", u.labels, u.transform, 3),
            "its data type is DOUBLE, not FLOAT"),
        new Change(
            "label source",
            new Job(u.images, 32, 4, "FLOAT", new NamesOfFiles(), u.transform, 3),
            "its label generator is " + NamesOfFiles.class.getName() + "(class file "),
        new Change(
            "setting of a transform",
            new Job(u.images, 32, 4, "FLOAT", u.labels, Job.resize(9), 3),
            "its image transform is ResizeImageTransform("),
        new Change(
            "no transform",
            new Job(u.images, 32, 4, "FLOAT", u.labels, null, 3),
            "its image transform is none, not ResizeImageTransform("),
        new Change(
            "classes",
            new Job(u.images, 32, 4, "FLOAT", u.labels, u.transform, 5),
            "its classes is 5, not 3"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("changes")
  void whatDiffersIsTold(Change change) throws Exception {
    Fingerprint usual = parts(Job.USUAL, 0);
    Fingerprint other = parts(change.other(), 0);
    assertThat(other).isNotEqualTo(usual);
    assertThat(other.difference(usual)).startsWith(change.told());
    assertThat(usual.difference(other)).isNotNull();
  }

  @Test
  void thePreprocessorIsTold() throws Exception {
    assertThat(parts(Job.USUAL, 1).difference(parts(Job.USUAL, 0)))
        .startsWith("its preprocessor is ImagePreProcessingScaler(minRange=1.0");
  }

  @Test
  void equalJobsHaveEqualParts() throws Exception {
    Job u = Job.USUAL;
    Job equal = new Job(u.images, 32, 4, "FLOAT", new ParentPathLabelGenerator(), Job.resize(8), 3);
    assertThat(parts(equal, 0)).isEqualTo(parts(u, 0));
    assertThat(parts(equal, 0).difference(parts(u, 0))).isNull();
  }

  private static Fingerprint parts(Job job, double minimum) throws Exception {
    ImageRecordReader reader =
        new ImageRecordReader(job.size(), job.size(), 3, job.labels(), job.transform());
    RecordReaderDataSetIterator iterator =
        new RecordReaderDataSetIterator(reader, job.batchSize(), 1, job.classes());
    iterator.setPreProcessor(new ImagePreProcessingScaler(minimum, 2));
    RecordReaderMultiDataSetIterator arrays =
        new RecordReaderMultiDataSetIterator.Builder(job.batchSize())
            .addReader("images", reader)
            .addInput("images")
            .build();
    return PipelineParts.of(iterator, reader, arrays, job.images(), job.dataType(), "its code");
  }
}
