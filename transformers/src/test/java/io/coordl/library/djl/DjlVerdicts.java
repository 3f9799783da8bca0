package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.basicdataset.tabular.CsvDataset;
import ai.djl.basicdataset.tabular.utils.Feature;
import ai.djl.basicdataset.tabular.utils.Featurizer;
import ai.djl.basicdataset.tabular.utils.Featurizers;
import ai.djl.basicdataset.utils.TextData;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.BulkDataIterable;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.translate.Pipeline;
import ai.djl.translate.StackBatchifier;
import ai.djl.translate.Transform;
import ai.djl.util.passthrough.PassthroughNDArray;
import ai.djl.util.passthrough.PassthroughNDManager;
import io.coordl.library.Specimens;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.ClassFiles;
import java.io.IOException;
import java.io.StringReader;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Determines what {@code prepared=share} and {@code auto} do with a class of DJL. */
public final class DjlVerdicts {
  private static final NDManager MANAGER =
      (NDManager)
          Proxy.newProxyInstance(
              DjlVerdicts.class.getClassLoader(),
              new Class<?>[] {NDManager.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "getDevice" -> Device.cpu();
                    case "newSubManager" -> proxy;
                    default -> null;
                  });

  private final Specimens specimens = new Specimens();

  public DjlVerdicts() throws ReflectiveOperationException, IOException {
    CSVFormat format = CSVFormat.DEFAULT.builder().setHeader("c0").get();
    try (CSVParser parser = format.parse(new StringReader("1\n2\n"))) {
      specimens.with(CSVRecord.class, parser.getRecords().get(0));
    }
    NDArray array =
        new PassthroughNDArray(
            PassthroughNDManager.INSTANCE, "array", new Shape(2, 2), DataType.FLOAT32);
    TextData text = new TextData(TextData.getDefaultConfiguration());
    specimens
        .with(CSVFormat.class, format)
        .with(Featurizer.class, Featurizers.getNumericFeaturizer())
        .with(NDManager.class, PassthroughNDManager.INSTANCE)
        .with(NDArray.class, array)
        .fill(text, Object.class);
    specimens
        .with(TextData.class, text)
        .with(RandomAccessDataset.class, dataset(CsvDataset.class))
        .with(ArrayDataset.class, (ArrayDataset) dataset(ArrayDataset.class));
  }

  /** Returns a data set as it is after its preparation. */
  private RandomAccessDataset dataset(Class<?> type) throws ReflectiveOperationException {
    Object made = Specimens.empty(type);
    specimens.fill(made, RandomAccessDataset.class);
    return (RandomAccessDataset) made;
  }

  private RandomAccessDataset withFeature(Featurizer featurizer)
      throws ReflectiveOperationException {
    CsvDataset made = (CsvDataset) dataset(CsvDataset.class);
    made.getFeatures().set(0, new Feature("c0", featurizer));
    return made;
  }

  /** Returns the verdict on a class, in the words of the table. */
  public String of(Class<?> type) throws ReflectiveOperationException, IOException {
    if (Transform.class.isAssignableFrom(type)) {
      SampleVerdict verdict =
          verdict(dataset(CsvDataset.class), new Pipeline((Transform) specimens.of(type)));
      return verdict.kept() < verdict.stages()
          ? "cached up to it: " + verdict.reason()
          : draws(type)
              ? "cached up to it: it draws from `RandomUtils`, which the agent detects at run time"
              : "cached";
    } else if (Featurizer.class.isAssignableFrom(type)) {
      return describe(verdict(withFeature((Featurizer) specimens.of(type)), new Pipeline()));
    } else if (!RandomAccessDataset.class.isAssignableFrom(type)) {
      return "left alone: it is not a `RandomAccessDataset`";
    }
    return describe(verdict(dataset(type), new Pipeline()));
  }

  private static String describe(SampleVerdict verdict) {
    String reason = verdict.reason().replace(PassthroughNDArray.class.getName(), "NDArray");
    return verdict.isKept() ? "cached" : "refused: " + reason;
  }

  private static boolean draws(Class<?> type) {
    return ClassFiles.uses(type).stream()
        .anyMatch(
            used -> used.name().startsWith("random") || used.owner().endsWith("/RandomUtils"));
  }

  private static SampleVerdict verdict(RandomAccessDataset data, Pipeline pipeline)
      throws ReflectiveOperationException {
    BatchSampler sampler = new BatchSampler(new SequenceSampler(), 1);
    StackBatchifier stack = new StackBatchifier();
    Pipeline labels = new Pipeline();
    DataIterable over =
        data instanceof ArrayDataset arrays
            ? new BulkDataIterable(
                arrays, MANAGER, sampler, stack, stack, pipeline, labels, null, 0, null)
            : new DataIterable(
                data, MANAGER, sampler, stack, stack, pipeline, labels, null, 0, null);
    return Objects.requireNonNull(new ProvenSamples().apply(over), List.of(data)::toString);
  }
}
