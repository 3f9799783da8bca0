package io.coordl.purity;

import io.coordl.purity.Flow.Inside;
import io.coordl.purity.Flow.Kept;
import io.coordl.purity.Flow.Made;
import io.coordl.purity.Flow.Origin;
import io.coordl.purity.Flow.Plain;
import io.coordl.purity.Flow.Value;
import io.coordl.purity.MethodCode.Instruction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Proves that a field never changes, from the class files of its nest: only the classes of the nest
 * can set a private field. Belongs to one analysis; used by one thread.
 *
 * @param classes finds class files; returns null if there is none
 */
record FieldProof(PurityAnalyzer.Known known, Function<String, @Nullable ClassCode> classes) {
  boolean isFinal(Member field) {
    return (access(field) & Opcodes.ACC_FINAL) != 0;
  }

  boolean isStatic(Member field) {
    return (access(field) & Opcodes.ACC_STATIC) != 0;
  }

  /** Resolves the field of an instruction to its declaration; null if no class file declares it. */
  @Nullable Member resolve(Member used) {
    ClassCode code = classes.apply(used.owner());
    if (code == null) {
      return null;
    }
    if (code.fields.containsKey(used.name() + used.descriptor())) {
      return used;
    }
    for (String parent : code.parents) {
      Member inherited = resolve(new Member(parent, used.name(), used.descriptor()));
      if (inherited != null) {
        return inherited;
      }
    }
    return null;
  }

  /**
   * Returns why a field may be set, as a clause after its name; null if it is set only during
   * construction or in announced methods.
   */
  @Nullable String reasonItIsSet(Member field) {
    int access = access(field);
    if ((access & Opcodes.ACC_FINAL) != 0) {
      return null;
    }
    if ((access & Opcodes.ACC_PRIVATE) == 0) {
      return "which is neither final nor private";
    }
    for (MethodCode method : nest(field.owner())) {
      for (int i = 0; i < method.instructions.size(); i++) {
        Instruction it = method.instructions.get(i);
        if (it.isCall() && findsFields(it.member())) {
          return "which " + it.member().className() + " may set";
        }
        if (it.setsField() && refersTo(it.member(), field)) {
          List<Value> operands = method.flow().operands(i);
          if (operands != null && !setsWhereAllowed(method, operands, it.opcode(), field)) {
            return "which " + method.where() + " sets";
          }
        }
      }
    }
    return null;
  }

  /** Whether a call can find private fields by name; code may then set them or pass on a handle. */
  static boolean findsFields(Member called) {
    String owner = called.owner();
    return owner.startsWith("java/lang/invoke/")
        || owner.startsWith("java/lang/reflect/")
        || owner.startsWith("sun/misc/")
        || owner.endsWith("FieldUpdater")
        || (owner.equals("java/lang/Class") && called.name().contains("Field"));
  }

  /**
   * Whether a field holds only formatters that its nest makes from patterns, or the JDK's
   * constants. Other formatters may contain objects of the program.
   */
  boolean holdsPatterns(Member field) {
    if (reasonItIsSet(field) != null) {
      return false;
    }
    List<MethodCode> nest = nest(field.owner());
    return nest.stream().anyMatch(method -> !storesOnly(method, field, origin -> false))
        && nest.stream()
            .allMatch(method -> storesOnly(method, field, origin -> isPattern(method, origin)));
  }

