package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.transformers.classfile.RuleListener;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which calls the rewriter leaves alone, and that the JVM verifies what it writes. */
final class CallSiteRewriterTest {
  private static final String FILE_INPUT_STREAM = "java/io/FileInputStream";

  private final CallSiteRewriter rewriter = new CallSiteRewriter();
  private final List<String> left = new ArrayList<>();
  private final List<String> rewritten = new ArrayList<>();

  private final RuleListener listener =
      new RuleListener() {
        @Override
        public void applied(String library, String rule, String provenOn) {
          rewritten.add(rule);
        }

        @Override
        public void skipped(String rule, String reason, String provenOn) {
          left.add(reason);
        }
      };

  private interface Code {
    void write(MethodVisitor method);
  }

  private static byte[] classFile(int version, Code code) {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    writer.visit(version, Opcodes.ACC_PUBLIC, "some/Program", null, "java/lang/Object", null);
    MethodVisitor method =
        writer.visitMethod(
            Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC,
            "run",
            "(Ljava/io/File;)Ljava/lang/Object;",
            null,
            null);
    method.visitCode();
    code.write(method);
    method.visitMaxs(0, 0);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  private static void construct(MethodVisitor method) {
    method.visitVarInsn(Opcodes.ALOAD, 0);
    method.visitMethodInsn(
        Opcodes.INVOKESPECIAL, FILE_INPUT_STREAM, "<init>", "(Ljava/io/File;)V", false);
  }

  @Test
  void classWithoutSitesIsUnchanged() throws IOException {
    assertThat(Rewritten.rewrite(rewriter, bytesOf(Map.class), listener)).isNull();
    assertThat(Rewritten.rewrite(rewriter, bytesOf(CallSiteRewriterTest.class), listener)).isNull();
    assertThat(Rewritten.rewrite(rewriter, new byte[3], listener)).isNull();
  }

  @Test
  void methodWithANonAsciiNameIsRewritten() {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "some/Program", null, "java/lang/Object", null);
    for (String name : List.of("plain", "gr\u00fc\u00dfe", "last")) {
      MethodVisitor method =
          writer.visitMethod(Opcodes.ACC_STATIC, name, "(Ljava/io/File;)V", null, null);
      method.visitCode();
      if (!name.equals("plain")) {
        method.visitTypeInsn(Opcodes.NEW, FILE_INPUT_STREAM);
        method.visitInsn(Opcodes.DUP);
        construct(method);
        method.visitInsn(Opcodes.POP);
      }
      method.visitInsn(Opcodes.RETURN);
      method.visitMaxs(0, 0);
      method.visitEnd();
    }
    writer.visitEnd();

    assertThat(Rewritten.rewrite(rewriter, writer.toByteArray(), listener)).isNotNull();
    assertThat(rewritten).hasSize(2);
  }

  @Test
  void newWithoutDupIsLeftAlone() {
    byte[] classFile =
        classFile(
            Opcodes.V1_8,
            method -> {
              method.visitTypeInsn(Opcodes.NEW, FILE_INPUT_STREAM);
              construct(method);
              method.visitInsn(Opcodes.ACONST_NULL);
              method.visitInsn(Opcodes.ARETURN);
            });

    assertThat(Rewritten.rewrite(rewriter, classFile, listener)).isNull();
    assertThat(left).containsExactly("NEW is not followed by exactly one DUP");
  }

  @Test
  void newWithAThirdReferenceIsLeftAlone() {
    byte[] classFile =
        classFile(
            Opcodes.V1_8,
            method -> {
              method.visitTypeInsn(Opcodes.NEW, FILE_INPUT_STREAM);
              method.visitInsn(Opcodes.DUP);
              method.visitInsn(Opcodes.DUP);
              construct(method);
              method.visitInsn(Opcodes.POP);
              method.visitInsn(Opcodes.ARETURN);
            });

    assertThat(Rewritten.rewrite(rewriter, classFile, listener)).isNull();
    assertThat(left).containsExactly("NEW is not followed by exactly one DUP");
  }

