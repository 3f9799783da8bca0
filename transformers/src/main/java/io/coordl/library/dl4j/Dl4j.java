package io.coordl.library.dl4j;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.CHECKPOINT;
import static io.coordl.bridge.SpanKind.COMPUTE;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.EPOCH;
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

import io.coordl.library.Library;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.HookTable;
import java.util.List;
import java.util.Map;

/** DL4J with ND4J and DataVec: {@code fit} prepares batches on its own thread. */
public final class Dl4j implements Library {
  static final String NAME = "DL4J";

  private static final String FOLDER = "io.coordl.library.dl4j";
  private static final String DATA_SET = "Lorg/nd4j/linalg/dataset/DataSet;";
  private static final String MULTI_DATA_SET = "Lorg/nd4j/linalg/dataset/api/MultiDataSet;";
  private static final String ARRAY = "Lorg/nd4j/linalg/api/ndarray/INDArray;";
  private static final String NORMALIZATION =
      "Lorg/nd4j/linalg/dataset/api/preprocessor/DataNormalization;";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<String> packages() {
    return List.of("org.deeplearning4j.", "org.nd4j.", "org.datavec.");
  }

  @Override
  public List<HookRule> hooks() {
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
    HookTable table = new HookTable(NAME, FOLDER, "DL4J 1.0.0-M2.1");
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
    table.span(COMPUTE, layers, "output"); // Predictions of batches.
    table.span(COMPUTE, graph, "output", "outputSingle");
    table.span(UPDATE, solver, "optimize");
    table.span(UPDATE, session, "trainingIteration");
    table.span(CHECKPOINT, models, "writeModel");
    table.span(CHECKPOINT, listener, "saveCheckpoint");
    table.span(CHECKPOINT, sameDiff, "save");
    table.by("CopiedBatches", PROFILE);
    table.intercept(null, "next()" + DATA_SET, "next(I)" + DATA_SET);
    table.intercept(null, "next()" + MULTI_DATA_SET, "next(I)" + MULTI_DATA_SET);
    table.by("Prefetch", PREFETCH);
    table.intercept(
        "org/datavec/image/recordreader/BaseImageRecordReader",
        "next()Ljava/util/List;",
        "next(I)Ljava/util/List;");
    table.by("MatrixInterceptor", SHARE, PREPARED);
    table.intercept(
        loader,
        "asMatrixView(Ljava/io/File;" + ARRAY + ")V",
        "asMatrix(Ljava/io/File;Z)" + ARRAY,
        "asImageMatrix(Ljava/io/File;Z)Lorg/datavec/image/data/Image;",
        "transformImage(" + mat + ARRAY + ")" + ARRAY,
        "fillNDArray(" + mat + ARRAY + ")V");
    table.by("IteratorWorkspaces", SHARE, PREPARED);
    String cpu = "org/nd4j/linalg/cpu/nativecpu/";
    table.intercept(cpu + "workspace/CpuWorkspace", "init()V", "destroyWorkspace(Z)V");
    table.intercept(
        cpu + "CpuMemoryManager",
        "allocate(JLorg/nd4j/linalg/api/memory/enums/MemoryKind;Z)Lorg/bytedeco/javacpp/Pointer;");
    table.by("CheckedBatches", CHECK);
    for (String kind : new String[] {"RecordReader", "SequenceRecordReader"}) {
      table.intercept(iterators + kind + "DataSetIterator", "next(I)" + DATA_SET, "reset()V");
    }
    table.intercept(
        iterators + "RecordReaderMultiDataSetIterator", "next(I)" + MULTI_DATA_SET, "reset()V");
    table.by("OwnSources", PREPARED);
    table.intercept(null, "next()" + DATA_SET, "next(I)" + DATA_SET);
    table.intercept(null, "next()" + MULTI_DATA_SET, "next(I)" + MULTI_DATA_SET);
    table.interceptBeside("next()" + DATA_SET, "reset()V");
    table.interceptBeside("next()" + MULTI_DATA_SET, "reset()V");
    table.interceptBeside(record, "next()Ljava/util/List;", "reset()V");
    table.interceptBeside(sequence, "sequenceRecord()Ljava/util/List;");
    table.by("EpochInterceptor", PREPARED, COORDINATE, PREFETCH);
    for (String kind : new String[] {"RecordReader", "SequenceRecordReader"}) {
      String type = iterators + kind + "DataSetIterator";
      table.intercept(type, "next(I)" + DATA_SET, "hasNext()Z", "reset()V");
    }
    String several = iterators + "RecordReaderMultiDataSetIterator";
    table.intercept(several, "next(I)" + MULTI_DATA_SET, "hasNext()Z", "reset()V");
    table.intercept(
        "org/datavec/api/records/reader/impl/LineRecordReader",
        "initialize(Lorg/datavec/api/split/InputSplit;)V",
        "reset()V");
    table.by("TrainedModels", CHECKPOINTS, RESUME);
    table.intercept(solver, "optimize(Lorg/deeplearning4j/nn/workspace/LayerWorkspaceMgr;)V");
    table.by("TrainedModels", RESUME);
    table.intercept(layers, "fitHelper(Lorg/nd4j/linalg/dataset/api/iterator/DataSetIterator;)V");
    table.intercept(graph, "fit(Lorg/nd4j/linalg/dataset/api/iterator/MultiDataSetIterator;)V");
    table.by("SavedModels", ATOMIC, ASYNC);
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
    table.by("SavedModels", RESUME);
    table.intercept(
        models,
        write + "Ljava/io/OutputStream;Z)V",
        write + "Ljava/io/OutputStream;Z" + NORMALIZATION + ")V");
    table.by("SavedGraphs", ATOMIC, ASYNC);
    table.intercept(
        sameDiff,
        "asFlatFile(Ljava/io/File;Z)V",
        "asFlatFile(Ljava/io/File;Lorg/nd4j/autodiff/execution/conf/ExecutorConfiguration;Z)V",
        "fromFlatFile(Ljava/io/File;Z)Lorg/nd4j/autodiff/samediff/SameDiff;");
    table.by("WrittenArrays", ASYNC);
    table.intercept(
        "org/nd4j/linalg/factory/Nd4j", "write(" + ARRAY + "Ljava/io/DataOutputStream;)V");
    return table.rules();
  }

