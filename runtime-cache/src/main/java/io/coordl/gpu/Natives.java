package io.coordl.gpu;

import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;

/**
 * The only place that calls native code of NVIDIA's driver. Only {@link Nvml}, {@link Cuda} and
 * {@link NsightRanges} name the functions to call: with the presets, a symbol that the driver lacks
 * ends the process. As safe for concurrent use as the driver's functions.
 */
interface Natives {
  /**
   * Calls a function that returns an int.
   *
   * @param function as the library exports it
   * @param arguments each an Integer, a Long (also for a pointer that the driver gave) or a direct
   *     {@link ByteBuffer} for a pointer to it, which the function may fill
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

  /** As {@link #call}; may throw anything, as reflection does. */
  int invoke(String function, Object... arguments) throws Throwable;

  /** Name of the binding, for the recording. */
  String binding();

  /** Native code cannot be called; the message says why, for the user. */
  final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }

    /**
     * Describes a failure for the user, in one line: the message of this exception, or the cause of
     * a failure of reflection.
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

    /** The cause of a reflective failure. */
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
