package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.RuleListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper.ForDeclaredMethods;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/**
 * Weaves spans into the methods that {@link Hooks} names. Byte Buddy is touched only once a class
 * has such a method, since its start costs some 0.4 s of CPU. Safe for concurrent use.
 */
public final class HookWeaver {
  private final List<HookRule> rules;
  private final ClassFileLocator advice;

  /**
   * A weaver for {@code rules}.
   *
   * @param loader where the advice's own class files are found
   */
  public HookWeaver(List<HookRule> rules, ClassLoader loader) {
    this.rules = List.copyOf(rules);
    this.advice = ClassFileLocator.ForClassLoader.of(loader);
  }

  /** Strings one of which is in the constant pool of every class with a method to mark. */
  public Set<String> markers() {
    Set<String> markers = new HashSet<>();
    for (HookRule rule : rules) {
      markers.add(rule.marker());
    }
    return markers;
  }

  /**
   * The class with its spans, or null if it has none to mark.
   *
   * @param classFile as loaded, perhaps with call sites rewritten already
   * @param loader that defines it, null for the boot loader
   * @param listener hears of each rule applied, and of each that did not fit
   */
  public byte @Nullable [] weave(
      byte[] classFile, @Nullable ClassLoader loader, RuleListener listener) {
    Shape shape = Shape.read(classFile);
    if ((shape.isInterface && shape.methods.isEmpty()) || Hooks.isNoData(shape.name)) {
      return null;
    }
    Map<Method, List<HookRule>> chosen = new LinkedHashMap<>();
    for (HookRule rule : rules) {
      List<Method> found = shape.matching(rule);
      for (Method method : found) {
        choose(rule, chosen.computeIfAbsent(method, unused -> new ArrayList<>()));
      }
      if (shape.name.equals(rule.owner()) && found.isEmpty()) {
        listener.skipped(rule.describe(), "the class has no such method", rule.provenOn());
      }
    }
    if (chosen.isEmpty()) {
      return null;
    }
    byte[] woven = Weaving.apply(shape.name, classFile, loader, advice, chosen);
    for (List<HookRule> applied : chosen.values()) {
      for (HookRule rule : applied) {
        listener.applied(rule.library(), rule.describe(), 1, rule.provenOn());
      }
    }
    return woven;
  }

  /**
   * Of several spans the first one counts. Answers come before it, which puts them around it: a
   * method that did not run has no span.
   */
  private static void choose(HookRule rule, List<HookRule> chosen) {
    if (rule.advice() == HookRule.Weave.ANSWER) {
      chosen.add(0, rule);
    } else if (chosen.stream().allMatch(other -> other.advice() == HookRule.Weave.ANSWER)) {
      chosen.add(rule);
    }
  }

  /** A method of the class at hand. */
  record Method(String name, String descriptor) {}

  /** What of a class decides which rules fit: its name and the methods it implements itself. */
  private static final class Shape extends ClassVisitor {
    String name = "";
    boolean isInterface;
    final List<Method> methods = new ArrayList<>();

    private Shape() {
      super(OpenedClassReader.ASM_API);
    }

    static Shape read(byte[] classFile) {
      Shape shape = new Shape();
      OpenedClassReader.of(classFile)
          .accept(shape, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return shape;
    }

    @Override
    public void visit(
        int version,
        int access,
        String internalName,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      name = internalName;
      isInterface = (access & Opcodes.ACC_INTERFACE) != 0;
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      int without = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE;
      if ((access & without) == 0) {
        methods.add(new Method(method, descriptor));
      }
      return null;
    }

    List<Method> matching(HookRule rule) {
      List<Method> found = new ArrayList<>();
      String owner = rule.owner();
      if (owner != null && !owner.equals(name)) {
        return found;
      }
      String beside = rule.beside();
      if (beside != null
          && methods.stream().noneMatch(m -> beside.equals(m.name() + m.descriptor()))) {
        return found;
      }
      String descriptor = rule.descriptor();
      for (Method method : methods) {
        if (method.name().equals(rule.method())
            && (descriptor == null || descriptor.equals(method.descriptor()))) {
          found.add(method);
        }
      }
      return found;
    }
  }

  /** Everything that needs Byte Buddy, loaded with the first class that is woven. */
  private static final class Weaving {
    private static final ByteBuddy BYTE_BUDDY =
        new ByteBuddy().with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE);

    static byte[] apply(
        String name,
        byte[] classFile,
        @Nullable ClassLoader loader,
        ClassFileLocator advice,
        Map<Method, List<HookRule>> chosen) {
      String typeName = name.replace('/', '.');
      ClassFileLocator locator =
          new ClassFileLocator.Compound(
              ClassFileLocator.Simple.of(typeName, classFile),
              ClassFileLocator.ForClassLoader.of(loader));
      TypeDescription type = TypePool.Default.of(locator).describe(typeName).resolve();
      DynamicType.Builder<?> builder = BYTE_BUDDY.decorate(type, locator);
      for (Map.Entry<Method, List<HookRule>> entry : chosen.entrySet()) {
        Method method = entry.getKey();
        for (HookRule rule : entry.getValue()) {
          if (rule.advice() == HookRule.Weave.RANDOM) {
            builder =
                builder.visit(
                    new ForDeclaredMethods()
                        .invokable(ElementMatchers.isTypeInitializer(), new RandomWrapper()));
            continue;
          }
          builder =
              builder.visit(
                  new ForDeclaredMethods()
                      .method(
                          ElementMatchers.named(method.name())
                              .and(ElementMatchers.hasDescriptor(method.descriptor())),
                          adviceFor(rule, advice)));
        }
      }
      return builder.make().getBytes();
    }

    private static Advice adviceFor(HookRule rule, ClassFileLocator locator) {
      SpanKind kind = rule.kind();
      return switch (rule.advice()) {
        case SPAN ->
            Advice.withCustomMapping().bind(Kind.class, kind).to(SpanAdvice.class, locator);
        case TIMED_ITERABLE -> Advice.to(TimedIterableAdvice.class, locator);
        case ANSWER -> {
          HookRule.Answerer answerer = Objects.requireNonNull(rule.answer());
          yield Advice.withCustomMapping()
              .bind(Answer.class, answerer.name())
              .to(AnswerAdvice.class, locator);
        }
        case RANDOM -> throw new IllegalStateException("no advice");
      };
    }
  }
}
