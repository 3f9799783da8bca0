package io.coordl.library.djl;

import ai.djl.modality.cv.Image;
import io.coordl.pipeline.KeptPictures;
import io.coordl.purity.ClassFiles;
import io.coordl.store.DecodedForm;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The forms in which one factory's images are cached: one per flag of {@code toNDArray}, and one
 * for no flag. The text that identifies a form covers everything that determines the bytes of the
 * pixels: the factory's name, a checksum of the class files of the library's conversion, the
 * version of the software that contains the decoder, and the flag.
 */
final class Forms {
  private final Map<Image.@Nullable Flag, DecodedForm> forms = new LinkedHashMap<>();

  Forms(Class<?> factory) throws IOException {
    boolean opencv = factory.getSimpleName().startsWith("OpenCV");
    String image = opencv ? "OpenCVImage" : "BufferedImageFactory$BufferedImageWrapper";
    String code =
        String.format(
            "DJL image %s %s decoded by %s",
            factory.getName(),
            ClassFiles.checksums(factory, factory.getSimpleName(), image),
            opencv ? opencvVersion(factory) : KeptPictures.decoders());
    for (Image.Flag flag : Image.Flag.values()) {
      forms.put(flag, DecodedForm.of(code + " flag " + flag));
    }
    forms.put(null, DecodedForm.of(code + " flag null"));
  }

  /** Returns the form of {@code toNDArray(manager, flag)}; the flag may be null. */
  @Nullable DecodedForm of(Image.@Nullable Flag flag) {
    return forms.get(flag);
  }

  Collection<DecodedForm> all() {
    return forms.values();
  }

  private static String opencvVersion(Class<?> factory) throws IOException {
    try {
      Class<?> core = Class.forName("org.opencv.core.Core", true, factory.getClassLoader());
      return "OpenCV " + core.getField("VERSION").get(null);
    } catch (ReflectiveOperationException e) {
      throw new IOException("OpenCV's version is unknown", e);
    }
  }
}
