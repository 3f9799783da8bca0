package io.coordl.purity;

import java.net.URL;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lists the JDK methods whose results depend only on their arguments, and on files that they open
 * and whose changes are noticed; all others are unknown. Excluded are clocks, threads, the default
 * locale, properties, random generators, processes, sockets, reflection and output to files or the
 * console.
 */
final class JdkCode {
  /** Class of formatters of dates. */
  static final String FORMATTER = "java/time/format/DateTimeFormatter";

  /** Packages whose methods depend only on their arguments; {@link #isKnown} has the exceptions. */
  private static final List<String> PACKAGES =
      List.of(
          ("java/util/function/ java/util/stream/ java/util/regex/ java/math/ java/awt/geom/"
                  + " java/awt/image/ java/nio/charset/ java/time/")
              .split(" "));

  private static final Set<String> CLASSES =
      names(
          "java/lang/",
          "Object String StringBuilder StringBuffer CharSequence Character Number Byte Short"
              + " Integer Long Float Double Boolean Void Math StrictMath Iterable Comparable"
              + " AutoCloseable Runnable Cloneable Record Enum Appendable Readable");

  private static final Set<String> COLLECTIONS =
      names(
          "java/util/",
          // Omits collections that create objects from a class.
          "List ArrayList LinkedList Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap"
              + " TreeSet SortedSet NavigableSet PriorityQueue"
              + " Map$Entry AbstractMap AbstractMap$SimpleEntry AbstractMap$SimpleImmutableEntry"
              + " Set HashSet LinkedHashSet BitSet"
              + " Collection Collections AbstractCollection AbstractList AbstractSet Arrays Deque"
              + " ArrayDeque Queue Iterator ListIterator Spliterator Comparator"
              + " SequencedCollection SequencedMap SequencedSet RandomAccess");

  private static final Set<String> OTHERS =
      names(
          "java/",
          "util/Objects util/Optional util/OptionalInt util/OptionalLong util/OptionalDouble"
              + " util/PrimitiveIterator util/PrimitiveIterator$OfInt util/PrimitiveIterator$OfLong"
              + " util/PrimitiveIterator$OfDouble util/IntSummaryStatistics"
              + " util/LongSummaryStatistics util/DoubleSummaryStatistics util/StringJoiner"
              + " util/StringTokenizer util/Scanner util/Base64 util/Base64$Decoder"
              + " util/Base64$Encoder util/HexFormat util/Locale util/concurrent/Callable"
              + " util/zip/CRC32 util/zip/Adler32 util/zip/Checksum util/zip/Inflater"
              + " util/zip/Deflater util/zip/GZIPInputStream util/zip/InflaterInputStream"
              + " nio/Buffer nio/ByteBuffer nio/ByteOrder nio/CharBuffer nio/ShortBuffer"
              + " nio/IntBuffer nio/LongBuffer nio/FloatBuffer nio/DoubleBuffer nio/file/Path"
              + " nio/file/Paths nio/file/OpenOption nio/file/StandardOpenOption io/File"
              + " io/Closeable io/Serializable io/InputStream io/ByteArrayInputStream"
              + " io/BufferedInputStream io/DataInputStream io/DataInput io/Reader"
              + " io/BufferedReader io/InputStreamReader io/StringReader io/OutputStream"
              + " io/ByteArrayOutputStream io/DataOutputStream io/StringWriter io/Writer"
              + " io/FileInputStream io/FileReader io/RandomAccessFile awt/Color awt/Graphics"
              + " awt/Graphics2D awt/Image awt/Point awt/Rectangle awt/RenderingHints"
              + " awt/RenderingHints$Key awt/Dimension");

