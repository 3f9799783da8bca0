package io.coordl.purity;

import io.coordl.purity.MethodCode.Instruction;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.Interpreter;

/**
 * Where the values of one method come from: ASM's data flow over its instructions, with the union
 * of what paths bring together.
 */
final class Flow extends Interpreter<Flow.Value> {
  /** What is known of where a value comes from. */
  sealed interface Origin permits Plain, Made, Kept {}

  /** Origins without a place. */
  enum Plain implements Origin {
    THIS,
    NULL,
    OTHER
  }

  /** An array or object that the method made itself, by that instruction. */
  record Made(AbstractInsnNode at) implements Origin {}

  /**
   * What a field keeps.
   *
   * @param owner as the instruction names it
   * @param ofThis whether it is a field of {@code this}, or of the class that initialises itself
   * @param element whether it is an element of that
   */
  record Kept(String owner, String field, String descriptor, boolean ofThis, boolean element)
      implements Origin {}

  /**
   * @param wide whether it takes two slots
   * @param item whether it follows from which item of the data set is asked for
   */
  record Value(boolean wide, boolean item, Set<Origin> origins)
      implements org.objectweb.asm.tree.analysis.Value {
    static final Value OTHER = new Value(false, false, Set.of(Plain.OTHER));

    /** Of a slot that only some paths have set: it is not read before it is set anew. */
    static final Value UNSET = new Value(false, false, Set.of());

    static Value of(Origin origin) {
      return new Value(false, false, Set.of(origin));
    }

    static Value ofSize(int slots, boolean item) {
      return new Value(slots == 2, item, OTHER.origins);
    }

    @Override
    public int getSize() {
      return wide ? 2 : 1;
    }

    boolean isUnset() {
      return origins.isEmpty();
    }

    boolean isOnly(Origin origin) {
      return origins.equals(Set.of(origin));
    }

    Value join(Value other) {
      if (equals(other)) {
        return this;
      } else if (isUnset() || other.isUnset()) {
        return UNSET;
      }
      return new Value(
          wide && other.wide,
          item && other.item,
          Stream.concat(origins.stream(), other.origins.stream())
              .collect(Collectors.toUnmodifiableSet()));
    }
  }

  /** Knows of each instruction how many slots its result takes. */
  private static final BasicInterpreter BASIC = new BasicInterpreter();

  private final MethodCode method;
  private final IdentityHashMap<AbstractInsnNode, List<Value>> operands = new IdentityHashMap<>();

  /** Flows through a method; which of its arguments says the item is told by its signature. */
  Flow(MethodCode method, MethodNode node) {
    super(Opcodes.ASM9);
    this.method = method;
    Analyzer<Value> analyzer =
        new Analyzer<>(this) {
          @Override
          protected Frame<Value> newFrame(int locals, int stack) {
            return new Held(locals, stack);
          }

          @Override
          protected Frame<Value> newFrame(Frame<? extends Value> frame) {
            return new Held(frame);
          }
        };
    try {
      analyzer.analyze(method.owner, node);
    } catch (AnalyzerException e) {
      throw new IllegalStateException("a class file that no compiler makes", e);
    }
  }

  /**
   * What an instruction takes, the first pushed first; null if it is never reached, takes nothing
   * or only moves values.
   */
  @Nullable List<Value> operands(Instruction instruction) {
    return operands.get(instruction.node());
  }

  /** What a thread holds. */
  private static final class Held extends Frame<Value> {
    Held(int locals, int stack) {
      super(locals, stack);
    }

    Held(Frame<? extends Value> other) {
      super(other);
    }

    @Override
    public void execute(AbstractInsnNode instruction, Interpreter<Value> flow)
        throws AnalyzerException {
      super.execute(instruction, flow);
      if (instruction instanceof MethodInsnNode call && call.name.equals("<init>")) {
        List<Value> taken = ((Flow) flow).operands.getOrDefault(call, List.of());
        if (taken.stream().anyMatch(Value::item) && JdkCode.keepsItem(call.owner)) {
          follow(taken.get(0));
        }
      }
    }

    /** An object was made from the item: so says every copy of it. */
    private void follow(Value made) {
      Value marked = new Value(false, true, made.origins());
      for (int i = 0; i < getLocals(); i++) {
        if (getLocal(i).origins().equals(made.origins())) {
          setLocal(i, marked);
        }
      }
      for (int i = 0; i < getStackSize(); i++) {
        if (getStack(i).origins().equals(made.origins())) {
          setStack(i, marked);
        }
      }
    }
  }

  @Override
  public @Nullable Value newValue(@Nullable Type type) {
    if (type == null) {
      return Value.UNSET;
    }
    return type.getSort() == Type.VOID ? null : Value.ofSize(type.getSize(), false);
  }

  @Override
  public Value newParameterValue(boolean ofObject, int local, Type type) {
    return ofObject && local == 0
        ? Value.of(Plain.THIS)
        : Value.ofSize(type.getSize(), method.getsItem && type.getSort() == Type.LONG);
  }

