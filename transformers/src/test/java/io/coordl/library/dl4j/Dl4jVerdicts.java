package io.coordl.library.dl4j;

import io.coordl.library.Specimens;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.PurityAnalyzer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import org.datavec.api.conf.Configuration;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.io.labels.PathLabelGenerator;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVRecordReader;
import org.datavec.api.records.reader.impl.csv.CSVSequenceRecordReader;
import org.datavec.api.records.reader.impl.jackson.JacksonRecordReader;
import org.datavec.api.records.reader.impl.misc.SVMLightRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessRecordReader;
import org.datavec.api.records.reader.impl.transform.TransformProcessSequenceRecordReader;
import org.datavec.api.split.CollectionInputSplit;
import org.datavec.api.split.FileSplit;
import org.datavec.api.split.ListStringSplit;
import org.datavec.api.transform.DataAction;
import org.datavec.api.transform.Transform;
import org.datavec.api.transform.TransformProcess;
import org.datavec.api.transform.condition.Condition;
import org.datavec.api.transform.condition.ConditionOp;
import org.datavec.api.transform.condition.column.IntegerColumnCondition;
import org.datavec.api.transform.filter.Filter;
import org.datavec.api.transform.reduce.IAssociativeReducer;
import org.datavec.api.transform.reduce.Reducer;
import org.datavec.api.transform.schema.Schema;
import org.datavec.api.transform.sequence.window.TimeWindowFunction;
import org.datavec.api.transform.sequence.window.WindowFunction;
import org.datavec.api.writable.IntWritable;
import org.datavec.api.writable.Writable;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.datavec.image.recordreader.objdetect.ImageObjectLabelProvider;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.recordreader.objdetect.impl.VocLabelProvider;
import org.datavec.image.transform.ImageTransform;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator;
import org.joda.time.DateTimeFieldType;
import org.joda.time.DateTimeZone;
import org.jspecify.annotations.Nullable;
import org.nd4j.common.loader.FileBatch;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;

/**
 * Determines what {@code prepared=share} and {@code auto} do with a class of DL4J, DataVec or ND4J.
 */
public final class Dl4jVerdicts {
  private static final String KEPT = "cached";

  private final Specimens specimens = new Specimens();
  private final Path lines;
  private final Path folder;

  /** Writes a few small files into {@code folder}. */
  public Dl4jVerdicts(Path folder) throws Exception {
    this.folder = Files.createDirectories(folder.resolve("label"));
    lines = Files.writeString(folder.resolve("a.csv"), "1,2\n3,4\n");
    Files.writeString(this.folder.resolve("a.png"), "1");
    Files.createDirectories(folder.resolve("Annotations"));
    Schema schema =
        new Schema.Builder().addColumnInteger("c0").addColumnCategorical("c1", "a", "b").build();
    Condition condition = new IntegerColumnCondition("c0", ConditionOp.Equal, 1);
    condition.setInputSchema(schema);
    specimens
        .with(Schema.class, schema)
        .with(Writable.class, new IntWritable(1))
        .with(Condition.class, condition)
        .with(DateTimeZone.class, DateTimeZone.UTC)
        .with(DateTimeFieldType.class, DateTimeFieldType.dayOfMonth())
        .with(Locale.class, Locale.ROOT)
        .with(Random.class, new Random(1))
        .with(
            IAssociativeReducer.class,
            new Reducer.Builder(org.datavec.api.transform.ReduceOp.Sum).build())
        .with(
            WindowFunction.class,
            new TimeWindowFunction("c0", 1, java.util.concurrent.TimeUnit.SECONDS))
        .with(PathLabelGenerator.class, new ParentPathLabelGenerator())
        .with(ImageObjectLabelProvider.class, new VocLabelProvider(folder.toString()))
        .with(FileBatch.class, new FileBatch(List.of(new byte[] {'1'}), List.of("a")))
        .with(RecordReader.class, csv())
        .with(SequenceRecordReader.class, sequences())
        .with(TransformProcess.class, process(null, null));
  }

  private RecordReader csv() throws Exception {
    RecordReader reader = new CSVRecordReader();
    reader.initialize(new FileSplit(lines.toFile()));
    return reader;
  }

  private SequenceRecordReader sequences() throws Exception {
    SequenceRecordReader reader = new CSVSequenceRecordReader();
    reader.initialize(new FileSplit(lines.toFile()));
    return reader;
  }

  /** Makes a process without the builder, which would run the steps over its schema. */
  private TransformProcess process(@Nullable Transform step, @Nullable Filter filter) {
    TransformProcess process =
        new TransformProcess(Objects.requireNonNull((Schema) known(Schema.class)), List.of());
    List<DataAction> actions = new ArrayList<>();
    if (step != null) {
      actions.add(new DataAction(step));
    }
    if (filter != null) {
      actions.add(new DataAction(filter));
    }
    SeekableReader.field(TransformProcess.class, "actionList").set(process, actions);
    return process;
  }