  /** Unknown methods of known classes, by prefix of name and descriptor. */
  private static final Set<String> NOT_KNOWN =
      names(
          "java/",
          "lang/Object.wait lang/Object.notify lang/Object.hashCode lang/Math.random"
              + " lang/StrictMath.random lang/Integer.getInteger lang/Long.getLong"
              + " lang/Boolean.getBoolean lang/Enum.hashCode lang/Enum.valueOf lang/String.intern"
              + " lang/String.format lang/String.toLowerCase() lang/String.toUpperCase()"
              + " util/Collections.shuffle io/RandomAccessFile.write io/RandomAccessFile.setLength"
              + " io/RandomAccessFile.getChannel io/RandomAccessFile.getFD"
              // The next two may run code on other threads, whose file reads would go unnoticed.
              + " util/stream/StreamSupport util/stream/Gatherers.mapConcurrent"
              + " util/Objects.toIdentityString util/IntSummaryStatistics.toString"
              + " util/LongSummaryStatistics.toString util/DoubleSummaryStatistics.toString"
              + " util/Locale.getDefault util/Locale.setDefault util/Locale.getDisplay"
              + " util/Locale.getAvailable awt/Color.getColor nio/file/Path.register"
              + " nio/file/Path.toUri nio/file/Path.getFileSystem nio/charset/Charset.forName"
              + " nio/charset/Charset.availableCharsets time/Clock time/ZoneId.systemDefault"
              + " time/format/ time/chrono/ time/zone/");

  /** Known methods of otherwise unknown classes. */
  private static final Set<String> METHODS =
      names(
          "java/lang/",
          "System.arraycopy Class.getName Class.getSimpleName Class.isInstance Class.cast"
              + " Class.desiredAssertionStatus Class.getComponentType");

  /** Known methods for sound files; others use devices or the default locale. */
  private static final Set<String> OF_SOUNDS =
      names(
          "javax/sound/sampled/",
          "AudioInputStream.read AudioInputStream.readAllBytes AudioInputStream.readNBytes"
              + " AudioInputStream.skip AudioInputStream.available AudioInputStream.close"
              + " AudioInputStream.getFormat AudioInputStream.getFrameLength"
              + " AudioFormat.getEncoding AudioFormat.getSampleRate"
              + " AudioFormat.getSampleSizeInBits AudioFormat.getChannels"
              + " AudioFormat.getFrameSize AudioFormat.getFrameRate AudioFormat.isBigEndian");

  /** More known methods, by prefix of name and descriptor. */
  private static final Set<String> OTHER_METHODS =
      names(
          "java",
          "x/imageio/ImageIO.read(Ljava/io/InputStream;)"
              // Other methods of formatters use the default locale or time zone.
              + " /time/format/DateTimeFormatter.ofPattern(Ljava/lang/String;Ljava/util/Locale;)"
              + " /time/format/DateTimeFormatter.parse( /time/format/DateTimeFormatter.format("
              + " /time/format/DateTimeFormatter.withLocale("
              + " /time/format/DateTimeFormatter.withResolverStyle("
              + " /time/format/DateTimeFormatter.getLocale(");

  private static final Set<String> OF_FAILURES =
      names("", "<init> getMessage getCause initCause addSuppressed getSuppressed toString");

  /** Methods of {@link java.io.File} that do not access the file system. */
  private static final Set<String> OF_PATHS =
      Set.of("getName", "getPath", "getParent", "getParentFile", "toPath", "toString", "<init>");

  /**
   * Methods that read or query a file, their receiver or an argument. The calls are rewritten, so
   * changes to the file are noticed.
   */
  private static final Set<String> READS =
      names(
          "",
          "java/nio/file/Files.readAllBytes( java/nio/file/Files.readString("
              + " java/nio/file/Files.readAllLines( java/nio/file/Files.lines("
              + " java/nio/file/Files.newInputStream( java/nio/file/Files.newBufferedReader("
              + " java/nio/file/Files.size( java/nio/file/Files.exists("
              + " java/nio/file/Files.isRegularFile( java/io/File.length() java/io/File.exists()"
              + " java/io/File.isFile() java/io/FileInputStream.<init>( java/io/FileReader.<init>("
              + " java/io/RandomAccessFile.<init>( java/util/Scanner.<init>(Ljava/io/File;"
              + " java/util/Scanner.<init>(Ljava/nio/file/Path;"
              + " javax/imageio/ImageIO.read(Ljava/io/File;)"
              + " javax/sound/sampled/AudioSystem.getAudioInputStream(Ljava/io/File;)"
              + " org/apache/commons/io/FileUtils.openInputStream("
              + " org/apache/commons/io/FileUtils.readFileToString("
              + " org/apache/commons/io/FileUtils.readFileToByteArray("
              + " org/apache/commons/io/FileUtils.readLines(");

