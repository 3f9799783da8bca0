package io.coordl.transformers.hook;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The class files of the real DJL and DL4J, read as resources; no class is loaded. */
final class Library {
  /** One class of each jar. */
  private static final List<String> LANDMARKS =
      List.of(
          "ai/djl/training/Trainer",
          "ai/djl/opencv/OpenCVImageFactory",
          "org/nd4j/linalg/dataset/DataSet",
          "org/datavec/api/records/Record",
          "org/datavec/image/loader/NativeImageLoader",
          "org/deeplearning4j/datasets/datavec/RecordReaderDataSetIterator",
          "org/deeplearning4j/nn/multilayer/MultiLayerNetwork",
          "org/deeplearning4j/datasets/datavec/RecordReaderDataSetIterator",
          "org/deeplearning4j/parallelism/ParallelWrapper");

  /** Class files by internal name. */
  final Map<String, byte[]> classes = new TreeMap<>();

  Library() throws IOException {
    Set<JarFile> jars = new LinkedHashSet<>();
    for (String landmark : LANDMARKS) {
      URL url = Library.class.getResource("/" + landmark + ".class");
      jars.add(((JarURLConnection) url.openConnection()).getJarFile());
    }
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

  /** A loader that defines these classes, some of them as given; the rest is its parent's. */
  ClassLoader loader(Map<String, byte[]> instead) {
    return new ClassLoader(Library.class.getClassLoader()) {
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
    };
  }

  /** All of them. */
  static Library read() {
    try {
      return new Library();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
