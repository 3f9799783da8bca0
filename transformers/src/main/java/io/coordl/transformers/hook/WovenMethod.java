package io.coordl.transformers.hook;

import io.coordl.transformers.classfile.ClassFile;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Surrounds the body of a method with calls of the bridge:
 *
 * <pre>
 *   try { state = enter } catch (Throwable) { state = nothing }
 *   try { body, where each return is: result = ..; goto done } catch (Throwable t) {
 *     try { thrown } catch (Throwable) {}
 *     throw t
 *   }
 *   done: try { left } catch (Throwable) {}
 *   return result
 * </pre>
 *
 * <p>Hand-written, because Byte Buddy's advice costs a job 0.8 s of CPU before its first batch: it
 * loads 700 classes and looks up every supertype as a resource. Apart from its returns, the body
 * stays unchanged. State and result follow the body's locals, so no variable moves. The state is
 * appended to the body's stack map frames; nothing is recomputed. The handler's frame declares only
 * the state, so it is valid whatever the body did to its parameters.
 *
 * <p>No exception of the bridge reaches the program, not even a stack overflow while calling it.
 * Class files of Java 5 have no frames; the JVM ignores those that this class adds.
 */
abstract class WovenMethod extends OperandStack {
  static final String BRIDGE = "io/coordl/bridge/Bridge";
  private static final String THROWABLE = "java/lang/Throwable";
  private static final Object[] EMPTY = {};
  private static final Object[] JUST_A_THROWABLE = {THROWABLE};

  /** Upper bound of the operand stack that the added code needs. */
  private static final int STACK = 16;

  /** Slots of the added local variables: the state, then the result or the exception. */
  static final int SLOTS = 4;

  final ClassFile.Method target;
  final Type result;
  final int stateSlot;
  private final Type state;
  private final int resultSlot;
  private final Label body = new Label();
  private final Label done = new Label();
  private boolean returns;

  /**
   * @param first first local variable that the method does not use
   * @param state type of the value to keep while the body runs; void if none
   */
  WovenMethod(MethodVisitor next, ClassFile.Method target, int first, Type state) {
    super(next);
    this.target = target;
    this.result = Type.getReturnType(target.descriptor());
    this.stateSlot = first;
    this.state = state;
    this.resultSlot = first + state.getSize();
  }

  /**
   * Emits the code before the body, which sets the state; called only if there is a state.
   *
   * @param body label to jump to at the end, unless the body is skipped
   */
  void enter(Label body) {}

  /**
   * Emits the code that runs when the body has thrown; called only if there is a state.
   *
   * @param end label to jump to at the end
   */
  void thrown(Label end) {}

  /**
   * Emits the code that runs when the body has returned.
   *
   * @param end label to jump to at the end
   * @return label at which the exception on the stack is thrown into the program; null if there is
   *     none
   */
  abstract @Nullable Label left(Label end);

  @Override
  public final void visitCode() {
    mv.visitCode();
    if (state.getSort() == Type.VOID) {
      return;
    }
    Object[] parameters = parameters();
    Suppressed beginning = new Suppressed(body);
    enter(body);
    beginning.failed(parameters);
    clear(state, stateSlot);
    beginning.end(with(parameters, parameters.length, state));
    // The body may begin with a frame, and two frames cannot have the same offset.
    mv.visitInsn(Opcodes.NOP);
  }

  /** Emits a jump past the body. */
  final void skipBody() {
    returns = true;
    clear(result, resultSlot);
    mv.visitJumpInsn(Opcodes.GOTO, done);
  }

