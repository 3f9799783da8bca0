package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.purity.PurityAnalyzer;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import org.apache.commons.io.FileUtils;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.writable.Text;
import org.datavec.api.writable.Writable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.api.DataSet;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.preprocessor.CompositeDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.dataset.api.preprocessor.NormalizerStandardize;
import org.nd4j.linalg.dataset.api.preprocessor.classimbalance.UnderSamplingByMaskingPreProcessor;
import org.nd4j.linalg.factory.Nd4j;

/** Which preprocessors and label generators are deterministic, so that results may be cached. */
class KnownDl4jTest {
  private static final PurityAnalyzer CODE = new PurityAnalyzer("", new KnownDl4j(false));

  private static @Nullable String reason(Object part) {
    return CODE.reasonToLeave(List.of(part));
  }

  /** Depends only on its argument. */
  static final class Scaled implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private final double factor = 0.5;

    @Override
    public void preProcess(DataSet batch) {
      batch.setFeatures(batch.getFeatures().castTo(DataType.FLOAT).mul(factor).addi(1));
      batch.setLabels(Nd4j.concat(1, batch.getLabels(), Nd4j.ones(batch.numExamples(), 1)));
    }
  }

  /** Uses uninitialised memory. */
  static final class Uninitialized implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.setLabels(Nd4j.createUninitialized(batch.numExamples()));
    }
  }

  /** Draws random numbers. */
  static final class Noise implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi(Nd4j.rand(1));
    }
  }

  /** Counts its calls. */
  static final class Counted implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private int calls;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi(++calls);
    }
  }

  /** Depends on the workspace in which it runs. */
  static final class Attached implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi(batch.getFeatures().isAttached() ? 1 : 0);
    }
  }

  /** Labels by the folder's name. */
  static final class Upper extends ParentPathLabelGenerator {
    private static final long serialVersionUID = 1;

    @Override
    public Writable getLabelForPath(String path) {
      return new Text(super.getLabelForPath(path).toString().trim());
    }
  }

  @Test
  void repeatablePartsMayBeKept() {
    assertThat(reason(new Scaled())).isNull();
    assertThat(reason(new Upper())).isNull();
    assertThat(reason(new NormalizerStandardize())).isNull();
    assertThat(
            reason(new CompositeDataSetPreProcessor(new ImagePreProcessingScaler(), new Scaled())))
        .isNull();
    assertThat(reason(new CompositeDataSetPreProcessor(batch -> batch.getFeatures().muli(2))))
        .isNull();
  }

  @Test
  void refusalNamesTheReason() {
    assertThat(new KnownDl4j(false).reasonToLeave(INDArray.class))
        .contains("the program may change");
    assertThat(reason(new Uninitialized())).contains("Nd4j.createUninitialized");
    assertThat(reason(new Noise())).contains("Nd4j.rand");
    assertThat(reason(new Counted())).contains("sets its field calls");
    assertThat(reason(new Attached())).contains("INDArray.isAttached");
    assertThat(reason(new CSVRecordReader())).endsWith("is not known to do the same each time");
    assertThat(reason(new UnderSamplingByMaskingPreProcessor(0.5, 2)))
        .contains("which draws random numbers");
    assertThat(reason(new CompositeDataSetPreProcessor(new Scaled(), new Counted())))
        .contains("sets its field calls");
    float[] factors = {2};
    assertThat(
            reason(new CompositeDataSetPreProcessor(batch -> batch.getFeatures().muli(factors[0]))))
        .contains("captures an array");
  }

  /** Opens its file in a superclass constructor, not by a call of the program. */
  static final class Stream extends FileInputStream {
    Stream(String path) throws IOException {
      super(path);
    }
  }

  /** Reads a file. */
  static class Opening implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    InputStream open() throws IOException {
      return new FileInputStream("table");
    }

    @Override
    public void preProcess(DataSet batch) {
      try (InputStream in = open()) {
        batch.getFeatures().addi(in.read());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  static final class OpeningItsOwn extends Opening {
    private static final long serialVersionUID = 1;

    @Override
    InputStream open() throws IOException {
      return new Stream("table");
    }
  }

  static final class OpeningWithCommonsIo extends Opening {
    private static final long serialVersionUID = 1;

    @Override
    InputStream open() throws IOException {
      return FileUtils.openInputStream(new File("table"));
    }
  }

  /** Depends on the default locale. */
  static final class Lowering implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    @SuppressWarnings("StringCaseLocaleUsage") // The default locale is the point.
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi((int) "I".toLowerCase().charAt(0));
    }
  }

  /** Their iterators' files and locale are compared before each batch. */
  @Test
  void filesAndTheLocaleAreInputsOfIterators() {
    PurityAnalyzer iterators = new PurityAnalyzer("", new KnownDl4j(true));
    assertThat(iterators.reasonToLeave(List.of(new OpeningWithCommonsIo()))).isNull();
    assertThat(reason(new OpeningWithCommonsIo())).contains("reads a file");
    assertThat(iterators.prove(List.of(new Lowering())).values().isEmpty()).isFalse();
    assertThat(iterators.reasonToLeave(List.of(new Lowering()))).isNull();
    assertThat(reason(new Lowering())).contains("uses java.lang.String.toLowerCase");
  }

  /** The settings of its static preprocessor may change unnoticed. */
  static final class OfAStatic implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;
    private static final DataSetPreProcessor SCALER = new ImagePreProcessingScaler(0, 1);

    @Override
    public void preProcess(DataSet batch) {
      SCALER.preProcess(batch);
    }
  }

  /** Reads its file when the class is first used. */
  static final class Late {
    static final int SHIFT = read();

    private Late() {}

    static int read() {
      try (InputStream in = new FileInputStream("table")) {
        return in.read();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  static final class OfALateClass implements DataSetPreProcessor {
    private static final long serialVersionUID = 1;

    @Override
    public void preProcess(DataSet batch) {
      batch.getFeatures().addi(Late.SHIFT);
    }
  }

  @Test
  void differentClassesOfOneNameAreRefused() throws ReflectiveOperationException {
    assertThat(CODE.reasonToLeave(List.of(twin(1), twin(1)))).isNull();
    assertThat(CODE.reasonToLeave(List.of(twin(1), twin(2))))
        .contains("class loaders have different classes named program.Twin");
  }

  private static Object twin(int number) throws ReflectiveOperationException {
    return new ByteBuddy()
        .subclass(Object.class)
        .name("program.Twin")
        .defineMethod("of", int.class, Visibility.PUBLIC)
        .intercept(FixedValue.value(number))
        .make()
        .load(KnownDl4jTest.class.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER_PERSISTENT)
        .getLoaded()
        .getDeclaredConstructor()
        .newInstance();
  }

  @Test
  void staticPreprocessorsAndFilesReadByInitialisersAreRefused() {
    PurityAnalyzer code = new PurityAnalyzer("", new KnownDl4j(true));
    assertThat(code.reasonToLeave(List.of(new OfAStatic())))
        .contains("ImagePreProcessingScaler in a static field, where changes are not seen");
    assertThat(code.reasonToLeave(List.of(new OfALateClass())))
        .contains("Late.read reads a file during class initialisation");
  }

  @Test
  void readsThatCannotBeSeenAreRefused() {
    PurityAnalyzer code = new PurityAnalyzer("", new KnownDl4j(true));
    assertThat(code.reasonToLeave(List.of(new Opening()))).isNull();
    assertThat(code.reasonToLeave(List.of(new OpeningItsOwn())))
        .contains("Stream.<init> reads a file through a method reference or its superclass");
  }
}
