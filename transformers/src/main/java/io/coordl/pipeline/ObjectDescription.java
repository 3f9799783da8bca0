package io.coordl.pipeline;

import io.coordl.purity.ClassFiles;
import io.coordl.purity.JdkObjects;
import java.awt.Color;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Describes an object of the program as text: its class, its fields, and recursively the objects in
 * them. The name of a program's class is followed by a checksum of the class file. Objects with
 * equal descriptions behave alike in any process. A long description is cut, and ends in a checksum
 * of the whole. Reads fields; calls no code of the program. Used once, by one thread.
 */
public final class ObjectDescription {
  private static final int MAX_LENGTH = 240;

  /** Maximum depth of nested descriptions; deeper objects follow at the end. */
  private static final int MAX_DEPTH = 24;

  /** Maximum depth of sets and maps nested in each other. */
  private static final int MAX_NESTED = 24;

  /** Longer arrays of {@link #NUMBERS} are written as a checksum. */
  private static final int MAX_ELEMENTS = 1024;

  /** Names of the formatters of this process. */
  private static final ObjectNames<DateTimeFormatter> FORMATTERS = new ObjectNames<>();

  private static final Set<Class<?>> NUMBERS =
      Set.of(byte.class, int.class, long.class, float.class, double.class);

  private static final Set<Class<?>> UNORDERED =
      Set.of(HashMap.class, HashSet.class, ConcurrentHashMap.class);

  /** The parts of a description that differ between libraries. */
  public interface Library {
    /**
     * Whether a class with this name belongs to the library, whose version is described elsewhere.
     */
    boolean has(String className);

    /**
     * Describes an object whose fields alone are not enough to describe it.
     *
     * @return false, with nothing written, if the fields are enough
     */
    boolean describe(Object object, ObjectDescription to)
        throws ReflectiveOperationException, IOException;

    /** Whether to omit a field, because it changes while its object works, or is not needed. */
    boolean isScratch(Field field);

    /**
     * Returns the maximum number of objects to describe. Without a limit, a reference to a whole
     * network would delay each epoch.
     */
    int maxObjects();

    /** Whether to include the order of hash maps and hash sets, which may differ between jobs. */
    default boolean mapOrderMatters() {
      return false;
    }
  }

  private final Library library;
  private final @Nullable ObjectDescription outer;
  private final StringBuilder text = new StringBuilder();
  private final MessageDigest digest;
  private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();
  private final Deque<Object> later = new ArrayDeque<>();
  private final int nested;
  private int objects;
  private int depth;
  private boolean isLong;