  /** Methods that change their receiver, a collection. */
  static final Set<String> CHANGES =
      names(
          "",
          "add addAll addFirst addLast put putAll putFirst putLast putIfAbsent set setAll setValue"
              + " remove removeAll removeIf removeFirst removeLast retainAll replace replaceAll"
              + " clear compute computeIfAbsent computeIfPresent merge push pop poll pollFirst"
              + " pollLast offer offerFirst offerLast sort ensureCapacity trimToSize");

  private static final Set<String> QUEUES =
      names("java/util/", "LinkedList ArrayDeque Deque Queue");

  private static final Set<String> TAKES_FIRST = names("", "remove removeFirst poll pollFirst pop");

  /** Methods that change their first argument, an array or a collection, and do not keep it. */
  private static final Set<String> CHANGES_FIRST =
      names(
          "java/util/",
          "Arrays.sort Arrays.fill Collections.sort Collections.reverse Collections.shuffle"
              + " Collections.swap Collections.addAll");

  /** Methods that only read a collection. */
  private static final Set<String> ONLY_READS =
      names(
          "",
          "size isEmpty contains containsKey containsValue containsAll indexOf lastIndexOf hasNext"
              + " equals hashCode toString clone cardinality length");

  /** Methods that return an element of their receiver. */
  static final Set<String> ELEMENTS =
      names("", "get getOrDefault next previous getFirst getLast first last peek element");

  /** Methods that return a view through which the collection can be changed. */
  static final Set<String> VIEWS =
      names("", "iterator listIterator keySet values descendingIterator");

  /** Methods that copy an argument, or return something independent of its later changes. */
  private static final Set<String> COPIES =
      names(
          "java/util/",
          "List.copyOf Set.copyOf Map.copyOf Arrays.copyOf Arrays.copyOfRange"
              + " Arrays.equals Arrays.hashCode Arrays.toString Arrays.binarySearch"
              + " ArrayList.<init> LinkedList.<init> HashMap.<init> LinkedHashMap.<init>"
              + " TreeMap.<init> HashSet.<init> LinkedHashSet.<init> TreeSet.<init>"
              + " ArrayDeque.<init>");

  /** Methods that return a new array, collection or immutable object. */
  private static final Set<String> MAKES =
      names(
          "java/",
          "util/List.copyOf util/Set.copyOf util/Map.copyOf util/Arrays.copyOf"
              + " util/Arrays.copyOfRange util/List.of util/Set.of util/Map.of"
              + " util/stream/Collectors.toList util/stream/Collectors.toSet"
              + " util/stream/Stream.toList time/format/DateTimeFormatter.ofPattern"
              + " lang/String.toCharArray lang/String.getBytes"
              + " lang/String.split io/File.list io/File.listFiles");

  private static final Set<String> IMMUTABLE =
      names(
          "java.",
          "lang.Object io.File net.URI util.Locale util.UUID util.OptionalInt"
              + " util.OptionalLong util.OptionalDouble math.BigInteger math.BigDecimal"
              + " math.MathContext awt.Color nio.ByteOrder");

  private static final Set<String> PROTOCOLS = Set.of("file", "jar", "http", "https");

  private JdkCode() {}

