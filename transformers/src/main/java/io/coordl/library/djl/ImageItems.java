package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.util.PairList;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.Symbols;
import io.coordl.store.DecodedForm;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maps an index of a data set to its file, for the library's own data sets with one picture per
 * file and for views of them. Runs no code of the program. Other data sets are unknown.
 */
final class ImageItems {
  private static final String LIBRARY = "ai.djl.";
  private static final String VIEW = RandomAccessDataset.class.getName() + "$SubDataset";
  private static final String FOLDER = "ai.djl.basicdataset.cv.classification.AbstractImageFolder";
  private static final String PICTURES = "ai.djl.basicdataset.cv.ImageDataset";

  private final @Nullable KeptItems kept;
  private final Map<Class<?>, Forms> forms = new ConcurrentHashMap<>();

  /** {@code kept} is null if files are only fetched. */
  ImageItems(@Nullable KeptItems kept) {
    this.kept = kept;
  }

  private interface Files {
    Path of(int index) throws ReflectiveOperationException;
  }

  /** Returns the files of a data set; null if they are unknown. */
  @Nullable Source of(RandomAccessDataset dataset) {
    try {
      return source(dataset);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null; // Another version of the library: then nothing is prefetched.
    }
  }

  private @Nullable Source source(RandomAccessDataset dataset) throws ReflectiveOperationException {
    Class<?> type = dataset.getClass();
    if (type.getName().startsWith(VIEW)) {
      Source whole = source((RandomAccessDataset) Symbols.field(type, "dataset").get(dataset));
      return whole == null ? null : new Source(view(dataset, whole.files), whole.flag);
    }
    Files files = files(dataset, type);
    return files == null
        ? null
        : new Source(
            files, (Image.Flag) Symbols.field(ancestor(type, PICTURES), "flag").get(dataset));
  }

  private static @Nullable Files files(RandomAccessDataset dataset, Class<?> type)
      throws ReflectiveOperationException {
    Class<?> imageOwner = declaring(type, "getImage", long.class);
    if (!imageOwner.getName().startsWith(LIBRARY)) {
      return null;
    }
    if (imageOwner.getName().equals(FOLDER)) {
      PairList<?, ?> items = (PairList<?, ?>) Symbols.field(imageOwner, "items").get(dataset);
      Class<?> pathOwner = declaring(type, "getImagePath", String.class);
      if (!pathOwner.getName().startsWith(LIBRARY)) {
        return null;
      }
      Method path = pathOwner.getDeclaredMethod("getImagePath", String.class);
      path.setAccessible(true);
      return index -> (Path) path.invoke(dataset, items.keyAt(index));
    }
    List<?> paths = (List<?>) Symbols.field(imageOwner, "imagePaths").get(dataset);
    return index -> (Path) paths.get(index);
  }

  private static Files view(RandomAccessDataset view, Files whole)
      throws ReflectiveOperationException {
    Class<?> type = view.getClass();
    if (!type.getName().equals(VIEW)) {
      List<?> indices = (List<?>) Symbols.field(type, "subIndices").get(view);
      return index -> whole.of(Math.toIntExact((Long) indices.get(index)));
    }
    int[] indices = (int[]) Symbols.field(type, "indices").get(view);
    int from = Symbols.field(type, "from").getInt(view);
    return index -> whole.of(indices[index + from]);
  }

  private static Class<?> ancestor(Class<?> type, String name) throws ClassNotFoundException {
    return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
        .filter(at -> at.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new ClassNotFoundException(type + " is not a " + name));
  }

  /** Returns the class that declares the method that a call on {@code type} would run. */
  private static Class<?> declaring(Class<?> type, String method, Class<?> parameter)
      throws NoSuchMethodException {
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      try {
        return at.getDeclaredMethod(method, parameter).getDeclaringClass();
      } catch (NoSuchMethodException e) {
        // Inherited.
      }
    }
    throw new NoSuchMethodException(type + "." + method);
  }

  private Forms forms(Class<?> factory) throws IOException {
    Forms known = forms.get(factory);
    if (known == null) {
      known = new Forms(factory);
      forms.put(factory, known);
    }
    return known;
  }

  /** The files of one data set, and how it decodes them. */
  final class Source {
    private final Files files;
    private final Image.@Nullable Flag flag;

    Source(Files files, Image.@Nullable Flag flag) {
      this.files = files;
      this.flag = flag;
    }

    /**
     * Offers the items of an epoch's batches to the prefetcher before they are requested.
     *
     * @param spared whether a sample's items need not be fetched
     */
    PeekingIterator<List<Long>> peek(
        Iterator<List<Long>> own, int batchSize, ItemPrefetcher to, LongPredicate spared) {
      return to.peek(
          own,
          Math.max(1, ItemPrefetcher.WINDOW / Math.max(1, batchSize)),
          batch -> paths(batch, spared),
          kept == null ? null : kept.decoder(this::form, this::decode));
    }

    private List<String> paths(List<Long> batch, LongPredicate spared) {
      List<String> paths = new ArrayList<>(batch.size());
      try {
        for (Long index : batch) {
          if (!spared.test(index)) {
            paths.add(files.of(Math.toIntExact(index)).toString());
          }
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        return paths; // The program's own call throws what its code throws.
      }
      return paths;
    }

    private @Nullable DecodedForm form() throws IOException {
      return forms(ImageFactory.getInstance().getClass()).of(flag);
    }

    private void decode(String path) throws IOException {
      ImageFactory factory = ImageFactory.getInstance();
      if (factory.getClass().getName().startsWith(LIBRARY)) {
        // Uses none of the program's managers, and creates the pixels in main memory.
        try (NDManager manager = NDManager.newBaseManager(Device.cpu())) {
          factory.fromFile(Path.of(path)).toNDArray(manager, flag);
        }
      }
    }
  }
}
