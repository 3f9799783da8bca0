package io.coordl.transformers.hook;

import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.RuleListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Weaves spans and interceptions into the methods that the rules name ({@link WovenMethod}). Finds
 * them in the class file in place and copies all other methods unchanged. Loads and resolves no
 * class. Safe for concurrent use.
 */
public final class HookWeaver {
  private static final int WITHOUT_BODY_OF_ITS_OWN =
      Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE;

  private static final int MAX_LOCALS = 65_535;

  private final List<HookRule> rules;
  private final Predicate<String> leaves;
  private final Set<String> names = new HashSet<>();

  /**
   * Creates a weaver for these rules.
   *
   * @param leaves tests by internal name whether to leave a class alone
   */
  public HookWeaver(List<HookRule> rules, Predicate<String> leaves) {
    this.rules = List.copyOf(rules);
    this.leaves = leaves;
    for (HookRule rule : rules) {
      names.add(rule.method());
      String beside = rule.beside();
      if (beside != null) {
        names.add(beside.substring(0, beside.indexOf('(')));
      }
    }
  }

  /**
   * The constant pool of every class with a method to hook contains at least one of these strings.
   */
  public Set<String> markers() {
    Set<String> markers = new HashSet<>();
    for (HookRule rule : rules) {
      markers.add(rule.marker());
    }
    return markers;
  }

  /** The methods of one class to weave, and the rules that name the class but do not fit it. */
  public static final class Plan {
    /** Chosen methods by name and descriptor. */
    final Map<String, Chosen> chosen = new LinkedHashMap<>();

    private final List<HookRule> missed = new ArrayList<>();

    public boolean isEmpty() {
      return chosen.isEmpty() && missed.isEmpty();
    }
  }

  /** A method and its rules, the last of which is nearest to the body. */
  record Chosen(ClassFile.Method method, List<HookRule> rules) {}

  /**
   * Finds the rules for a class. Leaves class files older than Java 5 alone: they cannot load class
   * constants.
   */
  public Plan plan(ClassFile classFile) {
    String name = classFile.name();
    Plan plan = new Plan();
    if (leaves.test(name) || classFile.version() < Opcodes.V1_5) {
      return plan;
    }
    for (ClassFile.Method method : classFile.methods(names)) {
      if ((method.access() & WITHOUT_BODY_OF_ITS_OWN) == 0) {
        String key = method.name() + method.descriptor();
        plan.chosen.put(key, new Chosen(method, new ArrayList<>()));
      }
    }
    if (classFile.isInterface() && plan.chosen.isEmpty()) {
      return plan;
    }
    for (HookRule rule : rules) {
      String owner = rule.owner();
      if (owner == null || owner.equals(name)) {
        boolean found = false;
        for (Chosen candidate : plan.chosen.values()) {
          if (rule.fits(candidate.method(), plan.chosen.keySet())) {
            choose(rule, candidate.rules());
            found = true;
          }
        }
        if (owner != null && rule.beside() == null && !found) {
          plan.missed.add(rule);
        }
      }
    }
    for (Iterator<Chosen> all = plan.chosen.values().iterator(); all.hasNext(); ) {
      Chosen one = all.next();
      int locals = one.method().maxLocals() + WovenMethod.SLOTS * one.rules().size();
      if (one.rules().isEmpty() || locals > MAX_LOCALS) {
        all.remove();
      }
    }
    return plan;
  }

  /**
   * Adds a rule; of several spans, only the first counts. Interceptions come before the span, and
   * so surround it: a method that did not run has no span.
   */
  private static void choose(HookRule rule, List<HookRule> chosen) {
    if (rule.weave() == HookRule.Weave.INTERCEPT) {
      chosen.add(0, rule);
    } else if (chosen.isEmpty()
        || chosen.get(chosen.size() - 1).weave() == HookRule.Weave.INTERCEPT) {
      chosen.add(rule);
    }
  }

  /**
   * Weaves one class; null if it has no method to hook.
   *
   * @param plan plan for this class; call sites may have been rewritten since
   * @param classFile the class as loaded, possibly with rewritten call sites
   * @param listener receives each rule that was applied or did not fit
   */
  public byte @Nullable [] weave(Plan plan, byte[] classFile, RuleListener listener) {
    for (HookRule rule : plan.missed) {
      listener.skipped(rule.describe(), "the class has no such method", rule.provenOn());
    }
    if (plan.chosen.isEmpty()) {
      return null;
    }
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, 0); // Copies methods that are not visited.
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access,
              String name,
              String descriptor,
              @Nullable String signature,
              String @Nullable [] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            Chosen one = plan.chosen.get(name + descriptor);
            return one == null ? next : surround(next, one.method(), one.rules());
          }
        },
        ClassReader.EXPAND_FRAMES);
    byte[] woven = writer.toByteArray();
    for (Chosen method : plan.chosen.values()) {
      for (HookRule rule : method.rules()) {
        listener.applied(rule.library(), rule.describe(), rule.provenOn());
      }
    }
    return woven;
  }

  /** The last rule is nearest to the body, and its variables directly follow the body's. */
  private static MethodVisitor surround(
      MethodVisitor next, ClassFile.Method method, List<HookRule> rules) {
    int first = method.maxLocals() + WovenMethod.SLOTS * rules.size();
    MethodVisitor outermost = next;
    for (HookRule rule : rules) {
      first -= WovenMethod.SLOTS;
      outermost =
          switch (rule.weave()) {
            case SPAN -> new SpanMethod(outermost, method, first, rule.kind());
            case TIMED_ITERABLE -> new TimedIterableMethod(outermost, method, first);
            case RANDOM -> new RandomMethod(outermost);
            case INTERCEPT ->
                new InterceptedMethod(
                    outermost, method, first, Objects.requireNonNull(rule.interceptor()).name());
          };
    }
    return outermost;
  }
}
