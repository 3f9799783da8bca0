package io.coordl.library;

import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.cache.DecodedStore;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends each call to the code of ours that knows the library, which is made at the first call of
 * each class, of each loader in the program, and goes with it. A library that is not as expected is
 * left alone from then on, and that is said once.
 */
public final class LibraryAnswers implements LibraryHooks {
  /** Hears of a class that is left alone. */
  public interface Listener {
    /** The class will not be answered. */
    void skipped(Class<?> declaring, String reason);
  }

  private static final String HERE = "io.coordl.library.";

  /** Answering class by answered class; packages below {@link #HERE}. */
  private static final Map<String, String> ANSWERS =
      Map.of(
          "ai.djl.modality.cv.BufferedImageFactory", "djl.ImageAnswers",
          "ai.djl.opencv.OpenCVImageFactory", "djl.ImageAnswers",
          "org.datavec.image.loader.NativeImageLoader", "dl4j.MatrixAnswers");

  private final DecodedStore store;
  private final Consumer<String> words;
  private final Listener listener;

  /** Kept in the class itself, so that neither outlives the other. */
  private final ClassValue<LibraryHooks> answers =
      new ClassValue<>() {
        @Override
        protected LibraryHooks computeValue(Class<?> declaring) {
          return make(declaring);
        }
      };

  /**
   * Answers from {@code store}.
   *
   * @param words takes sentences for the user
   */
  public LibraryAnswers(DecodedStore store, Consumer<String> words, Listener listener) {
    this.store = store;
    this.words = words;
    this.listener = listener;
  }

  @Override
  public @Nullable LibraryCall enter(
      Class<?> declaring, String method, Object self, Object[] arguments) {
    return answers.get(declaring).enter(declaring, method, self, arguments);
  }

  private LibraryHooks make(Class<?> declaring) {
    String answer = ANSWERS.get(declaring.getName());
    if (answer == null) {
      return LibraryHooks.NONE;
    }
    String name = HERE + answer;
    ClassLoader loader =
        new LibraryLoader(declaring.getClassLoader(), name.substring(0, name.lastIndexOf('.') + 1));
    try {
      return Class.forName(name, true, loader)
          .asSubclass(LibraryHooks.class)
          .getConstructor(Class.class, DecodedStore.class, Consumer.class)
          .newInstance(declaring, store, words);
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() != null ? e.getCause() : e;
      listener.skipped(declaring, cause.toString());
      return LibraryHooks.NONE;
    }
  }
}
