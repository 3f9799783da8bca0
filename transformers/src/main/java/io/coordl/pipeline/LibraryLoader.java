package io.coordl.pipeline;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A class loader that sees both the program's library and the agent. It defines a copy of one
 * package of the agent, loads the agent's other classes from the agent's isolated loader, and
 * everything else from the program's loader, its parent. A reference to one of its classes keeps
 * the program's loader reachable.
 */
final class LibraryLoader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final ClassLoader agent = LibraryLoader.class.getClassLoader();
  private final String ours;

  /**
   * Loads the agent class with this name, and those in its package, for the library of {@code
   * type}.
   */
  static Class<?> load(String name, Class<?> type) throws ClassNotFoundException {
    String beside = name.substring(0, name.lastIndexOf('.') + 1);
    return Class.forName(name, true, new LibraryLoader(type.getClassLoader(), beside));
  }

  /** Creates a loader that itself defines the package {@code ours}, with a trailing dot. */
  private LibraryLoader(@Nullable ClassLoader program, String ours) {
    super("coordl-library", program);
    this.ours = ours;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("io.coordl.")) {
      return super.loadClass(name, resolve);
    }
    if (!name.startsWith(ours)) {
      return agent.loadClass(name);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = agent.getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, LibraryLoader.class.getProtectionDomain());
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