  @Override
  public Map<String, String> anchors() {
    String batch = "org.nd4j.linalg.dataset.DataSet";
    return Map.of(
        FOLDER + ".TrainedModels",
        "org.deeplearning4j.optimize.Solver",
        FOLDER + ".SavedModels",
        "org.deeplearning4j.util.ModelSerializer",
        FOLDER + ".CopiedBatches",
        batch,
        FOLDER + ".OwnSources",
        batch,
        FOLDER + ".IteratorWorkspaces",
        "org.nd4j.linalg.api.memory.abstracts.Nd4jWorkspace",
        FOLDER + ".EpochInterceptor",
        "org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator");
  }

  @Override
  public Map<String, String> counters() {
    return Map.of(
        "org.nd4j.linalg.dataset.api.DataSet",
        FOLDER + ".BatchSize",
        "org.nd4j.linalg.dataset.api.MultiDataSet",
        FOLDER + ".BatchSize",
        "org.deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer",
        FOLDER + ".EarlyStoppingEpochs");
  }

  @Override
  public Map<String, String> layers() {
    return Map.of("org.deeplearning4j.optimize.Solver", FOLDER + ".NetworkLayers");
  }

  /** True for iterators of DL4J and SameDiff that wrap the single batch of {@code fit(DataSet)}. */
  @Override
  public boolean isNotDataSource(String internalName) {
    return (internalName.startsWith("org/nd4j/") || internalName.startsWith("org/deeplearning4j/"))
        && internalName.contains("/Singleton");
  }

  @Override
  public Map<String, String> datasets() {
    String backed = FOLDER + ".BackedIterator";
    return Map.of(
        "org.nd4j.linalg.dataset.AsyncDataSetIterator", backed,
        "org.nd4j.linalg.dataset.AsyncMultiDataSetIterator", backed);
  }

  @Override
  public Map<String, String> verdicts() {
    String proven = FOLDER + ".ProvenBatches";
    return Map.of(
        "org.nd4j.linalg.dataset.api.iterator.DataSetIterator", proven,
        "org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator", proven);
  }

  @Override
  public String kept() {
    return "an iterator over readers of DL4J";
  }

  @Override
  public boolean preparesAhead() {
    return true;
  }

  @Override
  public boolean isPrefetched() {
    return false;
  }

  @Override
  public String howToPrepareAhead() {
    return "in DL4J with new AsyncDataSetIterator(iterator, N) or AsyncMultiDataSetIterator, which"
        + " fit(iterator) uses if the iterator's asyncSupported() is true";
  }

  @Override
  public String callsGc() {
    return "ND4J makes them if configured to (Nd4j.getMemoryManager().togglePeriodicGc(false) stops"
        + " that), and JavaCPP makes them when native memory nears its limits"
        + " (-Dorg.bytedeco.javacpp.maxbytes and maxphysicalbytes)";
  }
}
