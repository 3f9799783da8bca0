package io.coordl.transformers.hook;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.RuleListener;
import io.coordl.transformers.hook.HookRule.Weave;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A program whose methods, of every shape, are woven behaves as before. */
final class WovenMethodTest {
  private static final String SUBJECT = WovenSubject.class.getName();
  private static final String OWNER = SUBJECT.replace('.', '/');

  /** Events, in the order in which they happened. */
  private final List<String> events = new ArrayList<>();

  private final List<Object> results = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();

  @BeforeEach
  void install() {
    Bridge.install(
        new SpanSink() {
          @Override
          public long enter(SpanKind kind, Object subject) {
            String of = subject instanceof Integer ? subject.toString() : "this";
            events.add("enter " + kind + (subject == null ? "" : " of " + of));
            return 7;
          }

          @Override
          public void exit(long token, Object result) {
            events.add("exit " + token);
            results.add(result);
          }

          @Override
          public void fetchTime(long startNanos, long endNanos) {}

          @Override
          public void itemOpened(String path) {}

          @Override
          public void itemFetched(String path, long start, long nanos, long bytes, Origin origin) {}

          @Override
          public boolean loadingSample() {
            return false;
          }
        },
        ItemSource.NONE,
        (where, cause, tripped) -> faults.add(where + ": " + cause));
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    Bridge.install(LibraryHooks.NONE);
    assertThat(faults).isEmpty();
  }

  static Stream<String> methods() {
    return Arrays.stream(WovenSubject.class.getDeclaredMethods())
        .filter(method -> !method.isSynthetic())
        .map(Method::getName)
        .sorted();
  }

  private static HookRule rule(String method, Weave weave) {
    HookRule.Interceptor interceptor =
        weave == Weave.INTERCEPT ? new HookRule.Interceptor("test.Interceptor", List.of()) : null;
    return new HookRule("Test", OWNER, method, null, null, weave, SpanKind.DECODE, "", interceptor);
  }

  private static byte[] classFile() throws IOException {
    try (InputStream in = WovenSubject.class.getResourceAsStream("WovenSubject.class")) {
      return in.readAllBytes();
    }
  }

  private static byte[] woven(byte[] classFile, HookRule... rules) {
    List<String> applied = new ArrayList<>();
    HookWeaver weaver = new HookWeaver(List.of(rules), name -> false);
    byte[] woven =
        weaver.weave(
            weaver.plan(ClassFile.read(classFile)),
            classFile,
            new RuleListener() {
              @Override
              public void applied(String library, String rule, String provenOn) {
                applied.add(rule);
              }

              @Override
              public void skipped(String rule, String reason, String provenOn) {
                throw new AssertionError(rule + ": " + reason);
              }
            });
    assertThat(applied).hasSize(rules.length);
    return woven;
  }