  @Test
  void newAfterAnUnusualOneIsRewritten() {
    byte[] classFile =
        classFile(
            Opcodes.V1_8,
            method -> {
              method.visitTypeInsn(Opcodes.NEW, FILE_INPUT_STREAM);
              construct(method);
              method.visitTypeInsn(Opcodes.NEW, FILE_INPUT_STREAM);
              method.visitInsn(Opcodes.DUP);
              construct(method);
              method.visitInsn(Opcodes.ARETURN);
            });

    assertThat(Rewritten.rewrite(rewriter, classFile, listener)).isNotNull();
    assertThat(rewritten).containsExactly("new FileInputStream(File)");
    assertThat(left).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {Opcodes.V1_1, Opcodes.V1_4, Opcodes.V1_6, Opcodes.V1_7, Opcodes.V17})
  void imreadIsLinkedWhereTheClassFileHasInvokeDynamic(int version) {
    byte[] classFile =
        classFile(
            version,
            method -> {
              method.visitLdcInsn("image");
              method.visitMethodInsn(
                  Opcodes.INVOKESTATIC,
                  "org/opencv/imgcodecs/Imgcodecs",
                  "imread",
                  "(Ljava/lang/String;)Lorg/opencv/core/Mat;",
                  false);
              method.visitInsn(Opcodes.ARETURN);
            });

    if ((version & 0xffff) >= Opcodes.V1_7) {
      assertThat(Rewritten.rewrite(rewriter, classFile, listener)).isNotNull();
    } else {
      assertThat(Rewritten.rewrite(rewriter, classFile, listener)).isNull();
      assertThat(left).containsExactly("class file before Java 7");
    }
  }

  @Test
  void rewritingTwiceFindsNothingMore() throws IOException {
    byte[] once = Rewritten.rewrite(rewriter, bytesOf(Subject.class), listener);

    assertThat(once).isNotNull();
    List<String> before = List.copyOf(rewritten);
    assertThat(Rewritten.rewrite(rewriter, once, listener)).isNull();
    assertThat(rewritten).isEqualTo(before);
  }

  @Test
  void brokenClassFileThrows() throws IOException {
    byte[] broken = bytesOf(Subject.class);
    java.util.Arrays.fill(broken, broken.length / 2, broken.length, (byte) 0x7f);

    assertThatThrownBy(() -> Rewritten.rewrite(rewriter, broken, listener))
        .isInstanceOf(RuntimeException.class);
  }

  /** Every rewritten class of the test class path that can be linked passes the verifier. */
  @Test
  void rewrittenClassesPassTheVerifier() throws Exception {
    Map<String, byte[]> classes = new HashMap<>();
    List<URL> urls = new ArrayList<>();
    int scanned = 0;
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!entry.endsWith(".jar")) {
        continue;
      }
      urls.add(Path.of(entry).toUri().toURL());
      try (JarFile jar = new JarFile(entry)) {
        for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements(); ) {
          JarEntry file = e.nextElement();
          String name = file.getName();
          // If the bridge were rewritten, its own reads would call themselves.
          if (!name.endsWith(".class")
              || name.startsWith("META-INF/")
              || name.startsWith("io/coordl/")) {
            continue;
          }
          scanned++;
          byte[] original = jar.getInputStream(file).readAllBytes();
          byte[] bytes = Rewritten.rewrite(rewriter, original, listener);
          if (bytes != null) {
            classes.put(name.substring(0, name.length() - 6).replace('/', '.'), bytes);
          }
        }
      }
    }

    int verified = 0;
    int absent = 0;
    try (Verifying loader = new Verifying(urls.toArray(new URL[0]), classes)) {
      for (String name : classes.keySet()) {
        try {
          Class<?> type = Class.forName(name, false, loader);
          assertThat(type.getClassLoader()).isSameAs(loader);
          // Links and verifies; runs none of the library's code.
          assertThat(type.getDeclaredMethods()).isNotNull();
          verified++;
        } catch (NoClassDefFoundError e) {
          absent++; // Refers to a library that is absent.
        }
      }
    }
    assertThat(scanned).isGreaterThan(5000);
    assertThat(verified).isGreaterThan(10);
    assertThat(verified + absent).isEqualTo(classes.size());
  }

  private static final class Verifying extends URLClassLoader {
    private final Map<String, byte[]> rewritten;

    Verifying(URL[] urls, Map<String, byte[]> rewritten) {
      super(urls, ClassLoader.getPlatformClassLoader());
      this.rewritten = rewritten;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] bytes = rewritten.get(name);
      return bytes == null ? super.findClass(name) : defineClass(name, bytes, 0, bytes.length);
    }
  }

  static byte[] bytesOf(Class<?> type) throws IOException {
    String file = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(file)) {
      return in.readAllBytes();
    }
  }
}
