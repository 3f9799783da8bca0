package io.coordl.library.djl;

import ai.djl.ndarray.NDResource;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.transformers.callsite.ClassNames;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Facts about DJL's own code that the purity analysis relies on.
 *
 * @param comparesFields whether the caller compares, before each call, the fields that the program
 *     may set (see {@link io.coordl.pipeline.PreparedSamples})
 */
record KnownDjl(boolean comparesFields) implements PurityAnalyzer.Known {
  static final String PREFIX = "ai.djl.";

  /**
   * Transforms that draw from the engine's generator, which cannot be forked, or that PyTorch does
   * not support.
   */
  private static final Set<String> DRAW_FROM_ENGINE =
      Set.of("RandomHue", "RandomBrightness", "RandomColorJitter");

  /**
   * Packages and classes whose methods depend only on their arguments, and draw only from the known
   * generator.
   */
  private static final List<String> KNOWN =
      List.of(
          ("ai/djl/ndarray/ ai/djl/modality/ ai/djl/translate/ ai/djl/training/dataset/"
                  + " ai/djl/basicdataset/ ai/djl/util/RandomUtils ai/djl/util/Pair"
                  + " ai/djl/util/Preconditions ai/djl/util/Float16Utils ai/djl/Device")
              .split(" "));

  /** Exceptions to {@link #KNOWN}: classes and methods with other inputs or with side effects. */
  private static final Set<String> UNKNOWN =
      Set.of(
          ("ai/djl/ndarray/NDScope ai/djl/translate/TranslatorContext prepare getData fromUrl"
                  + " setImageFactory getEngine getGpuCount getParentManager getManagedArrays"
                  // A new data set queries the files that its repository names.
                  + " setRepository setRepositoryPath getSynset"
                  // These differ in each call, or change the manager of the batch.
                  + " getUid nextUid isOpen cap attachInternal attachUncappedInternal"
                  + " tempAttachInternal"
                  // These draw from the engine's generator, or change their arguments.
                  + " dropout batchNorm rnn lstm gru")
              .split(" "));

  /** Packages and classes below {@link #PREFIX} in DJL's own jars. */
  private static final Set<String> PARTS =
      Set.of(
          ("basicdataset engine inference metric modality ndarray nn opencv pytorch"
                  + " repository training translate util Application BaseModel Device"
                  + " MalformedModelException Model ModelException TrainingDivergedException")
              .split(" "));

  /** Programs may contain copies of DJL's examples, in packages that begin with {@link #PREFIX}. */
  @Override
  public boolean isOfLibrary(String className) {
    String part = className.substring(PREFIX.length()).split("[.$]", 2)[0];
    return PARTS.contains(part);
  }

  @Override
  public @Nullable String reasonToLeave(Class<?> type) {
    if (NDResource.class.isAssignableFrom(type)) {
      return "the program may close at any time";
    } else if (type.getName().endsWith("Featurizers$StringFeaturizer")) {
      return "may number words in the order in which it meets them";
    }
    return DRAW_FROM_ENGINE.contains(type.getSimpleName())
        ? "draws from the engine's generator"
        : null;
  }

  /** {@code subList} returns a view through which the list can be changed. */
  @Override
  public @Nullable Set<String> changers(String owner) {
    return switch (owner) {
      case "ai/djl/util/PairList" -> Set.of("add", "addAll", "clear", "remove", "subList");
      case "ai/djl/translate/Pipeline" -> Set.of("add", "insert");
      case "ai/djl/modality/cv/output/Rectangle" -> Set.of();
      default -> null;
    };
  }

  /**
   * DJL's base classes only store the parts of a data set, and each part is analysed separately. A
   * vocabulary sets its private fields only in methods called by its constructors, and does not
   * expose their contents.
   */
  @Override
  public boolean isClosed(Class<?> type) {
    String name = type.getName();
    return type == RandomAccessDataset.class
        || name.equals("ai.djl.modality.nlp.DefaultVocabulary")
        || name.startsWith("ai.djl.repository.")
        || name.startsWith("ai.djl.engine.")
        || name.startsWith("ai.djl.Device");
  }

  /**
   * A {@code CSVRecord} or {@code CSVFormat} never changes. A record asks its parser only for the
   * column names.
   */
  @Override
  public boolean isValue(Class<?> type) {
    return type.getName().equals("org.apache.commons.csv.CSVRecord")
        || type.getName().equals("org.apache.commons.csv.CSVFormat");
  }

  /**
   * False for {@code SubDatasetByIndices}: the program may still hold, and change, its index list.
   */
  @Override
  public boolean keepsItsOwn(Class<?> declaring) {
    return RandomAccessDataset.class.isAssignableFrom(declaring)
        && !declaring.getName().endsWith("SubDatasetByIndices");
  }

  @Override
  public boolean isKnown(String owner, String method) {
    boolean draws =
        method.startsWith("random")
            || method.startsWith("truncated")
            || method.startsWith("sample");
    return (KNOWN.stream().anyMatch(owner::startsWith) || owner.endsWith("Exception"))
        && !UNKNOWN.contains(owner)
        && !UNKNOWN.contains(method)
        && !(owner.endsWith("NDManager") && method.endsWith("Name"))
        && (!draws
            || owner.equals("ai/djl/util/RandomUtils")
            || owner.equals("ai/djl/modality/cv/util/NDImageUtils"));
  }

  @Override
  public boolean readsFile(String owner, String method) {
    return (owner.endsWith("ImageFactory") && method.equals("fromFile"))
        || (owner.startsWith("ai/djl/ndarray/") && method.equals("load"));
  }

  @Override
  public boolean copies(String owner, String method) {
    return owner.equals("ai/djl/ndarray/NDManager") && method.equals("create");
  }

  @Override
  public boolean isAnnounced(String method, String descriptor) {
    return (method + descriptor).equals("prepare(Lai/djl/util/Progress;)V");
  }

  @Override
  public boolean noticesFiles(String owner) {
    return ClassNames.isOffered(owner);
  }
}
