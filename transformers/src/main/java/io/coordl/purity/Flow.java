package io.coordl.purity;

import io.coordl.purity.MethodCode.Handler;
import io.coordl.purity.MethodCode.Instruction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ConstantDynamic;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Finds the origins of a method's values by data-flow analysis to a fixed point. Where paths join,
 * the origins are united.
 */
final class Flow {
  /** Types whose values are immutable and determine their text: strings and boxed primitives. */
  private static final Set<String> SIMPLE_TYPES =
      Set.of(
          "Ljava/lang/String;",
          "Ljava/lang/Integer;",
          "Ljava/lang/Long;",
          "Ljava/lang/Short;",
          "Ljava/lang/Byte;",
          "Ljava/lang/Float;",
          "Ljava/lang/Double;",
          "Ljava/lang/Boolean;",
          "Ljava/lang/Character;");

  /** A value that may be more than this many constants counts as any string. */
  private static final int MAX_LITERALS = 4;

  /** A known origin of a value. */
  sealed interface Origin permits Plain, Literal, Made, Inside, Kept {}

  /** Origins without details. */
  enum Plain implements Origin {
    THIS,
    NULL,
    /** Any value of a type in {@link #SIMPLE_TYPES}. */
    SIMPLE,
    OTHER
  }

  /** A string constant. */
  record Literal(String text) implements Origin {}

  /**
   * An array or object that the method itself created, by the instruction with index {@code at}.
   */
  record Made(int at) implements Origin {}

  /** An element of a {@link Made} array or object, or of one of its elements. */
  record Inside(int at) implements Origin {}

  /**
   * The content of a field.
   *
   * @param field the field, as named by the instruction
   * @param ofThis whether it is a field of {@code this}, or of the class being initialised
   * @param element whether the value is an element of that content
   */
  record Kept(Member field, boolean ofThis, boolean element) implements Origin {}

  /**
   * A value on the stack or in a local variable.
   *
   * @param wide whether the value takes two slots
   */
  record Value(boolean wide, Set<Origin> origins) {
    static final Value OTHER = new Value(false, Set.of(Plain.OTHER));
    static final Value SIMPLE = new Value(false, Set.of(Plain.SIMPLE));
    static final Value LONG = new Value(true, Set.of(Plain.OTHER));

    static Value of(Origin origin) {
      return new Value(false, Set.of(origin));
    }

    static Value of(boolean wide) {
      return wide ? LONG : OTHER;
    }

    static Value ofType(String descriptor) {
      return SIMPLE_TYPES.contains(descriptor)
          ? SIMPLE
          : of(descriptor.equals("J") || descriptor.equals("D"));
    }

    boolean isOnly(Origin origin) {
      return origins.equals(Set.of(origin));
    }

    /** Whether the value is a string, a boxed primitive or null. */
    boolean isSimple() {
      return origins.stream()
          .allMatch(
              origin ->
                  origin == Plain.SIMPLE
                      || origin == Plain.NULL
                      || origin instanceof Literal
                      || (origin instanceof Kept kept
                          && !kept.element()
                          && SIMPLE_TYPES.contains(kept.field().descriptor())));
    }

    Value join(Value other) {
      if (equals(other)) {
        return this;
      }
      Set<Origin> joined =
          Stream.concat(origins.stream(), other.origins.stream())
              .collect(Collectors.toUnmodifiableSet());
      boolean many =
          joined.stream().filter(origin -> origin instanceof Literal).count() > MAX_LITERALS;
      return new Value(
          wide && other.wide,
          many
              ? joined.stream()
                  .map(origin -> origin instanceof Literal ? Plain.SIMPLE : origin)
                  .collect(Collectors.toUnmodifiableSet())
              : joined);
    }
  }

