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
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Every method that is marked or intercepted, on one page. */
public final class Hooks {
  /** The policy that prefetches. */
  public static final String PREFETCH = "prefetch=N";

  /** The policy that keeps prepared samples. */
  public static final String PREPARED = "prepared=share";

  /** Measuring the phases of a differential profile. */
  public static final String PROFILE = "profile=PHASE";

  /** Model files are written whole or not at all. */
  public static final String ATOMIC = "checkpoint=atomic";

  /** The same, in the background. */
  public static final String ASYNC = "checkpoint=async";

  /** The agent takes checkpoints of its own. */
  public static final String CHECKPOINTS = "checkpoint.every";

  /** A job goes on where an earlier one was. */
  public static final String RESUME = "resume";

  private static final String DJL = "DJL";
  private static final String DL4J = "DL4J";
  static final String COORDINATE = "prep=coordinate";
  static final String SHARE = "decoded=share";

  private static final String DATASET = "ai/djl/training/dataset/";
  private static final String BATCH = "Lai/djl/training/dataset/Batch;";
  private static final String IMAGE = "Lai/djl/modality/cv/Image;";
  private static final String DATA_SET = "Lorg/nd4j/linalg/dataset/DataSet;";
  private static final String MULTI_DATA_SET = "Lorg/nd4j/linalg/dataset/api/MultiDataSet;";
  private static final String ARRAY = "Lorg/nd4j/linalg/api/ndarray/INDArray;";
  private static final String NORMALIZATION =
      "Lorg/nd4j/linalg/dataset/api/preprocessor/DataNormalization;";
  private static final String NATIVE_LOADER = "org/datavec/image/loader/NativeImageLoader";

  private Hooks() {}

  /**
   * Whether a class looks like a source of batches and is none: DL4J and SameDiff wrap the single
   * batch of {@code fit(DataSet)} in such an iterator, and each step would be an epoch.
   */
  static boolean isNoData(String internalName) {
    return (internalName.startsWith("org/nd4j/") || internalName.startsWith("org/deeplearning4j/"))
        && internalName.contains("/Singleton");
  }

  /** All rules: spans and interceptions, DJL first. */
  public static List<HookRule> all() {
    return with(rule -> true);
  }

  /** The spans, and what the policies in force intercept; DJL first. */
  public static List<HookRule> with(Predicate<HookRule.Interceptor> inForce) {
    List<HookRule> spans = spans();
    List<HookRule> interceptions = interceptions();
    List<HookRule> all = new ArrayList<>();
    for (String library : List.of(DJL, DL4J)) {
      for (HookRule rule : spans) {
        if (rule.library().equals(library)) {
          all.add(rule);
        }
      }
      for (HookRule rule : interceptions) {
        if (rule.library().equals(library)
            && inForce.test(Objects.requireNonNull(rule.interceptor()))) {
          all.add(rule);
        }
      }
    }
    return all;
  }

