package io.coordl.bridge;

import java.awt.image.BufferedImage;
import org.jspecify.annotations.Nullable;

/** Caches the pictures that the program decodes from files with the JDK's own calls. */
public interface DecodedPictures {
  /**
   * Called when the program is about to decode a file.
   *
   * @param path as the program passed it
   * @param caller the class that calls the JDK
   * @return null if the picture is neither cached nor to be cached
   */
  @Nullable Picture open(String path, Class<?> caller);

  /** The picture in a file as it is now. Used by one thread. */
  interface Picture {
    /** Returns a new image, equal to a decoded one; null if the picture is not cached. */
    @Nullable BufferedImage find();

    /**
     * Caches, if possible, a picture that the program has decoded. Does not change it.
     *
     * @param nanos time spent decoding it
     */
    void keep(BufferedImage decoded, long nanos);
  }
}
