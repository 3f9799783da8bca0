package io.coordl.transformers.hook;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.ASSEMBLE;
import static io.coordl.bridge.SpanKind.BATCH;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.CONVERT;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.PASS;
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

/** Every method that is marked or answered, on one page. */
public final class Hooks {
  /** The policy that prepares ahead. */
  public static final String PREFETCH = "prefetch=N";

  /** Measuring the phases of a differential profile. */
  public static final String PROFILE = "profile=PHASE";

  private static final String DJL = "DJL";
  private static final String DL4J = "DL4J";
  private static final String DJL_PROVEN = "DJL 0.35.1";
  private static final String DL4J_PROVEN = "DL4J 1.0.0-M2.1";

  private Hooks() {}

  /**
   * Whether a class looks like a source of batches and is none: DL4J and SameDiff wrap the single
   * batch of {@code fit(DataSet)} in such an iterator, and each step would be an epoch.
   */
  static boolean isNoData(String internalName) {
    return (internalName.startsWith("org/nd4j/") || internalName.startsWith("org/deeplearning4j/"))
        && internalName.contains("/Singleton");
  }

  /** All rules: spans and answers, DJL first. */
  public static List<HookRule> all() {
    return with(rule -> true);
  }

  /** The spans, and what the policies in force answer; DJL first. */
  public static List<HookRule> with(Predicate<HookRule.Answerer> inForce) {
    List<HookRule> spans = spans();
    List<HookRule> answers = answers();
    List<HookRule> all = new ArrayList<>();
    for (String library : List.of(DJL, DL4J)) {
      for (HookRule rule : spans) {
        if (rule.library().equals(library)) {
          all.add(rule);
        }
      }
      for (HookRule rule : answers) {
        if (rule.library().equals(library) && inForce.test(Objects.requireNonNull(rule.answer()))) {
          all.add(rule);
        }
      }
    }
    return all;
  }

