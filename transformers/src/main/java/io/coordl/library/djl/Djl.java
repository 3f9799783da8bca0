package io.coordl.library.djl;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.ASSEMBLE;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.CONVERT;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.PRODUCER;
import static io.coordl.bridge.SpanKind.SAMPLE;
import static io.coordl.bridge.SpanKind.TAKE;
import static io.coordl.bridge.SpanKind.TRANSFORM;
import static io.coordl.bridge.SpanKind.UPDATE;
import static io.coordl.transformers.hook.Policy.ASYNC;
import static io.coordl.transformers.hook.Policy.ATOMIC;
import static io.coordl.transformers.hook.Policy.CHECK;
import static io.coordl.transformers.hook.Policy.CHECKPOINTS;
import static io.coordl.transformers.hook.Policy.COORDINATE;
import static io.coordl.transformers.hook.Policy.PREFETCH;
import static io.coordl.transformers.hook.Policy.PREPARED;
import static io.coordl.transformers.hook.Policy.PROFILE;
import static io.coordl.transformers.hook.Policy.RESUME;
import static io.coordl.transformers.hook.Policy.SHARE;

import io.coordl.bridge.SpanKind;
import io.coordl.library.Library;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.HookTable;
import java.util.List;
import java.util.Map;

/**
 * DJL: its iterables prepare batches on the program's thread, or on an executor if they have one.
 */
public final class Djl implements Library {
  static final String NAME = "DJL";

  private static final String PROVEN_ON = "DJL 0.36.0";
  private static final String FOLDER = "io.coordl.library.djl";
  private static final String DATASET = "ai/djl/training/dataset/";
  private static final String BATCH = "Lai/djl/training/dataset/Batch;";
  private static final String IMAGE = "Lai/djl/modality/cv/Image;";
  private static final String RANDOM = "ai/djl/util/RandomUtils";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<String> packages() {
    return List.of("ai.djl.");
  }