  /** Defines the given classes and verifies them like any program's. */
  private static Class<?> load(Map<String, byte[]> classes) throws ClassNotFoundException {
    return Class.forName(
        SUBJECT,
        true,
        new ClassLoader(WovenMethodTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            byte[] bytes = classes.get(name);
            if (bytes == null) {
              return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
              Class<?> loaded = findLoadedClass(name);
              return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
            }
          }
        });
  }

  private static Class<?> load(byte[] woven) throws ClassNotFoundException {
    return load(Map.of(SUBJECT, woven));
  }

  /** Returns the outcomes of several calls of a method, each with different arguments. */
  private static List<String> outcomes(Class<?> type, String name) throws Exception {
    Method method =
        Arrays.stream(type.getDeclaredMethods())
            .filter(m -> m.getName().equals(name) && !m.isSynthetic())
            .findFirst()
            .orElseThrow();
    Object self = type.getDeclaredConstructor().newInstance();
    List<String> outcomes = new ArrayList<>();
    for (int seed = 0; seed < 5; seed++) {
      outcomes.add(outcome(method, self, seed));
    }
    return outcomes;
  }

  private static String outcome(Method method, Object self, int seed)
      throws IllegalAccessException {
    Object[] arguments =
        Arrays.stream(method.getParameterTypes()).map(type -> argument(type, seed)).toArray();
    try {
      Object result =
          method.invoke(Modifier.isStatic(method.getModifiers()) ? null : self, arguments);
      if (result instanceof Iterable<?> iterable) {
        result = iterable.iterator();
      }
      return result instanceof Iterator<?> iterator ? "of " + iterator.next() : text(result);
    } catch (InvocationTargetException e) {
      return e.getCause().toString();
    }
  }

  private static String text(Object result) {
    return result instanceof int[] array ? Arrays.toString(array) : String.valueOf(result);
  }

  private static Object argument(Class<?> type, int seed) {
    Map<Class<?>, Object> values =
        Map.of(
            boolean.class,
            seed % 2 == 0,
            char.class,
            (char) ('a' + seed),
            byte.class,
            (byte) seed,
            short.class,
            (short) (seed - 300),
            int.class,
            seed,
            long.class,
            seed - (1L << 40) * (seed % 2),
            float.class,
            seed * 1.5f,
            double.class,
            seed % 2 == 0 ? seed : -seed * 2.5,
            String.class,
            String.valueOf((char) ('a' + seed)));
    return values.getOrDefault(type, "object " + seed);
  }

  @Test
  void trainingLoopReportsItsNumberOfEpochs() throws Exception {
    HookRule fit =
        new HookRule("Test", OWNER, "returnsInt", null, null, Weave.SPAN, SpanKind.FIT, "", null);

    Class<?> type = load(woven(classFile(), fit));

    assertThat(outcomes(type, "returnsInt")).isEqualTo(outcomes(WovenSubject.class, "returnsInt"));
    assertThat(events).contains("enter FIT of 0", "enter FIT of 4").doesNotContain("enter FIT");
  }

  @ParameterizedTest
  @MethodSource("methods")
  void methodInASpanBehavesAsBefore(String name) throws Exception {
    List<String> plain = outcomes(WovenSubject.class, name);

    List<String> observed = outcomes(load(woven(classFile(), rule(name, Weave.SPAN))), name);

    assertThat(observed).isEqualTo(plain);
    boolean isStatic = List.of("isStatic", "beginsWithALoop").contains(name);
    assertThat(events).contains("enter DECODE" + (isStatic ? "" : " of this"), "exit 7");
    assertThat(events.stream().filter(event -> event.startsWith("enter")).count())
        .isEqualTo(results.size())
        .isGreaterThanOrEqualTo(5);
  }

  @Test
  void spanGetsBoxedResultsAndExceptions() throws Exception {
    outcomes(load(woven(classFile(), rule("returnsInt", Weave.SPAN))), "returnsInt");
    assertThat(results).hasSize(5).allMatch(Integer.class::isInstance);
    results.clear();

    outcomes(load(woven(classFile(), rule("throwsSometimes", Weave.SPAN))), "throwsSometimes");
    assertThat(results).hasSize(5).startsWith("fine", "fine");
    assertThat(results.subList(2, 5)).allMatch(Throwable.class::isInstance);
  }

  @ParameterizedTest
  @MethodSource("methods")
  void methodNotReplacedBehavesAsBeforeInsideItsSpan(String name) throws Exception {
    List<String> calls = new ArrayList<>();
    intercepting(calls, false, null, null);

    List<String> observed =
        outcomes(
            load(woven(classFile(), rule(name, Weave.SPAN), rule(name, Weave.INTERCEPT))), name);

    assertThat(observed).isEqualTo(outcomes(WovenSubject.class, name));
    assertThat(events).contains("exit 7");
    if (!name.equals("callsItself")) {
      assertThat(calls.get(0)).startsWith("test.Interceptor " + name);
      assertThat(calls.get(1)).matches("failed|result .*");
      assertThat(calls).hasSize(10);
    }
  }

  @Test
  void replacedMethodDoesNotRunAndHasNoSpan() throws Exception {
    List<String> calls = new ArrayList<>();
    intercepting(calls, true, null, method -> method.equals("neverReturns") ? (Object) 41 : 41L);
    byte[] classFile =
        woven(
            classFile(),
            rule("returnsLong", Weave.SPAN),
            rule("returnsLong", Weave.INTERCEPT),
            rule("neverReturns", Weave.INTERCEPT));
    Class<?> type = load(classFile);

    assertThat(outcomes(type, "neverReturns")).containsOnly("41");
    assertThat(calls)
        .startsWith(
            "test.Interceptor neverReturns [0]", "result 0", "test.Interceptor neverReturns [1]");
    assertThat(outcomes(type, "returnsLong")).containsOnly("41");
    assertThat(events).isEmpty();
  }

  @Test
  void exceptionOfAReplacementIsThrownUnchanged() throws Exception {
    intercepting(new ArrayList<>(), true, new IOException("no such item"), method -> 41);

    assertThat(
            outcomes(
                load(woven(classFile(), rule("returnsString", Weave.INTERCEPT))), "returnsString"))
        .containsOnly("java.io.IOException: no such item");
  }

  @Test
  void replacementOfAnotherTypeLeavesTheResult() throws Exception {
    intercepting(new ArrayList<>(), false, null, method -> 41);

    assertThat(
            outcomes(
                load(woven(classFile(), rule("returnsString", Weave.INTERCEPT))), "returnsString"))
        .isEqualTo(outcomes(WovenSubject.class, "returnsString"));
  }

  /** Installs an interceptor that returns {@code results}; if null, the body's own result. */
  private static void intercepting(
      List<String> calls, boolean replaced, Throwable thrown, Function<String, Object> results) {
    Bridge.install(
        (interceptor, declaring, method, self, arguments) -> {
          assertThat(declaring).isSameAs(self instanceof Class ? self : self.getClass());
          calls.add(interceptor + " " + method + " " + Arrays.toString(arguments));
          return new InterceptedCall(null) {
            @Override
            public boolean replaced() {
              return replaced;
            }

            @Override
            public Throwable thrown() {
              return thrown;
            }

            @Override
            public Object result(Object own) {
              calls.add("result " + own);
              return results == null ? own : results.apply(method);
            }

            @Override
            public void failed() {
              calls.add("failed");
            }
          };
        });
  }

  @Test
  void iterableLambdaIsTimed() throws Exception {
    Class<?> type = load(woven(classFile(), rule("iterates", Weave.TIMED_ITERABLE)));
    Object self = type.getDeclaredConstructor().newInstance();

    Object batches = type.getMethod("iterates", String.class).invoke(self, "a");

    assertThat(batches.getClass().getSimpleName()).isEqualTo("TimedIterable");
    assertThat(((Iterable<?>) batches).iterator().next()).isEqualTo("a");
  }

  @ParameterizedTest
  @MethodSource("methods")
  void exceptionsOfTheBridgeDoNotReachTheProgram(String name) throws Exception {
    List<HookRule> rules = new ArrayList<>();
    rules.add(rule(name, Weave.SPAN));
    rules.add(rule(name, Weave.INTERCEPT));
    Map<String, byte[]> classes = new TreeMap<>();
    classes.put(SUBJECT, woven(classFile(), rules.toArray(HookRule[]::new)));
    classes.put("io.coordl.bridge.Spans", throwing("io/coordl/bridge/Spans"));
    classes.put("io.coordl.bridge.Bridge", throwing("io/coordl/bridge/Bridge"));

    assertThat(outcomes(load(classes), name)).isEqualTo(outcomes(WovenSubject.class, name));
  }

  private static void writeConstructor(ClassWriter writer) {
    MethodVisitor init = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
    init.visitCode();
    init.visitVarInsn(Opcodes.ALOAD, 0);
    init.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    init.visitInsn(Opcodes.RETURN);
    init.visitMaxs(0, 0);
    init.visitEnd();
  }

  @Test
  void classFilesWithoutFramesAreWovenToo() throws Exception {
    // Class files as old as Java 5 are woven; their verifier infers types without frames.
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    writer.visit(Opcodes.V1_5, Opcodes.ACC_PUBLIC, OWNER, null, "java/lang/Object", null);
    writeConstructor(writer);
    MethodVisitor method =
        writer.visitMethod(Opcodes.ACC_PUBLIC, "returnsInt", "(IJD)I", null, null);
    method.visitCode();
    method.visitVarInsn(Opcodes.ILOAD, 1);
    method.visitInsn(Opcodes.IRETURN);
    method.visitMaxs(0, 0);
    method.visitEnd();
    writer.visitEnd();
    intercepting(new ArrayList<>(), false, null, null);

    byte[] woven =
        woven(
            writer.toByteArray(),
            rule("returnsInt", Weave.SPAN),
            rule("returnsInt", Weave.INTERCEPT));

    assertThat(outcomes(load(woven), "returnsInt")).containsExactly("0", "1", "2", "3", "4");
    assertThat(results).containsExactly(0, 1, 2, 3, 4);
  }

  @ParameterizedTest
  @ValueSource(ints = {Opcodes.V1_5, Opcodes.V17})
  void stackBelowTheResultIsDiscarded(int version) throws Exception {
    // Like Kotlin's return inside an expression: "list.add(x ?: return 7)".
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
    writer.visit(version, Opcodes.ACC_PUBLIC, OWNER, null, "java/lang/Object", null);
    writeConstructor(writer);
    MethodVisitor method = writer.visitMethod(Opcodes.ACC_PUBLIC, "returnsInt", "(I)J", null, null);
    method.visitCode();
    method.visitInsn(Opcodes.ICONST_1);
    method.visitInsn(Opcodes.LCONST_1);
    method.visitInsn(Opcodes.DUP2_X1);
    method.visitInsn(Opcodes.DCONST_1);
    method.visitVarInsn(Opcodes.ILOAD, 1);
    Label other = new Label();
    method.visitJumpInsn(Opcodes.IFEQ, other);
    method.visitLdcInsn(7L);
    method.visitInsn(Opcodes.LRETURN);
    method.visitLabel(other);
    method.visitInsn(Opcodes.POP2);
    method.visitInsn(Opcodes.LRETURN);
    method.visitMaxs(0, 0);
    method.visitEnd();
    writer.visitEnd();
    intercepting(new ArrayList<>(), false, null, null);

    byte[] woven =
        woven(
            writer.toByteArray(),
            rule("returnsInt", Weave.SPAN),
            rule("returnsInt", Weave.INTERCEPT));

    assertThat(outcomes(load(woven), "returnsInt")).containsExactly("1", "7", "7", "7", "7");
    assertThat(results).containsExactly(1L, 7L, 7L, 7L, 7L);
  }

  @Test
  void methodsWithoutARuleAreCopiedByteForByte() throws Exception {
    byte[] woven = woven(classFile(), rule("returnsInt", Weave.SPAN));

    Map<String, byte[]> before = bodies(classFile());
    Map<String, byte[]> after = bodies(woven);
    assertThat(after.keySet()).isEqualTo(before.keySet());
    before.forEach(
        (name, body) -> {
          if (name.startsWith("returnsInt(")) {
            assertThat(after.get(name)).isNotEqualTo(body);
          } else {
            assertThat(after.get(name)).as(name).isEqualTo(body);
          }
        });
  }

  /** Returns each method alone, as a class file. */
  private static Map<String, byte[]> bodies(byte[] classFile) {
    Map<String, byte[]> bodies = new TreeMap<>();
    for (ClassFile.Method method : ClassFile.read(classFile).methods(allNames())) {
      ClassWriter alone = new ClassWriter(0);
      new ClassReader(classFile)
          .accept(
              new ClassVisitor(Opcodes.ASM9, alone) {
                @Override
                public MethodVisitor visitMethod(
                    int access, String name, String descriptor, String signature, String[] thrown) {
                  return name.equals(method.name()) && descriptor.equals(method.descriptor())
                      ? super.visitMethod(access, name, descriptor, signature, thrown)
                      : null;
                }
              },
              0);
      bodies.put(method.name() + method.descriptor(), alone.toByteArray());
    }
    return bodies;
  }

  private static Set<String> allNames() {
    Set<String> names = new HashSet<>(methods().toList());
    names.add("<init>");
    return names;
  }

  /** Returns a class of that name whose methods throw as if the stack overflowed in the call. */
  private static byte[] throwing(String name) throws IOException {
    byte[] original;
    try (InputStream in = Bridge.class.getResourceAsStream("/" + name + ".class")) {
      original = in.readAllBytes();
    }
    ClassWriter writer = new ClassWriter(0);
    new ClassReader(original)
        .accept(
            new ClassVisitor(Opcodes.ASM9) {
              @Override
              public void visit(
                  int version, int access, String type, String sig, String superName, String[] i) {
                writer.visit(version, access, type, null, superName, null);
              }

              @Override
              public MethodVisitor visitMethod(
                  int access, String method, String descriptor, String signature, String[] thrown) {
                if ((access & Opcodes.ACC_STATIC) != 0 && !method.startsWith("<")) {
                  MethodVisitor code = writer.visitMethod(access, method, descriptor, null, null);
                  code.visitCode();
                  code.visitTypeInsn(Opcodes.NEW, "java/lang/StackOverflowError");
                  code.visitInsn(Opcodes.DUP);
                  code.visitMethodInsn(
                      Opcodes.INVOKESPECIAL,
                      "java/lang/StackOverflowError",
                      "<init>",
                      "()V",
                      false);
                  code.visitInsn(Opcodes.ATHROW);
                  code.visitMaxs(2, 10);
                  code.visitEnd();
                }
                return null;
              }
            },
            0);
    writer.visitEnd();
    return writer.toByteArray();
  }
}