  /** The methods that policies answer, which is all that the agent replaces. */
  public static List<HookRule> answers() {
    String fromFile = "(Ljava/nio/file/Path;)Lai/djl/modality/cv/Image;";
    String fetch = "(Ljava/util/List;I)Lai/djl/training/dataset/Batch;";
    HookRule.Answerer images = new HookRule.Answerer("djl.ImageAnswers", "decoded=share");
    HookRule.Answerer matrices = new HookRule.Answerer("dl4j.MatrixAnswers", "decoded=share");
    HookRule.Answerer djlAhead = new HookRule.Answerer("djl.Prefetch", PREFETCH);
    HookRule.Answerer dl4jAhead = new HookRule.Answerer("dl4j.Prefetch", PREFETCH);
    String reader = "org/datavec/image/recordreader/BaseImageRecordReader";
    HookRule.Answerer passes = new HookRule.Answerer("dl4j.EpochInterceptor", "prep=coordinate");
    String iterators = "org/deeplearning4j/datasets/datavec/";
    String ofRecords = iterators + "RecordReaderDataSetIterator";
    String ofSequences = iterators + "SequenceRecordReaderDataSetIterator";
    String ofArrays = iterators + "RecordReaderMultiDataSetIterator";
    String nextDataSet = "(I)Lorg/nd4j/linalg/dataset/DataSet;";
    String mat = "Lorg/bytedeco/opencv/opencv_core/Mat;";
    HookRule.Answerer djlProfile = new HookRule.Answerer("djl.ProfiledBatches", PROFILE);
    HookRule.Answerer dl4jProfile = new HookRule.Answerer("dl4j.ProfiledBatches", PROFILE);
    String dataSet = "Lorg/nd4j/linalg/dataset/DataSet;";
    String multiDataSet = "Lorg/nd4j/linalg/dataset/api/MultiDataSet;";
    HookRule.Answerer batches = new HookRule.Answerer("djl.CoordinatedBatches", "prep=coordinate");
    return List.of(
        answer(djlProfile, DJL, null, "next", "()Lai/djl/training/dataset/Batch;"),
        answer(
            djlProfile,
            DJL,
            "ai/djl/training/dataset/DataIterable$PreFetchCallable",
            "call",
            "()Lai/djl/training/dataset/Batch;"),
        answer(dl4jProfile, DL4J, null, "next", "()" + dataSet),
        answer(dl4jProfile, DL4J, null, "next", "(I)" + dataSet),
        answer(dl4jProfile, DL4J, null, "next", "()" + multiDataSet),
        answer(dl4jProfile, DL4J, null, "next", "(I)" + multiDataSet),
        answer(
            batches,
            DJL,
            null,
            "sample",
            "(Lai/djl/training/dataset/RandomAccessDataset;)Ljava/util/Iterator;"),
        answer(batches, DJL, null, "fetch", "(Ljava/util/List;I)Lai/djl/training/dataset/Batch;"),
        answer(batches, DJL, "ai/djl/ndarray/BaseNDManager", "close", "()V"),
        answer(images, DJL, "ai/djl/modality/cv/BufferedImageFactory", "fromFile", fromFile),
        new HookRule(
            DJL,
            "ai/djl/opencv/OpenCVImageFactory",
            "fromFile",
            fromFile,
            null,
            Weave.ANSWER,
            DECODE,
            "DJL OpenCV 0.32.0",
            images),
        answer(
            djlAhead,
            DJL,
            "ai/djl/training/dataset/BatchSampler",
            "sample",
            "(Lai/djl/training/dataset/RandomAccessDataset;)Ljava/util/Iterator;"),
        answer(djlAhead, DJL, "ai/djl/training/dataset/DataIterable", "fetch", fetch),
        answer(djlAhead, DJL, null, "prepare", "(Lai/djl/util/Progress;)V"),
        new HookRule(
            DJL,
            "ai/djl/util/RandomUtils",
            "<clinit>",
            "()V",
            null,
            Weave.RANDOM,
            BATCH,
            DJL_PROVEN,
            djlAhead),
        answer(dl4jAhead, DL4J, reader, "next", "()Ljava/util/List;"),
        answer(dl4jAhead, DL4J, reader, "next", "(I)Ljava/util/List;"),
        answer(
            matrices,
            DL4J,
            "org/datavec/image/loader/NativeImageLoader",
            "asMatrixView",
            "(Ljava/io/File;Lorg/nd4j/linalg/api/ndarray/INDArray;)V"),
        answer(
            matrices,
            DL4J,
            "org/datavec/image/loader/NativeImageLoader",
            "asMatrix",
            "(Ljava/io/File;Z)Lorg/nd4j/linalg/api/ndarray/INDArray;"),
        answer(
            matrices,
            DL4J,
            "org/datavec/image/loader/NativeImageLoader",
            "asImageMatrix",
            "(Ljava/io/File;Z)Lorg/datavec/image/data/Image;"),
        answer(passes, DL4J, ofRecords, "next", nextDataSet),
        answer(passes, DL4J, ofRecords, "reset", "()V"),
        answer(passes, DL4J, ofSequences, "next", nextDataSet),
        answer(passes, DL4J, ofSequences, "reset", "()V"),
        answer(passes, DL4J, ofArrays, "next", "(I)Lorg/nd4j/linalg/dataset/api/MultiDataSet;"),
        answer(passes, DL4J, ofArrays, "reset", "()V"),
        answer(
            matrices,
            DL4J,
            "org/datavec/image/loader/NativeImageLoader",
            "streamToMat",
            "(Ljava/io/InputStream;)" + mat),
        answer(
            matrices,
            DL4J,
            "org/datavec/image/loader/NativeImageLoader",
            "transformImage",
            "("
                + mat
                + "Lorg/nd4j/linalg/api/ndarray/INDArray;)Lorg/nd4j/linalg/api/ndarray/INDArray;"));
  }

