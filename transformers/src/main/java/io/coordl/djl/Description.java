package io.coordl.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Pipeline;
import ai.djl.util.PairList;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.ClassFiles;
import io.coordl.purity.JdkObjects;
import io.coordl.purity.LambdaSites;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * An object of the program in words: its class, with a checksum of its class file unless it is the
 * library's, and its fields, and theirs. Two objects of equal words do the same, whatever the
 * process. What is so long that nobody would read it ends in a checksum of all of it. Reads fields;
 * calls nothing of the program. Used once, by one thread.
 */
final class Description {
  private static final int READABLE = 240;
  private static final int DEEPEST = 24;
  private static final String LIBRARY = "ai.djl.";
  private static final String PLACE = "ai.djl.translate.Pipeline$IndexKey";

  private final StringBuilder text = new StringBuilder();
  private final MessageDigest digest;
  private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();
  private int depth;
  private boolean isLong;

  private Description() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every JDK has it.
    }
  }

  /**
   * The words for {@code object}.
   *
   * @param what it is, for the reason
   * @throws CannotShareException if it cannot be told from one that does something else
   */
  static String of(String what, @Nullable Object object) throws CannotShareException {
    Description description = new Description();
    try {
      description.add(object);
    } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
      String reason = e instanceof IOException ? e.getMessage() : e.toString();
      throw new CannotShareException("its " + what + " cannot be described: " + reason);
    }
    return description.words();
  }

  private String words() {
    if (!isLong) {
      return text.toString();
    }
    update();
    return text + ".. with checksum " + HexFormat.of().formatHex(digest.digest(), 0, 8);
  }

  /** Keeps the beginning, digests the rest. */
  private void write(String part) {
    text.append(part);
    if (text.length() > READABLE) {
      isLong = true;
    }
    if (isLong && text.length() > 1 << 16) {
      update();
    }
  }

  private void update() {
    digest.update(text.toString().getBytes(StandardCharsets.UTF_8));
    text.setLength(Math.min(text.length(), READABLE));
  }

  private void add(@Nullable Object object) throws ReflectiveOperationException, IOException {
    if (object == null) {
      write("none");
    } else if (depth <= 1 && object instanceof String name && isRelativeFile(name)) {
      write(name + " in " + new File("").getAbsolutePath());
    } else if (object instanceof String
        || object instanceof Boolean
        || object instanceof Character
        || object instanceof URI
        || object instanceof URL
        || object instanceof Device
        || (object instanceof Number && JdkObjects.isOfJdk(object.getClass()))) {
      write(String.valueOf(object));
    } else if (object instanceof File file) {
      write(file.getAbsolutePath()); // Jobs may differ in where a relative one begins.
    } else if (object instanceof Path path) {
      write(path.toAbsolutePath().toString());
    } else if (object instanceof Class<?> type) {
      write(type.getName());
    } else if (object instanceof Enum<?> constant) {
      write(constant.name());
    } else if (object instanceof NDArray array) {
      write(array.getDataType() + " array " + array.getShape() + " ");
      CRC32 crc = new CRC32();
      crc.update(array.toByteBuffer(true));
      write(Long.toHexString(crc.getValue()));
    } else if (object instanceof NDManager) {
      write("manager");
    } else if (depth == DEEPEST) {
      throw new IOException("it refers to objects more than " + DEEPEST + " deep");
    } else {
      depth++;
      addParts(object);
      depth--;
    }
  }

  /** Asked of fields only, not of each name in a list. */
  private static boolean isRelativeFile(String name) {
    return !name.isEmpty() && !name.startsWith("/") && new File(name).exists();
  }

  private void addParts(Object object) throws ReflectiveOperationException, IOException {
    Integer known = seen.putIfAbsent(object, seen.size());
    if (known != null) {
      write("#" + known);
    } else if (object.getClass().isArray()) {
      int length = Array.getLength(object);
      write("[");
      for (int i = 0; i < length; i++) {
        write(i == 0 ? "" : ", ");
        add(Array.get(object, i));
      }
      write("]");
    } else if (object instanceof Pipeline pipeline) {
      add(value(pipeline, "transforms"));
    } else if (object instanceof PairList<?, ?> pairs) {
      addPairs(pairs);
    } else if (object instanceof Collection<?> elements && JdkObjects.isOfJdk(object.getClass())) {
      addAll(elements);
    } else if (object instanceof Map<?, ?> map && JdkObjects.isOfJdk(object.getClass())) {
      List<@Nullable Object> entries = new ArrayList<>();
      map.forEach(
          (key, value) -> {
            entries.add(key);
            entries.add(value);
          });
      addAll(entries);
    } else if (object instanceof Optional<?> optional) {
      addAll(optional.stream().toList());
    } else if (JdkObjects.isOfJdk(object.getClass())) {
      addOfJdk(object);
    } else {
      addFields(object);
    }
  }

  /** Its fields are closed to us; a file that is open, say, may be any file. */
  private void addOfJdk(Object object) throws ReflectiveOperationException, IOException {
    String name = object.getClass().getName();
    if (object instanceof ByteBuffer bytes) {
      CRC32 crc = new CRC32();
      crc.update(bytes.duplicate());
      write(bytes.remaining() + " bytes " + Long.toHexString(crc.getValue()));
    } else if (object instanceof AtomicReference<?> reference) {
      add(reference.get());
    } else if (object instanceof Pattern pattern) {
      write(pattern + " " + pattern.flags());
    } else if (object instanceof Comparable<?>
        || object instanceof Locale
        || object instanceof CharSequence
        || object instanceof BitSet) {
      write(object.toString());
    } else if (JdkObjects.tellsNothing(name)) {
      write(name);
    } else {
      throw new IOException("what a " + name + " is about cannot be seen");
    }
  }

  /** A pipeline's pairs are places and transforms; the place is the first array as a rule. */
  private void addPairs(PairList<?, ?> pairs) throws ReflectiveOperationException, IOException {
    write("[");
    for (int i = 0; i < pairs.size(); i++) {
      write(i == 0 ? "" : ", ");
      Object key = pairs.keyAt(i);
      if (key != null && key.getClass().getName().equals(PLACE)) {
        Object name = value(key, "key");
        Object place = name == null ? value(key, "index") : name;
        write(Integer.valueOf(0).equals(place) ? "" : place + ": ");
      } else {
        add(key);
        write(": ");
      }
      add(pairs.valueAt(i));
    }
    write("]");
  }

  private static @Nullable Object value(Object object, String name)
      throws ReflectiveOperationException {
    return Symbols.field(object.getClass(), name).get(object);
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

  private void addFields(Object object) throws ReflectiveOperationException, IOException {
    Class<?> type = object.getClass();
    write(name(type));
    String separator = "(";
    for (Class<?> c = type; c != null && !JdkObjects.isOfJdk(c); c = c.getSuperclass()) {
      if (c == RandomAccessDataset.class || c == DataIterable.class) {
        continue; // Told part by part, as the iterable has it.
      }
      if (c != type && !c.getName().startsWith(LIBRARY)) {
        write(separator + name(c));
        separator = ", ";
      }
      for (Field field : c.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())
            || (!c.getName().startsWith(LIBRARY) && ClassFiles.isSetting(field))) {
          field.setAccessible(true);
          write(separator + field.getName() + "=");
          separator = ", ";
          add(field.get(object));
        }
      }
    }
    write(separator.equals("(") ? "" : ")");
  }

  /**
   * Which class it is. A lambda has no class file; it is the only one of its kind in the class that
   * has it, or cannot be told from its neighbours.
   */
  private static String name(Class<?> type) throws IOException {
    if (type.isHidden()) {
      Class<?> host = type.getNestHost();
      Class<?>[] kinds = type.getInterfaces();
      if (kinds.length != 1 || LambdaSites.count(host, kinds[0]) != 1) {
        throw new IOException(
            "it is one of several lambdas of "
                + host.getName()
                + ", which cannot be told apart; a named class can");
      }
      return "lambda of " + host.getName() + " " + ClassFiles.checksum(host);
    }
    return type.getName().startsWith(LIBRARY)
        ? type.getName().substring(type.getName().lastIndexOf('.') + 1)
        : type.getName() + " " + ClassFiles.checksum(type);
  }
}
