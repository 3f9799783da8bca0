package io.coordl.purity;

import io.coordl.purity.Flow.Kept;
import io.coordl.purity.Flow.Origin;
import io.coordl.purity.Flow.Plain;
import io.coordl.purity.Flow.Value;
import io.coordl.purity.MethodCode.Instruction;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Finds the classes of the program that are <i>shown</i>: code outside the program may get their
 * objects. All others are <i>confined</i>: analysed code gets objects of a confined class only from
 * fields of the program. It only reads and sets the fields of such an object and calls methods on
 * it that the program declares, also in lambdas. It does not pass on, return, store, throw or
 * create such objects.
 *
 * <p>Belongs to one analysis. A class that is shown stays shown as more code is analysed.
 *
 * @param isProgram whether a class belongs to the program, by its internal name
 */
record Confined(Predicate<String> isProgram, Set<String> shown, Map<String, Set<Member>> foundBy) {
  Confined(Predicate<String> isProgram) {
    this(isProgram, new HashSet<>(), new HashMap<>());
  }

  /**
   * Records that an object of a class was found.
   *
   * @param by the field of the program that refers to it; null if something else does, or if code
   *     creates such objects
   */
  void found(String name, @Nullable Member by) {
    if (by == null) {
      shown.add(name);
    } else {
      foundBy.computeIfAbsent(name, none -> new HashSet<>()).add(by);
    }
  }

  /** Returns a number that grows whenever something new is found. */
  int size() {
    return shown.size() + foundBy.values().stream().mapToInt(Set::size).sum();
  }

  boolean isShown(String name) {
    return shown.contains(name);
  }

  /**
   * Returns the names of all classes known to be shown if these methods run.
   *
   * @param run all analysed methods
   * @param fields resolves the fields that a method uses
   * @param candidates for each class to test, the class files of that class (the first entry) and
   *     of its ancestors, by name
   */
  Set<String> shown(
      List<MethodCode> run,
      Function<MethodCode, FieldProof> fields,
      List<Map<String, ClassCode>> candidates) {
    for (MethodCode method : run) {
      Uses uses = new Uses(method, fields.apply(method), candidates);
      for (int i = 0; i < method.instructions.size(); i++) {
        uses.visit(i);
      }
    }
    return shown;
  }

  /** How one method uses objects that may be confined. */
  private final class Uses {
    private final MethodCode method;
    private final FieldProof fields;
    private final List<Map<String, ClassCode>> candidates;
    private final Map<Member, @Nullable Member> resolved = new HashMap<>();

    Uses(MethodCode method, FieldProof fields, List<Map<String, ClassCode>> candidates) {
      this.method = method;
      this.fields = fields;
      this.candidates = candidates;
    }

    private static String name(Map<String, ClassCode> codes) {
      return codes.keySet().iterator().next();
    }

    void visit(int at) {
      Instruction it = method.instructions.get(at);
      for (Object constant : it.arguments()) {
        // A method that the JDK generates, such as a record's, may pass its fields on.
        if (constant instanceof Handle handle && handle.getTag() <= Opcodes.H_PUTSTATIC) {
          candidates.stream()
              .map(Uses::name)
              .filter(name -> isFoundBy(name, Member.of(handle)))
              .forEach(shown::add);
        }
      }
      List<Value> operands = method.flow().operands(at);
      for (int k = 0; operands != null && k < operands.size(); k++) {
        for (Origin origin : operands.get(k).origins()) {
          for (Map<String, ClassCode> codes : candidates) {
            if (mayBe(origin, codes) && shows(it, k, codes.values())) {
              shown.add(name(codes));
            }
          }
        }
      }
    }

    /** Whether a value may be an object of a class. */
    private boolean mayBe(Origin origin, Map<String, ClassCode> codes) {
      return origin == Plain.THIS
          ? codes.containsKey(method.owner)
          : origin instanceof Kept field
              && !field.element()
              && isFoundBy(name(codes), field.field());
    }

    private boolean isFoundBy(String name, Member used) {
      Set<Member> by = foundBy.getOrDefault(name, Set.of());
      return !by.isEmpty()
          && by.contains(
              Objects.requireNonNullElse(
                  resolved.computeIfAbsent(used, fields::resolve), Member.NONE));
    }

    /**
     * Whether a lambda captures its first operand only to call a method of these classes on it;
     * that method is analysed.
     */
    private static boolean isReceiver(Instruction lambda, Collection<ClassCode> codes) {
      return lambda.member().owner().equals("java/lang/invoke/LambdaMetafactory")
          && lambda.arguments().size() == 3 // Serialisable lambdas, which pass it on, have more.
          && lambda.arguments().stream()
              .filter(Handle.class::isInstance)
              .map(Handle.class::cast)
              .allMatch(
                  handle ->
                      handle.getTag() >= Opcodes.H_INVOKEVIRTUAL
                          && handle.getTag() != Opcodes.H_INVOKESTATIC
                          && handle.getTag() != Opcodes.H_NEWINVOKESPECIAL
                          && codes.stream().anyMatch(type -> type.declares(Member.of(handle))));
    }

    /** Whether an instruction does more with an operand than is allowed for a confined object. */
    private boolean shows(Instruction it, int index, Collection<ClassCode> codes) {
      int code = it.opcode();
      if (it.isCall()) {
        return code == Opcodes.INVOKESTATIC
            || index > 0
            || !isProgram.test(it.member().owner())
            || codes.stream().noneMatch(type -> type.declares(it.member()));
      } else if (code == Opcodes.PUTFIELD) {
        return index > 0;
      } else if (code == Opcodes.INVOKEDYNAMIC) {
        return index > 0 || !isReceiver(it, codes);
      }
      return !(code == Opcodes.GETFIELD
          || code == Opcodes.IFNULL
          || code == Opcodes.IFNONNULL
          || code == Opcodes.IF_ACMPEQ
          || code == Opcodes.IF_ACMPNE
          || code == Opcodes.INSTANCEOF
          || code == Opcodes.CHECKCAST
          || code == Opcodes.ASTORE
          || (code >= Opcodes.POP && code <= Opcodes.SWAP));
    }
  }
}