  private static Set<String> names(String prefix, String names) {
    return Set.of(Stream.of(names.split(" ")).map(name -> prefix + name).toArray(String[]::new));
  }

  /** Whether a class belongs to the JDK, by its internal name. */
  static boolean isJdk(String owner) {
    return owner.startsWith("[")
        || owner.startsWith("java/")
        || owner.startsWith("javax/")
        || owner.startsWith("jdk/")
        || owner.startsWith("sun/")
        || owner.startsWith("com/sun/");
  }

  /** Whether a JDK method is known, in the sense of the class description. */
  static boolean isKnown(String owner, String method, String descriptor) {
    String name = owner + "." + method;
    if (METHODS.contains(name) || OF_SOUNDS.contains(name)) {
      return true;
    } else if (owner.startsWith("[")) {
      return method.equals("clone");
    } else if (owner.endsWith("Exception")
        || owner.endsWith("Error")
        || owner.endsWith("Throwable")) {
      return OF_FAILURES.contains(method);
    }
    String whole = name + descriptor;
    if (OTHER_METHODS.stream().anyMatch(whole::startsWith)) {
      return true;
    }
    return isKnownType(owner)
        && !method.startsWith("parallel")
        && NOT_KNOWN.stream().noneMatch(whole::startsWith)
        && !(owner.equals("java/io/File") && !OF_PATHS.contains(method))
        && !(owner.equals("java/nio/file/Path") && method.equals("toRealPath"))
        && !(owner.startsWith("java/time/")
            && (method.equals("now") || method.startsWith("system")));
  }

  /** Whether code may create objects of a JDK class and read its constants. */
  static boolean isKnownType(String owner) {
    return owner.endsWith("Exception")
        || owner.endsWith("Error")
        || CLASSES.contains(owner)
        || COLLECTIONS.contains(owner)
        || OTHERS.contains(owner)
        || PACKAGES.stream().anyMatch(owner::startsWith);
  }

  /** Whether a method only takes the first element from a queue. */
  static boolean takesFirst(Member method) {
    return QUEUES.contains(method.owner())
        && TAKES_FIRST.contains(method.name())
        && method.descriptor().startsWith("()");
  }

  /** Whether a method reads or queries a file, its receiver or an argument. */
  static boolean readsFile(String owner, String method, String descriptor) {
    String whole = owner + "." + method + descriptor;
    return READS.stream().anyMatch(whole::startsWith);
  }

  /** Whether a class is a JDK collection, by its internal name. */
  static boolean isCollection(String owner) {
    return COLLECTIONS.contains(owner) || owner.equals("java/lang/Iterable");
  }

  /** Whether the method is one of {@code methods} on a collection. */
  static boolean isOf(Set<String> methods, String owner, String method) {
    return COLLECTIONS.contains(owner) && methods.contains(method);
  }

  /**
   * Returns the index of the operand, receiver included, whose string or hash code a call uses; -1
   * if there is none.
   */
  static int identityOperand(String owner, String method, String descriptor) {
    boolean ofObject = descriptor.startsWith("(Ljava/lang/Object;");
    return switch (owner) {
      case "java/lang/Object" -> method.equals("toString") ? 0 : -1;
      case "java/lang/String" -> method.equals("valueOf") && ofObject ? 0 : -1;
      case "java/util/Objects" ->
          (method.equals("toString") || method.equals("hashCode")) && ofObject ? 0 : -1;
      case "java/lang/StringBuilder", "java/lang/StringBuffer" ->
          method.equals("append") && ofObject ? 1 : -1;
      case "java/util/HashSet", "java/util/Set" -> method.equals("add") ? 1 : -1;
      case "java/util/HashMap", "java/util/Map" -> method.startsWith("put") && ofObject ? 1 : -1;
      default -> -1;
    };
  }

  /** Whether a method only reads the collection or array on which it is called. */
  static boolean onlyReads(String owner, String method) {
    return (COLLECTIONS.contains(owner) || owner.startsWith("[")) && ONLY_READS.contains(method);
  }

