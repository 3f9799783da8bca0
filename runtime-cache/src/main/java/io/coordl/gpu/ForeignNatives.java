package io.coordl.gpu;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls native functions through java.lang.foreign (final since JDK 22), by reflection, because
 * this code also runs on JDK 17. Pointers are passed as 64-bit integers, which the calling
 * convention treats like pointers.
 */
final class ForeignNatives implements Natives {
  private static final String PACKAGE = "java.lang.foreign.";
  private static final int FIRST_JDK = 22;

  private final Map<String, MethodHandle> functions = new ConcurrentHashMap<>();
  private final Object lookup;
  private final Object linker;

  ForeignNatives(String library)
      throws ReflectiveOperationException, Binding.BindingUnavailableException {
    if (Runtime.version().feature() < FIRST_JDK) {
      throw new Binding.BindingUnavailableException("no java.lang.foreign before JDK " + FIRST_JDK);
    }
    Class<?> arena = type("Arena");
    linker = type("Linker").getMethod("nativeLinker").invoke(null);
    lookup =
        type("SymbolLookup")
            .getMethod("libraryLookup", String.class, arena)
            .invoke(null, library, arena.getMethod("global").invoke(null));
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(PACKAGE + name);
  }

  @Override
  public int invoke(String function, Object... arguments) throws Throwable {
    MethodHandle handle = functions.get(function);
    if (handle == null) {
      handle = handle(function, arguments);
      functions.put(function, handle);
    }
    Object[] passed = new Object[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      passed[i] = arguments[i] instanceof ByteBuffer buffer ? address(buffer) : arguments[i];
    }
    try {
      return (int) handle.invokeWithArguments(passed);
    } finally {
      Reference.reachabilityFence(arguments);
    }
  }

  private MethodHandle handle(String function, Object[] arguments)
      throws ReflectiveOperationException {
    Object symbol =
        ((Optional<?>)
                type("SymbolLookup").getMethod("find", String.class).invoke(lookup, function))
            .orElseThrow(() -> new NoSuchElementException("the library has no " + function));
    Class<?> layout = type("MemoryLayout");
    Object layouts = Array.newInstance(layout, arguments.length);
    for (int i = 0; i < arguments.length; i++) {
      Array.set(layouts, i, layout(arguments[i] instanceof Integer ? "JAVA_INT" : "JAVA_LONG"));
    }
    Class<?> descriptor = type("FunctionDescriptor");
    Object shape =
        descriptor
            .getMethod("of", layout, layouts.getClass())
            .invoke(null, layout("JAVA_INT"), layouts);
    Object noOptions = Array.newInstance(type("Linker$Option"), 0);
    return (MethodHandle)
        type("Linker")
            .getMethod("downcallHandle", type("MemorySegment"), descriptor, noOptions.getClass())
            .invoke(linker, symbol, shape, noOptions);
  }

  private static Object layout(String name) throws ReflectiveOperationException {
    return type("ValueLayout").getField(name).get(null);
  }

  private static Object address(ByteBuffer buffer) throws ReflectiveOperationException {
    Class<?> segment = type("MemorySegment");
    Object memory = segment.getMethod("ofBuffer", Buffer.class).invoke(null, buffer);
    return segment.getMethod("address").invoke(memory);
  }

  @Override
  public String binding() {
    return "java.lang.foreign";
  }
}