  /** The methods that policies intercept, which is all that the agent replaces. */
  public static List<HookRule> interceptions() {
    HookRule.Interceptor djlProfile = new HookRule.Interceptor("djl.ProfiledBatches", PROFILE);
    HookRule.Interceptor dl4jProfile = new HookRule.Interceptor("dl4j.ProfiledBatches", PROFILE);
    HookRule.Interceptor batches = new HookRule.Interceptor("djl.CoordinatedBatches", COORDINATE);
    HookRule.Interceptor epochs =
        new HookRule.Interceptor("dl4j.EpochInterceptor", PREPARED, COORDINATE, PREFETCH);
    HookRule.Interceptor ownIterators = new HookRule.Interceptor("dl4j.ProgramIterators", PREPARED);
    HookRule.Interceptor images = new HookRule.Interceptor("djl.ImageInterceptor", SHARE);
    HookRule.Interceptor matrices = new HookRule.Interceptor("dl4j.MatrixInterceptor", SHARE);
    HookRule.Interceptor prepared = new HookRule.Interceptor("djl.PreparedBatches", PREPARED);
    HookRule.Interceptor djlPrefetch = new HookRule.Interceptor("djl.Prefetch", PREFETCH);
    HookRule.Interceptor dl4jPrefetch = new HookRule.Interceptor("dl4j.Prefetch", PREFETCH);
    HookRule.Interceptor djlModels = new HookRule.Interceptor("djl.SavedModels", ATOMIC, ASYNC);
    HookRule.Interceptor dl4jModels = new HookRule.Interceptor("dl4j.SavedModels", ATOMIC, ASYNC);
    HookRule.Interceptor streams = new HookRule.Interceptor("dl4j.SavedModels", RESUME);
    HookRule.Interceptor graphs = new HookRule.Interceptor("dl4j.SavedGraphs", ATOMIC, ASYNC);
    HookRule.Interceptor djlArrays = new HookRule.Interceptor("djl.WrittenArrays", ASYNC);
    HookRule.Interceptor arrays = new HookRule.Interceptor("dl4j.WrittenArrays", ASYNC);
    HookRule.Interceptor djlSteps =
        new HookRule.Interceptor("djl.TrainedModels", CHECKPOINTS, RESUME);
    HookRule.Interceptor dl4jSteps =
        new HookRule.Interceptor("dl4j.TrainedModels", CHECKPOINTS, RESUME);
    HookRule.Interceptor djlResumed = new HookRule.Interceptor("djl.TrainedModels", RESUME);
    HookRule.Interceptor resumed = new HookRule.Interceptor("dl4j.TrainedModels", RESUME);
    String model = "ai/djl/BaseModel";
    String models = "org/deeplearning4j/util/ModelSerializer";
    String listener = "org/deeplearning4j/optimize/listeners/CheckpointListener";
    String graph = "org/nd4j/autodiff/samediff/SameDiff";
    String write = "(Lorg/deeplearning4j/nn/api/Model;Ljava/io/File;Z";
    String stream = "(Lorg/deeplearning4j/nn/api/Model;Ljava/io/OutputStream;Z";
    String sample = "(Lai/djl/training/dataset/RandomAccessDataset;)Ljava/util/Iterator;";
    String fetch = "(Ljava/util/List;I)" + BATCH;
    String fromFile = "(Ljava/nio/file/Path;)" + IMAGE;
    String prepare = "(Lai/djl/util/Progress;)V";
    String reader = "org/datavec/image/recordreader/BaseImageRecordReader";
    String iterators = "org/deeplearning4j/datasets/datavec/";
    String mat = "Lorg/bytedeco/opencv/opencv_core/Mat;";
    return List.of(
        intercept(djlProfile, null, "next", "()" + BATCH),
        intercept(djlProfile, DATASET + "DataIterable$PreFetchCallable", "call", "()" + BATCH),
        intercept(dl4jProfile, null, "next", "()" + DATA_SET),
        intercept(dl4jProfile, null, "next", "(I)" + DATA_SET),
        intercept(dl4jProfile, null, "next", "()" + MULTI_DATA_SET),
        intercept(dl4jProfile, null, "next", "(I)" + MULTI_DATA_SET),
        // Of several that intercept a method the first is nearest to its body.
        intercept(prepared, DATASET + "DataIterable", "fetch", fetch),
        intercept(prepared, null, "prepare", prepare),
        random(prepared),
        intercept(djlSteps, null, "sample", sample),
        intercept(batches, null, "sample", sample),
        intercept(batches, null, "fetch", fetch),
        intercept(batches, "ai/djl/ndarray/BaseNDManager", "close", "()V"),
        intercept(images, "ai/djl/modality/cv/BufferedImageFactory", "fromFile", fromFile),
        intercept(images, "ai/djl/opencv/OpenCVImageFactory", "fromFile", fromFile)
            .provenOn("DJL OpenCV 0.32.0"),
        intercept(djlPrefetch, DATASET + "BatchSampler", "sample", sample),
        intercept(djlPrefetch, DATASET + "DataIterable", "fetch", fetch),
        intercept(djlPrefetch, null, "prepare", prepare),
        random(djlPrefetch),
        intercept(dl4jPrefetch, reader, "next", "()Ljava/util/List;"),
        intercept(dl4jPrefetch, reader, "next", "(I)Ljava/util/List;"),
        intercept(matrices, NATIVE_LOADER, "asMatrixView", "(Ljava/io/File;" + ARRAY + ")V"),
        intercept(matrices, NATIVE_LOADER, "asMatrix", "(Ljava/io/File;Z)" + ARRAY),
        intercept(
            matrices,
            NATIVE_LOADER,
            "asImageMatrix",
            "(Ljava/io/File;Z)Lorg/datavec/image/data/Image;"),
        intercept(ownIterators, null, "next", "()" + DATA_SET),
        intercept(ownIterators, null, "next", "(I)" + DATA_SET),
        intercept(ownIterators, null, "next", "()" + MULTI_DATA_SET),
        intercept(ownIterators, null, "next", "(I)" + MULTI_DATA_SET),
        intercept(epochs, iterators + "RecordReaderDataSetIterator", "next", "(I)" + DATA_SET),
        intercept(epochs, iterators + "RecordReaderDataSetIterator", "hasNext", "()Z"),
        intercept(epochs, iterators + "RecordReaderDataSetIterator", "reset", "()V"),
        intercept(
            epochs, iterators + "SequenceRecordReaderDataSetIterator", "next", "(I)" + DATA_SET),
        intercept(epochs, iterators + "SequenceRecordReaderDataSetIterator", "hasNext", "()Z"),
        intercept(epochs, iterators + "SequenceRecordReaderDataSetIterator", "reset", "()V"),
        intercept(
            epochs, iterators + "RecordReaderMultiDataSetIterator", "next", "(I)" + MULTI_DATA_SET),
        intercept(epochs, iterators + "RecordReaderMultiDataSetIterator", "hasNext", "()Z"),
        intercept(epochs, iterators + "RecordReaderMultiDataSetIterator", "reset", "()V"),
        intercept(djlModels, model, "save", "(Ljava/nio/file/Path;Ljava/lang/String;)V"),
        intercept(
            djlModels,
            model,
            "paramPathResolver",
            "(Ljava/lang/String;Ljava/util/Map;)Ljava/nio/file/Path;"),
        intercept(djlModels, model, "readParameters", "(Ljava/nio/file/Path;Ljava/util/Map;)Z"),
        intercept(djlArrays, "ai/djl/nn/Parameter", "save", "(Ljava/io/DataOutputStream;)V"),
        intercept(
            djlArrays, "ai/djl/ndarray/NDSerializer", "encode", "(Lai/djl/ndarray/NDArray;)[B"),
        intercept(djlSteps, "ai/djl/training/Trainer", "step", "()V"),
        intercept(
            djlSteps,
            "ai/djl/training/Trainer",
            "iterateDataset",
            "(Lai/djl/training/dataset/Dataset;)Ljava/lang/Iterable;"),
        intercept(djlSteps, DATASET + "DataIterable", "next", "()" + BATCH),
        intercept(
            djlResumed,
            "ai/djl/training/Trainer",
            "notifyListeners",
            "(Ljava/util/function/Consumer;)V"),
        random(djlSteps),
        intercept(
            dl4jSteps,
            "org/deeplearning4j/optimize/Solver",
            "optimize",
            "(Lorg/deeplearning4j/nn/workspace/LayerWorkspaceMgr;)V"),
        intercept(
            resumed,
            "org/deeplearning4j/nn/multilayer/MultiLayerNetwork",
            "fitHelper",
            "(Lorg/nd4j/linalg/dataset/api/iterator/DataSetIterator;)V"),
        intercept(
            resumed,
            "org/deeplearning4j/nn/graph/ComputationGraph",
            "fit",
            "(Lorg/nd4j/linalg/dataset/api/iterator/MultiDataSetIterator;)V"),
        intercept(dl4jModels, models, "writeModel", write + ")V"),
        intercept(dl4jModels, models, "writeModel", write + NORMALIZATION + ")V"),
        intercept(
            dl4jModels,
            models,
            "writeModel",
            "(Lorg/deeplearning4j/nn/api/Model;Ljava/lang/String;Z)V"),
        intercept(streams, models, "writeModel", stream + ")V"),
        intercept(streams, models, "writeModel", stream + NORMALIZATION + ")V"),
        intercept(dl4jModels, models, "addNormalizerToModel", null),
        intercept(dl4jModels, models, "addObjectToFile", null),
        intercept(dl4jModels, models, "restoreMultiLayerNetwork", null),
        intercept(dl4jModels, models, "restoreMultiLayerNetworkAndNormalizer", null),
        intercept(dl4jModels, models, "restoreComputationGraph", null),
        intercept(dl4jModels, models, "restoreComputationGraphAndNormalizer", null),
        intercept(dl4jModels, models, "restoreNormalizerFromFile", null),
        intercept(dl4jModels, models, "getObjectFromFile", null),
        intercept(dl4jModels, listener + "$Builder", "build", "()L" + listener + ";"),
        intercept(dl4jModels, listener, "saveCheckpoint", "(Lorg/deeplearning4j/nn/api/Model;)V"),
        intercept(
            dl4jModels, listener, "write", "(Ljava/lang/String;Ljava/io/File;)Ljava/lang/String;"),
        intercept(dl4jModels, listener, "availableCheckpoints", "(Ljava/io/File;)Ljava/util/List;"),
        intercept(dl4jModels, listener, "getFileForCheckpoint", "(Ljava/io/File;I)Ljava/io/File;"),
        intercept(
            dl4jModels,
            listener,
            "lastCheckpoint",
            "(Ljava/io/File;)Lorg/deeplearning4j/optimize/listeners/Checkpoint;"),
        intercept(graphs, graph, "asFlatFile", "(Ljava/io/File;Z)V"),
        intercept(
            graphs,
            graph,
            "asFlatFile",
            "(Ljava/io/File;Lorg/nd4j/autodiff/execution/conf/ExecutorConfiguration;Z)V"),
        intercept(
            graphs,
            graph,
            "fromFlatFile",
            "(Ljava/io/File;Z)Lorg/nd4j/autodiff/samediff/SameDiff;"),
        intercept(
            arrays,
            "org/nd4j/linalg/factory/Nd4j",
            "write",
            "(" + ARRAY + "Ljava/io/DataOutputStream;)V"),
        intercept(matrices, NATIVE_LOADER, "streamToMat", "(Ljava/io/InputStream;)" + mat),
        intercept(matrices, NATIVE_LOADER, "transformImage", "(" + mat + ARRAY + ")" + ARRAY));
  }

