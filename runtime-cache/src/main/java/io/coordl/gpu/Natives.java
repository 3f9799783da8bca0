package io.coordl.gpu;

import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;

/**
 * Calls native functions of NVIDIA's libraries; no other code does. Only {@link Nvml}, {@link Cuda}
 * and {@link NsightRanges} name the functions: with the presets, calling a function that the driver
 * lacks aborts the process. As safe for concurrent use as the driver's functions.
 */
interface Natives {
  /**
   * Calls a function that returns an int.
   *
   * @param function name exported by the library
   * @param arguments each an Integer, a Long (also for a pointer returned by the driver), or a
   *     direct {@link ByteBuffer}, passed as a pointer; the function may fill it
   * @return the function's result; 0 means success for the driver's functions
   * @throws UnavailableException if the library has no such function or cannot be called
   */
  default int call(String function, Object... arguments) throws UnavailableException {
    try {
      return invoke(function, arguments);
    } catch (UnavailableException | VirtualMachineError e) {
      throw e;
    } catch (Throwable t) {
      throw new UnavailableException(function + ": " + UnavailableException.reason(t));
    }
  }

  /** Like {@link #call}, but may throw anything, because it uses reflection. */
  int invoke(String function, Object... arguments) throws Throwable;

  /** Returns the name of the binding, for the recording. */
  String binding();

  /** Thrown if native code cannot be called; the message gives the user the reason. */
  final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }

    /**
     * Describes a failure for the user, in one line: its message, or that of the cause of a
     * reflective failure.
     */
    static String reason(Throwable failure) {
      Throwable cause = cause(failure);
      String message = String.valueOf(cause.getMessage()).split("\n", 2)[0];
      if (cause instanceof ClassNotFoundException || cause instanceof NoClassDefFoundError) {
        return "there is no class " + message.replace('/', '.');
      }
      return cause.getMessage() == null
          ? "it failed with " + cause.getClass().getSimpleName()
          : message;
    }

    /** Returns the cause of a reflective failure, or the failure itself. */
    static Throwable cause(Throwable failure) {
      Throwable cause = failure;
      while ((cause instanceof InvocationTargetException
              || cause instanceof ExceptionInInitializerError)
          && cause.getCause() != null) {
        cause = cause.getCause();
      }
      return cause;
    }
  }
}
