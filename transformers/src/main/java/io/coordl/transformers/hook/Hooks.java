package io.coordl.transformers.hook;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.ASSEMBLE;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.CONVERT;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.EPOCH;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.PRODUCER;
import static io.coordl.bridge.SpanKind.SAMPLE;
import static io.coordl.bridge.SpanKind.TAKE;
import static io.coordl.bridge.SpanKind.TRANSFORM;
import static io.coordl.bridge.SpanKind.UPDATE;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.hook.HookRule.Weave;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Every method that is marked or intercepted, on one page. */
public final class Hooks {
  public static final String PREFETCH = "prefetch=N";
  public static final String PREPARED = "prepared=share";
  public static final String PROFILE = "profile=PHASE";
  public static final String ATOMIC = "checkpoint=atomic";
  public static final String ASYNC = "checkpoint=async";
  public static final String CHECKPOINTS = "checkpoint.every";
  public static final String RESUME = "resume";
  static final String COORDINATE = "prep=coordinate";
  public static final String SHARE = "decoded=share";

  private static final String DATASET = "ai/djl/training/dataset/";
  private static final String BATCH = "Lai/djl/training/dataset/Batch;";
  private static final String IMAGE = "Lai/djl/modality/cv/Image;";
  private static final String DATA_SET = "Lorg/nd4j/linalg/dataset/DataSet;";
  private static final String MULTI_DATA_SET = "Lorg/nd4j/linalg/dataset/api/MultiDataSet;";
  private static final String ARRAY = "Lorg/nd4j/linalg/api/ndarray/INDArray;";
  private static final String NORMALIZATION =
      "Lorg/nd4j/linalg/dataset/api/preprocessor/DataNormalization;";
  private static final String OPENCV = "ai/djl/opencv/";

  private Hooks() {}

  /**
   * Whether a class looks like a source of batches and is none: DL4J and SameDiff wrap the single
   * batch of {@code fit(DataSet)} in such an iterator, and each step would be an epoch.
   */
  static boolean isNoData(String internalName) {
    return (internalName.startsWith("org/nd4j/") || internalName.startsWith("org/deeplearning4j/"))
        && internalName.contains("/Singleton");
  }

  /** All rules, DJL first: of each library the spans, then the interceptions. */
  public static List<HookRule> all() {
    return with(rule -> true);
  }

  /** The spans, and what the policies in force intercept. */
  public static List<HookRule> with(Predicate<HookRule.Interceptor> inForce) {
    List<HookRule> all = new ArrayList<>();
    for (List<HookRule> rules : List.of(djl(), dl4j())) {
      for (HookRule rule : rules) {
        HookRule.Interceptor interceptor = rule.interceptor();
        if (interceptor == null || inForce.test(interceptor)) {
          all.add(rule);
        }
      }
    }
    return all;
  }