  private @Nullable Object known(Class<?> type) {
    try {
      return specimens.of(type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }

  /** Returns the verdict on a class, as the documentation's table words it. */
  public String of(Class<?> type) throws Exception {
    if (RecordReader.class.isAssignableFrom(type)) {
      return ofReader(reader(type));
    } else if (Transform.class.isAssignableFrom(type)) {
      return ofProcess(process((Transform) specimens.of(type), null));
    } else if (Filter.class.isAssignableFrom(type)) {
      return ofProcess(process(null, (Filter) specimens.of(type)));
    } else if (ImageTransform.class.isAssignableFrom(type)) {
      return ofReader(images(ImageRecordReader.class, null, made(type)));
    } else if (PathLabelGenerator.class.isAssignableFrom(type)) {
      return ofReader(images(ImageRecordReader.class, specimens.of(type), null));
    } else if (ImageObjectLabelProvider.class.isAssignableFrom(type)) {
      return ofReader(detection(Specimens.empty(type)));
    } else if (DataSetPreProcessor.class.isAssignableFrom(type)
        || MultiDataSetPreProcessor.class.isAssignableFrom(type)) {
      return ofPreprocessor(type);
    }
    return describe(new ProvenBatches().apply(iterator(type)));
  }

  /** Makes an object, with empty fields if its constructors fail, as they do without OpenCV. */
  private Object made(Class<?> type) throws ReflectiveOperationException {
    try {
      return specimens.of(type);
    } catch (ReflectiveOperationException | LinkageError e) {
      return Specimens.empty(type);
    }
  }

  private RecordReader reader(Class<?> type) throws Exception {
    if (type == TransformProcessRecordReader.class) {
      return new TransformProcessRecordReader(csv(), process(null, null));
    } else if (type == TransformProcessSequenceRecordReader.class) {
      return new TransformProcessSequenceRecordReader(sequences(), process(null, null));
    } else if (type == ImageRecordReader.class) {
      return images(ImageRecordReader.class, new ParentPathLabelGenerator(), null);
    } else if (type == ObjectDetectionRecordReader.class) {
      return detection(new VocLabelProvider(folder.getParent().toString()));
    }
    RecordReader reader = (RecordReader) specimens.of(type);
    if (type.getSimpleName().equals("ListStringRecordReader")) {
      reader.initialize(new ListStringSplit(List.of(List.of("1"))));
    } else if (!type.getName()
        .matches(".*[.](InMemory|FileBatch|Collection|Composable|Concat).*")) {
      Configuration settings = new Configuration();
      settings.setInt(SVMLightRecordReader.NUM_FEATURES, 2);
      reader.initialize(
          settings,
          reader instanceof JacksonRecordReader
              ? new CollectionInputSplit(List.of(lines.toUri()))
              : new FileSplit(lines.toFile()));
    }
    return reader;
  }

  /** Returns a reader as it is after its initialisation; creating a loader would need OpenCV. */
  private RecordReader images(Class<?> type, @Nullable Object labels, @Nullable Object transform)
      throws ReflectiveOperationException {
    RecordReader reader = (RecordReader) Specimens.empty(type);
    FileSplit split = new FileSplit(folder.toFile());
    set(reader, "inputSplit", split);
    set(reader, "iter", List.of(folder.resolve("a.png").toFile()).iterator());
    set(reader, "imageLoader", Specimens.empty(NativeImageLoader.class));
    set(reader, "labelGenerator", labels);
    set(reader, "imageTransform", transform);
    return reader;
  }

  private static void set(RecordReader reader, String field, @Nullable Object value) {
    SeekableReader.field(BaseImageRecordReader.class, field).set(reader, value);
  }

  private RecordReader detection(Object labels) throws ReflectiveOperationException {
    RecordReader reader = images(ObjectDetectionRecordReader.class, null, null);
    SeekableReader.field(ObjectDetectionRecordReader.class, "labelProvider").set(reader, labels);
    return reader;
  }

  private String ofProcess(TransformProcess process) throws Exception {
    return ofReader(new TransformProcessRecordReader(csv(), process));
  }

  private static String ofReader(RecordReader reader) {
    RecordReaderMultiDataSetIterator.Builder builder =
        new RecordReaderMultiDataSetIterator.Builder(2);
    RecordReaderMultiDataSetIterator over =
        reader instanceof SequenceRecordReader sequences
            ? builder.addSequenceReader("r", sequences).addInput("r").build()
            : builder.addReader("r", reader).addInput("r").build();
    try {
      SampleVerdict verdict = Objects.requireNonNull(new ProvenBatches().apply(over));
      if (verdict.isKept()) {
        for (SeekableReader one : new ProgramReaders().of(new ProgramIterator(over)).values()) {
          one.describe(new HashMap<>(), "");
        }
      }
      return describe(verdict);
    } catch (CannotShareException e) {
      return "refused: `prepared=share` does not support " + e.getMessage();
    } catch (IOException | NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }

  private String ofPreprocessor(Class<?> type) throws ReflectiveOperationException {
    Object preprocessor = made(type);
    String reason =
        new PurityAnalyzer("", new KnownDl4j(false)).reasonToLeave(List.of(preprocessor));
    try {
      Description.ofCodeInput("preprocessor", preprocessor);
    } catch (CannotShareException e) {
      return "cached up to it: " + e.getMessage() + " cannot be compared";
    }
    return reason == null ? KEPT : "cached up to it: " + reason;
  }

  /** Returns an iterator as it is after its creation over a reader. */
  private Object iterator(Class<?> type) throws Exception {
    if (type == RecordReaderMultiDataSetIterator.class) {
      return new RecordReaderMultiDataSetIterator.Builder(2)
          .addReader("r", csv())
          .addInput("r")
          .build();
    }
    Object made = Specimens.empty(type);
    if (made instanceof RecordReaderDataSetIterator) {
      RecordReader reader =
          type == RecordReaderDataSetIterator.class
              ? csv()
              : images(ImageRecordReader.class, new ParentPathLabelGenerator(), null);
      LibraryField.copyAll(new RecordReaderDataSetIterator(reader, 2), made);
    } else if (made instanceof SequenceRecordReaderDataSetIterator) {
      LibraryField.copyAll(new SequenceRecordReaderDataSetIterator(sequences(), 2, -1, -1), made);
    }
    return made;
  }

  private static String describe(@Nullable SampleVerdict verdict) {
    return verdict == null
        ? "left alone"
        : verdict.isKept()
            ? KEPT
            : "refused: " + verdict.reason().replaceFirst("^it does ", "`prepared=share` does ");
  }
}