  /** The methods that are marked, DJL first. */
  public static List<HookRule> spans() {
    String data = "(Lai/djl/ndarray/NDManager;";
    String list = "Lai/djl/ndarray/NDList;";
    String nd = "Lai/djl/ndarray/NDArray;";
    String record = "()Lorg/datavec/api/records/Record;";
    String sequence = "()Lorg/datavec/api/records/SequenceRecord;";
    String writable = "Lorg/datavec/image/data/ImageWritable;";
    return List.of(
        // DJL: loops over batches.
        span(DJL, null, "next", "()" + BATCH, TAKE),
        span(DJL, null, "hasNext", "()Z", ASK).beside("next()" + BATCH),
        iterable("getData", data + ")Ljava/lang/Iterable;"),
        iterable("getData", data + "Ljava/util/concurrent/ExecutorService;)Ljava/lang/Iterable;"),
        // DJL: preparing a batch.
        span(DJL, DATASET + "DataIterable$PreFetchCallable", "call", "()" + BATCH, PRODUCER),
        span(DJL, null, "fetch", "(Ljava/util/List;I)" + BATCH, SpanKind.BATCH),
        span(DJL, null, "get", data + "J)Lai/djl/training/dataset/Record;", SAMPLE),
        span(DJL, null, "fromFile", "(Ljava/nio/file/Path;)" + IMAGE, DECODE),
        span(DJL, null, "fromInputStream", "(Ljava/io/InputStream;)" + IMAGE, DECODE),
        span(DJL, null, "fromUrl", "(Ljava/net/URL;)" + IMAGE, DECODE),
        span(DJL, null, "toNDArray", data + "Lai/djl/modality/cv/Image$Flag;)" + nd, CONVERT),
        span(DJL, "ai/djl/translate/Pipeline", "transform", "(" + list + ")" + list, ASSEMBLE),
        span(DJL, null, "transform", "(" + nd + ")" + nd, TRANSFORM),
        span(DJL, null, "batchify", "([" + list + ")" + list, ASSEMBLE),
        // DJL: training.
        span(DJL, "ai/djl/training/EasyTrain", "fit", null, FIT),
        span(DJL, "ai/djl/training/EasyTrain", "evaluateDataset", null, FIT),
        span(DJL, "ai/djl/training/Trainer", "forward", null, COMPUTE),
        span(DJL, "ai/djl/training/Trainer", "evaluate", null, COMPUTE),
        span(DJL, "ai/djl/training/Trainer", "step", "()V", UPDATE),
        span(
            DJL,
            "ai/djl/BaseModel",
            "save",
            "(Ljava/nio/file/Path;Ljava/lang/String;)V",
            CHECKPOINT),
        // DL4J: loops over batches.
        span(DL4J, null, "next", "()" + DATA_SET, TAKE),
        span(DL4J, null, "next", "(I)" + DATA_SET, TAKE),
        span(DL4J, null, "hasNext", "()Z", ASK).beside("next()" + DATA_SET),
        span(DL4J, null, "reset", "()V", EPOCH).beside("next()" + DATA_SET),
        span(DL4J, null, "next", "()" + MULTI_DATA_SET, TAKE),
        span(DL4J, null, "next", "(I)" + MULTI_DATA_SET, TAKE),
        span(DL4J, null, "hasNext", "()Z", ASK).beside("next()" + MULTI_DATA_SET),
        span(DL4J, null, "reset", "()V", EPOCH).beside("next()" + MULTI_DATA_SET),
        // DL4J: preparing a batch.
        span(
            DL4J,
            "org/nd4j/linalg/dataset/AsyncDataSetIterator$AsyncPrefetchThread",
            "run",
            "()V",
            PRODUCER),
        span(
            DL4J,
            "org/nd4j/linalg/dataset/AsyncMultiDataSetIterator$AsyncPrefetchThread",
            "run",
            "()V",
            PRODUCER),
        span(DL4J, null, "nextRecord", record, SAMPLE),
        span(DL4J, null, "next", "()Ljava/util/List;", SAMPLE).beside("nextRecord" + record),
        span(DL4J, null, "next", "(I)Ljava/util/List;", SAMPLE).beside("nextRecord" + record),
        span(DL4J, null, "nextSequence", sequence, SAMPLE),
        span(DL4J, null, "sequenceRecord", "()Ljava/util/List;", SAMPLE)
            .beside("nextSequence" + sequence),
        span(DL4J, NATIVE_LOADER, "asMatrix", null, DECODE),
        span(DL4J, NATIVE_LOADER, "asMatrixView", null, DECODE),
        span(DL4J, NATIVE_LOADER, "asWritable", null, DECODE),
        span(DL4J, NATIVE_LOADER, "asImageMatrix", null, DECODE),
        span(DL4J, NATIVE_LOADER, "transformImage", null, TRANSFORM),
        span(DL4J, "org/datavec/image/loader/ImageLoader", "asMatrix", null, DECODE),
        span(DL4J, "org/datavec/image/loader/ImageLoader", "asImageMatrix", null, DECODE),
        span(DL4J, null, "transform", "(" + writable + "Ljava/util/Random;)" + writable, TRANSFORM),
        span(DL4J, null, "preProcess", "(Lorg/nd4j/linalg/dataset/api/DataSet;)V", TRANSFORM),
        span(DL4J, null, "preProcess", "(" + MULTI_DATA_SET + ")V", TRANSFORM),
        // DL4J: training.
        span(DL4J, "org/deeplearning4j/nn/multilayer/MultiLayerNetwork", "fit", null, FIT),
        span(DL4J, "org/deeplearning4j/nn/multilayer/MultiLayerNetwork", "doEvaluation", null, FIT),
        span(DL4J, "org/deeplearning4j/nn/graph/ComputationGraph", "fit", null, FIT),
        span(DL4J, "org/deeplearning4j/nn/graph/ComputationGraph", "doEvaluation", null, FIT),
        span(
            DL4J,
            "org/deeplearning4j/earlystopping/trainer/BaseEarlyStoppingTrainer",
            "fit",
            null,
            FIT),
        span(DL4J, "org/deeplearning4j/parallelism/ParallelWrapper", "fit", null, FIT),
        span(DL4J, "org/nd4j/autodiff/samediff/SameDiff", "fit", null, FIT),
        span(DL4J, "org/deeplearning4j/optimize/Solver", "optimize", null, UPDATE),
        span(
            DL4J,
            "org/nd4j/autodiff/samediff/internal/TrainingSession",
            "trainingIteration",
            null,
            UPDATE),
        span(DL4J, "org/deeplearning4j/util/ModelSerializer", "writeModel", null, CHECKPOINT),
        span(
            DL4J,
            "org/deeplearning4j/optimize/listeners/CheckpointListener",
            "saveCheckpoint",
            null,
            CHECKPOINT),
        span(DL4J, "org/nd4j/autodiff/samediff/SameDiff", "save", null, CHECKPOINT));
  }

