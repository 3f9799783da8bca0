package io.coordl.bridge;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.StringTokenizer;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Loads the agent's own classes and libraries from {@code inst/**.classdata} in its jar, where no
 * class-path scanner, program or other agent finds them. Its parent is the platform loader, so the
 * program's libraries and the agent's never mix.
 */
public final class IsolatedLoader extends ClassLoader {
  private static final String PREFIX = "inst/";

  /** The names of the bridge's classes, written by the build. */
  private static final String BRIDGE = "io/coordl/agent/bridge.txt";

  private static final String DESKTOP = "java.desktop";

  /** Obtained once, because a class may be loaded later where the program lacks the permission. */
  private static final ProtectionDomain DOMAIN = IsolatedLoader.class.getProtectionDomain();

  static {
    registerAsParallelCapable();
  }

  private final File file;
  private final long length;
  private final long modified;
  private final JarFile jar;
  private final String base;

  /** Creates a loader over the agent's jar, which stays open for the lifetime of the JVM. */
  public IsolatedLoader(File file) throws IOException {
    super("coordl", getPlatformClassLoader());
    this.file = file;
    length = file.length();
    modified = file.lastModified();
    jar = new JarFile(file);
    base = "jar:" + file.toURI() + "!/" + PREFIX;
  }

  /**
   * Initialises every class that the program's rewritten calls may need. So a jar that is broken,
   * or overwritten during the job, fails here and not in one of the program's reads.
   */
  public void loadBridge() throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(BRIDGE)) {
      if (in == null) {
        throw new ClassNotFoundException(BRIDGE + " is missing in the agent");
      }
      String names = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
      for (StringTokenizer name = new StringTokenizer(names); name.hasMoreTokens(); ) {
        load(name.nextToken());
      }
    } catch (IOException e) {
      throw new ClassNotFoundException(BRIDGE, e);
    }
  }

  /**
   * Initialises the classes that every rewritten read uses, even before there is a job. A security
   * manager permits it here; otherwise it would happen on the program's thread, and the program may
   * lack the permission to read its working directory.
   */
  public static void loadReads() throws ClassNotFoundException {
    Class.forName("io.coordl.bridge.ItemCursor", true, null);
    Class.forName("io.coordl.bridge.OpenItem", true, null);
  }

  private static void load(String name) throws ClassNotFoundException {
    try {
      Class.forName(name, true, null);
    } catch (NoClassDefFoundError e) {
      if (ModuleLayer.boot().findModule(DESKTOP).isPresent()) {
        throw e;
      } // Without java.desktop no code reaches this class.
    }
  }

  /** The jar if it was replaced since the job began; null if its classes can still be loaded. */
  public @Nullable File replacedJar() {
    try {
      return file.length() == length && file.lastModified() == modified ? null : file;
    } catch (SecurityException e) {
      return null; // The calling program lacks permission to read it.
    }
  }

  /** Looks in the jar before the parent: asking the parent first takes longer than loading. */
  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("io.coordl.") || name.startsWith("io.coordl.bridge.")) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : findClass(name);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    JarEntry entry = jar.getJarEntry(entryOf(name.replace('.', '/') + ".class"));
    if (entry == null) {
      throw new ClassNotFoundException(name);
    }
    try (InputStream in = jar.getInputStream(entry)) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, DOMAIN);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  @Override
  protected @Nullable URL findResource(String name) {
    String entry = entryOf(name);
    if (jar.getJarEntry(entry) == null) {
      return null;
    }
    try {
      return new URL(base + entry.substring(PREFIX.length()));
    } catch (MalformedURLException e) {
      return null;
    }
  }

  @Override
  public @Nullable InputStream getResourceAsStream(String name) {
    JarEntry entry = jar.getJarEntry(entryOf(name));
    try {
      return entry == null ? super.getResourceAsStream(name) : jar.getInputStream(entry);
    } catch (IOException e) {
      return null;
    }
  }

  private static String entryOf(String resource) {
    return resource.endsWith(".class") ? PREFIX + resource + "data" : PREFIX + resource;
  }
}