  /** Whether a method neither changes nor keeps the arrays and collections among its arguments. */
  static boolean copies(String owner, String method) {
    return COPIES.contains(owner + "." + method);
  }

  /**
   * Whether a method changes its first argument, an array or a collection, and does not keep it.
   */
  static boolean changesFirst(String owner, String method) {
    return CHANGES_FIRST.contains(owner + "." + method);
  }

  /** Whether a method returns a new object that no other code can reach. */
  static boolean makes(String owner, String method) {
    return MAKES.contains(owner + "." + method)
        || (owner.startsWith("[") && method.equals("clone"));
  }

  /** Whether a JDK object is deeply immutable. */
  static boolean isImmutable(Object object) {
    Class<?> type = object.getClass();
    String name = type.getName();
    return object instanceof String
        || object instanceof Path
        || object instanceof Pattern
        || object instanceof Class
        || object instanceof Enum
        || object instanceof Charset
        || IMMUTABLE.contains(name)
        || (type.getPackageName().equals("java.lang")
            && object instanceof Comparable
            && !(object instanceof Appendable))
        // Dates of java.time.chrono may refer to calendars of the program.
        || (type.getPackageName().equals("java.time") && object instanceof Comparable)
        // URLs with other protocols may have a handler of the program.
        || (object instanceof URL url && PROTOCOLS.contains(url.getProtocol()));
  }

  /** Whether the container itself, apart from its elements, is immutable. */
  static boolean isFixed(Object container) {
    String name = container.getClass().getName();
    return name.startsWith("java.util.ImmutableCollections$")
        || name.startsWith("java.util.Collections$Empty")
        || name.startsWith("java.util.Collections$Singleton")
        || name.startsWith("java.util.KeyValueHolder")
        || container instanceof Optional;
  }

  /**
   * Whether this is an array or a container of the JDK whose behaviour depends neither on a
   * comparator of the program nor on garbage collection.
   */
  static boolean isPlain(Object container) {
    Class<?> type = container.getClass();
    Comparator<?> by = JdkObjects.comparator(container);
    return type.isArray()
        || ((type.getPackageName().equals("java.util")
                || type.getPackageName().equals("java.util.concurrent"))
            && !(container instanceof WeakHashMap)
            && (by == null
                || by == String.CASE_INSENSITIVE_ORDER
                || by == Collections.reverseOrder()));
  }

  /** Whether the iteration order of a method's result differs between processes. */
  static boolean hasOwnOrder(String owner, String method) {
    return owner.equals("java/util/stream/Collectors")
        ? method.equals("toUnmodifiableSet") || method.equals("toUnmodifiableMap")
        : (owner.equals("java/util/Set") || owner.equals("java/util/Map"))
            && (method.equals("of") || method.equals("ofEntries") || method.equals("copyOf"));
  }

  /** Whether this class creates sets or maps whose order depends on hash codes. */
  static boolean hashes(String owner) {
    return owner.equals("java/util/HashMap")
        || owner.equals("java/util/HashSet")
        || owner.equals("java/util/stream/Collectors");
  }

  /** Whether a map may be in access order, so that reading it changes it. */
  static boolean isOrderedByAccess(Object container) {
    if (container.getClass() != LinkedHashMap.class || ((Map<?, ?>) container).size() < 2) {
      return false;
    }
    Map<?, ?> copy = (Map<?, ?>) ((LinkedHashMap<?, ?>) container).clone();
    Object first = copy.keySet().iterator().next();
    if (!isImmutable(first)) {
      return true; // A lookup would call the program's code.
    }
    copy.get(first);
    return copy.keySet().iterator().next() != first;
  }

  /** Whether the analysis follows an object's elements. */
  static boolean isContainer(Object object) {
    return object.getClass().isArray()
        || object instanceof Collection
        || object instanceof Map
        || object instanceof Optional;
  }
}