  @Override
  public List<HookRule> hooks() {
    String data = "(Lai/djl/ndarray/NDManager;";
    String list = "Lai/djl/ndarray/NDList;";
    String nd = "Lai/djl/ndarray/NDArray;";
    String iterable = DATASET + "DataIterable";
    String sample = "sample(Lai/djl/training/dataset/RandomAccessDataset;)Ljava/util/Iterator;";
    String fetch = "fetch(Ljava/util/List;I)" + BATCH;
    String fromFile = "fromFile(Ljava/nio/file/Path;)" + IMAGE;
    String prepare = "prepare(Lai/djl/util/Progress;)V";
    HookTable table = new HookTable(NAME, FOLDER, PROVEN_ON);
    // Loops over batches.
    table.span(TAKE, null, "next()" + BATCH);
    table.beside(ASK, "next()" + BATCH, "hasNext()Z");
    for (String executor : new String[] {"", "Ljava/util/concurrent/ExecutorService;"}) {
      table.timedIterable("getData" + data + executor + ")Ljava/lang/Iterable;");
    }
    table.span(SpanKind.DATA_SET, null, prepare);
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
    // Loops without a trainer: a gradient collector of the engine, or predictions of batches.
    table.span(UPDATE, "ai/djl/training/ParameterStore", "updateAllParameters()V");
    table.span(COMPUTE, null, "newGradientCollector()Lai/djl/training/GradientCollector;");
    table.span(
        COMPUTE, "ai/djl/inference/Predictor", "batchPredict(Ljava/util/List;)Ljava/util/List;");
    table.span(CHECKPOINT, "ai/djl/BaseModel", "save(Ljava/nio/file/Path;Ljava/lang/String;)V");
    // If several rules intercept a method, the first is nearest to its body.
    table.by("CopiedBatches", PROFILE);
    table.intercept(null, "next()" + BATCH);
    table.intercept(iterable + "$PreFetchCallable", "call()" + BATCH);
    table.by("CheckedBatches", CHECK);
    table.intercept(iterable, fetch);
    table.by("AugmentedBatches", SHARE, PREFETCH);
    table.intercept(iterable, fetch);
    table.random(RANDOM, "<clinit>()V");
    table.by("TrainedModels", CHECKPOINTS, RESUME);
    table.intercept(null, sample);
    table.intercept(
        "ai/djl/training/Trainer",
        "step()V",
        "iterateDataset(Lai/djl/training/dataset/Dataset;)Ljava/lang/Iterable;");
    table.intercept(iterable, "next()" + BATCH);
    table.random(RANDOM, "<clinit>()V");
    table.by("TrainedModels", RESUME);
    table.intercept("ai/djl/training/Trainer", "notifyListeners(Ljava/util/function/Consumer;)V");
    table.by("IterableEpochs", PREPARED, COORDINATE, PREFETCH);
    table.intercept(null, fetch);
    table.by("IterableEpochs", COORDINATE, PREFETCH);
    table.intercept(null, sample);
    table.by("IterableEpochs", PREPARED, PREFETCH);
    table.intercept(null, prepare);
    table.random(RANDOM, "<clinit>()V");
    table.by("IterableEpochs", COORDINATE);
    table.intercept("ai/djl/ndarray/BaseNDManager", "close()V");
    table.by("ImageInterceptor", SHARE);
    table.intercept("ai/djl/modality/cv/BufferedImageFactory", fromFile);
    table.provenOn("DJL OpenCV 0.32.0");
    table.intercept("ai/djl/opencv/OpenCVImageFactory", fromFile);
    table.provenOn(PROVEN_ON);
    table.by("ClosedNumbers", PREPARED, SHARE, PREFETCH, COORDINATE, ASYNC);
    table.intercept(
        "ai/djl/pytorch/engine/PtNDManager",
        "create(Ljava/nio/Buffer;Lai/djl/ndarray/types/Shape;Lai/djl/ndarray/types/DataType;)"
            + "Lai/djl/pytorch/engine/PtNDArray;");
    table.intercept("ai/djl/pytorch/engine/PtGradientCollector", "close()V");
    table.by("SavedModels", ATOMIC, ASYNC);
    table.intercept(
        "ai/djl/BaseModel",
        "save(Ljava/nio/file/Path;Ljava/lang/String;)V",
        "paramPathResolver(Ljava/lang/String;Ljava/util/Map;)Ljava/nio/file/Path;",
        "readParameters(Ljava/nio/file/Path;Ljava/util/Map;)Z");
    table.by("WrittenArrays", ASYNC);
    table.intercept("ai/djl/nn/Parameter", "save(Ljava/io/DataOutputStream;)V");
    table.intercept("ai/djl/ndarray/NDSerializer", "encode(Lai/djl/ndarray/NDArray;)[B");
    return table.rules();
  }

  @Override
  public Map<String, String> anchors() {
    String iterable = "ai.djl.training.dataset.DataIterable";
    return Map.of(
        FOLDER + ".ClosedNumbers",
        "ai.djl.pytorch.engine.PtGradientCollector",
        FOLDER + ".TrainedModels",
        "ai.djl.training.Trainer",
        FOLDER + ".WrittenArrays",
        "ai.djl.nn.Parameter",
        FOLDER + ".IterableEpochs",
        iterable,
        FOLDER + ".AugmentedBatches",
        iterable,
        FOLDER + ".CopiedBatches",
        iterable);
  }

  @Override
  public Map<String, String> counters() {
    return Map.of("ai.djl.training.dataset.Batch", FOLDER + ".BatchSize");
  }

  @Override
  public Map<String, String> layers() {
    return Map.of("ai.djl.training.Trainer", FOLDER + ".BlockLayers");
  }

  @Override
  public Map<String, String> datasets() {
    return Map.of("ai.djl.training.dataset.DataIterable", FOLDER + ".IteratedDataset");
  }

  @Override
  public Map<String, String> verdicts() {
    return Map.of("ai.djl.training.dataset.DataIterable", FOLDER + ".ProvenSamples");
  }

  @Override
  public String kept() {
    return "a DataIterable of DJL";
  }

  @Override
  public boolean preparesAhead() {
    return false;
  }

  @Override
  public boolean isPrefetched() {
    return true;
  }

  @Override
  public String howToPrepareAhead() {
    return "in DJL with optExecutorService(..) of the training configuration and"
        + " optPrefetchNumber(..) of the data set, both together (random transforms then draw in"
        + " another order)";
  }
}
