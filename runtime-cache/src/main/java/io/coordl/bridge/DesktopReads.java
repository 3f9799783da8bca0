package io.coordl.bridge;

import io.coordl.bridge.DecodedPictures.Picture;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import javax.imageio.ImageIO;
import javax.imageio.stream.FileImageInputStream;
import javax.imageio.stream.ImageInputStream;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;
import javax.sound.sampled.UnsupportedAudioFileException;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link FileReads} that needs {@code java.desktop}. That module may be absent, so only
 * code that already uses it may use this class. Each {@code read} that decodes is a decode span;
 * reads of an item inside it are fetches.
 */
public final class DesktopReads {
  /**
   * Subject of the spans for files, whose pictures can be cached. Other spans have the class as
   * their subject.
   */
  private static final String OF_FILES = "javax.imageio.ImageIO";

  private static final StackWalker STACK =
      StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  private DesktopReads() {}

  public static @Nullable BufferedImage read(File file) throws IOException {
    DecodedPictures pictures = Bridge.pictures();
    Picture picture =
        pictures == null || file == null
            ? null
            : open(pictures, file.getPath(), STACK.getCallerClass());
    BufferedImage image = picture == null ? null : find(picture);
    if (image != null) {
      return image;
    }
    long start = System.nanoTime();
    long span = Spans.enter(SpanKind.DECODE, OF_FILES);
    try {
      ImageInputStream stream = file == null ? null : itemStream(file);
      image = stream == null ? ImageIO.read(file) : decode(stream);
    } finally {
      Spans.exit(span, image);
    }
    if (picture != null && image != null) {
      keep(picture, image, System.nanoTime() - start);
    }
    return image;
  }

  private static @Nullable Picture open(DecodedPictures pictures, String path, Class<?> caller) {
    try {
      return ItemCursor.isResolved(path) ? pictures.open(path, caller) : null;
    } catch (Throwable t) {
      Bridge.fault("open " + path, t);
      return null;
    }
  }

  private static @Nullable BufferedImage find(Picture picture) {
    try {
      return picture.find();
    } catch (Throwable t) {
      Bridge.fault("finding a decoded picture", t);
      return null;
    }
  }

  private static void keep(Picture picture, BufferedImage decoded, long nanos) {
    try {
      picture.keep(decoded, nanos);
    } catch (Throwable t) {
      Bridge.fault("caching a decoded picture", t);
    }
  }

  public static @Nullable BufferedImage read(URL url) throws IOException {
    long span = Spans.enter(SpanKind.DECODE, ImageIO.class);
    BufferedImage image = null;
    try {
      String path = url == null ? null : FileReads.itemPath(url);
      ImageInputStream stream = path == null ? null : itemStream(new File(path));
      image = stream == null ? ImageIO.read(url) : decode(stream);
      return image;
    } finally {
      Spans.exit(span, image);
    }
  }

  public static @Nullable BufferedImage read(InputStream stream) throws IOException {
    long span = Spans.enter(SpanKind.DECODE, ImageIO.class);
    BufferedImage image = null;
    try {
      image = ImageIO.read(stream);
      return image;
    } finally {
      Spans.exit(span, image);
    }
  }

  public static @Nullable BufferedImage read(ImageInputStream stream) throws IOException {
    long span = Spans.enter(SpanKind.DECODE, ImageIO.class);
    BufferedImage image = null;
    try {
      image = ImageIO.read(stream);
      return image;
    } finally {
      Spans.exit(span, image);
    }
  }

  public static @Nullable ImageInputStream createImageInputStream(Object input) throws IOException {
    ImageInputStream stream = input instanceof File file ? itemStream(file) : null;
    return stream == null ? ImageIO.createImageInputStream(input) : stream;
  }

  /**
   * Replaces {@code new FileImageInputStream(file)}: opens the file, but reads cached bytes from
   * memory.
   */
  public static FileImageInputStream newFileImageInputStream(File file)
      throws FileNotFoundException, IOException {
    ItemCursor item = file == null ? null : ItemCursor.open(file.getPath());
    return item == null
        ? new FileImageInputStream(file)
        : new FileImageInputStream(FileReads.randomAccess(file, item));
  }

  private static @Nullable BufferedImage decode(ImageInputStream stream) throws IOException {
    boolean decoded = false;
    try {
      BufferedImage image = ImageIO.read(stream); // Closes the stream, unless no reader matches.
      decoded = image != null;
      return image;
    } finally {
      if (!decoded) {
        closeIfOpen(stream);
      }
    }
  }

  private static void closeIfOpen(ImageInputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      // The failed decoder has closed it; the program must see the decoder's exception.
    }
  }

  private static @Nullable ImageInputStream itemStream(File file) {
    ItemCursor item = ItemCursor.open(file.getPath());
    if (item == null) {
      return null;
    }
    try {
      return item.served
          ? new ItemImageInputStream(item)
          : new FileImageInputStream(FileReads.randomAccess(file, item));
    } catch (IOException e) {
      return null; // Deleted or unreadable by now; the original call reports that.
    }
  }

  /**
   * Notes which file is opened. The JDK itself reads it, because it derives the length of the sound
   * from the file.
   */
  public static AudioInputStream getAudioInputStream(File file)
      throws UnsupportedAudioFileException, IOException {
    if (file != null) {
      ItemCursor.noteFile(file.getPath());
    }
    return AudioSystem.getAudioInputStream(file);
  }
}