  /** The methods that are marked, DJL first. */
  public static List<HookRule> spans() {
    String batch = "()Lai/djl/training/dataset/Batch;";
    String image = "Lai/djl/modality/cv/Image;";
    String manager = "Lai/djl/ndarray/NDManager;";
    String dataSet = "Lorg/nd4j/linalg/dataset/DataSet;";
    String multiDataSet = "Lorg/nd4j/linalg/dataset/api/MultiDataSet;";
    String record = "()Lorg/datavec/api/records/Record;";
    String sequence = "()Lorg/datavec/api/records/SequenceRecord;";
    return List.of(
        // DJL: loops over batches.
        any(DJL, "next", batch, TAKE),
        beside(DJL, "hasNext", "()Z", "next" + batch, ASK),
        iterable(DJL, "getData", "(" + manager + ")Ljava/lang/Iterable;"),
        iterable(
            DJL,
            "getData",
            "(" + manager + "Ljava/util/concurrent/ExecutorService;)Ljava/lang/Iterable;"),
        // DJL: preparing a batch.
        exact(
            DJL, "ai/djl/training/dataset/DataIterable$PreFetchCallable", "call", batch, PRODUCER),
        any(DJL, "fetch", "(Ljava/util/List;I)Lai/djl/training/dataset/Batch;", BATCH),
        any(DJL, "get", "(" + manager + "J)Lai/djl/training/dataset/Record;", SAMPLE),
        any(DJL, "fromFile", "(Ljava/nio/file/Path;)" + image, DECODE),
        any(DJL, "fromInputStream", "(Ljava/io/InputStream;)" + image, DECODE),
        any(DJL, "fromUrl", "(Ljava/net/URL;)" + image, DECODE),
        any(
            DJL,
            "toNDArray",
            "(" + manager + "Lai/djl/modality/cv/Image$Flag;)Lai/djl/ndarray/NDArray;",
            CONVERT),
        exact(
            DJL,
            "ai/djl/translate/Pipeline",
            "transform",
            "(Lai/djl/ndarray/NDList;)Lai/djl/ndarray/NDList;",
            ASSEMBLE),
        any(DJL, "transform", "(Lai/djl/ndarray/NDArray;)Lai/djl/ndarray/NDArray;", TRANSFORM),
        any(DJL, "batchify", "([Lai/djl/ndarray/NDList;)Lai/djl/ndarray/NDList;", ASSEMBLE),
        // DJL: training.
        exact(DJL, "ai/djl/training/EasyTrain", "fit", null, FIT),
        exact(DJL, "ai/djl/training/EasyTrain", "evaluateDataset", null, FIT),
        exact(DJL, "ai/djl/training/Trainer", "forward", null, COMPUTE),
        exact(DJL, "ai/djl/training/Trainer", "evaluate", null, COMPUTE),
        exact(DJL, "ai/djl/training/Trainer", "step", "()V", UPDATE),
        exact(
            DJL,
            "ai/djl/BaseModel",
            "save",
            "(Ljava/nio/file/Path;Ljava/lang/String;)V",
            CHECKPOINT),
        // DL4J: loops over batches.
        any(DL4J, "next", "()" + dataSet, TAKE),
        any(DL4J, "next", "(I)" + dataSet, TAKE),
        beside(DL4J, "hasNext", "()Z", "next()" + dataSet, ASK),
        beside(DL4J, "reset", "()V", "next()" + dataSet, PASS),
        any(DL4J, "next", "()" + multiDataSet, TAKE),
        any(DL4J, "next", "(I)" + multiDataSet, TAKE),
        beside(DL4J, "hasNext", "()Z", "next()" + multiDataSet, ASK),
        beside(DL4J, "reset", "()V", "next()" + multiDataSet, PASS),
        // DL4J: preparing a batch.
        exact(
            DL4J,
            "org/nd4j/linalg/dataset/AsyncDataSetIterator$AsyncPrefetchThread",
            "run",
            "()V",
            PRODUCER),
        exact(
            DL4J,
            "org/nd4j/linalg/dataset/AsyncMultiDataSetIterator$AsyncPrefetchThread",
            "run",
            "()V",
            PRODUCER),
        any(DL4J, "nextRecord", record, SAMPLE),
        beside(DL4J, "next", "()Ljava/util/List;", "nextRecord" + record, SAMPLE),
        beside(DL4J, "next", "(I)Ljava/util/List;", "nextRecord" + record, SAMPLE),
        any(DL4J, "nextSequence", sequence, SAMPLE),
        beside(DL4J, "sequenceRecord", "()Ljava/util/List;", "nextSequence" + sequence, SAMPLE),
        exact(DL4J, "org/datavec/image/loader/NativeImageLoader", "asMatrix", null, DECODE),
        exact(DL4J, "org/datavec/image/loader/NativeImageLoader", "asMatrixView", null, DECODE),
        exact(DL4J, "org/datavec/image/loader/NativeImageLoader", "asWritable", null, DECODE),
        exact(DL4J, "org/datavec/image/loader/NativeImageLoader", "asImageMatrix", null, DECODE),
        exact(
            DL4J, "org/datavec/image/loader/NativeImageLoader", "transformImage", null, TRANSFORM),
        exact(DL4J, "org/datavec/image/loader/ImageLoader", "asMatrix", null, DECODE),
        exact(DL4J, "org/datavec/image/loader/ImageLoader", "asImageMatrix", null, DECODE),
        any(
            DL4J,
            "transform",
            "(Lorg/datavec/image/data/ImageWritable;Ljava/util/Random;)Lorg/datavec/image/data/ImageWritable;",
            TRANSFORM),
        any(DL4J, "preProcess", "(Lorg/nd4j/linalg/dataset/api/DataSet;)V", TRANSFORM),
        any(DL4J, "preProcess", "(" + multiDataSet + ")V", TRANSFORM),
        // DL4J: training.
        exact(DL4J, "org/deeplearning4j/nn/multilayer/MultiLayerNetwork", "fit", null, FIT),
        exact(
            DL4J, "org/deeplearning4j/nn/multilayer/MultiLayerNetwork", "doEvaluation", null, FIT),
        exact(DL4J, "org/deeplearning4j/nn/graph/ComputationGraph", "fit", null, FIT),
        exact(DL4J, "org/deeplearning4j/nn/graph/ComputationGraph", "doEvaluation", null, FIT),
        exact(
            DL4J,
            "org/deeplearning4j/earlystopping/trainer/BaseEarlyStoppingTrainer",
            "fit",
            null,
            FIT),
        exact(DL4J, "org/deeplearning4j/parallelism/ParallelWrapper", "fit", null, FIT),
        exact(DL4J, "org/nd4j/autodiff/samediff/SameDiff", "fit", null, FIT),
        exact(DL4J, "org/deeplearning4j/optimize/Solver", "optimize", null, UPDATE),
        exact(
            DL4J,
            "org/nd4j/autodiff/samediff/internal/TrainingSession",
            "trainingIteration",
            null,
            UPDATE),
        exact(DL4J, "org/deeplearning4j/util/ModelSerializer", "writeModel", null, CHECKPOINT),
        exact(
            DL4J,
            "org/deeplearning4j/optimize/listeners/CheckpointListener",
            "saveCheckpoint",
            null,
            CHECKPOINT),
        exact(DL4J, "org/nd4j/autodiff/samediff/SameDiff", "save", null, CHECKPOINT));
  }