  private static HookRule intercept(
      HookRule.Interceptor interceptor,
      @Nullable String owner,
      String method,
      @Nullable String descriptor) {
    String library = interceptor.name().startsWith("djl.") ? DJL : DL4J;
    return rule(library, owner, method, descriptor, Weave.INTERCEPT, DECODE, interceptor);
  }

  private static HookRule random(HookRule.Interceptor interceptor) {
    return rule(
        DJL,
        "ai/djl/util/RandomUtils",
        "<clinit>",
        "()V",
        Weave.RANDOM,
        SpanKind.BATCH,
        interceptor);
  }

  private static HookRule iterable(String method, String descriptor) {
    return rule(DJL, null, method, descriptor, Weave.TIMED_ITERABLE, EPOCH, null);
  }

  private static HookRule span(
      String library,
      @Nullable String owner,
      String method,
      @Nullable String descriptor,
      SpanKind kind) {
    return rule(library, owner, method, descriptor, Weave.SPAN, kind, null);
  }

  private static HookRule rule(
      String library,
      @Nullable String owner,
      String method,
      @Nullable String descriptor,
      Weave advice,
      SpanKind kind,
      HookRule.@Nullable Interceptor interceptor) {
    String proven = library.equals(DJL) ? "DJL 0.35.1" : "DL4J 1.0.0-M2.1";
    return new HookRule(
        library, owner, method, descriptor, null, advice, kind, proven, interceptor);
  }
}