  private static List<HookRule> djl() {
    String data = "(Lai/djl/ndarray/NDManager;";
    String list = "Lai/djl/ndarray/NDList;";
    String nd = "Lai/djl/ndarray/NDArray;";
    String iterable = DATASET + "DataIterable";
    String sample = "sample(Lai/djl/training/dataset/RandomAccessDataset;)Ljava/util/Iterator;";
    String fetch = "fetch(Ljava/util/List;I)" + BATCH;
    String fromFile = "fromFile(Ljava/nio/file/Path;)" + IMAGE;
    String prepare = "prepare(Lai/djl/util/Progress;)V";
    Table table = new Table("DJL", "DJL 0.35.1");
    // Loops over batches.
    table.span(TAKE, null, "next()" + BATCH);
    table.beside(ASK, "next()" + BATCH, "hasNext()Z");
    for (String executor : new String[] {"", "Ljava/util/concurrent/ExecutorService;"}) {
      String method = "getData" + data + executor + ")Ljava/lang/Iterable;";
      table.add(Weave.TIMED_ITERABLE, EPOCH, null, null, method);
    }
    // Preparing a batch.
    table.span(PRODUCER, iterable + "$PreFetchCallable", "call()" + BATCH);
    table.span(SpanKind.BATCH, null, fetch);
    table.span(SAMPLE, null, "get" + data + "J)Lai/djl/training/dataset/Record;");
    table.span(
        DECODE,
        null,
        fromFile,
        "fromInputStream(Ljava/io/InputStream;)" + IMAGE,
        "fromUrl(Ljava/net/URL;)" + IMAGE);
    table.span(CONVERT, null, "toNDArray" + data + "Lai/djl/modality/cv/Image$Flag;)" + nd);
    table.span(ASSEMBLE, "ai/djl/translate/Pipeline", "transform(" + list + ")" + list);
    table.span(TRANSFORM, null, "transform(" + nd + ")" + nd);
    table.span(ASSEMBLE, null, "batchify([" + list + ")" + list);
    // Training.
    table.span(FIT, "ai/djl/training/EasyTrain", "fit", "evaluateDataset");
    table.span(COMPUTE, "ai/djl/training/Trainer", "forward", "evaluate");
    table.span(UPDATE, "ai/djl/training/Trainer", "step()V");
    table.span(CHECKPOINT, "ai/djl/BaseModel", "save(Ljava/nio/file/Path;Ljava/lang/String;)V");
    // Of several that intercept a method the first is nearest to its body.
    table.by("djl.ProfiledBatches", PROFILE);
    table.intercept(null, "next()" + BATCH);
    table.intercept(iterable + "$PreFetchCallable", "call()" + BATCH);
    table.by("djl.PreparedBatches", PREPARED);
    table.intercept(iterable, fetch);
    table.intercept(null, prepare);
    table.random();
    table.by("djl.TrainedModels", CHECKPOINTS, RESUME);
    table.intercept(null, sample);
    table.intercept(
        "ai/djl/training/Trainer",
        "step()V",
        "iterateDataset(Lai/djl/training/dataset/Dataset;)Ljava/lang/Iterable;");
    table.intercept(iterable, "next()" + BATCH);
    table.random();
    table.by("djl.TrainedModels", RESUME);
    table.intercept("ai/djl/training/Trainer", "notifyListeners(Ljava/util/function/Consumer;)V");
    table.by("djl.CoordinatedBatches", COORDINATE);
    table.intercept(null, sample, fetch);
    table.intercept("ai/djl/ndarray/BaseNDManager", "close()V");
    table.by("djl.ImageInterceptor", SHARE);
    table.intercept("ai/djl/modality/cv/BufferedImageFactory", fromFile);
    table.intercept(OPENCV + "OpenCVImageFactory", fromFile);
    table.by("djl.Prefetch", PREFETCH);
    table.intercept(DATASET + "BatchSampler", sample);
    table.intercept(iterable, fetch);
    table.intercept(null, prepare);
    table.random();
    table.by("djl.SavedModels", ATOMIC, ASYNC);
    table.intercept(
        "ai/djl/BaseModel",
        "save(Ljava/nio/file/Path;Ljava/lang/String;)V",
        "paramPathResolver(Ljava/lang/String;Ljava/util/Map;)Ljava/nio/file/Path;",
        "readParameters(Ljava/nio/file/Path;Ljava/util/Map;)Z");
    table.by("djl.WrittenArrays", ASYNC);
    table.intercept("ai/djl/nn/Parameter", "save(Ljava/io/DataOutputStream;)V");
    table.intercept("ai/djl/ndarray/NDSerializer", "encode(Lai/djl/ndarray/NDArray;)[B");
    return table.rules;
  }

