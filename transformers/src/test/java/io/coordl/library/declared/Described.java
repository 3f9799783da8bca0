package io.coordl.library.declared;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.InvalidMarkException;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/** Describes all that a program can learn about a batch; independent of the tested code. */
final class Described {
  private final StringBuilder text = new StringBuilder();
  private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();

  private Described() {}

  static String of(@Nullable Object batch) {
    Described described = new Described();
    described.add(batch);
    return described.text.toString();
  }

  private void add(@Nullable Object part) {
    if (part == null) {
      text.append("null ");
      return;
    }
    Class<?> type = part.getClass();
    if (part instanceof Float one) {
      text.append(Integer.toHexString(Float.floatToRawIntBits(one))).append(' ');
      return;
    } else if (part instanceof Double one) {
      text.append(Long.toHexString(Double.doubleToRawLongBits(one))).append(' ');
      return;
    } else if (part instanceof Number || part instanceof Boolean || part instanceof Character) {
      text.append(part).append(' ');
      return;
    }
    Integer before = seen.putIfAbsent(part, seen.size());
    if (before != null) {
      text.append('#').append(before).append(' ');
      return;
    }
    text.append(type.getName()).append('(');
    if (type.isArray()) {
      for (int i = 0; i < Array.getLength(part); i++) {
        add(Array.get(part, i));
      }
    } else if (part instanceof Record) {
      for (RecordComponent component : type.getRecordComponents()) {
        try {
          component.getAccessor().setAccessible(true);
          add(component.getAccessor().invoke(part));
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(String.valueOf(e.getMessage()), e);
        }
      }
    } else if (part instanceof Buffer buffer) {
      add(buffer);
    } else {
      text.append(part instanceof String ? part : "object");
    }
    text.append(") ");
  }

  private void add(Buffer buffer) {
    text.append(buffer.isDirect()).append(buffer.isReadOnly()).append(buffer);
    Object mark = "none";
    try {
      mark = buffer.duplicate().reset().position();
    } catch (InvalidMarkException e) {
      // The buffer has no mark.
    }
    text.append(" mark ").append(mark).append(' ');
    for (int i = 0; i < buffer.capacity(); i++) {
      Buffer all = buffer.duplicate().clear();
      if (buffer instanceof ByteBuffer bytes) {
        text.append(bytes.order());
        add(((ByteBuffer) all).get(i));
      } else if (all instanceof FloatBuffer floats) {
        text.append(floats.order());
        add(floats.get(i));
      } else if (all instanceof DoubleBuffer doubles) {
        text.append(doubles.order());
        add(doubles.get(i));
      } else if (all instanceof IntBuffer ints) {
        add(ints.get(i));
      } else if (all instanceof LongBuffer longs) {
        add(longs.get(i));
      } else if (all instanceof ShortBuffer shorts) {
        add(shorts.get(i));
      } else {
        add(((CharBuffer) all).get(i));
      }
    }
    if (buffer.hasArray()) {
      text.append(buffer.arrayOffset());
      add(buffer.array());
    }
  }
}