  /** Locals and stack before an instruction. */
  private record State(List<@Nullable Value> locals, List<Value> stack) {
    State join(State other) {
      if (stack.size() != other.stack.size()) {
        throw new IllegalStateException("a class file that no compiler generates");
      }
      List<@Nullable Value> joined = new ArrayList<>();
      for (int i = 0; i < Math.min(locals.size(), other.locals.size()); i++) {
        Value one = locals.get(i);
        Value two = other.locals.get(i);
        // A slot that only one path sets is not read before it is set again.
        joined.add(one == null || two == null ? null : one.join(two));
      }
      List<Value> values = new ArrayList<>();
      for (int i = 0; i < stack.size(); i++) {
        values.add(stack.get(i).join(other.stack.get(i)));
      }
      return new State(joined, values);
    }
  }

  private final MethodCode method;
  private final @Nullable State[] before;
  private final Deque<Integer> pending = new ArrayDeque<>();

  Flow(MethodCode method) {
    this.method = method;
    before = new State[method.instructions.size() + 1];
    List<@Nullable Value> locals = new ArrayList<>();
    if (!method.isStatic()) {
      locals.add(Value.of(Plain.THIS));
    }
    for (Type argument : Type.getArgumentTypes(method.descriptor)) {
      String type = argument.getDescriptor();
      locals.add(Value.ofType(type));
      if (argument.getSize() == 2) {
        locals.add(null);
      }
    }
    if (!method.instructions.isEmpty()) {
      reach(0, new State(locals, List.of()));
    }
    while (!pending.isEmpty()) {
      int at = pending.pop();
      run(at, Objects.requireNonNull(before[at]));
    }
  }

  /** Returns the operands of an instruction in the order pushed; null if it is unreachable. */
  @Nullable List<Value> operands(int at) {
    State state = before[at];
    return state == null ? null : new Step(method, at, state).operands();
  }

  private void reach(int at, State state) {
    State known = before[at];
    State joined = known == null ? state : known.join(state);
    if (!joined.equals(known)) {
      before[at] = joined;
      pending.add(at);
    }
  }

  private void run(int at, State state) {
    reachHandlers(at, state);
    Instruction instruction = method.instructions.get(at);
    Step step = new Step(method, at, state);
    step.execute();
    State after = new State(step.locals, step.stack);
    instruction.targets().forEach(target -> reach(place(target), after));
    if (!ends(instruction.opcode())) {
      reach(at + 1, after);
      if (instruction.opcode() >= Opcodes.ISTORE && instruction.opcode() <= Opcodes.ASTORE) {
        reachHandlers(at, after);
      }
    }
  }

  private void reachHandlers(int at, State state) {
    for (Handler handler : method.handlers) {
      if (place(handler.start()) <= at && at < place(handler.end())) {
        reach(place(handler.handler()), new State(state.locals(), List.of(Value.OTHER)));
      }
    }
  }

  private int place(Label label) {
    return Objects.requireNonNull(method.places.get(label));
  }

  private static boolean ends(int opcode) {
    return opcode == Opcodes.GOTO
        || opcode == Opcodes.ATHROW
        || opcode == Opcodes.LOOKUPSWITCH
        || (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN);
  }

  /** The effect of one instruction on locals and stack. */
  private static final class Step {
    /** Loads, constants and conversions whose result takes two slots; ascending. */
    private static final int[] WIDE = {
      Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1,
      Opcodes.LLOAD, Opcodes.DLOAD, Opcodes.LALOAD, Opcodes.DALOAD,
      Opcodes.I2L, Opcodes.I2D, Opcodes.L2D, Opcodes.F2L,
      Opcodes.F2D, Opcodes.D2L
    };

    private final Instruction it;
    private final MethodCode method;
    private final int at;
    private final List<@Nullable Value> locals;
    private final List<Value> stack;
    private final List<Value> popped = new ArrayList<>();

    Step(MethodCode method, int at, State state) {
      this.method = method;
      it = method.instructions.get(at);
      this.at = at;
      locals = new ArrayList<>(state.locals());
      stack = new ArrayList<>(state.stack());
    }

