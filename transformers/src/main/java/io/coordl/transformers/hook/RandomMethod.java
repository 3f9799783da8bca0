package io.coordl.transformers.hook;

import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Replaces {@code new Random(..)} with {@code new ForkableRandom(..)}, a subclass whose
 * constructors take the same parameters, so nothing else in the method changes.
 */
final class RandomMethod extends MethodVisitor {
  private static final String JDK = "java/util/Random";
  private static final String OURS = "io/coordl/bridge/ForkableRandom";

  RandomMethod(MethodVisitor next) {
    super(Opcodes.ASM9, next);
  }

  @Override
  public void visitTypeInsn(int opcode, String name) {
    boolean made = opcode == Opcodes.NEW && name.equals(JDK);
    super.visitTypeInsn(opcode, made ? OURS : name);
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean ofInterface) {
    boolean made = owner.equals(JDK) && name.equals("<init>");
    super.visitMethodInsn(opcode, made ? OURS : owner, name, descriptor, ofInterface);
  }
}
