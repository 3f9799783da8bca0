package io.coordl.transformers.hook;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The class files of the real DJL and DL4J; reading them loads no class. */
final class Library {
  /** One class of each jar. */
  private static final List<String> LANDMARKS =
      List.of(
          "ai/djl/training/Trainer",
          "ai/djl/opencv/OpenCVImageFactory",
          "ai/djl/pytorch/engine/PtNDManager",
          "org/nd4j/linalg/dataset/DataSet",
          "org/datavec/api/records/Record",
          "org/datavec/image/loader/NativeImageLoader",
          "org/deeplearning4j/datasets/datavec/RecordReaderDataSetIterator",
          "org/deeplearning4j/nn/multilayer/MultiLayerNetwork",
          "org/deeplearning4j/parallelism/ParallelWrapper");

  /** Jars that the build copies, because they must not be on the tests' class path. */
  private static final Path BACKEND = Path.of("target/backend");

  private static final List<String> PACKAGES =
      List.of("ai/djl/", "org/nd4j/", "org/datavec/", "org/deeplearning4j/", "org/bytedeco/");

  /** Relocated copies of other libraries; any version will do. */
  private static final String SHADED = "org/nd4j/shade/";

  /** Class files by internal name. */
  final Map<String, byte[]> classes = new TreeMap<>();

  private final ClassLoader parent;

  private Library(Collection<JarFile> jars, ClassLoader parent) throws IOException {
    this.parent = parent;
    for (JarFile jar : jars) {
      List<JarEntry> entries = new ArrayList<>(jar.stream().toList());
      entries.removeIf(
          entry -> !entry.getName().endsWith(".class") || entry.getName().startsWith("META-INF"));
      for (JarEntry entry : entries) {
        try (InputStream in = jar.getInputStream(entry)) {
          classes.put(entry.getName().replaceFirst("\\.class$", ""), in.readAllBytes());
        }
      }
    }
  }

  /**
   * Returns a loader that defines these classes, some of them from {@code instead}, and delegates
   * the others.
   */
  ClassLoader loader(Map<String, byte[]> instead) {
    return new ClassLoader(parent) {
      @Override
      protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        String internal = name.replace('.', '/');
        byte[] bytes = instead.getOrDefault(internal, classes.get(internal));
        if (bytes == null) {
          return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
          Class<?> loaded = findLoadedClass(name);
          return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
        }
      }

      @Override
      public InputStream getResourceAsStream(String name) {
        byte[] bytes = classes.get(name.replaceFirst("\\.class$", ""));
        return bytes == null ? super.getResourceAsStream(name) : new ByteArrayInputStream(bytes);
      }
    };
  }

  /** Returns the class file of a class here or in the parent; null if there is none. */
  byte[] classFile(String name) {
    byte[] own = classes.get(name);
    if (own != null) {
      return own;
    }
    try (InputStream in = parent.getResourceAsStream(name + ".class")) {
      return in == null ? null : in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads the versions that the agent is compiled against. */
  static Library read() {
    try {
      Set<JarFile> jars = new LinkedHashSet<>();
      for (String landmark : LANDMARKS) {
        URL url = Library.class.getResource("/" + landmark + ".class");
        jars.add(((JarURLConnection) url.openConnection()).getJarFile());
      }
      try (DirectoryStream<Path> copied = Files.newDirectoryStream(BACKEND, "*.jar")) {
        for (Path jar : copied) {
          jars.add(new JarFile(jar.toFile()));
        }
      }
      return new Library(jars, Library.class.getClassLoader());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads another version, whose loader does not see the versions that the agent is compiled
   * against.
   */
  static Library of(List<Path> files) {
    List<JarFile> jars = new ArrayList<>();
    try {
      for (Path file : files) {
        jars.add(new JarFile(file.toFile()));
      }
      return new Library(jars, new Others());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      jars.forEach(Library::close);
    }
  }

  private static void close(JarFile jar) {
    try {
      jar.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether this internal name belongs to a library that the agent knows. */
  static boolean isOfLibrary(String name) {
    return PACKAGES.stream().anyMatch(name::startsWith) && !name.startsWith(SHADED);
  }

  /** The agent, the JDK and the libraries' dependencies, without the libraries. */
  private static final class Others extends ClassLoader {
    Others() {
      super(Library.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (isOfLibrary(name.replace('.', '/'))) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }

    @Override
    public URL getResource(String name) {
      return isOfLibrary(name) ? null : super.getResource(name);
    }
  }
}
