package io.coordl.transformers.hook;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.library.catalog.Libraries;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.RuleListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every rule of {@link Libraries} fits the class files of the library it was written for. */
final class EveryRuleFitsTest {
  private static final HookWeaver WEAVER = Libraries.known().weaver(Libraries.known().hooks());

  /** The weaver's reports. */
  private static final class Recorded implements RuleListener {
    final Set<String> applied = new HashSet<>();
    final List<String> skipped = new ArrayList<>();

    @Override
    public void applied(String library, String rule, String provenOn) {
      applied.add(library + " " + rule);
    }

    @Override
    public void skipped(String rule, String reason, String provenOn) {
      skipped.add(rule + ": " + reason);
    }
  }

  private static final Map<String, byte[]> WOVEN = new TreeMap<>();
  private static final Recorded RECORDED = new Recorded();
  private static Library library;

  @BeforeAll
  static void weaveTheLibraries() {
    library = Library.read();
    library.classes.forEach(
        (name, bytes) -> {
          byte[] woven = weave(WEAVER, bytes, RECORDED);
          if (woven != null) {
            WOVEN.put(name, woven);
          }
        });
    System.out.println(
        "woven: " + WOVEN.size() + " of " + library.classes.size() + " classes of DJL and DL4J");
  }

  private static byte[] weave(HookWeaver weaver, byte[] classFile, RuleListener listener) {
    return weaver.weave(weaver.plan(ClassFile.read(classFile)), classFile, listener);
  }

  static Stream<HookRule> rulesWithOwner() {
    return Libraries.known().hooks().stream().filter(rule -> rule.owner() != null);
  }

  static Stream<HookRule> rulesForAnyClass() {
    return Libraries.known().hooks().stream().filter(rule -> rule.owner() == null);
  }

  @ParameterizedTest
  @MethodSource("rulesWithOwner")
  void ruleWithAnOwnerFindsItsClassAndMethod(HookRule rule) {
    assertThat(library.classes.keySet()).contains(rule.owner());

    Recorded heard = new Recorded();
    byte[] woven =
        weave(
            new HookWeaver(List.of(rule), name -> false), library.classes.get(rule.owner()), heard);

    assertThat(woven).isNotNull();
    assertThat(heard.applied).containsExactly(rule.library() + " " + rule.describe());
    assertThat(heard.skipped).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("rulesForAnyClass")
  void ruleForAnyClassFitsAClassOfItsLibrary(HookRule rule) {
    assertThat(RECORDED.applied).contains(rule.library() + " " + rule.describe());
  }

  @Test
  void noRuleIsSkippedOnItsProvenVersions() {
    assertThat(RECORDED.skipped).isEmpty();
  }

  @Test
  void everyWovenClassHasAMarker() {
    for (String name : WOVEN.keySet()) {
      String text = new String(library.classes.get(name), java.nio.charset.StandardCharsets.UTF_8);
      assertThat(WEAVER.markers()).as(name).anyMatch(text::contains);
    }
  }

  @Test
  void weavingAgainGivesTheSame() {
    WOVEN.forEach(
        (name, bytes) ->
            assertThat(weave(WEAVER, library.classes.get(name), new Recorded()))
                .as(name)
                .isEqualTo(bytes));
  }

  @Test
  void wovenClassKeepsItsMembersAndSupertypes() {
    WOVEN.forEach(
        (name, bytes) ->
            assertThat(shape(bytes)).as(name).isEqualTo(shape(library.classes.get(name))));
  }

  @Test
  void wovenClassPassesTheVerifierIfItDidBefore() {
    ClassLoader plain = library.loader(Map.of());
    ClassLoader woven = library.loader(WOVEN);
    Set<String> linked = new TreeSet<>();
    for (String name : WOVEN.keySet()) {
      if (link(plain, name).isEmpty()) {
        assertThat(link(woven, name)).as(name).isEmpty();
        linked.add(name);
      }
    }
    System.out.println("linked: " + linked.size() + " of " + WOVEN.size() + " woven classes");
    Set<String> owners = new TreeSet<>();
    rulesWithOwner().forEach(rule -> owners.add(rule.owner()));
    assertThat(linked).containsAll(owners);
  }

  /** Links a class without running its code; returns the error, or an empty string. */
  static String link(ClassLoader loader, String name) {
    try {
      // Reading the declared methods links the class, but does not initialise it.
      int methods =
          Class.forName(name.replace('/', '.'), false, loader).getDeclaredMethods().length;
      return methods == 0 ? "no methods" : "";
    } catch (ClassNotFoundException | LinkageError e) {
      return e.toString();
    }
  }

  @Test
  void classWithoutTheMethodIsReportedAndLeftAlone() {
    ClassWriter other = new ClassWriter(0);
    other.visit(
        Opcodes.V17, Opcodes.ACC_PUBLIC, "ai/djl/training/Trainer", null, "java/lang/Object", null);
    MethodVisitor renamed = other.visitMethod(Opcodes.ACC_PUBLIC, "stepOn", "()V", null, null);
    renamed.visitCode();
    renamed.visitInsn(Opcodes.RETURN);
    renamed.visitMaxs(0, 1);
    renamed.visitEnd();
    other.visitEnd();
    Recorded heard = new Recorded();

    assertThat(weave(WEAVER, other.toByteArray(), heard)).isNull();

    assertThat(heard.applied).isEmpty();
    assertThat(heard.skipped)
        .containsExactlyInAnyOrder(
            "ai.djl.training.Trainer.forward(..): the class has no such method",
            "ai.djl.training.Trainer.evaluate(..): the class has no such method",
            "ai.djl.training.Trainer.iterateDataset(Lai/djl/training/dataset/Dataset;)"
                + "Ljava/lang/Iterable;: the class has no such method",
            "ai.djl.training.Trainer.notifyListeners(Ljava/util/function/Consumer;)V: the class has"
                + " no such method",
            "ai.djl.training.Trainer.step()V: the class has no such method", // Span.
            "ai.djl.training.Trainer.step()V: the class has no such method"); // Interception.
  }

  @Test
  void classOfAnotherLibraryWithTheSameMethodNamesIsLeftAlone() throws Exception {
    Recorded heard = new Recorded();
    try (var in = java.util.Scanner.class.getResourceAsStream("Scanner.class")) {
      assertThat(weave(WEAVER, in.readAllBytes(), heard)).isNull();
    }
    assertThat(heard.applied).isEmpty();
    assertThat(heard.skipped).isEmpty();
  }

  /** The parts of a class that a retransformation must not change. */
  private static List<String> shape(byte[] classFile) {
    List<String> shape = new ArrayList<>();
    new ClassReader(classFile)
        .accept(
            new ClassVisitor(Opcodes.ASM9) {
              @Override
              public void visit(
                  int version,
                  int access,
                  String name,
                  String signature,
                  String superName,
                  String[] interfaces) {
                shape.add(version + " " + access + " " + name + " " + signature + " " + superName);
                shape.add(List.of(interfaces).toString());
              }

              @Override
              public FieldVisitor visitField(
                  int access, String name, String descriptor, String signature, Object value) {
                shape.add(access + " " + name + " " + descriptor + " " + signature + " " + value);
                return null;
              }

              @Override
              public MethodVisitor visitMethod(
                  int access, String name, String descriptor, String signature, String[] thrown) {
                shape.add(access + " " + name + descriptor + " " + signature);
                return null;
              }
            },
            ClassReader.SKIP_CODE);
    return shape;
  }
}
