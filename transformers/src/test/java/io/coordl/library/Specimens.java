package io.coordl.library;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Makes objects of any class for tests. Tries the constructors, public ones first, and those with
 * fewer parameters before others; each argument is chosen by its type.
 */
public final class Specimens {
  private static final int DEPTH = 4;

  /** Numbers, one per round; array lengths, strings and enum constants also vary by round. */
  private static final double[] NUMBERS = {1, 0, 2, 0.5};

  private static final String[] TEXTS = {"c0", "yyyy"};

  private final Map<Class<?>, Object> known = new LinkedHashMap<>();
  private int round;

  /** Sets the argument for every parameter, and the value for every field, of this type. */
  public <T> Specimens with(Class<T> type, T value) {
    known.put(type, value);
    return this;
  }

  /** Returns an object of that class; throws if no constructor makes one. */
  public Object of(Class<?> type) throws ReflectiveOperationException {
    ReflectiveOperationException failed = new NoSuchMethodException(type.getName());
    for (int i = 0; i < NUMBERS.length; i++) {
      round = i;
      try {
        return made(type, 0);
      } catch (NoSuchMethodException e) {
        failed.addSuppressed(e);
      } finally {
        round = 0;
      }
    }
    throw failed;
  }

  private Object made(Class<?> type, int depth) throws ReflectiveOperationException {
    List<Constructor<?>> all =
        Stream.of(type.getDeclaredConstructors())
            .filter(one -> !one.isSynthetic())
            .sorted(
                Comparator.<Constructor<?>>comparingInt(
                        one -> Modifier.isPublic(one.getModifiers()) ? 0 : 1)
                    .thenComparingInt(Constructor::getParameterCount)
                    .thenComparing(Constructor::toString))
            .toList();
    ReflectiveOperationException failed = new NoSuchMethodException(type.getName());
    for (Constructor<?> one : all) {
      try {
        one.setAccessible(true);
        Type[] parameters = one.getGenericParameterTypes();
        Object[] arguments = new Object[parameters.length];
        for (int i = 0; i < arguments.length; i++) {
          arguments[i] = value(parameters[i], depth + 1);
        }
        return one.newInstance(arguments);
      } catch (InvocationTargetException | InstantiationException e) {
        failed.addSuppressed(e);
      }
    }
    throw failed;
  }

  /**
   * Returns an object whose fields are null, 0 or false, for a class whose constructors cannot run
   * here.
   */
  public static Object empty(Class<?> type) throws ReflectiveOperationException {
    Class<?> factory = Class.forName("sun.reflect.ReflectionFactory"); // javac would warn about it.
    Constructor<?> made =
        (Constructor<?>)
            factory
                .getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                .invoke(
                    factory.getMethod("getReflectionFactory").invoke(null),
                    type,
                    Object.class.getDeclaredConstructor());
    return made.newInstance();
  }

  /**
   * Fills the fields that are null or an empty collection or map, as a data set's preparation
   * would; a collection or map gets one element. Does not change primitive or static fields, nor
   * those of {@code end}, a superclass, or of its superclasses.
   */
  public void fill(Object object, Class<?> end) throws ReflectiveOperationException {
    for (Class<?> at = object.getClass(); at != end; at = at.getSuperclass()) {
      for (Field field : at.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
          field.setAccessible(true);
          Object now = field.get(object);
          if (now == null || isEmpty(now)) {
            Object value = value(field.getGenericType(), 0);
            if (value != null) {
              field.set(object, value);
            }
          }
        }
      }
    }
  }

  private static boolean isEmpty(Object object) {
    return (object instanceof Collection<?> elements && elements.isEmpty())
        || (object instanceof Map<?, ?> map && map.isEmpty());
  }

  private Object value(Type type, int depth) throws ReflectiveOperationException {
    if (depth > DEPTH) {
      return null;
    } else if (type instanceof ParameterizedType of) {
      return value((Class<?>) of.getRawType(), of.getActualTypeArguments(), depth);
    } else if (type instanceof WildcardType any) {
      return value(any.getUpperBounds()[0], depth);
    } else if (type instanceof TypeVariable<?> any) {
      return value(any.getBounds()[0], depth);
    } else if (type instanceof GenericArrayType) {
      return null;
    }
    return value((Class<?>) type, new Type[0], depth);
  }

  private Object value(Class<?> type, Type[] of, int depth) throws ReflectiveOperationException {
    if (known.containsKey(type)) {
      return known.get(type);
    } else if (type.isPrimitive()) {
      return Array.get(Array.newInstance(type, 1), 0) instanceof Boolean
          ? (Object) false
          : number(type);
    } else if (type.isArray()) {
      Object array = Array.newInstance(type.getComponentType(), round == 2 ? 2 : 1);
      for (int i = 0; i < Array.getLength(array); i++) {
        Array.set(array, i, value(type.getComponentType(), depth + 1));
      }
      return array;
    } else if (type.isEnum()) {
      return type.getEnumConstants()[round % type.getEnumConstants().length];
    } else if (Map.class.isAssignableFrom(type) && type.isAssignableFrom(HashMap.class)) {
      Map<Object, Object> map = new HashMap<>();
      map.put(value(of[0], depth + 1), value(of[1], depth + 1));
      return map;
    } else if (type == Set.class) {
      return Set.of(value(of[0], depth + 1));
    } else if (Iterable.class.isAssignableFrom(type) && type.isAssignableFrom(ArrayList.class)) {
      List<Object> list = new ArrayList<>();
      list.add(of.length == 0 ? TEXTS[0] : value(of[0], depth + 1));
      return list;
    } else if (type.getName().endsWith("PairList")) {
      Object pairs = type.getDeclaredConstructor().newInstance();
      type.getMethod("add", Object.class, Object.class)
          .invoke(pairs, value(of[0], depth + 1), value(of[1], depth + 1));
      return pairs;
    } else if (type == String.class) {
      return TEXTS[round % TEXTS.length];
    } else if (type == Object.class) {
      return TEXTS[0];
    } else if (type == Boolean.class) {
      return true;
    } else if (Number.class.isAssignableFrom(type) || type == Character.class) {
      return number(type);
    } else if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
      return null;
    }
    return type.getName().startsWith("java.") ? null : made(type, depth);
  }

  private Object number(Class<?> type) {
    double number = NUMBERS[round];
    return switch (type.getSimpleName()) {
      case "int", "Integer" -> (int) number;
      case "long", "Long" -> (long) number;
      case "float", "Float" -> (float) number;
      case "double", "Double" -> number;
      case "char", "Character" -> ',';
      case "byte", "Byte" -> (byte) number;
      default -> null;
    };
  }
}
