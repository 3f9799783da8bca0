package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.examples.Scaled;
import ai.djl.modality.cv.output.Rectangle;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.modality.nlp.DefaultVocabulary;
import ai.djl.modality.nlp.Vocabulary;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.util.PairList;
import ai.djl.util.Progress;
import io.coordl.pipeline.CannotShareException;
import io.coordl.purity.PurityAnalyzer;
import java.awt.Color;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which code of a DJL pipeline may run early. */
class KnownDjlTest {
  private static final PurityAnalyzer CODE =
      new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(false));

  private static final PurityAnalyzer COMPARING =
      new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(true));

  private static @Nullable String reason(Transform transform) {
    return CODE.reasonToLeave(List.of(transform));
  }

  /** Depends only on its argument. */
  static final class Doubled implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(2).add(1);
    }
  }

  /** Uses the number of a word. */
  static final class Numbered implements Transform {
    private final Vocabulary words;

    Numbered(Vocabulary words) {
      this.words = words;
    }

    @Override
    public NDArray transform(NDArray array) {
      return array.add(words.getIndex("a"));
    }
  }

  /** A vocabulary of the program that changes when it is used. */
  static final class Learning extends DefaultVocabulary {
    private int calls;

    Learning(List<String> words) {
      super(words);
    }

    @Override
    public long getIndex(String word) {
      calls++;
      return super.getIndex(word) + calls;
    }
  }

  /** Draws from the engine's generator. */
  static final class Dropped implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.getNDArrayInternal().dropout(array, 0.5f, true).head();
    }
  }

  /** Uses the manager that owns the batch. */
  static final class Counted implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(array.getManager().getParentManager().getManagedArrays().size());
    }
  }

  /** Uses an array's UID, which differs each time. */
  static final class Identified implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(array.getUid().hashCode());
    }
  }

  /** Uses a manager's name, which differs each time. */
  static final class Named implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(array.getManager().newSubManager().getName().hashCode());
    }
  }

  /** Queries a file's size without opening the file. */
  static final class Sized implements Transform {
    private final File file = new File("a");

    @Override
    public NDArray transform(NDArray array) {
      return array.mul(file.length());
    }
  }

  /** Like {@link Sized}, but through {@link Path}. */
  static final class SizedByPath implements Transform {
    private final Path path = Path.of("a");

    @Override
    public NDArray transform(NDArray array) {
      try {
        return array.mul(Files.size(path));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Reads a property. */
  static final class Coloured implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.mul(Color.getColor("colour", 1).getRed());
    }
  }

  /** Reads the file of the requested item. */
  static final class OfItem {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      java.io.FileInputStream in = new java.io.FileInputStream(new File("a" + index));
      in.close();
      return null;
    }
  }

  /** Like {@link OfItem}, but through {@link Paths}. */
  static final class OfItemByPaths {
    private final String folder = "data";

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      byte[] read = Files.readAllBytes(Paths.get(folder + "/" + index + ".bin"));
      return read.length == 0 ? null : new ai.djl.training.dataset.Record(null, null);
    }
  }

  /** Reads the same file for some items. */
  static final class OfAny {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      String name = index < 3 ? "a" + index : "a";
      java.io.FileInputStream in = new java.io.FileInputStream(new File(name));
      in.close();
      return null;
    }
  }

  /** Opens a file for reading only. */
  static final class OfRegion {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      try (RandomAccessFile in = new RandomAccessFile(new File("a"), "r")) {
        in.seek(index);
        return in.read() < 0 ? null : new ai.djl.training.dataset.Record(null, null);
      }
    }
  }

  /** The mode may come from anywhere. */
  record OfAnyMode(String mode) {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      try (RandomAccessFile in =
          mode.equals("r")
              ? new RandomAccessFile(new File("a"), "r")
              : new RandomAccessFile(new File("a"), mode)) {
        in.seek(index);
        return in.read() < 0 ? null : new ai.djl.training.dataset.Record(null, null);
      }
    }
  }

  /** Deletes the file that it reads. */
  static final class Deleting {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      Files.newInputStream(Paths.get("a" + index), StandardOpenOption.DELETE_ON_CLOSE).close();
      return null;
    }
  }

  /** Only one branch makes an array without options. */
  static final class DeletingSome {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      OpenOption[] options = new OpenOption[index > 0 ? 1 : 0];
      Files.newInputStream(Paths.get("a" + index), options).close();
      return null;
    }
  }

  /** Changes a collection that the library may keep. */
  static final class FillingLibrary {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      List<NDArray> arrays = new Pipeline().getTransforms().isEmpty() ? List.of() : null;
      new Pipeline().getTransforms().add(new Doubled());
      return arrays == null ? null : new ai.djl.training.dataset.Record(null, null);
    }
  }

  /** Like {@link FillingLibrary}, by an inherited method. */
  static final class FillingInherited {
    private static final class Own extends Pipeline {
      void fill() {
        getTransforms().add(new Doubled());
      }
    }

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      new Own().fill();
      return null;
    }
  }

  /** Reads a file, without options. */
  static final class Streaming {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      Files.newInputStream(Paths.get("a" + index)).close();
      return null;
    }
  }

  /** Lets the library read a file. */
  static final class Listing {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index)
        throws IOException {
      DefaultVocabulary.builder().addFromTextFile(Paths.get("a")).build();
      return null;
    }
  }

  @Test
  void filesAreOnlyReadByCallsThatAreSeenAndChangeNothing() {
    PurityAnalyzer code = new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(false));

    assertThat(code.reasonToLeave(List.of(new Streaming()))).isNull();
    assertThat(code.reasonToLeave(List.of(new Deleting()))).contains("newInputStream with options");
    assertThat(code.reasonToLeave(List.of(new DeletingSome()))).contains("with options");
    assertThat(code.reasonToLeave(List.of(new FillingLibrary())))
        .contains("getTransforms, which returns a collection");
    assertThat(code.reasonToLeave(List.of(new FillingInherited())))
        .contains("getTransforms, which returns a collection");
    assertThat(code.reasonToLeave(List.of(new Listing()))).contains("addFromTextFile");
  }

  @Test
  void codeMayReadAnyFileWhoseChangesAreNoticed() {
    PurityAnalyzer code = new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(false));

    assertThat(code.reasonToLeave(List.of(new OfItem()))).isNull();
    assertThat(code.reasonToLeave(List.of(new OfItemByPaths()))).isNull();
    assertThat(code.reasonToLeave(List.of(new OfAny()))).isNull();
    assertThat(reason(new Sized())).isNull();
    assertThat(reason(new SizedByPath())).isNull();
    assertThat(code.reasonToLeave(List.of(new OfRegion()))).isNull();
    assertThat(code.reasonToLeave(List.of(new OfAnyMode("r")))).contains("mode other than");
  }

  @Test
  void codeThatDependsOnlyOnItsArgumentMayRunEarly() {
    assertThat(reason(new Doubled())).isNull();
  }

  @Test
  void vocabularyOfTheLibraryNeverChanges() throws CannotShareException {
    DefaultVocabulary words = new DefaultVocabulary(List.of("a", "b"));
    assertThat(reason(new Numbered(words))).isNull();
    assertThat(Description.of("words", words))
        .isEqualTo(Description.of("words", new DefaultVocabulary(List.of("a", "b"))))
        .isNotEqualTo(Description.of("words", new DefaultVocabulary(List.of("b", "a"))));
    assertThat(reason(new Numbered(new Learning(List.of("a"))))).contains("sets its field calls");
  }

  @Test
  void programClassBelowDjlsPackageIsAnalysed() {
    assertThat(reason(new Scaled())).contains("reads ai.djl.examples.Scaled.factor");
  }

  @Test
  void codeThatDependsOnMoreThanItsArgumentIsRefused() {
    assertThat(reason(new Dropped())).contains("dropout");
    assertThat(reason(new Counted())).contains("getParentManager");
    assertThat(reason(new Identified())).contains("getUid");
    assertThat(reason(new Named())).contains("NDManager.getName");
    assertThat(reason(new Coloured())).contains("java.awt.Color.getColor");
  }

  /** Applies transforms of its own. */
  static class OwnTransforms {
    final Pipeline transforms = new Pipeline().add(new Doubled());

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      NDList made = transforms.transform(new NDList(manager.create(index)));
      return new ai.djl.training.dataset.Record(made, made);
    }
  }

  /** Adds a transform for each sample. */
  static final class AddingTransforms {
    private final Pipeline transforms = new Pipeline();

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      transforms.add(new Doubled());
      return null;
    }
  }

  /** Like {@link AddingTransforms}, by a method reference. */
  static final class AddingByReference {
    private final Pipeline transforms = new Pipeline();

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      List.of(new Doubled()).forEach(transforms::add);
      return null;
    }
  }

  /** Like {@link AddingTransforms}, by an inherited method. */
  static final class AddingInherited {
    private static final class Filled extends Pipeline {
      void fill() {
        add(new Doubled());
      }
    }

    private final Filled transforms = new Filled();

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      transforms.fill();
      return null;
    }
  }

  /** Uses transforms that exist only during the call. */
  static final class NewTransforms {
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      Pipeline transforms = new Pipeline().add(new Doubled()).add(new Doubled());
      NDList made = transforms.transform(new NDList(manager.create(index)));
      return new ai.djl.training.dataset.Record(made, made);
    }
  }

  /** Returns the boxes of a picture. */
  static class Boxes {
    final List<PairList<Long, Rectangle>> boxes = new ArrayList<>();

    Boxes() {
      boxes.add(new PairList<>());
      boxes.get(0).add(1L, new Rectangle(0.1, 0.2, 0.3, 0.4));
    }

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      Rectangle box = boxes.get((int) index).valueAt(0);
      NDList made = new NDList(manager.create((float) box.getX()));
      return new ai.djl.training.dataset.Record(made, made);
    }
  }

  /** Like {@link Boxes}, but each box is returned once. */
  static final class ConsumedBoxes {
    private final List<PairList<Long, Rectangle>> boxes = List.of(new PairList<>());

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      boxes.get((int) index).subList(0).clear();
      return null;
    }
  }

  @Test
  void collectionsOfTheLibraryAreComparedBeforeEachCall() {
    OwnTransforms own = new OwnTransforms();
    PurityAnalyzer.Proof proof = COMPARING.prove(List.of(own));
    assertThat(proof.reason()).isNull();
    assertThat(proof.values().areSame()).isTrue();
    own.transforms.add(new Doubled());
    assertThat(proof.values().areSame()).isFalse();

    Boxes boxes = new Boxes();
    proof = COMPARING.prove(List.of(boxes));
    assertThat(proof.reason()).isNull();
    assertThat(proof.values().areSame()).isTrue();
    Iterator<?> corners = boxes.boxes.get(0).valueAt(0).getPath().iterator();
    corners.next();
    corners.remove();
    assertThat(proof.values().areSame()).as("a box without its first corner").isFalse();
    proof = COMPARING.prove(List.of(boxes));
    boxes.boxes.get(0).remove(0);
    assertThat(proof.values().areSame()).isFalse();

    assertThat(CODE.reasonToLeave(List.of(new OwnTransforms()))).contains("PairList.keys");
  }

  @Test
  void codeThatChangesAnObjectOfTheLibraryIsRefused() {
    assertThat(COMPARING.reasonToLeave(List.of(new AddingTransforms())))
        .contains("get may change an object with ai.djl.translate.Pipeline.add");
    assertThat(COMPARING.reasonToLeave(List.of(new AddingByReference())))
        .contains("may change an object with ai.djl.translate.Pipeline.add");
    assertThat(COMPARING.reasonToLeave(List.of(new AddingInherited())))
        .contains("may change an object with ai.djl.translate.Pipeline.add");
    assertThat(COMPARING.reasonToLeave(List.of(new ConsumedBoxes())))
        .contains("may change an object with ai.djl.util.PairList.");
    assertThat(COMPARING.reasonToLeave(List.of(new NewTransforms()))).isNull();
    assertThat(CODE.reasonToLeave(List.of(new NewTransforms()))).isNull();
  }

  /** Changes a picture in place, which a list of the library holds. */
  static final class Mirrored {
    private final PairList<float[], Integer> pictures = new PairList<>();

    Mirrored() {
      pictures.add(new float[] {1, 2}, 1);
    }

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      float[] picture = pictures.keyAt((int) index);
      picture[0] = -picture[0];
      return new ai.djl.training.dataset.Record(new NDList(manager.create(picture)), null);
    }
  }

  /** Changes its lists through a new object of the library. */
  static final class Aliased {
    private final List<Integer> keys = new ArrayList<>();
    private final List<Integer> values = new ArrayList<>();

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      new PairList<>(keys, values).add(1, 1);
      return new ai.djl.training.dataset.Record(new NDList(manager.create(keys.size())), null);
    }
  }

  /** Passes its transforms to the library, which adds one. */
  static final class Translated {
    private final Pipeline transforms = new Pipeline();

    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      ImageClassificationTranslator.builder()
          .setPipeline(transforms)
          .addTransform(new Doubled())
          .build();
      return null;
    }
  }

  /** Compares strings by identity. */
  static final class SameString {
    String mode = "train";

    @SuppressWarnings("StringEquality") // As some programs do.
    ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      float label = mode == "train" ? 1 : 2;
      return new ai.djl.training.dataset.Record(new NDList(manager.create(label)), null);
    }
  }

  @Test
  void objectsOfTheLibraryAreNotChangedThroughOthers() {
    assertThat(COMPARING.reasonToLeave(List.of(new Mirrored()))).contains("PairList.keys");
    assertThat(COMPARING.reasonToLeave(List.of(new Aliased())))
        .contains("get calls ai.djl.util.PairList.add");
    assertThat(COMPARING.reasonToLeave(List.of(new Translated()))).contains("setPipeline");
    assertThat(COMPARING.reasonToLeave(List.of(new SameString()))).contains("by identity");
  }

  /** A data set whose builder fills a field of the library's builder. */
  static class Built extends RandomAccessDataset {
    Built(Builder builder) {
      super(builder);
    }

    @Override
    public ai.djl.training.dataset.Record get(ai.djl.ndarray.NDManager manager, long index) {
      NDList made = new NDList(manager.create(index));
      return new ai.djl.training.dataset.Record(made, made);
    }

    @Override
    protected long availableSize() {
      return 3;
    }

    @Override
    public void prepare(@Nullable Progress progress) {
      // Nothing to prepare.
    }

    static final class Builder extends BaseBuilder<Builder> {
      @Override
      protected Builder self() {
        return this;
      }

      Built build() {
        if (pipeline == null) {
          pipeline = new Pipeline(new Doubled());
        }
        setSampling(2, false);
        return new Built(this);
      }
    }
  }

  @Test
  void aBuilderMayFillTheFieldsThatItInherits() {
    assertThat(COMPARING.reasonToLeave(List.of(new Built.Builder().build()))).isNull();
    assertThat(COMPARING.reasonToLeave(List.of(new Replacing())))
        .contains("replace sets ai.djl.training.dataset.RandomAccessDataset.pipeline");
  }
}
