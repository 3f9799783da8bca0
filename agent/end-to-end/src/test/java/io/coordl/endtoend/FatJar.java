package io.coordl.endtoend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;

/** Packs a program and its libraries into one jar, as Spring Boot's build does. */
final class FatJar {
  /** Main class of such a jar; it finds the jar that contains it. */
  static final String LAUNCHER = "org.springframework.boot.loader.launch.JarLauncher";

  private static final String CLASSES = "BOOT-INF/classes/";
  private static final String LIBRARIES = "BOOT-INF/lib/";

  private FatJar() {}

  /**
   * Writes {@code fatJar}.
   *
   * @param loader spring-boot-loader, unpacked at the root
   * @param program unpacked into BOOT-INF/classes
   * @param classPath jars, stored in BOOT-INF/lib
   */
  static void write(Path fatJar, Path loader, Path program, String mainClass, String classPath)
      throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, LAUNCHER);
    attributes.putValue("Start-Class", mainClass);
    attributes.putValue("Spring-Boot-Classes", CLASSES);
    attributes.putValue("Spring-Boot-Lib", LIBRARIES);
    try (OutputStream out = Files.newOutputStream(fatJar);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      jar.setLevel(Deflater.BEST_SPEED);
      unpack(loader, "", jar);
      // The launcher expects entries for the directories themselves.
      for (String directory : List.of("BOOT-INF/", CLASSES, LIBRARIES)) {
        jar.putNextEntry(new JarEntry(directory));
        jar.closeEntry();
      }
      unpack(program, CLASSES, jar);
      for (String library : classPath.split(":", -1)) {
        store(Path.of(library), jar);
      }
    }
  }

  private static void unpack(Path from, String prefix, JarOutputStream to) throws IOException {
    try (JarFile jar = new JarFile(from.toFile())) {
      for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
        if (entry.isDirectory() || entry.getName().startsWith("META-INF/")) {
          continue;
        }
        to.putNextEntry(new JarEntry(prefix + entry.getName()));
        try (InputStream in = jar.getInputStream(entry)) {
          in.transferTo(to);
        }
        to.closeEntry();
      }
    }
  }

  /** A nested jar is read in place, so it must not be compressed. */
  private static void store(Path library, JarOutputStream to) throws IOException {
    CRC32 crc = new CRC32();
    try (InputStream in = Files.newInputStream(library)) {
      byte[] buffer = new byte[1 << 16];
      for (int read = in.read(buffer); read > 0; read = in.read(buffer)) {
        crc.update(buffer, 0, read);
      }
    }
    JarEntry entry = new JarEntry(LIBRARIES + library.getFileName());
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(Files.size(library));
    entry.setCompressedSize(Files.size(library));
    entry.setCrc(crc.getValue());
    to.putNextEntry(entry);
    Files.copy(library, to);
    to.closeEntry();
  }
}
