package io.coordl.library.dl4j;

import io.coordl.purity.PurityAnalyzer;
import io.coordl.transformers.callsite.ClassNames;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Facts about DL4J, DataVec and ND4J code that is used by preprocessors, label generators, and
 * iterators and readers of the program's own classes. The purity analysis relies on them.
 *
 * @param sources whether iterators or readers of the program's own classes are analysed. {@link
 *     OwnSources} compares their fields, and the objects in them, before each batch or record. It
 *     also stores which files the code opens for a batch or record
 */
record KnownDl4j(boolean sources) implements PurityAnalyzer.Known {
  private static final String PREPROCESSORS = "org.nd4j.linalg.dataset.api.preprocessor.";

  private static final String ITERATORS = "org.deeplearning4j.datasets.iterator.";

  /** Classes whose objects behave alike if their descriptions are equal. */
  private static final List<String> STEADY =
      List.of(
          PREPROCESSORS,
          "org.deeplearning4j.datasets.iterator.CombinedPreProcessor",
          "org.deeplearning4j.datasets.iterator.CombinedMultiDataSetPreProcessor",
          "org.datavec.api.io.labels.",
          "org.datavec.image.recordreader.objdetect.impl.");

  /** Classes that combine other objects, which may be the program's. */
  private static final Set<String> COMPOSED =
      Set.of(
          PREPROCESSORS + "CompositeDataSetPreProcessor",
          PREPROCESSORS + "CompositeMultiDataSetPreProcessor",
          "org.deeplearning4j.datasets.iterator.CombinedPreProcessor",
          "org.deeplearning4j.datasets.iterator.CombinedMultiDataSetPreProcessor");

  /** Classes whose methods read and change only their object and their arguments. */
  private static final List<String> KNOWN =
      List.of(
          ("org/nd4j/linalg/api/buffer/DataType org/nd4j/linalg/api/ndarray/INDArray"
                  + " org/nd4j/linalg/dataset/DataSet org/nd4j/linalg/dataset/MultiDataSet"
                  + " org/nd4j/linalg/dataset/api/DataSet org/nd4j/linalg/dataset/api/MultiDataSet"
                  + " org/nd4j/linalg/indexing/ org/nd4j/linalg/ops/transforms/Transforms"
                  + " org/datavec/api/writable/ org/datavec/api/io/labels/"
                  + " org/datavec/image/recordreader/objdetect/")
              .split(" "));

  /**
   * Exceptions to {@link #KNOWN}: name prefixes of methods with other inputs or with side effects.
   */
  private static final List<String> UNKNOWN =
      List.of(
          ("shuffle sample split save load leverage migrate detach isAttached toString close"
                  + " id getId data ulike newWritable")
              .split(" "));

  /**
   * Known methods of {@code Nd4j}; others may draw random numbers, change settings, or return
   * uninitialised memory.
   */
  private static final Set<String> FACTORY =
      Set.of(
          ("create createFromArray zeros zerosLike ones onesLike valueArrayOf scalar concat"
                  + " hstack vstack stack linspace arange eye argMax mean max min sum norm1 norm2"
                  + " expandDims squeeze reverse tile pad")
              .split(" "));

  /** The methods of iterators and readers that return a batch or a record. */
  private static final Set<String> NEXT =
      Set.of(
          "next()Ljava/lang/Object;",
          "next()Ljava/util/List;",
          "sequenceRecord()Ljava/util/List;",
          "next()Lorg/nd4j/linalg/dataset/DataSet;",
          "next(I)Lorg/nd4j/linalg/dataset/DataSet;",
          "next()Lorg/nd4j/linalg/dataset/api/MultiDataSet;",
          "next(I)Lorg/nd4j/linalg/dataset/api/MultiDataSet;");

  @Override
  public boolean comparesFields() {
    return sources;
  }

  /** Other methods, such as {@code reset}, run only when the program or the library calls them. */
  @Override
  public Set<String> runs() {
    return sources ? NEXT : Set.of();
  }

  @Override
  public boolean keepsPlace(Class<?> type) {
    return sources && OwnSource.keepsPlace(type);
  }

  @Override
  public boolean isQueue(Object collection) {
    return sources && OwnSource.isQueue(collection);
  }

  @Override
  public boolean noticesFiles(String owner) {
    return sources && ClassNames.isOffered(owner);
  }

  /** False for the library's unknown preprocessors, whose class files are analysed. */
  @Override
  public boolean isOfLibrary(String className) {
    return Description.isOfLibrary(className)
        && (!className.startsWith(ITERATORS)
            || !className.endsWith("PreProcessor")
            || STEADY.contains(className));
  }

  @Override
  public @Nullable String reasonToLeave(Class<?> type) {
    if (INDArray.class.isAssignableFrom(type)) {
      return "the program may change";
    } else if (type.getName().startsWith(PREPROCESSORS + "classimbalance.")) {
      return "draws random numbers";
    }
    return STEADY.stream().anyMatch(type.getName()::startsWith)
        ? null
        : "is not known to do the same each time";
  }

  /** True for classes whose objects' contents are compared before each batch. */
  @Override
  public boolean isClosed(Class<?> type) {
    return !COMPOSED.contains(type.getName());
  }

  @Override
  public boolean comparesObjects() {
    return true;
  }

  @Override
  public boolean keepsItsOwn(Class<?> declaring) {
    return true;
  }

  @Override
  public boolean isKnown(String owner, String method) {
    if (owner.equals("org/nd4j/linalg/factory/Nd4j")) {
      return FACTORY.contains(method);
    } else if (owner.equals("org/nd4j/linalg/dataset/api/DataSetPreProcessor")
        || owner.equals("org/nd4j/linalg/dataset/api/MultiDataSetPreProcessor")) {
      return sources; // All preprocessors in the source's fields are analysed.
    }
    return (KNOWN.stream().anyMatch(known -> known.equals(owner) || isIn(known, owner))
            || owner.endsWith("Exception"))
        && UNKNOWN.stream().noneMatch(method::startsWith);
  }

  private static boolean isIn(String known, String owner) {
    return known.endsWith("/") && owner.startsWith(known);
  }

  @Override
  public boolean copies(String owner, String method) {
    return owner.equals("org/nd4j/linalg/factory/Nd4j") && method.startsWith("create");
  }
}