  private static HookRule answer(
      HookRule.Answerer answerer,
      String library,
      @Nullable String owner,
      String method,
      String descriptor) {
    return new HookRule(
        library,
        owner,
        method,
        descriptor,
        null,
        Weave.ANSWER,
        DECODE,
        versions(library),
        answerer);
  }

  private static HookRule any(String library, String method, String descriptor, SpanKind kind) {
    return new HookRule(
        library, null, method, descriptor, null, Weave.SPAN, kind, versions(library), null);
  }

  private static HookRule beside(
      String library, String method, String descriptor, String beside, SpanKind kind) {
    return new HookRule(
        library, null, method, descriptor, beside, Weave.SPAN, kind, versions(library), null);
  }

  private static HookRule exact(
      String library, String owner, String method, @Nullable String descriptor, SpanKind kind) {
    return new HookRule(
        library, owner, method, descriptor, null, Weave.SPAN, kind, versions(library), null);
  }

  private static HookRule iterable(String library, String method, String descriptor) {
    return new HookRule(
        library,
        null,
        method,
        descriptor,
        null,
        Weave.TIMED_ITERABLE,
        PASS,
        versions(library),
        null);
  }

  private static String versions(String library) {
    return library.equals(DJL) ? DJL_PROVEN : DL4J_PROVEN;
  }
}
