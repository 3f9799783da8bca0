package io.coordl.transformers.hook;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Methods of every shape, to be woven. Public, because copies are in separate loaders. */
@SuppressWarnings({"ParameterReassignment", "UnusedVariable", "FinallyRethrow"})
public class WovenSubject {
  private int calls;

  public void returnsNothing() {
    calls++;
  }

  public void returnsHalfway(int value) {
    if (value > 1) {
      return;
    }
    calls++;
  }

  public boolean returnsBoolean(boolean value) {
    return !value;
  }

  public char returnsChar(char value) {
    return (char) (value + 1);
  }

  public byte returnsByte(byte value) {
    return (byte) -value;
  }

  public short returnsShort(short value) {
    return (short) -value;
  }

  public int returnsInt(int a, long b, double c) {
    return (int) (a + b + c);
  }

  public long returnsLong(long a, int b, Object c) {
    long sum = a;
    for (int i = 0; i < b; i++) {
      long square = (long) i * i;
      sum += square;
    }
    return sum;
  }

  public float returnsFloat(float value) {
    return value / 2;
  }

  public double returnsDouble(double a, double b) {
    return a > b ? a : b;
  }

  public String returnsString(String value) {
    return value + calls;
  }

  public int[] returnsArray(int length) {
    return new int[length];
  }

  public Object[][] returnsNull(int length) {
    return null;
  }

  public static long isStatic(long a, String b) {
    return a + b.length();
  }

  /** Its first instruction is a jump target with a frame. */
  public static int beginsWithALoop(int value) {
    for (; ; ) {
      value -= 3;
      if (value < 0) {
        return value;
      }
    }
  }

  public int neverReturns(int value) {
    for (; ; ) {
      value--;
      if (value < 0) {
        throw new IllegalStateException("value " + value);
      }
    }
  }

  public String throwsSometimes(int value) {
    if (value > 1) {
      throw new IllegalArgumentException("value " + value);
    }
    return "fine";
  }

  public String catchesAndCleansUp(int value) {
    String text = "none";
    try {
      text = throwsSometimes(value);
    } catch (IllegalArgumentException e) {
      text = e.getMessage();
    } finally {
      calls += 2;
    }
    return text + calls;
  }

  public synchronized int isSynchronized(Object lock, int value) {
    synchronized (this) {
      value = value * 2;
      if (value > 3) {
        return value;
      }
    }
    return -1;
  }

  public Object reassignsItsParameters(Object a, long b, Object c) {
    a = b > 1 ? "text" : a;
    b = a instanceof String text ? text.length() : b;
    c = null;
    if (b > 3) {
      List<Long> many = new ArrayList<>();
      for (long i = 0; i < b; i++) {
        many.add(i);
      }
      return many.toString();
    }
    return a;
  }

  public int switches(String value, int other) {
    return switch (value) {
      case "a" -> 1;
      case "b" -> {
        double half = other / 2.0;
        yield (int) half;
      }
      default -> throw new IllegalArgumentException(value);
    };
  }

  public int callsItself(int depth) {
    return depth <= 0 ? calls : 1 + callsItself(depth - 1);
  }

  public Iterable<String> iterates(String value) {
    return () -> List.of(value, value).iterator();
  }

  public Iterator<String> usesALambda(String value) {
    List<String> all = new ArrayList<>();
    Runnable adding = () -> all.add(value + calls);
    adding.run();
    return all.iterator();
  }
}
