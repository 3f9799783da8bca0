package io.coordl.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/** An agent that sees each class as it loads and changes none; shows an agent's minimum cost. */
public final class EmptyAgent implements ClassFileTransformer {
  private EmptyAgent() {}

  /** Called by the JVM. */
  public static void premain(String arguments, Instrumentation instrumentation) {
    instrumentation.addTransformer(new EmptyAgent(), true);
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    return null;
  }

  /** Writes this agent's jar. */
  static Path jar(Path jar) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", EmptyAgent.class.getName());
    manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    String entry = EmptyAgent.class.getName().replace('.', '/') + ".class";
    try (InputStream in = EmptyAgent.class.getResourceAsStream("/" + entry);
        JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      if (in == null) {
        throw new IOException(entry + " is missing");
      }
      out.putNextEntry(new JarEntry(entry));
      in.transferTo(out);
      out.closeEntry();
    }
    return jar;
  }
}
