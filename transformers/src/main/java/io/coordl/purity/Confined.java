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
 * Finds the classes of the program whose objects code outside the program may get. All objects of
 * the other classes are confined: analysed code reads them from fields of the program, and uses the
 * values of these fields, and {@code this} in the methods of the class, only to read and set fields
 * and to call methods whose code is the program's. It does not pass them on, return, store or throw
 * them, or make others of the class.
 *
 * <p>Belongs to one analysis. What is shown stays shown; more code can only show more.
 *
 * @param isProgram whether a class belongs to the program, by its internal name
 */
record Confined(Predicate<String> isProgram, Set<String> shown, Map<String, Set<Member>> foundBy) {
  Confined(Predicate<String> isProgram) {
    this(isProgram, new HashSet<>(), new HashMap<>());
  }

  /**
   * Notes that an object of a class was found.
   *
   * @param by the field of the program that refers to it; null if something else does, or if code
   *     makes such objects
   */
  void found(String name, @Nullable Member by) {
    if (by == null) {
      shown.add(name);
    } else {
      foundBy.computeIfAbsent(name, none -> new HashSet<>()).add(by);
    }
  }

  /** Grows with everything that is found. */
  int size() {
    return shown.size() + foundBy.values().stream().mapToInt(Set::size).sum();
  }

  boolean isShown(String name) {
    return shown.contains(name);
  }

  /**
   * The names of all classes known to be shown once these methods run.
   *
   * @param run all analysed methods
   * @param fields resolves the fields that a method uses
   * @param kept the class files of each class in question, its own first, by name
   */
  Set<String> shown(
      List<MethodCode> run,
      Function<MethodCode, FieldProof> fields,
      List<Map<String, ClassCode>> kept) {
    for (MethodCode method : run) {
      Uses uses = new Uses(method, fields.apply(method), kept);
      for (int i = 0; i < method.instructions.size(); i++) {
        uses.look(i);
      }
    }
    return shown;
  }

  /** The uses of such objects in one method. */
  private final class Uses {
    private final MethodCode method;
    private final FieldProof fields;
    private final List<Map<String, ClassCode>> kept;
    private final Map<Member, @Nullable Member> resolved = new HashMap<>();

    Uses(MethodCode method, FieldProof fields, List<Map<String, ClassCode>> kept) {
      this.method = method;
      this.fields = fields;
      this.kept = kept;
    }

    private static String name(Map<String, ClassCode> codes) {
      return codes.keySet().iterator().next();
    }

    void look(int at) {
      Instruction it = method.instructions.get(at);
      for (Object constant : it.arguments()) {
        // A method that the JDK generates, as of a record, may pass its fields on.
        if (constant instanceof Handle handle && handle.getTag() <= Opcodes.H_PUTSTATIC) {
          kept.stream()
              .map(Uses::name)
              .filter(name -> isFoundBy(name, Member.of(handle)))
              .forEach(shown::add);
        }
      }
      List<Value> operands = method.flow().operands(at);
      for (int k = 0; operands != null && k < operands.size(); k++) {
        for (Origin origin : operands.get(k).origins()) {
          for (Map<String, ClassCode> codes : kept) {
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

    /** Whether an instruction hands its operand to code that is not analysed, or loses sight. */
    private boolean shows(Instruction it, int k, Collection<ClassCode> codes) {
      int code = it.opcode();
      if (it.isCall()) {
        return code == Opcodes.INVOKESTATIC
            || k > 0
            || !isProgram.test(it.member().owner())
            || codes.stream().noneMatch(of -> of.declares(it.member()));
      } else if (code == Opcodes.PUTFIELD) {
        return k > 0;
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
