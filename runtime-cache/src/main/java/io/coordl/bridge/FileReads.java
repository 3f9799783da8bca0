package io.coordl.bridge;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The methods that rewritten call sites call instead of the JDK's. The signature of each is its
 * rewriting rule. A constructor of {@code X} becomes {@code newX}; an instance method takes its
 * receiver as first parameter.
 *
 * <p>Each method has the same result, exceptions and side effects as the call it replaces. A method
 * that opens a file for reading requests the item at the path from the runtime; if there is none,
 * it makes the original call with the same arguments, even null, so the JDK reports any error in
 * them. Safe for concurrent use.
 */
@SuppressWarnings({"DefaultCharset", "StreamResourceLeak"}) // The program's calls, not ours.
public final class FileReads {
  private FileReads() {}

  // java.io

  public static FileInputStream newFileInputStream(File file) throws FileNotFoundException {
    FileInputStream stream = file == null ? null : itemStream(file.getPath());
    return stream == null ? new FileInputStream(file) : stream;
  }

  public static FileInputStream newFileInputStream(String path) throws FileNotFoundException {
    FileInputStream stream = itemStream(path);
    return stream == null ? new FileInputStream(path) : stream;
  }

  private static @Nullable FileInputStream itemStream(@Nullable String path)
      throws FileNotFoundException {
    ItemCursor item = ItemCursor.open(path);
    if (item == null || item.served) {
      return item == null ? null : ItemFileInputStream.of(item);
    }
    long start = System.nanoTime();
    try {
      FileInputStream stream = new ObservedFileInputStream(new File(item.path()), item);
      item.fetched(start, 0);
      return stream;
    } catch (Throwable t) {
      item.abandon();
      throw t;
    }
  }

  /**
   * Replaces {@code stream.getFD()}, which is final; opens the real file of a stream that has not
   * opened it.
   */
  public static FileDescriptor getFD(FileInputStream stream) throws IOException {
    FileInputStream real = stream instanceof ItemFileInputStream item ? item.real() : stream;
    return (real == null ? stream : real).getFD();
  }

  public static RandomAccessFile newRandomAccessFile(File file, String mode)
      throws FileNotFoundException {
    if (file == null || !"r".equals(mode)) {
      return new RandomAccessFile(file, mode);
    }
    if (ItemCursor.takesOpened(file.getPath())) {
      return new ItemRandomAccessFile(file, System.nanoTime());
    }
    ItemCursor item = ItemCursor.openRandomAccess(file.getPath());
    return item == null ? new RandomAccessFile(file, mode) : randomAccess(file, item);
  }

  public static RandomAccessFile newRandomAccessFile(String path, String mode)
      throws FileNotFoundException {
    return path == null
        ? new RandomAccessFile(path, mode)
        : newRandomAccessFile(new File(path), mode);
  }

  static RandomAccessFile randomAccess(File file, ItemCursor item) throws FileNotFoundException {
    long start = System.nanoTime();
    try {
      RandomAccessFile random = new ItemRandomAccessFile(file, item);
      item.fetched(start, 0);
      return random;
    } catch (Throwable t) {
      item.abandon();
      throw t;
    }
  }

  public static long length(File file) {
    queries(file);
    return file.length();
  }

  public static boolean exists(File file) {
    queries(file);
    return file.exists();
  }

  public static boolean isFile(File file) {
    queries(file);
    return file.isFile();
  }

  /** Called before the program queries a file, because the sample may depend on the answer. */
  private static void queries(File file) {
    if (file != null && file.getClass() == File.class) {
      ItemCursor.noteFile(file.getPath());
    } else {
      Bridge.noteFile(Producers.UNKNOWN); // A subclass may override methods; null fails.
    }
  }

  public static FileReader newFileReader(File file) throws FileNotFoundException {
    FileInputStream stream = file == null ? null : itemStream(file.getPath());
    return stream == null
        ? new FileReader(file)
        : new ItemFileReader(stream, Charset.defaultCharset());
  }