  /** Whether all values that a method stores in a field have {@code allowed} origins. */
  boolean storesOnly(MethodCode method, Member field, Predicate<Origin> allowed) {
    for (int i = 0; i < method.instructions.size(); i++) {
      Instruction it = method.instructions.get(i);
      List<Value> operands =
          it.setsField() && refersTo(it.member(), field) ? method.flow().operands(i) : null;
      if (operands != null
          && !operands.get(operands.size() - 1).origins().stream().allMatch(allowed)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPattern(MethodCode method, Origin origin) {
    Member from =
        origin instanceof Made made
            ? method.instructions.get(made.at()).member()
            : origin instanceof Kept kept ? kept.field() : Member.NONE;
    return origin == Plain.NULL || from.owner().equals(JdkCode.FORMATTER);
  }

  private int access(Member field) {
    ClassCode code = classes.apply(field.owner());
    return code == null ? 0 : code.fields.getOrDefault(field.name() + field.descriptor(), 0);
  }

  private boolean refersTo(Member used, Member field) {
    return used.name().equals(field.name())
        && used.descriptor().equals(field.descriptor())
        && field.equals(resolve(used));
  }

  /**
   * Whether an instruction sets a field where that is allowed: on {@code this} in a constructor or
   * an announced method, or in the static initialiser.
   */
  private boolean setsWhereAllowed(
      MethodCode method, List<Value> operands, int opcode, Member field) {
    return maySetFields(method, field)
        && (opcode == Opcodes.PUTSTATIC
            ? method.name.equals("<clinit>")
            : operands.get(0).isOnly(Plain.THIS));
  }

  private boolean maySetFields(MethodCode method, Member field) {
    return method.owner.equals(field.owner()) && maySetFields(method);
  }

  private boolean maySetFields(MethodCode method) {
    return method.name.equals("<init>")
        || method.name.equals("<clinit>")
        || known.isAnnounced(method.name, method.descriptor);
  }

  /**
   * Returns why the state that a program class inherits from the library may change; null if it
   * cannot. Checks only the nest of the class, because other classes cannot access most of that
   * state.
   */
  @Nullable String reasonInheritedChanges(String owner, Predicate<String> isLibrary) {
    Set<String> ancestors = ancestors(owner);
    for (MethodCode method : nest(owner)) {
      for (int i = 0; i < method.instructions.size(); i++) {
        Instruction it = method.instructions.get(i);
        boolean sets = it.opcode() == Opcodes.PUTFIELD;
        boolean gets = it.opcode() == Opcodes.GETFIELD && !isPlain(it.member().descriptor());
        List<Value> operands = sets || gets ? method.flow().operands(i) : null;
        if (operands != null && !(maySetFields(method) && operands.get(0).isOnly(Plain.THIS))) {
          Member field = resolve(it.member());
          if (field != null && ancestors.contains(field.owner()) && isLibrary.test(field.owner())) {
            return method.where() + (sets ? " sets " : " may change ") + field;
          }
        }
      }
    }
    return null;
  }

  private Set<String> ancestors(String owner) {
    Set<String> found = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(owner));
    String next;
    while ((next = open.poll()) != null) {
      ClassCode code = found.add(next) ? classes.apply(next) : null;
      open.addAll(code == null ? List.of() : code.parents);
    }
    return found;
  }

  /** Returns the methods of all classes that can access the private members of {@code owner}. */
  private List<MethodCode> nest(String owner) {
    List<MethodCode> methods = new ArrayList<>();
    ClassCode code = classes.apply(owner);
    ClassCode host = code == null ? null : classes.apply(code.host);
    Set<String> members = new HashSet<>(host == null ? List.of() : host.nest);
    members.add(owner);
    for (String name : members) {
      ClassCode member = classes.apply(name);
      if (member == null) {
        throw new IllegalStateException(name.replace('/', '.') + " has no class file");
      }
      methods.addAll(member.methods);
    }
    return methods;
  }

  /**
   * Returns why the array or collection in a field may change, as a clause after the field's name;
   * null if only classes of the field's nest can reach it and none of them changes it.
   *
   * @param deep whether its elements are mutable, too
   */
  @Nullable String reasonItChanges(Member field, boolean deep) {
    int access = access(field);
    if ((access & Opcodes.ACC_SYNTHETIC) != 0
        && (field.name().equals("$VALUES") || field.name().startsWith("$SwitchMap$"))) {
      return null; // Code that the compiler generates only reads it or returns copies.
    }
    String kind = field.descriptor().startsWith("[") ? "an array" : "a collection";
    if ((access & Opcodes.ACC_PRIVATE) == 0) {
      return kind + " that other code may change, since the field is not private";
    }
    for (MethodCode method : nest(field.owner())) {
      String why = new Uses(field, deep, method).reason();
      if (why != null) {
        return kind + " that " + why;
      }
    }
    return null;
  }

  /**
   * Returns why one of these methods may change the array or collection in a field, as a clause
   * after the field's name; null if none may.
   *
   * @param isQueue whether methods may take elements from its head
   * @param run all methods of the program that may run
   */
  @Nullable String reasonItIsShown(
      Member field, boolean deep, boolean isQueue, List<MethodCode> run) {
    String kind = field.descriptor().startsWith("[") ? "an array" : "a collection";
    for (MethodCode method : run) {
      String why = new Uses(field, deep, method).reasonItIsShown(isQueue);
      String change = why == null ? null : reasonOthersChange(run);
      if (change != null) {
        return kind + " that " + why + ", and " + change;
      }
    }
    return null;
  }

  /** Returns why one of these methods may change an array or collection that it did not create. */
  @Nullable String reasonOthersChange(List<MethodCode> run) {
    return run.stream()
        .map(method -> Objects.requireNonNullElseGet(Changes.reason(method), () -> changer(method)))
        .filter(why -> !why.isEmpty())
        .findFirst()
        .orElse(null);
  }

  /** Returns how a method changes an object of the library, perhaps one over other collections. */
  private String changer(MethodCode method) {
    for (Instruction it : method.instructions) {
      Member called = it.member();
      Set<String> changers = it.isCall() ? known.changers(called.owner()) : null;
      if (changers != null && changers.contains(called.name())) {
        return method.where() + " calls " + called.className() + "." + called.name();
      }
    }
    return "";
  }

  /**
   * Whether a field is a cache: only one method reads or sets it, and that method only returns a
   * number or string, which it computes at its first call: {@code if (f == 0) f = ...; return f;}.
   * The computation calls only JDK methods, with numbers and strings.
   */
  boolean isLazy(Member used) {
    Member field = resolve(used);
    if (field == null
        || (access(field) & ~Opcodes.ACC_TRANSIENT) != Opcodes.ACC_PRIVATE
        || !isPlain(field.descriptor())) {
      return false;
    }
    MethodCode only = null;
    for (MethodCode method : nest(field.owner())) {
      for (Instruction it : method.instructions) {
        if ((it.isCall() && findsFields(it.member()))
            || it.arguments().stream()
                .anyMatch(
                    made -> made instanceof Handle handle && refersTo(Member.of(handle), field))) {
          return false;
        } else if (it.usesField() && refersTo(it.member(), field) && only != method) {
          if (only != null) {
            return false;
          }
          only = method;
        }
      }
    }
    return only != null
        && only.owner.equals(field.owner())
        && new LazyMethod(only, field, this::isConstant).fillsCache();
  }

  private boolean isConstant(Member used) {
    Member field = resolve(used);
    return field != null && (access(field) & Opcodes.ACC_FINAL) != 0 && isPlain(field.descriptor());
  }

  /**
   * A method that may fill a cache, as {@link FieldProof#isLazy} describes it.
   *
   * @param isConstant whether a field is a final number or string
   */
  private record LazyMethod(MethodCode method, Member field, Predicate<Member> isConstant) {
    private static final Set<String> CALLABLE =
        Set.of(
            "java/lang/Math",
            "java/lang/StrictMath",
            "java/lang/String",
            "java/lang/Integer",
            "java/lang/Long",
            "java/lang/Float",
            "java/lang/Double",
            "java/lang/Character");

    boolean fillsCache() {
      List<Instruction> code = method.instructions;
      int end = code.size();
      String type = field.descriptor();
      int test = type.equals("J") || type.equals("F") || type.equals("D") ? 4 : 2;
      if (method.isStatic()
          || !method.handlers.isEmpty()
          || !method.descriptor.startsWith("()")
          || end < test + 7
          || !isRead(0)
          || !isRead(end - 3)
          || code.get(end - 1).opcode() < Opcodes.IRETURN
          || code.get(end - 1).opcode() > Opcodes.ARETURN
          || code.get(end - 4).opcode() != Opcodes.PUTFIELD) {
        return false;
      }
      Instruction jump = code.get(test);
      int expected = type.startsWith("L") ? Opcodes.IFNONNULL : Opcodes.IFNE;
      if (jump.opcode() != expected
          || at(jump, 0) != end - 3
          || (test == 4 && !isComparedToZero(code.get(2).opcode(), code.get(3).opcode()))
          || !isThis(code.get(test + 1))) {
        return false;
      }
      for (int i = test + 2; i < end - 4; i++) {
        Instruction it = code.get(i);
        for (int k = 0; k < it.targets().size(); k++) {
          if (at(it, k) <= test + 1 || at(it, k) > end - 4) {
            return false;
          }
        }
        if ((it.isCall() && !isCallable(it.member()))
            || it.opcode() == Opcodes.INVOKEDYNAMIC
            || it.opcode() == Opcodes.ATHROW
            || (it.opcode() >= Opcodes.IRETURN && it.opcode() <= Opcodes.RETURN)
            || it.setsField()
            || it.setsElement()
            || (it.usesField()
                && (it.member().name().equals(field.name()) || !isConstant.test(it.member())))
            || (it.opcode() >= Opcodes.ISTORE
                && it.opcode() <= Opcodes.ASTORE
                && it.operand() == 0)) {
          return false;
        }
      }
      List<Value> set = method.flow().operands(end - 4);
      return set != null && set.get(0).isOnly(Plain.THIS);
    }

    private int at(Instruction it, int target) {
      return Objects.requireNonNull(method.places.get(it.targets().get(target)));
    }

    private static boolean isComparedToZero(int zero, int compare) {
      return (zero == Opcodes.LCONST_0 && compare == Opcodes.LCMP)
          || (zero == Opcodes.FCONST_0 && (compare == Opcodes.FCMPL || compare == Opcodes.FCMPG))
          || (zero == Opcodes.DCONST_0 && (compare == Opcodes.DCMPL || compare == Opcodes.DCMPG));
    }

    private static boolean isCallable(Member it) {
      return CALLABLE.contains(it.owner())
          && Stream.of(Type.getArgumentTypes(it.descriptor()))
              .allMatch(type -> isPlain(type.getDescriptor()));
    }

    private static boolean isThis(Instruction it) {
      return it.opcode() == Opcodes.ALOAD && it.operand() == 0;
    }

    private boolean isRead(int at) {
      Instruction it = method.instructions.get(at + 1);
      return isThis(method.instructions.get(at))
          && it.opcode() == Opcodes.GETFIELD
          && it.member().name().equals(field.name())
          && it.member().descriptor().equals(field.descriptor());
    }
  }

  /** Finds arrays and collections that a method changes without having created them. */
  private static final class Changes {
    /** Methods whose result aliases an argument; a change through it is found where it is made. */
    private static final Set<String> PASSES =
        Set.of("java/util/stream/Stream.of", "java/util/Arrays.stream", "java/util/Arrays.asList");

    static @Nullable String reason(MethodCode method) {
      for (int i = 0; i < method.instructions.size(); i++) {
        Instruction it = method.instructions.get(i);
        List<Value> operands = method.flow().operands(i);
        if (operands != null && it.setsElement() && !isMade(operands.get(0))) {
          return method.where() + " may change an array";
        } else if (operands != null && (operands.isEmpty() || !isMade(operands.get(0)))) {
          for (Object constant :
              it.opcode() == Opcodes.INVOKEDYNAMIC ? it.arguments() : List.of()) {
            if (constant instanceof Handle handle && changes(handle)) {
              return method.where() + " may change a collection";
            }
          }
        }
        if (operands != null && it.isCall() && JdkCode.isJdk(it.member().owner())) {
          String why = reason(it, operands);
          if (why != null) {
            return method.where() + why;
          }
        }
      }
      return null;
    }

    /** Whether a method reference may change its receiver or an argument. */
    private static boolean changes(Handle handle) {
      String owner = handle.getOwner();
      String name = handle.getName();
      boolean hasContainer =
          Stream.of(Type.getArgumentTypes(handle.getDesc())).anyMatch(Changes::isContainer);
      return handle.getTag() >= Opcodes.H_INVOKEVIRTUAL
          && handle.getTag() != Opcodes.H_NEWINVOKESPECIAL
          && JdkCode.isJdk(owner)
          && !onlyReads(owner, name)
          && !JdkCode.copies(owner, name)
          && (hasContainer
              || (handle.getTag() != Opcodes.H_INVOKESTATIC && JdkCode.isCollection(owner)));
    }

    private static boolean onlyReads(String owner, String name) {
      return JdkCode.onlyReads(owner, name)
          || JdkCode.isOf(JdkCode.ELEMENTS, owner, name)
          || JdkCode.isOf(JdkCode.VIEWS, owner, name)
          || name.equals("entrySet")
          || name.equals("stream")
          || name.equals("forEach");
    }

    private static @Nullable String reason(Instruction it, List<Value> operands) {
      Member called = it.member();
      String owner = called.owner();
      String name = called.name();
      boolean isRead = onlyReads(owner, name);
      int first = it.opcode() == Opcodes.INVOKESTATIC ? 0 : 1;
      if (first == 1 && JdkCode.isCollection(owner) && !isRead && !isMade(operands.get(0))) {
        return " may change a collection";
      } else if (name.equals("arraycopy")) {
        return isMade(operands.get(2)) ? null : " may change an array";
      } else if (isRead
          || JdkCode.copies(owner, name)
          || PASSES.contains(owner + "." + name)
          || (first == 1 && JdkCode.isOf(JdkCode.CHANGES, owner, name))
          || called.equals(PurityAnalyzer.FORMAT)) {
        return null;
      }
      for (int k = first; k < operands.size(); k++) {
        if (isContainer(Type.getArgumentTypes(called.descriptor())[k - first])
            && !isMade(operands.get(k))) {
          return " passes an array or a collection to " + called;
        }
      }
      return null;
    }

    private static boolean isContainer(Type type) {
      String name = type.getDescriptor();
      return name.startsWith("[")
          || (name.startsWith("Ljava/util/") && !name.startsWith("Ljava/util/Locale"))
          || name.equals("Ljava/lang/Iterable;");
    }

    private static boolean isMade(Value value) {
      return value.origins().stream()
          .allMatch(origin -> origin instanceof Made || origin == Plain.NULL);
    }
  }

  /** Tracks the uses of an array or a collection in one method. */
  private final class Uses {
    private final Member field;
    private final boolean deep;
    private final MethodCode method;

    /** Objects created here that other code can reach. */
    private final Set<Made> shown = new HashSet<>();

    /** Contents of each object created here. */
    private final Map<Made, Set<Origin>> contents = new HashMap<>();

    private @Nullable String why;
    private boolean strict;
    private boolean mayTakeFirst;

    Uses(Member field, boolean deep, MethodCode method) {
      this.field = field;
      this.deep = deep;
      this.method = method;
    }

    /** Returns why the method may change or pass on the content, whichever code created it. */
    @Nullable String reasonItIsShown(boolean isQueue) {
      strict = true;
      mayTakeFirst = isQueue;
      reason();
      return why;
    }

    @Nullable String reason() {
      Set<Origin> kept = new HashSet<>();
      for (int i = 0; i < method.instructions.size(); i++) {
        List<Value> operands = method.flow().operands(i);
        if (operands == null || operands.isEmpty()) {
          continue;
        }
        Instruction it = method.instructions.get(i);
        if (it.setsField() && refersTo(it.member(), field)) {
          kept.addAll(operands.get(operands.size() - 1).origins());
          continue;
        }
        for (int k = 0; k < operands.size(); k++) {
          for (Origin origin : operands.get(k).origins()) {
            use(it, operands, k, outer(origin));
          }
        }
      }
      for (Origin origin : kept) {
        if (!strict && origin != Plain.NULL && !isOwn(outer(origin), new HashSet<>())) {
          why = method.where() + " receives from or passes to other code";
        }
      }
      return why;
    }

    /** Treats an element like the whole array or collection. */
    private static Origin outer(Origin origin) {
      return origin instanceof Inside inside ? new Made(inside.at()) : origin;
    }

    private boolean isOwn(Origin origin, Set<Origin> seen) {
      if (!seen.add(origin)) {
        return true;
      }
      return origin instanceof Made made
          && !isShown(made, new HashSet<>())
          && (!deep
              || (!isCall(made)
                  && contents.getOrDefault(made, Set.of()).stream()
                      .allMatch(content -> content == Plain.NULL || isOwn(content, seen))));
    }

    /** Whether other code can reach the object, or a container of it. */
    private boolean isShown(Made made, Set<Made> seen) {
      return shown.contains(made)
          || (seen.add(made)
              && contents.entrySet().stream()
                  .anyMatch(e -> e.getValue().contains(made) && isShown(e.getKey(), seen)));
    }

    /**
     * Whether a call of a JDK method created the object; its elements then come from the arguments.
     */
    private boolean isCall(Made made) {
      return method.instructions.get(made.at()).opcode() <= Opcodes.INVOKEDYNAMIC;
    }

    private void use(Instruction it, List<Value> operands, int index, Origin origin) {
      if (origin instanceof Made made) {
        Role role = role(it, index);
        if (role == Role.PUT
            && operands.get(0).origins().stream().allMatch(into -> outer(into) instanceof Made)) {
          operands.get(0).origins().forEach(into -> put((Made) outer(into), made));
        } else if (role == Role.SHOWN || role == Role.PUT) {
          shown.add(made);
        } else if (role == Role.CHANGED) {
          int first = it.opcode() <= Opcodes.SASTORE ? 2 : 1; // For an array, after the index.
          for (int other = first; other < operands.size(); other++) {
            operands.get(other).origins().forEach(content -> put(made, outer(content)));
          }
        }
      } else if (origin instanceof Kept kept
          && (deep || !kept.element())
          && refersTo(kept.field(), field)) {
        Role role = role(it, index);
        if (role == Role.SHOWN || role == Role.PUT) {
          why = method.where() + " passes to other code";
        } else if (role == Role.CHANGED
            && !(!strict && kept.ofThis() && maySetFields(method, field) && !deep)) {
          why = method.where() + " may change";
        }
      }
    }

    private void put(Made into, Origin content) {
      contents.computeIfAbsent(into, none -> new HashSet<>()).add(content);
    }

    private Role role(Instruction it, int index) {
      int code = it.opcode();
      if (it.setsElement()) {
        return index == 0 ? Role.CHANGED : index == 2 ? Role.PUT : Role.READ;
      } else if (code == Opcodes.PUTFIELD) {
        return index == 0 ? Role.READ : Role.SHOWN;
      } else if (code == Opcodes.PUTSTATIC
          || code == Opcodes.ARETURN
          || code == Opcodes.ATHROW
          || code == Opcodes.INVOKEDYNAMIC) {
        return Role.SHOWN;
      } else if (it.isCall()) {
        boolean receiver = index == 0 && code != Opcodes.INVOKESTATIC;
        return receiver ? asReceiver(it.member()) : asArgument(it.member(), index);
      }
      return Role.READ;
    }

    private Role asReceiver(Member it) {
      String owner = it.owner();
      String name = it.name();
      boolean passesElements =
          JdkCode.isCollection(owner)
              && (name.equals("stream") || name.equals("forEach") || name.equals("toArray"));
      if (mayTakeFirst && JdkCode.takesFirst(it)) {
        return Role.READ;
      } else if (JdkCode.isOf(JdkCode.CHANGES, owner, name)
          || (name.equals("<init>") && JdkCode.isJdk(owner))) {
        return Role.CHANGED;
      }
      return (name.equals("clone")
                  ? !deep && JdkCode.onlyReads(owner, name)
                  : JdkCode.onlyReads(owner, name))
              || JdkCode.isOf(JdkCode.ELEMENTS, owner, name)
              || JdkCode.isOf(JdkCode.VIEWS, owner, name)
              || (passesElements && !deep)
          ? Role.READ
          : Role.SHOWN;
    }

    private Role asArgument(Member it, int index) {
      if (it.owner().equals("java/lang/System") && it.name().equals("arraycopy")) {
        return index == 2 ? Role.CHANGED : deep ? Role.SHOWN : Role.READ;
      }
      if (index == 0 && !deep && JdkCode.changesFirst(it.owner(), it.name())) {
        return Role.CHANGED;
      }
      return (JdkCode.copies(it.owner(), it.name()) && !deep) || known.copies(it.owner(), it.name())
          ? Role.READ
          : Role.SHOWN;
    }
  }

  /** The effect of an instruction on an array or a collection. */
  private enum Role {
    READ,
    CHANGED,
    /** Stored in another array or collection. */
    PUT,
    SHOWN
  }

  /** Whether this is a primitive type or {@code String}, so that its values are immutable. */
  static boolean isPlain(String descriptor) {
    return Type.getType(descriptor).getSort() < Type.ARRAY
        || descriptor.equals("Ljava/lang/String;");
  }
}
