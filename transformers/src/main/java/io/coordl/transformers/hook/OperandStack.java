package io.coordl.transformers.hook;

import java.util.HashMap;
import java.util.Map;
import net.bytebuddy.jar.asm.ConstantDynamic;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the slots on a method's operand stack. Kotlin returns from within expressions: a return
 * discards the operands below its result, but the jump that replaces it does not.
 *
 * <p>After a label, frames give the stack; without frames (Java 5), the jumps to the label do.
 */
abstract class OperandStack extends MethodVisitor {
  private static final String ONE = "x";

  /** A long or a double, whose two slots can only be popped together. */
  private static final String TWO = "Ll";

  private final Map<Label, String> targets = new HashMap<>();

  /** Null where unknown, as in unreachable code. */
  private @Nullable String operands = "";

  OperandStack(MethodVisitor next) {
    super(Opcodes.ASM9, next);
  }

  /** Emits pops of all operands; the method's result is already stored. */
  final void discard(Type result) {
    pop(result.getSize());
    String left = operands == null ? "" : operands;
    for (int slots = left.length(); slots > 0; ) {
      boolean two = left.charAt(slots - 1) == 'l';
      mv.visitInsn(two ? Opcodes.POP2 : Opcodes.POP);
      slots -= two ? 2 : 1;
    }
    operands = null;
  }