  @Override
  public Value newExceptionValue(
      TryCatchBlockNode block, Frame<Value> handler, Type exceptionType) {
    return Value.OTHER;
  }

  private static Value like(@Nullable BasicValue basic, boolean item) {
    return Value.ofSize(basic == null ? 1 : basic.getSize(), item); // Null: there is no result.
  }

  private static boolean hasItem(List<? extends Value> taken) {
    return taken.stream().anyMatch(Value::item);
  }

  @Override
  public Value newOperation(AbstractInsnNode instruction) throws AnalyzerException {
    operands.put(instruction, List.of());
    return switch (instruction.getOpcode()) {
      case Opcodes.ACONST_NULL -> Value.of(Plain.NULL);
      case Opcodes.NEW -> Value.of(new Made(instruction));
      case Opcodes.GETSTATIC -> {
        FieldInsnNode field = (FieldInsnNode) instruction;
        yield kept(field, method.name.equals("<clinit>") && field.owner.equals(method.owner));
      }
      default -> like(BASIC.newOperation(instruction), false);
    };
  }

  private static Value kept(FieldInsnNode field, boolean ofThis) {
    Type type = Type.getType(field.desc);
    return type.getSort() >= Type.ARRAY
        ? Value.of(new Kept(field.owner, field.name, field.desc, ofThis, false))
        : Value.ofSize(type.getSize(), false);
  }

  @Override
  public Value copyOperation(AbstractInsnNode instruction, Value value) {
    int code = instruction.getOpcode();
    boolean wide = code == Opcodes.LLOAD || code == Opcodes.DLOAD;
    return value.isUnset() ? Value.ofSize(wide ? 2 : 1, false) : value;
  }

  @Override
  public Value unaryOperation(AbstractInsnNode instruction, Value value) throws AnalyzerException {
    operands.put(instruction, List.of(value));
    return switch (instruction.getOpcode()) {
      case Opcodes.IINC, Opcodes.CHECKCAST -> value;
      case Opcodes.GETFIELD -> kept((FieldInsnNode) instruction, value.isOnly(Plain.THIS));
      case Opcodes.NEWARRAY, Opcodes.ANEWARRAY -> Value.of(new Made(instruction));
      case Opcodes.ARRAYLENGTH, Opcodes.INSTANCEOF -> Value.OTHER;
      default -> like(BASIC.unaryOperation(instruction, null), value.item());
    };
  }

  @Override
  public Value binaryOperation(AbstractInsnNode instruction, Value first, Value second)
      throws AnalyzerException {
    List<Value> taken = List.of(first, second);
    operands.put(instruction, taken);
    int code = instruction.getOpcode();
    if (code == Opcodes.AALOAD) {
      return element(first, hasItem(taken));
    }
    boolean compares = code >= Opcodes.LCMP && code <= Opcodes.DCMPG;
    return like(BASIC.binaryOperation(instruction, null, null), !compares && hasItem(taken));
  }

  @Override
  public @Nullable Value ternaryOperation(
      AbstractInsnNode instruction, Value array, Value index, Value value) {
    operands.put(instruction, List.of(array, index, value));
    return null;
  }

  @Override
  public Value naryOperation(AbstractInsnNode instruction, List<? extends Value> taken) {
    operands.put(instruction, List.copyOf(taken));
    if (instruction instanceof InvokeDynamicInsnNode site) {
      return Value.ofSize(Type.getReturnType(site.desc).getSize(), hasItem(taken));
    } else if (!(instruction instanceof MethodInsnNode call)) {
      return Value.of(new Made(instruction)); // An array of several dimensions.
    } else {
      Type result = Type.getReturnType(call.desc);
      boolean item = hasItem(taken) && JdkCode.keepsItem(call.owner);
      boolean ofObject = call.getOpcode() != Opcodes.INVOKESTATIC;
      if (result.getSort() >= Type.ARRAY && JdkCode.makes(call.owner, call.name)) {
        return Value.of(new Made(call));
      } else if (result.getSort() >= Type.ARRAY && ofObject) {
        if (JdkCode.isView(call.owner, call.name)) {
          return taken.get(0);
        } else if (JdkCode.isElement(call.owner, call.name)) {
          return element(taken.get(0), item);
        }
      }
      return Value.ofSize(result.getSize(), item);
    }
  }

  private static Value element(Value container, boolean item) {
    Set<Origin> origins =
        container.origins().stream()
            .map(
                origin ->
                    origin instanceof Kept kept
                        ? new Kept(
                            kept.owner(), kept.field(), kept.descriptor(), kept.ofThis(), true)
                        : origin instanceof Made made ? made : Plain.OTHER)
            .collect(Collectors.toUnmodifiableSet());
    return new Value(false, item, origins);
  }

  @Override
  public void returnOperation(AbstractInsnNode instruction, Value value, Value expected) {
    // It has been told of as an operation of one operand.
  }

  @Override
  public Value merge(Value one, Value other) {
    return one.join(other);
  }
}