    List<Value> operands() {
      execute();
      return popped;
    }

    private Value pop() {
      Value value = stack.remove(stack.size() - 1);
      popped.add(0, value);
      return value;
    }

    private void pop(int count) {
      for (int i = 0; i < count; i++) {
        pop();
      }
    }

    private void push(Value value) {
      stack.add(value);
    }

    private void push(String descriptor) {
      if (!descriptor.equals("V")) {
        push(Value.ofType(descriptor));
      }
    }

    void execute() {
      int code = it.opcode();
      boolean wide = Arrays.binarySearch(WIDE, code) >= 0;
      if (code == Opcodes.NOP || code == Opcodes.IINC || code == Opcodes.GOTO) {
        return;
      } else if (code == Opcodes.ACONST_NULL) {
        push(Value.of(Plain.NULL));
      } else if (code <= Opcodes.SIPUSH) {
        push(Value.of(wide));
      } else if (code == Opcodes.LDC) {
        Object constant = it.arguments().get(0);
        boolean two =
            constant instanceof Long
                || constant instanceof Double
                || (constant instanceof ConstantDynamic made && made.getSize() == 2);
        push(constant instanceof String text ? Value.of(new Literal(text)) : Value.of(two));
      } else if (code <= Opcodes.ALOAD) {
        push(Objects.requireNonNullElse(locals.get(it.operand()), Value.of(wide)));
      } else if (code <= Opcodes.SALOAD) {
        pop(2);
        push(code == Opcodes.AALOAD ? element(popped.get(0)) : Value.of(wide));
      } else if (code <= Opcodes.ASTORE) {
        store(it.operand(), pop());
      } else if (code <= Opcodes.SASTORE) {
        pop(3);
      } else if (code <= Opcodes.SWAP) {
        rearrange(code);
      } else if (code <= Opcodes.LXOR) {
        boolean unary = code >= Opcodes.INEG && code <= Opcodes.DNEG;
        pop(unary ? 1 : 2);
        push(Value.of(popped.get(0).wide()));
      } else if (code <= Opcodes.I2S) {
        pop();
        push(Value.of(wide));
      } else if (code <= Opcodes.DCMPG) {
        pop(2);
        push(Value.OTHER);
      } else {
        executeRest(code);
      }
    }

    private void executeRest(int code) {
      if (code >= Opcodes.IF_ICMPEQ && code <= Opcodes.IF_ACMPNE) {
        pop(2);
      } else if (code <= Opcodes.IFLE
          || code >= Opcodes.IFNULL
          || (code >= Opcodes.LOOKUPSWITCH && code <= Opcodes.ARETURN)) {
        pop();
      } else if (code >= Opcodes.INVOKEVIRTUAL && code <= Opcodes.INVOKEDYNAMIC) {
        call(code);
      } else {
        executeMemory(code);
      }
    }

    private void executeMemory(int code) {
      switch (code) {
        case Opcodes.RETURN -> {}
        case Opcodes.PUTSTATIC, Opcodes.ATHROW, Opcodes.MONITORENTER, Opcodes.MONITOREXIT -> pop();
        case Opcodes.GETSTATIC ->
            push(kept(method.name.equals("<clinit>") && it.member().owner().equals(method.owner)));
        case Opcodes.GETFIELD -> {
          pop();
          push(kept(popped.get(0).isOnly(Plain.THIS)));
        }
        case Opcodes.PUTFIELD -> pop(2);
        case Opcodes.NEW, Opcodes.NEWARRAY, Opcodes.ANEWARRAY, Opcodes.MULTIANEWARRAY -> {
          pop(code == Opcodes.NEW ? 0 : code == Opcodes.MULTIANEWARRAY ? it.operand() : 1);
          push(Value.of(new Made(at)));
        }
        case Opcodes.ARRAYLENGTH, Opcodes.INSTANCEOF -> {
          pop();
          push(Value.OTHER);
        }
        case Opcodes.CHECKCAST -> {
          Value cast = pop();
          push(SIMPLE_TYPES.contains("L" + it.member().owner() + ";") ? Value.SIMPLE : cast);
        }
        default -> throw new IllegalStateException("an instruction that no compiler generates");
      }
    }