  /** Sets the operands from a frame. */
  final void stack(int count, Object[] stack) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < count; i++) {
      boolean two = stack[i].equals(Opcodes.LONG) || stack[i].equals(Opcodes.DOUBLE);
      all.append(two ? TWO : ONE);
    }
    operands = all.toString();
  }

  private static String slots(int size) {
    return size == 0 ? "" : size == 1 ? ONE : TWO;
  }

  private void pop(int slots) {
    if (operands != null) {
      int left = operands.length() - slots;
      operands = left < 0 ? null : operands.substring(0, left);
    }
  }

  private void push(int size) {
    if (operands != null) {
      operands += slots(size);
    }
  }

  /** Copies the top {@code upper} slots to below the next {@code below} slots. */
  private void copy(int upper, int below) {
    String now = operands;
    if (now != null) {
      int at = now.length() - upper - below;
      operands =
          at < 0
              ? null
              : now.substring(0, at) + now.substring(now.length() - upper) + now.substring(at);
    }
  }

  private void leadsTo(Label target) {
    if (operands != null) {
      targets.putIfAbsent(target, operands);
    }
  }

  @Override
  public void visitInsn(int opcode) {
    mv.visitInsn(opcode);
    if (opcode >= Opcodes.ACONST_NULL && opcode <= Opcodes.DCONST_1) {
      boolean two =
          opcode == Opcodes.LCONST_0 || opcode == Opcodes.LCONST_1 || opcode >= Opcodes.DCONST_0;
      push(two ? 2 : 1);
    } else if (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD) {
      pop(2);
      push(opcode == Opcodes.LALOAD || opcode == Opcodes.DALOAD ? 2 : 1);
    } else if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) {
      pop(opcode == Opcodes.LASTORE || opcode == Opcodes.DASTORE ? 4 : 3);
    } else if (opcode >= Opcodes.IADD && opcode <= Opcodes.DREM) {
      pop(1 + (opcode & 1)); // Order: int, long, float, double, repeated.
    } else if (opcode >= Opcodes.ISHL && opcode <= Opcodes.LUSHR) {
      pop(1);
    } else if (opcode >= Opcodes.IAND && opcode <= Opcodes.LXOR) {
      pop(1 + (opcode & 1));
    } else {
      others(opcode);
    }
  }

  private void others(int opcode) {
    switch (opcode) {
      case Opcodes.POP, Opcodes.MONITORENTER, Opcodes.MONITOREXIT -> pop(1);
      case Opcodes.POP2 -> pop(2);
      case Opcodes.DUP -> copy(1, 0);
      case Opcodes.DUP_X1 -> copy(1, 1);
      case Opcodes.DUP_X2 -> copy(1, 2);
      case Opcodes.DUP2 -> copy(2, 0);
      case Opcodes.DUP2_X1 -> copy(2, 1);
      case Opcodes.DUP2_X2 -> copy(2, 2);
      case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> convert(1, 2);
      case Opcodes.L2I, Opcodes.L2F, Opcodes.D2I, Opcodes.D2F -> convert(2, 1);
      case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> convert(4, 1);
      case Opcodes.FCMPL, Opcodes.FCMPG -> convert(2, 1);
      case Opcodes.SWAP -> {
        // Both operands take one slot.
      }
      case Opcodes.ATHROW -> operands = null;
      default -> {} // The slots stay the same.
    }
  }

  private void convert(int from, int to) {
    pop(from);
    push(to);
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    mv.visitIntInsn(opcode, operand);
    push(opcode == Opcodes.NEWARRAY ? 0 : 1);
  }

  @Override
  public void visitVarInsn(int opcode, int variable) {
    mv.visitVarInsn(opcode, variable);
    switch (opcode) {
      case Opcodes.LLOAD, Opcodes.DLOAD -> push(2);
      case Opcodes.ILOAD, Opcodes.FLOAD, Opcodes.ALOAD -> push(1);
      case Opcodes.LSTORE, Opcodes.DSTORE -> pop(2);
      case Opcodes.ISTORE, Opcodes.FSTORE, Opcodes.ASTORE -> pop(1);
      default -> operands = null;
    }
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    mv.visitTypeInsn(opcode, type);
    push(opcode == Opcodes.NEW ? 1 : 0);
  }

  @Override
  public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
    mv.visitFieldInsn(opcode, owner, name, descriptor);
    int size = Type.getType(descriptor).getSize();
    switch (opcode) {
      case Opcodes.GETSTATIC -> push(size);
      case Opcodes.GETFIELD -> convert(1, size);
      case Opcodes.PUTSTATIC -> pop(size);
      default -> pop(size + 1);
    }
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    mv.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    call(descriptor, opcode == Opcodes.INVOKESTATIC ? 1 : 0);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String descriptor, Handle bootstrap, Object... arguments) {
    mv.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    call(descriptor, 1);
  }

  private void call(String descriptor, int noReceiver) {
    int sizes = Type.getArgumentsAndReturnSizes(descriptor); // Includes the receiver.
    convert((sizes >> 2) - noReceiver, sizes & 3);
  }

  @Override
  public void visitJumpInsn(int opcode, Label target) {
    mv.visitJumpInsn(opcode, target);
    if (opcode == Opcodes.JSR) {
      operands = null;
      return;
    }
    boolean two = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
    pop(opcode == Opcodes.GOTO ? 0 : two ? 2 : 1);
    leadsTo(target);
    operands = opcode == Opcodes.GOTO ? null : operands;
  }

  @Override
  public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
    mv.visitTableSwitchInsn(min, max, other, labels);
    branches(other, labels);
  }

  @Override
  public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
    mv.visitLookupSwitchInsn(other, keys, labels);
    branches(other, labels);
  }

  private void branches(Label other, Label[] labels) {
    pop(1);
    leadsTo(other);
    for (Label label : labels) {
      leadsTo(label);
    }
    operands = null;
  }

  @Override
  public void visitLdcInsn(Object value) {
    mv.visitLdcInsn(value);
    boolean two = value instanceof Long || value instanceof Double;
    push(value instanceof ConstantDynamic constant ? constant.getSize() : two ? 2 : 1);
  }

  @Override
  public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
    mv.visitMultiANewArrayInsn(descriptor, dimensions);
    convert(dimensions, 1);
  }

  @Override
  public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
    mv.visitTryCatchBlock(start, end, handler, type);
    targets.putIfAbsent(handler, ONE);
  }

  @Override
  public void visitLabel(Label label) {
    mv.visitLabel(label);
    operands = operands == null ? targets.get(label) : operands;
  }
}