  private ObjectDescription(Library library, @Nullable ObjectDescription outer) {
    this.library = library;
    this.outer = outer;
    this.nested = outer == null ? 0 : outer.nested + 1;
    this.depth = outer == null ? 0 : outer.depth;
    this.objects = outer == null ? 0 : outer.objects;
    digest = sha256();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every JDK has this algorithm.
    }
  }

  /**
   * Describes {@code object}.
   *
   * @param what the object's role, for the error message
   * @throws CannotShareException if the object cannot be distinguished from an object that behaves
   *     differently
   */
  public static String of(String what, @Nullable Object object, Library library)
      throws CannotShareException {
    ObjectDescription description = new ObjectDescription(library, null);
    try {
      description.add(object);
      description.finish();
    } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
      String reason = e instanceof IOException ? e.getMessage() : e.toString();
      throw new CannotShareException(
          "pipelines whose " + what + " cannot be described (" + reason + ")");
    }
    return description.text();
  }

  private String text() {
    if (!isLong) {
      return text.toString();
    }
    update();
    return text + ".. with checksum " + HexFormat.of().formatHex(digest.digest(), 0, 8);
  }

  /** Appends a part; of a long description, keeps only the beginning and a digest of the whole. */
  public void write(String part) {
    text.append(part);
    if (text.length() > MAX_LENGTH) {
      isLong = true;
    }
    if (isLong && text.length() > 1 << 16) {
      update();
    }
  }

  /** Appends a checksum of the remaining {@code bytes}. */
  public void writeChecksum(ByteBuffer bytes) {
    write(Long.toHexString(Checksum.mix(Checksum.NONE, bytes.duplicate())));
  }

  private void update() {
    digest.update(text.toString().getBytes(StandardCharsets.UTF_8));
    text.setLength(Math.min(text.length(), MAX_LENGTH));
  }

  /** Appends a quoted and escaped string, so that its content cannot hide its end. */
  private void quote(String kind, Object part) {
    write(kind + '"' + part.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"');
  }

  public void add(@Nullable Object object) throws ReflectiveOperationException, IOException {
    add(object, Object.class);
  }

  /** Adds an object; omits what its declared type already implies. */
  private void add(@Nullable Object object, Class<?> declared)
      throws ReflectiveOperationException, IOException {
    if (object == null) {
      write("none");
    } else if (object instanceof String name) {
      quote("", name);
      write(depth <= 1 && isRelativeFile(name) ? " in " + new File("").getAbsolutePath() : "");
    } else if (object instanceof Boolean
        || object instanceof Character
        || (object instanceof Number && JdkObjects.isOfJdk(object.getClass()))) {
      write((declared.isPrimitive() ? "" : object.getClass().getSimpleName() + " ") + object);
      if (object instanceof Float one && one.isNaN()) { // NaN has many bit patterns.
        write(Integer.toHexString(Float.floatToRawIntBits(one)));
      } else if (object instanceof Double one && one.isNaN()) {
        write(Long.toHexString(Double.doubleToRawLongBits(one)));
      }
    } else if (object instanceof URI || object instanceof URL) {
      quote(object.getClass().getSimpleName() + " ", object);
    } else if (object instanceof File file) {
      quote(declared == File.class ? "" : "file ", file);
      // Jobs may run in different directories.
      if (!file.isAbsolute()) {
        quote(" in ", file.getAbsolutePath());
      }
    } else if (object instanceof Path path) {
      if (path.getFileSystem() != FileSystems.getDefault()) {
        throw new IOException("it has a path that is not on the host's file system");
      }
      quote(declared == Path.class ? "" : "path ", path);
      if (!path.isAbsolute()) {
        quote(" in ", path.toAbsolutePath());
      }
    } else if (object instanceof Class<?> type) {
      write("class " + type.getName());
    } else if (object instanceof Enum<?> constant) {
      Class<?> type = constant.getDeclaringClass();
      write((declared == type ? "" : type.getSimpleName() + " ") + constant.name());
      if (hasFields(object, type)) {
        depth++;
        addParts(object, declared);
        depth--;
      }
    } else if (depth == MAX_DEPTH) {
      addLater(object);
    } else if (++objects > library.maxObjects()) {
      throw new IOException("it refers to more than " + library.maxObjects() + " objects");
    } else {
      depth++;
      if (!library.describe(object, this)) {
        addParts(object, declared);
      }
      depth--;
    }
  }

  /** Refers to an object by number and describes it at the end, because the stack is finite. */
  private void addLater(Object object) {
    Integer known = numberOf(object);
    if (known == null) {
      known = nextNumber();
      seen.put(object, known);
      later.add(object);
    }
    write("#" + known);
  }

  /** Describes the deferred objects, and any that these defer in turn. */
  private void finish() throws ReflectiveOperationException, IOException {
    Object object;
    while ((object = later.poll()) != null) {
      if (++objects > library.maxObjects()) {
        throw new IOException("it refers to more than " + library.maxObjects() + " objects");
      }
      write(", #" + seen.get(object) + "=");
      depth = 2; // Below the fields that may name files.
      if (!library.describe(object, this)) {
        addContent(object, Object.class);
      }
    }
  }

  /** Whether an enum constant of the program has fields besides its name. */
  private boolean hasFields(Object constant, Class<?> type) {
    return !JdkObjects.isOfJdk(type)
        && !library.has(type.getName())
        && Stream.of(constant.getClass(), type)
            .flatMap(part -> Stream.of(part.getDeclaredFields()))
            .anyMatch(field -> !Modifier.isStatic(field.getModifiers()));
  }

  /**
   * Whether a name is a relative path of an existing file. Called only for the described object and
   * what it directly contains, because it accesses the file system.
   */
  private static boolean isRelativeFile(String name) {
    return !name.isEmpty() && !name.startsWith("/") && new File(name).exists();
  }

  private @Nullable Integer numberOf(Object object) {
    Integer number = seen.get(object);
    return number == null && outer != null ? outer.numberOf(object) : number;
  }

  private int nextNumber() {
    return seen.size() + (outer == null ? 0 : outer.nextNumber());
  }

  private void addParts(Object object, Class<?> declared)
      throws ReflectiveOperationException, IOException {
    Integer known = numberOf(object);
    if (known != null) {
      write("#" + known);
      return;
    }
    seen.put(object, nextNumber());
    addContent(object, declared);
  }

  private void addContent(Object object, Class<?> declared)
      throws ReflectiveOperationException, IOException {
    Class<?> type = object.getClass();
    boolean ofJdk = JdkObjects.isOfJdk(type);
    if (ofJdk && (object instanceof Collection<?> || object instanceof Map<?, ?>)) {
      write(type.getSimpleName());
      // A comparator decides which elements are equal.
      Comparator<?> by = JdkObjects.comparator(object);
      write(by == null || by.getClass().isHidden() ? "" : " by " + by.getClass().getName() + " ");
    }
    if (type.isArray()
        && Array.getLength(object) > MAX_ELEMENTS
        && NUMBERS.contains(type.getComponentType())) {
      writeNumbers(object);
    } else if (type.isArray()) {
      write((declared == type ? "" : type.getComponentType().getSimpleName()) + "[");
      for (int i = 0; i < Array.getLength(object); i++) {
        write(i == 0 ? "" : ", ");
        add(Array.get(object, i), type.getComponentType());
      }
      write("]");
    } else if (object instanceof Set<?> elements && ignoresOrder(object)) {
      addSorted(elements);
    } else if (ofJdk && object instanceof Collection<?> elements) {
      addAll(elements);
    } else if (ofJdk && object instanceof Map<?, ?> map) {
      if (ignoresOrder(object)) {
        addSorted(map.entrySet());
      } else {
        addAll(map.keySet());
        addAll(map.values());
      }
    } else if (object instanceof Optional<?> optional) {
      write("Optional");
      addAll(optional.stream().toList());
    } else if (ofJdk) {
      addOfJdk(object);
    } else {
      addFields(object);
    }
  }

  /** Whether to ignore a container's order, because the program cannot choose it. */
  private boolean ignoresOrder(Object container) {
    Class<?> type = container.getClass();
    return !library.mapOrderMatters()
        && (UNORDERED.contains(type)
            || type.getName().startsWith("java.util.ImmutableCollections$"));
  }

  /** Appends a checksum of the bits, because formatting each number as text is slow. */
  private void writeNumbers(Object array) {
    write(array.getClass().getComponentType() + " " + Array.getLength(array) + " ");
    for (long half : Checksum.ofArray(array)) {
      write(HexFormat.of().toHexDigits(half));
    }
  }

  private void addAll(Collection<?> elements) throws ReflectiveOperationException, IOException {
    write("[");
    String separator = "";
    for (Object element : elements) {
      write(separator);
      add(element);
      separator = ", ";
    }
    write("]");
  }

  /** Sorts the elements' descriptions, because the order may differ between jobs. */
  private void addSorted(Set<?> elements) throws ReflectiveOperationException, IOException {
    if (nested == MAX_NESTED) {
      throw new IOException("it has sets or maps nested more than " + MAX_NESTED + " deep");
    }
    List<String> texts = new ArrayList<>(elements.size());
    for (Object element : elements) {
      ObjectDescription one = new ObjectDescription(library, this);
      if (element instanceof Map.Entry<?, ?> entry) {
        one.add(entry.getKey());
        one.write("=");
        one.add(entry.getValue());
      } else {
        one.add(element);
      }
      one.finish();
      objects = one.objects;
      texts.add(one.text());
    }
    texts.sort(null);
    write("[" + String.join(", ", texts) + "]");
  }

  /** Describes a JDK object, whose fields are inaccessible; throws if its state is unknown. */
  private void addOfJdk(Object object) throws ReflectiveOperationException, IOException {
    String name = object.getClass().getName();
    if (object instanceof ByteBuffer bytes) {
      write(bytes.remaining() + " bytes ");
      writeChecksum(bytes);
    } else if (object instanceof AtomicReference<?> reference) {
      write("AtomicReference ");
      add(reference.get());
    } else if (object instanceof Pattern pattern) {
      quote(pattern.flags() + " ", pattern);
    } else if (object instanceof Locale locale) {
      quote("Locale ", locale.toLanguageTag() + " " + locale + " " + locale.getVariant());
    } else if (object instanceof DateTimeFormatter formatter) {
      // Its text does not show everything that it parses and prints.
      write("DateTimeFormatter " + FORMATTERS.get(formatter));
    } else if (object instanceof Color color) {
      write("Color " + Arrays.toString(color.getComponents(null)) + " " + color.getRGB());
    } else if (object instanceof Comparable<?>
        || object instanceof CharSequence
        || object instanceof BitSet) {
      quote(object.getClass().getSimpleName() + " ", object);
    } else if (JdkObjects.isIrrelevant(name)) {
      write(name);
    } else {
      throw new IOException("the state of a " + name + " cannot be read");
    }
  }

  private void addFields(Object object) throws ReflectiveOperationException, IOException {
    Class<?> type = object.getClass();
    write(name(type));
    String separator = "(";
    for (Class<?> at = type; at != null && !JdkObjects.isOfJdk(at); at = at.getSuperclass()) {
      boolean ofLibrary = library.has(at.getName());
      if (at != type && !ofLibrary) {
        write(separator + name(at));
        separator = ", ";
      }
      for (Field field : at.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers())
            ? !ofLibrary && ClassFiles.isSetting(field)
            : !library.isScratch(field)) {
          field.setAccessible(true);
          write(separator + field.getName() + "=");
          separator = ", ";
          add(field.get(object), field.getType());
        }
      }
    }
    write(separator.equals("(") ? "" : ")");
  }

  /**
   * Identifies a class. A lambda has no class file, so it must be the only lambda for its interface
   * in the class that contains it.
   */
  private String name(Class<?> type) throws IOException {
    if (type.isHidden()) {
      Class<?> host = type.getNestHost();
      Class<?>[] kinds = type.getInterfaces();
      if (kinds.length != 1 || ClassFiles.lambdas(host, kinds[0]) != 1) {
        throw new IOException(
            String.format(
                "it is one of several lambdas of %s, which cannot be told apart; use a named class",
                host.getName()));
      }
      return "lambda of " + host.getName() + " " + ClassFiles.checksum(host);
    }
    String name = type.getName();
    return library.has(name)
        ? name.substring(name.lastIndexOf('.') + 1)
        : name + " " + ClassFiles.checksum(type);
  }

  /** Returns the value of a field that the object's own class declares, public or not. */
  public static @Nullable Object value(Object object, String field)
      throws ReflectiveOperationException {
    return Symbols.field(object.getClass(), field).get(object);
  }

  public static boolean startsWith(String name, String... prefixes) {
    return Stream.of(prefixes).anyMatch(name::startsWith);
  }
}
