package io.coordl.library.dl4j;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.Symbols;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.bytedeco.opencv.global.opencv_imgcodecs;
import org.bytedeco.opencv.opencv_core.Mat;
import org.jspecify.annotations.Nullable;

/**
 * Caches pictures as decoded by OpenCV, where the loader's array is not cached: an {@code
 * ImageTransform} may make it depend on more than the file, its values are not floats in plain
 * order, or {@code asImageMatrix} also returns the picture's size. The loader runs all of its own
 * code, including random draws and exceptions. But if the picture is cached, it decodes a
 * substitute file: the cached pixels as a binary PPM or PGM, which "decodes" at memory speed into a
 * new picture each time.
 *
 * <p>A load consists of three calls of one loader on one thread. {@code asMatrix*(File, ..)} or
 * {@code asImageMatrix}, which also returns the picture's size, identifies the item. The private
 * {@code streamToMat} supplies the file's bytes, or the substitute if the item is cached. {@code
 * transformImage} receives the decoded picture, which is then cached. The first call may throw, and
 * the other two may have other callers. So in each of these two, the agent searches the stack for
 * the first.
 */
final class DecodedMats {
  /** Class files that identify the decoder: its version is in their constants. */
  static final String[] OPENCV = {
    "/org/bytedeco/opencv/global/opencv_core", "/org/bytedeco/opencv/global/opencv_imgcodecs"
  };

  /** The flags that the loader passes to {@code imdecode}. */
  private static final int FLAGS =
      opencv_imgcodecs.IMREAD_ANYDEPTH | opencv_imgcodecs.IMREAD_ANYCOLOR;

  private static final int CV_8UC1 = 0;
  private static final int CV_8UC3 = 16;

  private static final StackWalker STACK =
      StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  /** Methods that load a file; overloads with other parameters do not. */
  private static final Set<String> FROM_FILE = Set.of("asMatrix", "asMatrixView", "asImageMatrix");

  /** Maximum frames to search: one of the agent, three of the loader, and a few between. */
  private static final int MAX_FRAMES = 16;

  private final Class<?> loaderClass;
  private final DecodedForm form;
  private final ThreadLocal<@Nullable Load> current = ThreadLocal.withInitial(() -> null);

  /** The item that a loader is loading on this thread, or was loading when it failed. */
  private record Load(Object loader, DecodedItem item, @Nullable ByteBuffer kept, long start) {}

  /** {@code code} describes the decoder. */
  DecodedMats(Class<?> loaderClass, String code) throws ReflectiveOperationException {
    Symbols.require(DecodedMats.class);
    this.loaderClass = loaderClass;
    this.form = DecodedForm.of(code + " pixels, as PPM");
  }

  /** Begins to load {@code item}; null if it is not to be cached. */
  void begin(Object loader, @Nullable DecodedItem item) {
    if (item == null) {
      current.remove();
    } else {
      current.set(new Load(loader, item, item.find(form), System.nanoTime()));
    }
  }

  /** Returns the bytes for {@code streamToMat} to decode; null to use the file's own. */
  @Nullable InterceptedCall bytes(Object loader) {
    Load load = current.get();
    if (load == null || load.loader != loader || load.kept == null || !isLoadingFile()) {
      return null;
    }
    current.remove();
    Spans.exit(Spans.enter(SpanKind.REUSED, null), null);
    byte[] bytes = new byte[load.kept.remaining()];
    load.kept.duplicate().get(bytes);
    return new InterceptedCall(new Mat(bytes));
  }

  /**
   * Caches the picture passed to {@code transformImage} if it belongs to the load. Never throws.
   */
  void decoded(Object loader, Object picture) {
    Load load = current.get();
    if (load == null || load.loader != loader || load.kept != null || !isLoadingFile()) {
      return;
    }
    current.remove();
    try {
      load.item.addProducingTime(System.nanoTime() - load.start);
      byte[] encoded = picture instanceof Mat mat ? encode(mat) : null;
      if (encoded != null) {
        load.item.put(form, encoded.length, target -> target.put(encoded));
      }
    } catch (Throwable t) {
      Bridge.fault("keeping a picture", t);
    }
  }

  /** Whether the current call of the loader comes from one of its methods that load a file. */
  private boolean isLoadingFile() {
    return STACK.walk(
        frames ->
            frames
                .limit(MAX_FRAMES)
                .dropWhile(frame -> frame.getDeclaringClass() != loaderClass)
                .takeWhile(frame -> frame.getDeclaringClass() == loaderClass)
                .anyMatch(
                    frame ->
                        FROM_FILE.contains(frame.getMethodName())
                            && (frame.getDescriptor().startsWith("(Ljava/io/File;L")
                                || frame.getDescriptor().startsWith("(Ljava/io/File;Z"))));
  }

  /** Returns a file that decodes to exactly this picture; null if there is none. */
  private static byte @Nullable [] encode(Mat picture) {
    int channels = picture.type() == CV_8UC3 ? 3 : 1;
    if ((channels == 1 && picture.type() != CV_8UC1) || !picture.isContinuous()) {
      return null;
    }
    byte[] pixels = bytes(picture);
    byte[] file = anyMap(channels, picture.cols(), picture.rows(), pixels);
    return decodesTo(file, picture, pixels) ? file : null;
  }

  /**
   * Returns a binary PPM or PGM.
   *
   * @param channels 3 or 1
   * @param pixels row by row without gaps, blue first
   */
  static byte[] anyMap(int channels, int width, int height, byte[] pixels) {
    String header = (channels == 3 ? "P6\n" : "P5\n") + width + " " + height + "\n255\n";
    byte[] start = header.getBytes(StandardCharsets.US_ASCII);
    byte[] file = Arrays.copyOf(start, start.length + pixels.length);
    for (int i = 0; i < pixels.length; i += channels) {
      for (int c = 0; c < channels; c++) {
        file[start.length + i + c] = pixels[i + channels - 1 - c]; // A file stores red first.
      }
    }
    return file;
  }

  private static boolean decodesTo(byte[] file, Mat picture, byte[] pixels) {
    try (Mat source = new Mat(file);
        Mat again = opencv_imgcodecs.imdecode(source, FLAGS)) {
      return again != null
          && !again.empty()
          && again.type() == picture.type()
          && again.rows() == picture.rows()
          && again.cols() == picture.cols()
          && ByteBuffer.wrap(bytes(again)).equals(ByteBuffer.wrap(pixels));
    }
  }

  private static byte[] bytes(Mat picture) {
    try {
      ByteBuffer buffer = picture.createBuffer();
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      return bytes;
    } finally {
      Reference.reachabilityFence(picture);
    }
  }
}
