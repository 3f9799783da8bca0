package io.coordl.bridge;

import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Connects rewritten code with the agent: such code can reach only statics, so the runtime of the
 * isolated class loader is installed here. Before that, and after {@link #trip}, everything behaves
 * as if the agent were absent.
 *
 * <p>Methods documented as never throwing still rethrow {@link EarlyFileError} and the error of
 * {@code Thread.stop}, as {@link #fault} does.
 */
public final class Bridge {
  /** Limits the search for a cause: causes may form a cycle. */
  private static final int MAX_CAUSES = 8;

  /** After this many faults the agent switches itself off. */
  public static final int MAX_FAULTS = 32;

  private static volatile SpanSink sink = SpanSink.NONE;
  private static volatile ItemSource items = ItemSource.NONE;
  private static volatile LibraryHooks hooks = LibraryHooks.NONE;
  private static volatile @Nullable DecodedPictures pictures;
  private static volatile FaultListener faults = FaultListener.NONE;
  private static final AtomicInteger FAULT_COUNT = new AtomicInteger();

  private Bridge() {}

  /** Installs the runtime; a second call replaces it. */
  public static void install(SpanSink newSink, ItemSource newItems, FaultListener newFaults) {
    Producers.on();
    faults = newFaults;
    sink = newSink;
    items = newItems;
  }

  /** Installs the interceptors of library calls; a second call replaces them. */
  public static void install(LibraryHooks newHooks) {
    hooks = newHooks;
  }

  /** Installs the cache of decoded pictures, which needs {@code java.desktop}. */
  public static void install(DecodedPictures newPictures) {
    pictures = newPictures;
  }

  static @Nullable DecodedPictures pictures() {
    return pictures;
  }

  /**
   * Switches the agent off: from now on, every rewritten call does what the original did. The
   * program's next intercepted library calls wait for agent threads that still run the program's
   * code ({@link Producers}).
   */
  public static void trip() {
    Producers.off();
    hooks = LibraryHooks.NONE;
    pictures = null;
    sink = SpanSink.NONE;
    items = ItemSource.NONE;
  }

  /**
   * Counts a fault of the agent, notifies the listener, and trips at {@link #MAX_FAULTS}. Throws
   * only {@link EarlyFileError} and the error of {@code Thread.stop}, which are not faults.
   */
  public static void fault(String where, Throwable cause) {
    passStop(cause);
    try {
      boolean tripped = FAULT_COUNT.incrementAndGet() == MAX_FAULTS;
      if (tripped) {
        trip();
      }
      faults.fault(where, cause, tripped);
    } catch (Throwable t) {
      // No failure of the agent may reach the program, not even a failure to report one.
      passStop(t);
    }
  }

  /** Rethrows an error that is to end the thread's work, even if it is a cause. */
  private static void passStop(Throwable thrown) {
    Throwable at = thrown;
    for (int depth = 0; at != null && depth < MAX_CAUSES; depth++) {
      if (at instanceof Error stopped
          && (at instanceof EarlyFileError
              || at.getClass().getName().equals("java.lang.ThreadDeath"))) {
        throw stopped;
      }
      at = at.getCause();
    }
  }

  static SpanSink sink() {
    return sink;
  }

  /** Opens the item at {@code path}; null if the program's own call should run. Never throws. */
  static @Nullable OpenItem open(String path, boolean randomAccess) {
    try {
      Producers.opens(path);
      return randomAccess ? items.openRandomAccess(path) : items.open(path);
    } catch (Throwable t) {
      fault("open " + path, t);
      return null;
    }
  }

  /** Called before the program queries a file, or opens it by a call of its own. Never throws. */
  static void noteFile(String path) {
    try {
      Producers.opens(path);
    } catch (Throwable t) {
      fault("open " + path, t);
    }
  }

  /**
   * Called before the program opens a file: whether to call {@link #openOpened} after that. Never
   * throws.
   */
  static boolean takesOpened(String path) {
    try {
      boolean takes = items.takesOpened(path);
      if (takes) {
        Producers.opens(path);
      }
      return takes;
    } catch (Throwable t) {
      fault("open " + path, t);
      return false;
    }
  }

  /**
   * Like {@link #open}, for a file that the program has opened; see {@link ItemSource#openOpened}.
   */
  static @Nullable OpenItem openOpened(String path, FileDescriptor opened) {
    try {
      return items.openOpened(path, opened);
    } catch (Throwable t) {
      fault("open " + path, t);
      return null;
    }
  }

  /** Called before the program maps a file that it may then change unnoticed. Never throws. */
  static void mapsToWrite(FileChannel channel) {
    try {
      items.mapsToWrite(channel);
    } catch (Throwable t) {
      fault("map", t);
    }
  }

  /** Like {@link #open}, for other file systems; see {@link ItemSource#openForeign}. */
  static @Nullable OpenItem openForeign(Path path) {
    try {
      Producers.opensUnknown();
      return items.openForeign(path);
    } catch (Throwable t) {
      fault("open " + path, t);
      return null;
    }
  }

  /**
   * Called before an intercepted library method, which runs unchanged if this returns null. Never
   * throws.
   */
  public static @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments) {
    try {
      return hooks.enter(interceptor, declaring, method, self, arguments);
    } catch (Throwable t) {
      fault(declaring.getName() + "." + method, t);
      Producers.awaitAfterTrip(); // In case this fault tripped the agent.
      return null;
    }
  }

  /** Called after the method if it threw; the program gets the method's exception. Never throws. */
  public static void failed(InterceptedCall call) {
    try {
      call.failed();
    } catch (Throwable t) {
      fault("the end of a library call", t);
    }
  }

  /**
   * Called after the method unless it threw. Returns an exception to throw to the program; null for
   * none. Never throws itself.
   */
  public static @Nullable Throwable thrown(InterceptedCall call) {
    try {
      return call.thrown();
    } catch (Throwable t) {
      fault("the result of a library call", t);
      return null;
    }
  }

  /** Called after {@link #thrown} returned null; returns the program's result. Never throws. */
  public static @Nullable Object leave(InterceptedCall call, @Nullable Object own) {
    try {
      return call.result(own);
    } catch (Throwable t) {
      fault("the result of a library call", t);
      return own;
    }
  }
}
