package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Parameter;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Redirection;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.io.DataOutputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts {@code Parameter.save} while a model is saved, so that the library writes the array
 * from its own memory to the stream. Without the agent, the library copies the array through three
 * byte arrays.
 */
public final class WrittenArrays implements LibraryHooks {
  private static final byte[] WRITTEN = {};

  /** The parameter that this thread is saving, and its target. */
  private static final ThreadLocal<@Nullable Saved> SAVED = new ThreadLocal<>();

  private final Method encode;

  private record Saved(Parameter parameter, DataOutputStream out) {}

  public WrittenArrays(Class<?> declaring, Services services) throws ReflectiveOperationException {
    Symbols.require(WrittenArrays.class);
    encode =
        Class.forName("ai.djl.ndarray.NDSerializer", false, declaring.getClassLoader())
            .getDeclaredMethod("encode", NDArray.class, OutputStream.class);
    encode.setAccessible(true);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (method.equals("save")) {
      if (Redirection.isInUse()) {
        SAVED.set(new Saved((Parameter) self, (DataOutputStream) arguments[0]));
        return InterceptedCall.ending(SAVED::remove);
      }
      return null;
    }
    Saved current = SAVED.get();
    if (current == null || current.parameter().getArray() != arguments[0]) {
      return null;
    }
    SAVED.remove();
    try {
      encode.invoke(null, direct((NDArray) arguments[0]), current.out());
      return new InterceptedCall(WRITTEN);
    } catch (InvocationTargetException e) {
      return InterceptedCall.throwing(Objects.requireNonNullElse(e.getCause(), e));
    } catch (IllegalAccessException e) {
      return null;
    }
  }

  /** Returns the array in a form that is written without copying its bytes, if possible. */
  private static NDArray direct(NDArray array) {
    if (array.isSparse() || array.getDataType() == DataType.STRING) {
      return array;
    }
    InvocationHandler calls =
        (proxy, method, arguments) -> {
          try {
            return method.getName().equals("toByteBuffer")
                ? array.toByteBuffer(true)
                : method.invoke(array, arguments);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNullElse(e.getCause(), e);
          }
        };
    return (NDArray)
        Proxy.newProxyInstance(
            NDArray.class.getClassLoader(), new Class<?>[] {NDArray.class}, calls);
  }
}
