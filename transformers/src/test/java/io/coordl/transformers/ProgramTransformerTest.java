package io.coordl.transformers;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.IsolatedLoader;
import io.coordl.library.catalog.Libraries;
import io.coordl.transformers.classfile.RuleListener;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import program.PlainProgram;
import program.ReadingProgram;

/** Which classes are examined, which are changed, and which cannot be changed. */
final class ProgramTransformerTest {
  private final List<String> applied = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  private final List<String> failed = new ArrayList<>();
  private final List<String> newer = new ArrayList<>();
  private final ProgramTransformer transformer =
      new ProgramTransformer(
          Libraries.known().weaver(Libraries.known().hooks()),
          new ProgramTransformer.Listener() {
            @Override
            public RuleListener forClass(String name, @Nullable ProtectionDomain domain) {
              return new RuleListener() {
                @Override
                public void applied(String library, String rule, String provenOn) {
                  applied.add(name + ": " + rule);
                }

                @Override
                public void skipped(String rule, String reason, String provenOn) {
                  skipped.add(name);
                }
              };
            }

            @Override
            public void failed(String name, Throwable cause) {
              failed.add(name);
            }

            @Override
            public void newer(String name, int version) {
              newer.add(name + " " + version);
            }
          });

  private byte[] transform(ClassLoader loader, Class<?> type) throws IOException {
    return transformer.transform(loader, internalName(type), null, null, bytes(type));
  }

  private static String internalName(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  private static byte[] bytes(Class<?> type) throws IOException {
    try (InputStream in = type.getResourceAsStream("/" + internalName(type) + ".class")) {
      return in.readAllBytes();
    }
  }

  @Test
  void programThatReadsIsChanged() throws IOException {
    assertThat(transform(getClass().getClassLoader(), ReadingProgram.class)).isNotNull();
    assertThat(applied).containsExactly("program.ReadingProgram: new FileInputStream(String)");
    assertThat(transformer.mayChange(ReadingProgram.class)).isTrue();
  }

  @Test
  void programThatDoesNotReadIsNotTransformed() throws IOException {
    assertThat(transform(getClass().getClassLoader(), PlainProgram.class)).isNull();
    assertThat(applied).isEmpty();
    assertThat(transformer.mayChange(PlainProgram.class)).isFalse();
  }

  @Test
  void jdkIsNeverChanged() throws IOException {
    assertThat(transform(null, ReadingProgram.class)).isNull();
    assertThat(transform(getClass().getClassLoader(), FileInputStream.class)).isNull();
    assertThat(transformer.mayChange(FileInputStream.class)).isFalse();
    assertThat(transformer.mayChange(java.sql.DriverManager.class)).isFalse();
  }

  @Test
  void agentAndItsLibrariesAreNotTransformed(@TempDir Path work) throws Exception {
    Path jar = work.resolve("agent.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("inst/program/ReadingProgram.classdata"));
      out.write(bytes(ReadingProgram.class));
    }
    ClassLoader ours = new IsolatedLoader(jar.toFile());

    assertThat(transform(ours, ReadingProgram.class)).isNull();
    assertThat(skipped).isEmpty();
    assertThat(transformer.mayChange(ours.loadClass(ReadingProgram.class.getName()))).isFalse();
  }

  @Test
  void classesInAnotherAgentsLoaderAreNotTransformed() throws Exception {
    ClassLoader agents =
        new io.opentelemetry.javaagent.test.AgentLoader(bytes(ReadingProgram.class));

    assertThat(transform(agents, ReadingProgram.class)).isNull();
    assertThat(transformer.mayChange(agents.loadClass(ReadingProgram.class.getName()))).isFalse();
  }

  @Test
  void newerClassFilesAreLeftAloneWithoutAFault() throws IOException {
    byte[] ofTheFuture = bytes(ReadingProgram.class);
    ofTheFuture[7] = 120; // Minor and major version are the bytes 4 to 7.

    for (int i = 0; i < 2; i++) {
      assertThat(
              transformer.transform(
                  getClass().getClassLoader(), "program/Future" + i, null, null, ofTheFuture))
          .isNull();
    }

    assertThat(failed).isEmpty();
    assertThat(newer).containsExactly("program.Future0 120", "program.Future1 120");
  }

  @Test
  void invalidClassFileIsLeftAlone() {
    byte[] broken =
        "\0\0\0\0 java/io/FileInputStream java/io/FileInputStream"
            .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);

    assertThat(
            transformer.transform(
                getClass().getClassLoader(), "program/Broken", null, null, broken))
        .isNull();
  }
}