  private static List<HookRule> dl4j() {
    String record = "nextRecord()Lorg/datavec/api/records/Record;";
    String sequence = "nextSequence()Lorg/datavec/api/records/SequenceRecord;";
    String writable = "Lorg/datavec/image/data/ImageWritable;";
    String mat = "Lorg/bytedeco/opencv/opencv_core/Mat;";
    String images = "org/datavec/image/loader/ImageLoader";
    String loader = "org/datavec/image/loader/NativeImageLoader";
    String iterators = "org/deeplearning4j/datasets/datavec/";
    String layers = "org/deeplearning4j/nn/multilayer/MultiLayerNetwork";
    String graph = "org/deeplearning4j/nn/graph/ComputationGraph";
    String sameDiff = "org/nd4j/autodiff/samediff/SameDiff";
    String solver = "org/deeplearning4j/optimize/Solver";
    String models = "org/deeplearning4j/util/ModelSerializer";
    String listener = "org/deeplearning4j/optimize/listeners/CheckpointListener";
    String write = "writeModel(Lorg/deeplearning4j/nn/api/Model;";
    Table table = new Table("DL4J", "DL4J 1.0.0-M2.1");
    // Loops over batches.
    for (String batch : new String[] {DATA_SET, MULTI_DATA_SET}) {
      table.span(TAKE, null, "next()" + batch, "next(I)" + batch);
      table.beside(ASK, "next()" + batch, "hasNext()Z");
      table.beside(EPOCH, "next()" + batch, "reset()V");
    }
    // Preparing a batch.
    for (String kind : new String[] {"DataSet", "MultiDataSet"}) {
      String async = "org/nd4j/linalg/dataset/Async" + kind + "Iterator$AsyncPrefetchThread";
      table.span(PRODUCER, async, "run()V");
    }
    table.span(SAMPLE, null, record);
    table.beside(SAMPLE, record, "next()Ljava/util/List;", "next(I)Ljava/util/List;");
    table.span(SAMPLE, null, sequence);
    table.beside(SAMPLE, sequence, "sequenceRecord()Ljava/util/List;");
    table.span(DECODE, loader, "asMatrix", "asMatrixView", "asWritable", "asImageMatrix");
    table.span(TRANSFORM, loader, "transformImage");
    table.span(DECODE, images, "asMatrix", "asImageMatrix");
    table.span(
        TRANSFORM,
        null,
        "transform(" + writable + "Ljava/util/Random;)" + writable,
        "preProcess(Lorg/nd4j/linalg/dataset/api/DataSet;)V",
        "preProcess(" + MULTI_DATA_SET + ")V");
    // Training.
    String trainer = "org/deeplearning4j/earlystopping/trainer/BaseEarlyStoppingTrainer";
    String session = "org/nd4j/autodiff/samediff/internal/TrainingSession";
    table.span(FIT, layers, "fit", "doEvaluation");
    table.span(FIT, graph, "fit", "doEvaluation");
    table.span(FIT, trainer, "fit");
    table.span(FIT, "org/deeplearning4j/parallelism/ParallelWrapper", "fit");
    table.span(FIT, sameDiff, "fit");
    table.span(UPDATE, solver, "optimize");
    table.span(UPDATE, session, "trainingIteration");
    table.span(CHECKPOINT, models, "writeModel");
    table.span(CHECKPOINT, listener, "saveCheckpoint");
    table.span(CHECKPOINT, sameDiff, "save");
    table.by("dl4j.ProfiledBatches", PROFILE);
    table.intercept(null, "next()" + DATA_SET, "next(I)" + DATA_SET);
    table.intercept(null, "next()" + MULTI_DATA_SET, "next(I)" + MULTI_DATA_SET);
    table.by("dl4j.Prefetch", PREFETCH);
    table.intercept(
        "org/datavec/image/recordreader/BaseImageRecordReader",
        "next()Ljava/util/List;",
        "next(I)Ljava/util/List;");
    table.by("dl4j.MatrixInterceptor", SHARE);
    table.intercept(
        loader,
        "asMatrixView(Ljava/io/File;" + ARRAY + ")V",
        "asMatrix(Ljava/io/File;Z)" + ARRAY,
        "asImageMatrix(Ljava/io/File;Z)Lorg/datavec/image/data/Image;",
        "streamToMat(Ljava/io/InputStream;)" + mat,
        "transformImage(" + mat + ARRAY + ")" + ARRAY);
    table.by("dl4j.ProgramIterators", PREPARED);
    table.intercept(null, "next()" + DATA_SET, "next(I)" + DATA_SET);
    table.intercept(null, "next()" + MULTI_DATA_SET, "next(I)" + MULTI_DATA_SET);
    table.by("dl4j.EpochInterceptor", PREPARED, COORDINATE, PREFETCH);
    for (String kind : new String[] {"RecordReader", "SequenceRecordReader"}) {
      String type = iterators + kind + "DataSetIterator";
      table.intercept(type, "next(I)" + DATA_SET, "hasNext()Z", "reset()V");
    }
    String several = iterators + "RecordReaderMultiDataSetIterator";
    table.intercept(several, "next(I)" + MULTI_DATA_SET, "hasNext()Z", "reset()V");
    table.by("dl4j.TrainedModels", CHECKPOINTS, RESUME);
    table.intercept(solver, "optimize(Lorg/deeplearning4j/nn/workspace/LayerWorkspaceMgr;)V");
    table.by("dl4j.TrainedModels", RESUME);
    table.intercept(layers, "fitHelper(Lorg/nd4j/linalg/dataset/api/iterator/DataSetIterator;)V");
    table.intercept(graph, "fit(Lorg/nd4j/linalg/dataset/api/iterator/MultiDataSetIterator;)V");
    table.by("dl4j.SavedModels", ATOMIC, ASYNC);
    table.intercept(
        models,
        write + "Ljava/io/File;Z)V",
        write + "Ljava/io/File;Z" + NORMALIZATION + ")V",
        write + "Ljava/lang/String;Z)V",
        "addNormalizerToModel",
        "addObjectToFile",
        "restoreMultiLayerNetwork",
        "restoreMultiLayerNetworkAndNormalizer",
        "restoreComputationGraph",
        "restoreComputationGraphAndNormalizer",
        "restoreNormalizerFromFile",
        "getObjectFromFile");
    table.intercept(listener + "$Builder", "build()L" + listener + ";");
    table.intercept(
        listener,
        "saveCheckpoint(Lorg/deeplearning4j/nn/api/Model;)V",
        "write(Ljava/lang/String;Ljava/io/File;)Ljava/lang/String;",
        "availableCheckpoints(Ljava/io/File;)Ljava/util/List;",
        "getFileForCheckpoint(Ljava/io/File;I)Ljava/io/File;",
        "lastCheckpoint(Ljava/io/File;)Lorg/deeplearning4j/optimize/listeners/Checkpoint;");
    table.by("dl4j.SavedModels", RESUME);
    table.intercept(
        models,
        write + "Ljava/io/OutputStream;Z)V",
        write + "Ljava/io/OutputStream;Z" + NORMALIZATION + ")V");
    table.by("dl4j.SavedGraphs", ATOMIC, ASYNC);
    table.intercept(
        sameDiff,
        "asFlatFile(Ljava/io/File;Z)V",
        "asFlatFile(Ljava/io/File;Lorg/nd4j/autodiff/execution/conf/ExecutorConfiguration;Z)V",
        "fromFlatFile(Ljava/io/File;Z)Lorg/nd4j/autodiff/samediff/SameDiff;");
    table.by("dl4j.WrittenArrays", ASYNC);
    table.intercept(
        "org/nd4j/linalg/factory/Nd4j", "write(" + ARRAY + "Ljava/io/DataOutputStream;)V");
    return table.rules;
  }