  public static FileReader newFileReader(String path) throws FileNotFoundException {
    FileInputStream stream = itemStream(path);
    return stream == null
        ? new FileReader(path)
        : new ItemFileReader(stream, Charset.defaultCharset());
  }

  public static FileReader newFileReader(File file, Charset charset) throws IOException {
    FileInputStream stream = file == null || charset == null ? null : itemStream(file.getPath());
    return stream == null ? new FileReader(file, charset) : new ItemFileReader(stream, charset);
  }

  public static FileReader newFileReader(String path, Charset charset) throws IOException {
    FileInputStream stream = charset == null ? null : itemStream(path);
    return stream == null ? new FileReader(path, charset) : new ItemFileReader(stream, charset);
  }

  // java.util.Scanner

  public static Scanner newScanner(File file) throws FileNotFoundException {
    FileChannel channel = file == null ? null : scannerChannel(file);
    return channel == null ? new Scanner(file) : new Scanner(channel);
  }

  public static Scanner newScanner(File file, String charsetName) throws FileNotFoundException {
    FileChannel channel = file == null || !isSupported(charsetName) ? null : scannerChannel(file);
    return channel == null ? new Scanner(file, charsetName) : new Scanner(channel, charsetName);
  }

  public static Scanner newScanner(File file, Charset charset) throws IOException {
    FileChannel channel = file == null || charset == null ? null : scannerChannel(file);
    return channel == null ? new Scanner(file, charset) : new Scanner(channel, charset);
  }

  public static Scanner newScanner(Path path) throws IOException {
    InputStream stream = itemStream(path);
    return stream == null ? new Scanner(path) : new Scanner(stream);
  }

  public static Scanner newScanner(Path path, String charsetName) throws IOException {
    InputStream stream = isSupported(charsetName) ? itemStream(path) : null;
    return stream == null ? new Scanner(path, charsetName) : new Scanner(stream, charsetName);
  }

  public static Scanner newScanner(Path path, Charset charset) throws IOException {
    InputStream stream = charset == null ? null : itemStream(path);
    return stream == null ? new Scanner(path, charset) : new Scanner(stream, charset);
  }

  private static boolean isSupported(@Nullable String charsetName) {
    try {
      return charsetName != null && Charset.isSupported(charsetName);
    } catch (IllegalArgumentException e) {
      return false; // The original call reports the invalid name.
    }
  }

  private static @Nullable FileChannel scannerChannel(File file) throws FileNotFoundException {
    ItemCursor item = ItemCursor.open(file.getPath());
    if (item == null) {
      return null;
    }
    try {
      // The JDK scans the channel of a FileInputStream; the scanner closes it.
      return new ItemChannel(item, item.served ? null : new FileInputStream(file).getChannel());
    } catch (Throwable t) {
      item.abandon();
      throw t;
    }
  }

  // java.nio.file.Files

  public static long size(Path path) throws IOException {
    queries(path);
    return Files.size(path);
  }

  public static boolean exists(Path path, LinkOption... options) {
    queries(path);
    return Files.exists(path, options);
  }

  public static boolean isRegularFile(Path path, LinkOption... options) {
    queries(path);
    return Files.isRegularFile(path, options);
  }

  private static void queries(Path path) {
    boolean isDefault = path != null && path.getFileSystem() == FileSystems.getDefault();
    String text = isDefault ? ItemCursor.pathOf(path) : null;
    if (text == null) {
      Bridge.noteFile(Producers.UNKNOWN);
    } else {
      ItemCursor.noteFile(text);
    }
  }

