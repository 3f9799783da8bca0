package io.coordl.transformers.hook;

import io.coordl.transformers.RuleListener;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.hook.WovenMethod.Target;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Weaves into the methods that {@link Hooks} names what marks or intercepts them ({@link
 * WovenMethod}). Which they are is read from the class file in place; methods that no rule is about
 * are copied as they are. Loads and resolves no class. Safe for concurrent use.
 */
public final class HookWeaver {
  private final List<HookRule> rules;
  private final Set<String> names = new HashSet<>();

  public HookWeaver(List<HookRule> rules) {
    this.rules = List.copyOf(rules);
    for (HookRule rule : rules) {
      names.add(rule.method());
      String beside = rule.beside();
      if (beside != null) {
        names.add(beside.substring(0, beside.indexOf('(')));
      }
    }
  }

  /** Strings one of which is in the constant pool of every class with a method to mark. */
  public Set<String> markers() {
    Set<String> markers = new HashSet<>();
    for (HookRule rule : rules) {
      markers.add(rule.marker());
    }
    return markers;
  }

  /** What the rules have to do with one class. */
  public static final class Plan {
    final List<Chosen> chosen = new ArrayList<>();
    private final List<HookRule> missed = new ArrayList<>();

    public boolean isEmpty() {
      return chosen.isEmpty() && missed.isEmpty();
    }
  }

  /** A method, and its rules, of which the last is nearest to the body. */
  record Chosen(ClassFile.Method method, List<HookRule> rules) {}

  public Plan plan(ClassFile classFile) {
    Plan plan = new Plan();
    String name = classFile.name();
    if (Hooks.isNoData(name)) {
      return plan;
    }
    List<Chosen> methods = new ArrayList<>();
    for (ClassFile.Method method : classFile.methods(names)) {
      if (!hasNoBodyOfItsOwn(method)) {
        methods.add(new Chosen(method, new ArrayList<>()));
      }
    }
    if (classFile.isInterface() && methods.isEmpty()) {
      return plan;
    }
    for (HookRule rule : rules) {
      String owner = rule.owner();
      if (owner != null && !owner.equals(name)) {
        continue;
      }
      List<Chosen> found = matching(rule, methods);
      for (Chosen method : found) {
        choose(rule, method.rules());
      }
      if (owner != null && found.isEmpty()) {
        plan.missed.add(rule);
      }
    }
    for (Chosen method : methods) {
      if (!method.rules().isEmpty()) {
        plan.chosen.add(method);
      }
    }
    return plan;
  }

  private static boolean hasNoBodyOfItsOwn(ClassFile.Method method) {
    int without = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE;
    return (method.access() & without) != 0;
  }

  private static List<Chosen> matching(HookRule rule, List<Chosen> methods) {
    List<Chosen> found = new ArrayList<>();
    String beside = rule.beside();
    boolean stands = beside == null;
    for (Chosen candidate : methods) {
      ClassFile.Method method = candidate.method();
      stands = stands || (method.name() + method.descriptor()).equals(beside);
      String descriptor = rule.descriptor();
      if (method.name().equals(rule.method())
          && (descriptor == null || descriptor.equals(method.descriptor()))) {
        found.add(candidate);
      }
    }
    return stands ? found : List.of();
  }

  /**
   * Of several spans the first one counts. Interceptions come before it, which puts them around it:
   * a method that did not run has no span.
   */
  private static void choose(HookRule rule, List<HookRule> chosen) {
    if (rule.advice() == HookRule.Weave.INTERCEPT) {
      chosen.add(0, rule);
    } else if (chosen.isEmpty()
        || chosen.get(chosen.size() - 1).advice() == HookRule.Weave.INTERCEPT) {
      chosen.add(rule);
    }
  }

  /**
   * The class with its spans, or null if it has none to mark.
   *
   * @param plan made of this class; call sites may have been rewritten since
   * @param classFile as loaded, perhaps with call sites rewritten already
   * @param listener hears of each rule applied, and of each that did not fit
   */
  public byte @Nullable [] weave(Plan plan, byte[] classFile, RuleListener listener) {
    for (HookRule rule : plan.missed) {
      listener.skipped(rule.describe(), "the class has no such method", rule.provenOn());
    }
    if (plan.chosen.isEmpty()) {
      return null;
    }
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, 0); // Copies what is not visited.
    reader.accept(new Weaving(writer, plan.chosen), ClassReader.EXPAND_FRAMES);
    byte[] woven = writer.toByteArray();
    for (Chosen method : plan.chosen) {
      for (HookRule rule : method.rules()) {
        listener.applied(rule.library(), rule.describe(), rule.provenOn());
      }
    }
    return woven;
  }

  /** Sends the chosen methods through what is woven into them, and all else past it. */
  private static final class Weaving extends ClassVisitor {
    private final List<Chosen> chosen;
    private String owner = "";
    private int version;

    Weaving(ClassVisitor next, List<Chosen> chosen) {
      super(Opcodes.ASM9, next);
      this.chosen = chosen;
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      owner = name;
      this.version = version & 0xffff;
      super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      for (Chosen one : chosen) {
        ClassFile.Method method = one.method();
        if (method.name().equals(name) && method.descriptor().equals(descriptor)) {
          Target target = new Target(owner, version, access, name, descriptor);
          return surround(next, target, method.maxLocals(), one.rules());
        }
      }
      return next;
    }

    /** The last rule is nearest to the body, and its variables right behind the body's. */
    private static MethodVisitor surround(
        MethodVisitor next, Target target, int maxLocals, List<HookRule> rules) {
      int first = maxLocals + WovenMethod.SLOTS * rules.size();
      MethodVisitor outermost = next;
      for (HookRule rule : rules) {
        first -= WovenMethod.SLOTS;
        outermost = around(outermost, target, first, rule);
      }
      return outermost;
    }

    private static MethodVisitor around(
        MethodVisitor next, Target target, int first, HookRule rule) {
      return switch (rule.advice()) {
        case SPAN -> new SpanMethod(next, target, first, rule.kind());
        case TIMED_ITERABLE -> new TimedIterableMethod(next, target, first);
        case RANDOM -> new RandomMethod(next);
        case INTERCEPT ->
            target.canBeIntercepted()
                ? new InterceptedMethod(
                    next, target, first, Objects.requireNonNull(rule.interceptor()).name())
                : next;
      };
    }
  }
}
