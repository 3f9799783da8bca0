package io.coordl.transformers.callsite;

import static io.coordl.transformers.callsite.CallSite.Kind.CONSTRUCTOR;
import static io.coordl.transformers.callsite.CallSite.Kind.STATIC;
import static io.coordl.transformers.callsite.CallSite.Kind.STATIC_LINKED;
import static io.coordl.transformers.callsite.CallSite.Kind.VIRTUAL;
import static io.coordl.transformers.callsite.CallSite.Kind.VIRTUAL_LINKED;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All rewritten calls. The JDK and OpenCV tables in docs/rewritten.md are generated from them. */
public final class CallSites {
  private static final String FILES = "io/coordl/bridge/FileReads";
  private static final String WRITES = "io/coordl/bridge/FileWrites";
  private static final String DESKTOP = "io/coordl/bridge/DesktopReads";
  private static final String NATIVE = "io/coordl/bridge/NativeReads";
  private static final String GC = "io/coordl/bridge/GcCalls";

  private static final String JDK = "JDK 17, 25";

  // spotless:off
  /** The table: kind of call, class, name, descriptor, bridge class, tested versions. */
  public static final List<CallSite> TABLE = List.of(
      new CallSite(CONSTRUCTOR, "java/io/FileInputStream", "<init>", "(Ljava/io/File;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/FileInputStream", "<init>", "(Ljava/lang/String;)V", FILES, JDK),
      new CallSite(VIRTUAL, "java/io/FileInputStream", "getFD", "()Ljava/io/FileDescriptor;", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/RandomAccessFile", "<init>", "(Ljava/io/File;Ljava/lang/String;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/RandomAccessFile", "<init>", "(Ljava/lang/String;Ljava/lang/String;)V", FILES, JDK),
      new CallSite(VIRTUAL, "java/io/File", "length", "()J", FILES, JDK),
      new CallSite(VIRTUAL, "java/io/File", "exists", "()Z", FILES, JDK),
      new CallSite(VIRTUAL, "java/io/File", "isFile", "()Z", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/FileReader", "<init>", "(Ljava/io/File;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/FileReader", "<init>", "(Ljava/lang/String;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/FileReader", "<init>", "(Ljava/io/File;Ljava/nio/charset/Charset;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/io/FileReader", "<init>", "(Ljava/lang/String;Ljava/nio/charset/Charset;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/io/File;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/io/File;Ljava/lang/String;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/io/File;Ljava/nio/charset/Charset;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/nio/file/Path;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/nio/file/Path;Ljava/lang/String;)V", FILES, JDK),
      new CallSite(CONSTRUCTOR, "java/util/Scanner", "<init>", "(Ljava/nio/file/Path;Ljava/nio/charset/Charset;)V", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "size", "(Ljava/nio/file/Path;)J", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "exists", "(Ljava/nio/file/Path;[Ljava/nio/file/LinkOption;)Z", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "isRegularFile", "(Ljava/nio/file/Path;[Ljava/nio/file/LinkOption;)Z", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newInputStream", "(Ljava/nio/file/Path;[Ljava/nio/file/OpenOption;)Ljava/io/InputStream;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newOutputStream", "(Ljava/nio/file/Path;[Ljava/nio/file/OpenOption;)Ljava/io/OutputStream;", WRITES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "readAllBytes", "(Ljava/nio/file/Path;)[B", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "readString", "(Ljava/nio/file/Path;)Ljava/lang/String;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "readString", "(Ljava/nio/file/Path;Ljava/nio/charset/Charset;)Ljava/lang/String;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "readAllLines", "(Ljava/nio/file/Path;)Ljava/util/List;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "readAllLines", "(Ljava/nio/file/Path;Ljava/nio/charset/Charset;)Ljava/util/List;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "lines", "(Ljava/nio/file/Path;)Ljava/util/stream/Stream;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "lines", "(Ljava/nio/file/Path;Ljava/nio/charset/Charset;)Ljava/util/stream/Stream;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newBufferedReader", "(Ljava/nio/file/Path;)Ljava/io/BufferedReader;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newBufferedReader", "(Ljava/nio/file/Path;Ljava/nio/charset/Charset;)Ljava/io/BufferedReader;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "copy", "(Ljava/nio/file/Path;Ljava/io/OutputStream;)J", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newByteChannel", "(Ljava/nio/file/Path;[Ljava/nio/file/OpenOption;)Ljava/nio/channels/SeekableByteChannel;", FILES, JDK),
      new CallSite(STATIC, "java/nio/file/Files", "newByteChannel", "(Ljava/nio/file/Path;Ljava/util/Set;[Ljava/nio/file/attribute/FileAttribute;)Ljava/nio/channels/SeekableByteChannel;", FILES, JDK),
      new CallSite(STATIC, "java/nio/channels/FileChannel", "open", "(Ljava/nio/file/Path;[Ljava/nio/file/OpenOption;)Ljava/nio/channels/FileChannel;", FILES, JDK),
      new CallSite(STATIC, "java/nio/channels/FileChannel", "open", "(Ljava/nio/file/Path;Ljava/util/Set;[Ljava/nio/file/attribute/FileAttribute;)Ljava/nio/channels/FileChannel;", FILES, JDK),
      new CallSite(VIRTUAL, "java/nio/channels/FileChannel", "map", "(Ljava/nio/channels/FileChannel$MapMode;JJ)Ljava/nio/MappedByteBuffer;", FILES, JDK),
      new CallSite(VIRTUAL_LINKED, "java/nio/channels/FileChannel", "map", "(Ljava/nio/channels/FileChannel$MapMode;JJLjava/lang/foreign/Arena;)Ljava/lang/foreign/MemorySegment;", NATIVE, "JDK 25"),
      new CallSite(VIRTUAL, "java/net/URL", "openStream", "()Ljava/io/InputStream;", FILES, JDK),
      new CallSite(STATIC, "java/lang/System", "gc", "()V", GC, JDK),
      new CallSite(VIRTUAL, "java/lang/Runtime", "gc", "()V", GC, JDK),
      new CallSite(STATIC, "javax/imageio/ImageIO", "read", "(Ljava/io/File;)Ljava/awt/image/BufferedImage;", DESKTOP, JDK),
      new CallSite(STATIC, "javax/imageio/ImageIO", "read", "(Ljava/net/URL;)Ljava/awt/image/BufferedImage;", DESKTOP, JDK),
      new CallSite(STATIC, "javax/imageio/ImageIO", "read", "(Ljava/io/InputStream;)Ljava/awt/image/BufferedImage;", DESKTOP, JDK),
      new CallSite(STATIC, "javax/imageio/ImageIO", "read", "(Ljavax/imageio/stream/ImageInputStream;)Ljava/awt/image/BufferedImage;", DESKTOP, JDK),
      new CallSite(STATIC, "javax/imageio/ImageIO", "createImageInputStream", "(Ljava/lang/Object;)Ljavax/imageio/stream/ImageInputStream;", DESKTOP, JDK),
      new CallSite(CONSTRUCTOR, "javax/imageio/stream/FileImageInputStream", "<init>", "(Ljava/io/File;)V", DESKTOP, JDK),
      new CallSite(STATIC, "javax/sound/sampled/AudioSystem", "getAudioInputStream", "(Ljava/io/File;)Ljavax/sound/sampled/AudioInputStream;", DESKTOP, JDK),
      new CallSite(STATIC_LINKED, "org/opencv/imgcodecs/Imgcodecs", "imread", "(Ljava/lang/String;)Lorg/opencv/core/Mat;", NATIVE, "org.openpnp:opencv 4.9.0-0"),
      new CallSite(STATIC_LINKED, "org/opencv/imgcodecs/Imgcodecs", "imread", "(Ljava/lang/String;I)Lorg/opencv/core/Mat;", NATIVE, "org.openpnp:opencv 4.9.0-0"),
      new CallSite(STATIC_LINKED, "org/bytedeco/opencv/global/opencv_imgcodecs", "imread", "(Ljava/lang/String;)Lorg/bytedeco/opencv/opencv_core/Mat;", NATIVE, "org.bytedeco:opencv 4.5.5-1.5.7"),
      new CallSite(STATIC_LINKED, "org/bytedeco/opencv/global/opencv_imgcodecs", "imread", "(Ljava/lang/String;I)Lorg/bytedeco/opencv/opencv_core/Mat;", NATIVE, "org.bytedeco:opencv 4.5.5-1.5.7"));
  // spotless:on

  private static final Map<String, List<CallSite>> BY_OWNER = new HashMap<>();

  static {
    for (CallSite site : TABLE) {
      BY_OWNER.computeIfAbsent(site.owner(), none -> new ArrayList<>()).add(site);
    }
  }

  private CallSites() {}

  /** Internal names of the classes in the table. */
  public static Iterable<String> owners() {
    return BY_OWNER.keySet();
  }

  /** The rule for a method; null if there is none. */
  static @Nullable CallSite find(String owner, String name, String descriptor) {
    for (CallSite site : BY_OWNER.getOrDefault(owner, List.of())) {
      if (site.name().equals(name) && site.descriptor().equals(descriptor)) {
        return site;
      }
    }
    return null;
  }
}