  /**
   * The rules of a library in their order. A method is its name and descriptor, or its name alone
   * for all overloads.
   */
  private static final class Table {
    final List<HookRule> rules = new ArrayList<>();
    private final String library;
    private final String provenOn;
    private HookRule.@Nullable Interceptor by;

    Table(String library, String provenOn) {
      this.library = library;
      this.provenOn = provenOn;
    }

    void span(SpanKind kind, @Nullable String owner, String... methods) {
      for (String method : methods) {
        add(Weave.SPAN, kind, owner, null, method);
      }
    }

    /** Spans in classes that declare another method, too. */
    void beside(SpanKind kind, String other, String... methods) {
      for (String method : methods) {
        add(Weave.SPAN, kind, null, other, method);
      }
    }

    /** What follows is intercepted by a class of that name, for one of these policies. */
    void by(String name, String... policies) {
      by = new HookRule.Interceptor(name, List.of(policies));
    }

    void intercept(@Nullable String owner, String... methods) {
      for (String method : methods) {
        add(Weave.INTERCEPT, DECODE, owner, null, method);
      }
    }

    void random() {
      add(Weave.RANDOM, SpanKind.BATCH, "ai/djl/util/RandomUtils", null, "<clinit>()V");
    }

    void add(
        Weave advice,
        SpanKind kind,
        @Nullable String owner,
        @Nullable String beside,
        String method) {
      int end = method.indexOf('(');
      String name = end < 0 ? method : method.substring(0, end);
      String descriptor = end < 0 ? null : method.substring(end);
      String proven = owner != null && owner.startsWith(OPENCV) ? "DJL OpenCV 0.32.0" : provenOn;
      rules.add(new HookRule(library, owner, name, descriptor, beside, advice, kind, proven, by));
    }
  }
}