  public static InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    InputStream stream = isReadOnly(options) ? itemStream(path) : null;
    return stream == null ? Files.newInputStream(path, options) : stream;
  }

  public static byte[] readAllBytes(Path path) throws IOException {
    ItemCursor item = ItemCursor.open(path);
    if (item == null) {
      return Files.readAllBytes(path);
    }
    try {
      if (item.served && item.restFitsArray()) {
        return item.readRest(Integer.MAX_VALUE - 8);
      }
      long start = System.nanoTime();
      byte[] bytes = Files.readAllBytes(path);
      item.fetched(start, bytes.length);
      return bytes;
    } catch (Throwable t) {
      item.abandon();
      throw t;
    } finally {
      item.close();
    }
  }

  public static String readString(Path path) throws IOException {
    return readString(path, StandardCharsets.UTF_8);
  }

  public static String readString(Path path, Charset charset) throws IOException {
    ItemCursor item = charset == null ? null : ItemCursor.open(path);
    if (item == null) {
      return Files.readString(path, charset);
    }
    try {
      if (item.served && item.restFitsArray()) {
        byte[] bytes = item.readRest(Integer.MAX_VALUE - 8);
        return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      }
      long start = System.nanoTime();
      String string = Files.readString(path, charset);
      item.fetchedWhole(start);
      return string;
    } catch (CharacterCodingException e) {
      return Files.readString(path, charset); // The JDK reports the malformed input.
    } catch (Throwable t) {
      item.abandon();
      throw t;
    } finally {
      item.close();
    }
  }

  public static List<String> readAllLines(Path path) throws IOException {
    return readAllLines(path, StandardCharsets.UTF_8);
  }

  public static List<String> readAllLines(Path path, Charset charset) throws IOException {
    InputStream stream = charset == null ? null : itemStream(path);
    if (stream == null) {
      return Files.readAllLines(path, charset);
    }
    try (BufferedReader reader = reader(stream, charset)) {
      List<String> lines = new ArrayList<>();
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
      return lines;
    }
  }

  public static Stream<String> lines(Path path) throws IOException {
    return lines(path, StandardCharsets.UTF_8);
  }

  public static Stream<String> lines(Path path, Charset charset) throws IOException {
    InputStream stream = charset == null ? null : itemStream(path);
    if (stream == null) {
      return Files.lines(path, charset);
    }
    BufferedReader reader = reader(stream, charset);
    return reader.lines().onClose(() -> close(reader));
  }

  private static void close(BufferedReader reader) {
    try {
      reader.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static BufferedReader newBufferedReader(Path path) throws IOException {
    return newBufferedReader(path, StandardCharsets.UTF_8);
  }

  public static BufferedReader newBufferedReader(Path path, Charset charset) throws IOException {
    InputStream stream = charset == null ? null : itemStream(path);
    return stream == null ? Files.newBufferedReader(path, charset) : reader(stream, charset);
  }

  /** Decodes like {@link Files}: malformed input is an error, not a replacement character. */
  private static BufferedReader reader(InputStream stream, Charset charset) {
    return new BufferedReader(new InputStreamReader(stream, charset.newDecoder()));
  }

  public static long copy(Path source, OutputStream target) throws IOException {
    InputStream stream = target == null ? null : itemStream(source);
    if (stream == null) {
      return Files.copy(source, target);
    }
    try (stream) {
      return stream.transferTo(target);
    }
  }

  public static SeekableByteChannel newByteChannel(Path path, OpenOption... options)
      throws IOException {
    FileChannel channel = isReadOnly(options) ? itemChannel(path) : null;
    return channel == null ? Files.newByteChannel(path, options) : channel;
  }

  public static SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    FileChannel channel = isReadOnly(options, attributes) ? itemChannel(path) : null;
    return channel == null ? Files.newByteChannel(path, options, attributes) : channel;
  }

  /** Replaces {@link FileChannel#open(Path, OpenOption...)}. */
  public static FileChannel open(Path path, OpenOption... options) throws IOException {
    FileChannel channel = isReadOnly(options) ? itemChannel(path) : null;
    return channel == null ? FileChannel.open(path, options) : channel;
  }

  /** Replaces {@link FileChannel#open(Path, Set, FileAttribute...)}. */
  public static FileChannel open(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    FileChannel channel = isReadOnly(options, attributes) ? itemChannel(path) : null;
    return channel == null ? FileChannel.open(path, options, attributes) : channel;
  }

  /**
   * Replaces {@link FileChannel#map}: once a file is mapped for writing, no store caches it,
   * because the agent cannot observe the writes.
   */
  public static MappedByteBuffer map(
      FileChannel channel, FileChannel.MapMode mode, long position, long size) throws IOException {
    if (channel != null && mode == FileChannel.MapMode.READ_WRITE) {
      Bridge.mapsToWrite(channel);
    }
    return channel.map(mode, position, size);
  }

  /** Returns null if the file is not an item, or belongs to another file system. */
  private static @Nullable FileChannel itemChannel(@Nullable Path path) throws IOException {
    ItemCursor item =
        path != null && path.getFileSystem() == FileSystems.getDefault()
            ? ItemCursor.openRandomAccess(ItemCursor.pathOf(path))
            : null;
    if (path == null || item == null) {
      return null;
    }
    if (item.served && item.hold()) {
      return new ItemChannel(item, null);
    }
    long start = System.nanoTime();
    try {
      FileChannel channel = new ItemChannel(item, FileChannel.open(path, StandardOpenOption.READ));
      item.fetched(start, 0);
      return channel;
    } catch (Throwable t) {
      item.abandon();
      throw t;
    }
  }

  private static @Nullable InputStream itemStream(@Nullable Path path) throws IOException {
    ItemCursor item = ItemCursor.open(path);
    if (path == null || item == null) {
      return null;
    }
    if (item.served) {
      return new ItemInputStream(item, null);
    }
    long start = System.nanoTime();
    try {
      InputStream stream = new ItemInputStream(item, Files.newInputStream(path));
      item.fetched(start, 0);
      return stream;
    } catch (Throwable t) {
      item.abandon();
      throw t;
    }
  }

  private static boolean isReadOnly(OpenOption @Nullable [] options) {
    if (options == null) {
      return false;
    }
    for (OpenOption option : options) {
      if (option != StandardOpenOption.READ) {
        return false;
      }
    }
    return true;
  }

  private static boolean isReadOnly(
      @Nullable Set<? extends OpenOption> options, FileAttribute<?> @Nullable [] attributes) {
    return options != null
        && attributes != null
        && attributes.length == 0
        && isReadOnly(options.toArray(new OpenOption[0]));
  }

  // java.net.URL

  /** Replaces {@link URL#openStream}; only files of {@code file:} URLs can be items. */
  public static InputStream openStream(URL url) throws IOException {
    FileInputStream stream;
    try {
      stream = itemStream(itemPath(url));
    } catch (FileNotFoundException e) {
      stream = null; // The original call lists a directory, or reports the error.
    }
    return stream == null ? url.openStream() : new BufferedInputStream(stream);
  }

  /**
   * Returns the path of the local file that the JDK opens for {@code url}; null if it opens none,
   * or if the agent cannot decode the path.
   */
  static @Nullable String itemPath(URL url) {
    if (!"file".equalsIgnoreCase(url.getProtocol())) {
      return null;
    }
    String host = url.getHost();
    if (host != null && !host.isEmpty() && !host.equals("~") && !host.equals("localhost")) {
      return null; // The JDK tries FTP.
    }
    String path = url.getPath();
    if (path.indexOf('%') < 0) {
      return path;
    }
    try {
      String decoded = url.toURI().getPath();
      // If the name is not valid text, the JDK produces other bytes or throws.
      return decoded == null || decoded.indexOf(OpenItem.REPLACEMENT) >= 0 ? null : decoded;
    } catch (URISyntaxException e) {
      return null;
    }
  }
}
