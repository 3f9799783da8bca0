package io.coordl.library.declared;

import io.coordl.pipeline.LibraryField;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a batch from the bytes that {@link JavaBatch} wrote. Used by one thread, once. */
final class JavaBatchReader {
  private final ByteBuffer from;
  private final @Nullable ClassLoader loader;
  private final List<@Nullable Object> parts = new ArrayList<>();
  private final List<Class<?>> names = new ArrayList<>();

  JavaBatchReader(ByteBuffer from, @Nullable ClassLoader loader) {
    this.from = from;
    this.loader = loader;
  }

  Object batch() {
    Object batch = read();
    if (batch == null) {
      throw new IllegalStateException("the cached bytes are not those of a batch");
    }
    return batch;
  }

  private @Nullable Object read() {
    byte tag = from.get();
    if (tag == JavaBatch.NULL) {
      return null;
    } else if (tag == JavaBatch.SAME) {
      return parts.get(from.getInt());
    }
    int number = parts.size();
    parts.add(null);
    Object part =
        switch (tag) {
          case JavaBatch.NUMBERS -> numbers();
          case JavaBatch.ELEMENTS -> elements();
          case JavaBatch.RECORD -> record();
          case JavaBatch.DIRECT, JavaBatch.WRAPPED -> buffer(tag == JavaBatch.WRAPPED);
          default -> throw new IllegalStateException("a part of a batch begins with " + tag);
        };
    parts.set(number, part);
    return part;
  }

  private Object numbers() {
    ElementType kind = ElementType.of(from.get());
    int count = from.getInt();
    align();
    return kind.read(count, from);
  }

  private Object elements() {
    Class<?> type = name();
    Object[] elements = (Object[]) Array.newInstance(type.getComponentType(), from.getInt());
    for (int i = 0; i < elements.length; i++) {
      elements[i] = read();
    }
    return elements;
  }

  private Object record() {
    RecordParts record = RecordParts.of(name());
    @Nullable Object[] components = new @Nullable Object[record.count()];
    for (int i = 0; i < components.length; i++) {
      Class<?> type = record.type(i);
      components[i] = type.isPrimitive() ? LibraryField.ofBits(type, from.getLong()) : read();
    }
    return record.make(components);
  }

  private Object buffer(boolean wrapped) {
    ElementType kind = ElementType.of(from.get());
    ByteOrder order = from.get() == 1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    boolean isReadOnly = from.get() == 1;
    int capacity = from.getInt();
    int position = from.getInt();
    int limit = from.getInt();
    int mark = from.getInt();
    Buffer buffer;
    if (wrapped) {
      int offset = from.getInt();
      Object array = read();
      if (array == null) {
        throw new IllegalStateException("a buffer in a batch has lost its array");
      }
      buffer = kind.wrap(array, offset, capacity, order);
    } else {
      align();
      buffer = kind.readMemory(capacity, order, from);
    }
    buffer = isReadOnly ? kind.readOnly(buffer) : buffer;
    Buffers.set(buffer, position, limit, mark);
    return buffer;
  }

  private void align() {
    int at = from.position();
    from.position((at + JavaBatch.ALIGNMENT - 1) / JavaBatch.ALIGNMENT * JavaBatch.ALIGNMENT);
  }

  private Class<?> name() {
    int known = from.getInt();
    if (known >= 0) {
      return names.get(known);
    }
    byte[] name = new byte[from.getInt()];
    from.get(name);
    try {
      Class<?> type = Class.forName(new String(name, StandardCharsets.UTF_8), false, loader);
      names.add(type);
      return type;
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }
}