  @Override
  public final void visitInsn(int opcode) {
    if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
      returns = true;
      storeResult();
      discard(result);
      mv.visitJumpInsn(Opcodes.GOTO, done);
    } else {
      super.visitInsn(opcode);
    }
  }

  @Override
  public final void visitFrame(
      int type, int localCount, Object[] locals, int stackCount, Object[] stack) {
    stack(stackCount, stack);
    Object[] more = with(locals, localCount, state);
    mv.visitFrame(type, more.length, more, stackCount, stack);
  }

  @Override
  public final void visitMaxs(int stack, int locals) {
    if (state.getSort() != Type.VOID) {
      rethrow();
    }
    if (returns) {
      returnResult();
    }
    mv.visitMaxs(Math.max(stack, STACK), Math.max(locals, stateSlot + SLOTS));
  }

  private void rethrow() {
    Label failed = new Label();
    mv.visitTryCatchBlock(body, failed, failed, THROWABLE);
    mv.visitLabel(failed);
    frame(with(EMPTY, 0, state), JUST_A_THROWABLE);
    mv.visitVarInsn(Opcodes.ASTORE, resultSlot);
    Object[] locals = with(EMPTY, 0, state, Type.getObjectType(THROWABLE));
    Suppressed reporting = new Suppressed(new Label());
    thrown(reporting.end);
    reporting.failed(locals);
    reporting.end(locals);
    mv.visitVarInsn(Opcodes.ALOAD, resultSlot);
    mv.visitInsn(Opcodes.ATHROW);
  }

  private void returnResult() {
    Object[] locals = with(EMPTY, 0, state, result);
    mv.visitLabel(done);
    frame(locals, EMPTY);
    Suppressed leaving = new Suppressed(new Label());
    Label raise = left(leaving.end);
    leaving.failed(locals);
    leaving.end(locals);
    loadResult();
    mv.visitInsn(result.getOpcode(Opcodes.IRETURN));
    if (raise != null) {
      mv.visitLabel(raise);
      frame(locals, JUST_A_THROWABLE);
      mv.visitInsn(Opcodes.ATHROW);
    }
  }

  /**
   * Code whose exceptions are swallowed: create this before the code, then call {@link #failed}.
   */
  private final class Suppressed {
    final Label end;
    private final Label failed = new Label();

    Suppressed(Label end) {
      this.end = end;
      Label start = new Label();
      mv.visitTryCatchBlock(start, failed, failed, THROWABLE);
      mv.visitLabel(start);
    }

    /**
     * Call after the code, which must end with a jump. What is emitted next runs only if the code
     * threw.
     */
    void failed(Object[] locals) {
      mv.visitLabel(failed);
      frame(locals, JUST_A_THROWABLE);
      mv.visitInsn(Opcodes.POP);
    }

    /** Joins both paths. */
    void end(Object[] locals) {
      mv.visitLabel(end);
      frame(locals, EMPTY);
    }
  }

  /** Stores zero or null. */
  private void clear(Type type, int slot) {
    if (type.getSort() == Type.VOID) {
      return;
    }
    mv.visitInsn(
        switch (type.getSort()) {
          case Type.BOOLEAN, Type.CHAR, Type.BYTE, Type.SHORT, Type.INT -> Opcodes.ICONST_0;
          case Type.FLOAT -> Opcodes.FCONST_0;
          case Type.LONG -> Opcodes.LCONST_0;
          case Type.DOUBLE -> Opcodes.DCONST_0;
          default -> Opcodes.ACONST_NULL;
        });
    mv.visitVarInsn(type.getOpcode(Opcodes.ISTORE), slot);
  }

  final void storeResult() {
    if (result.getSort() != Type.VOID) {
      mv.visitVarInsn(result.getOpcode(Opcodes.ISTORE), resultSlot);
    }
  }

  /** Loads the result for the program; nothing for a void method. */
  final void loadResult() {
    if (result.getSort() != Type.VOID) {
      mv.visitVarInsn(result.getOpcode(Opcodes.ILOAD), resultSlot);
    }
  }

  /** Loads the exception; only in {@link #thrown}. */
  final void loadThrown() {
    mv.visitVarInsn(Opcodes.ALOAD, resultSlot);
  }

  /** Loads the result as an object: boxed if primitive, null for a void method. */
  final void loadResultAsObject() {
    if (result.getSort() == Type.VOID) {
      mv.visitInsn(Opcodes.ACONST_NULL);
    } else {
      loadResult();
      Boxes.box(mv, result);
    }
  }

  final void callBridge(String owner, String name, String descriptor) {
    mv.visitMethodInsn(Opcodes.INVOKESTATIC, owner, name, descriptor, false);
  }

  private void frame(Object[] locals, Object[] stack) {
    mv.visitFrame(Opcodes.F_NEW, locals.length, locals, stack.length, stack);
  }

  /** Types of the locals at the start of the method. */
  private Object[] parameters() {
    Type[] types = Type.getArgumentTypes(target.descriptor());
    int self = target.isStatic() ? 0 : 1;
    Object[] locals = new Object[self + types.length];
    if (self == 1) {
      locals[0] = target.owner();
    }
    for (int i = 0; i < types.length; i++) {
      locals[self + i] = frameType(types[i]);
    }
    return locals;
  }

  /** The method's locals, the unused slots after them, and the added locals, except void ones. */
  private Object[] with(Object[] locals, int count, Type... ours) {
    List<Object> all = new ArrayList<>();
    int slots = 0;
    for (int i = 0; i < count; i++) {
      all.add(locals[i]);
      slots += sizeOf(locals[i]);
    }
    if (slots > stateSlot) {
      throw new IllegalStateException(target + " has more locals than it declares");
    }
    for (; slots < stateSlot; slots++) {
      all.add(Opcodes.TOP);
    }
    for (Type local : ours) {
      if (local.getSort() != Type.VOID) {
        all.add(frameType(local));
      }
    }
    return all.toArray();
  }

  private static int sizeOf(Object frameType) {
    return frameType.equals(Opcodes.LONG) || frameType.equals(Opcodes.DOUBLE) ? 2 : 1;
  }

  private static Object frameType(Type type) {
    return switch (type.getSort()) {
      case Type.BOOLEAN, Type.CHAR, Type.BYTE, Type.SHORT, Type.INT -> Opcodes.INTEGER;
      case Type.FLOAT -> Opcodes.FLOAT;
      case Type.LONG -> Opcodes.LONG;
      case Type.DOUBLE -> Opcodes.DOUBLE;
      default -> type.getInternalName();
    };
  }
}