    private Value kept(boolean ofThis) {
      String type = it.member().descriptor();
      return type.length() > 1
          ? Value.of(new Kept(it.member(), ofThis, false))
          : Value.ofType(type);
    }

    private void call(int code) {
      String owner = it.member().owner();
      String name = it.member().name();
      Type type = Type.getMethodType(it.member().descriptor());
      pop(type.getArgumentTypes().length);
      boolean dynamic = code == Opcodes.INVOKEDYNAMIC;
      if (code != Opcodes.INVOKESTATIC && !dynamic) {
        pop();
      }
      String result = type.getReturnType().getDescriptor();
      if (dynamic || result.length() == 1) {
        push(result);
      } else if (JdkCode.makes(owner, name) || collects(owner, name)) {
        push(Value.of(new Made(at)));
      } else if (code != Opcodes.INVOKESTATIC && JdkCode.isOf(JdkCode.VIEWS, owner, name)) {
        push(popped.get(0));
      } else if (code != Opcodes.INVOKESTATIC && JdkCode.isOf(JdkCode.ELEMENTS, owner, name)) {
        push(element(popped.get(0)));
      } else {
        push(result);
      }
    }

    /** Whether the call collects a stream into a new collection. */
    private boolean collects(String owner, String name) {
      return owner.equals("java/util/stream/Stream")
          && name.equals("collect")
          && popped.size() == 2
          && popped.get(1).origins().stream()
              .allMatch(
                  origin ->
                      origin instanceof Made made
                          && method
                              .instructions
                              .get(made.at())
                              .member()
                              .owner()
                              .equals("java/util/stream/Collectors"));
    }

    private static Value element(Value container) {
      Set<Origin> origins =
          container.origins().stream()
              .map(
                  origin ->
                      origin instanceof Kept kept
                          ? new Kept(kept.field(), kept.ofThis(), true)
                          : origin instanceof Made made
                              ? new Inside(made.at())
                              : origin instanceof Inside ? origin : Plain.OTHER)
              .collect(Collectors.toUnmodifiableSet());
      return new Value(false, origins);
    }

    private void store(int slot, Value value) {
      while (locals.size() < slot + 2) {
        locals.add(null);
      }
      locals.set(slot, value);
      if (value.wide()) {
        locals.set(slot + 1, null);
      }
      Value previous = slot > 0 ? locals.get(slot - 1) : null;
      if (previous != null && previous.wide()) {
        locals.set(slot - 1, null);
      }
    }

    /** Pops, duplicates or swaps. Values left on the stack count as operands, too. */
    private void rearrange(int code) {
      if (code == Opcodes.SWAP) {
        List<Value> top = popSlots(1);
        List<Value> below = popSlots(1);
        stack.addAll(top);
        stack.addAll(below);
      } else if (code < Opcodes.DUP) {
        popSlots(code == Opcodes.POP ? 1 : 2);
      } else {
        List<Value> top = popSlots(code < Opcodes.DUP2 ? 1 : 2);
        List<Value> below = popSlots((code - Opcodes.DUP) % 3); // DUP, DUP_X1, DUP_X2, DUP2, ...
        stack.addAll(top);
        stack.addAll(below);
        stack.addAll(top);
      }
    }

    /** Pops the values in {@code slots} slots and returns them in the order pushed. */
    private List<Value> popSlots(int slots) {
      List<Value> values = new ArrayList<>();
      for (int left = slots; left > 0; ) {
        Value value = pop();
        values.add(0, value);
        left -= value.wide() ? 2 : 1;
      }
      return values;
    }
  }
}
