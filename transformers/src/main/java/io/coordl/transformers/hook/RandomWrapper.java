package io.coordl.transformers.hook;

import net.bytebuddy.asm.AsmVisitorWrapper.ForDeclaredMethods.MethodVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * Makes {@code new Random(..)} a {@code new AheadRandom(..)}: a subclass whose constructors take
 * the same, so that nothing else of the method changes.
 */
final class RandomWrapper implements MethodVisitorWrapper {
  private static final String JDK = "java/util/Random";
  private static final String OURS = "io/coordl/bridge/AheadRandom";

  @Override
  public MethodVisitor wrap(
      TypeDescription type,
      MethodDescription method,
      MethodVisitor next,
      Implementation.Context context,
      TypePool pool,
      int writerFlags,
      int readerFlags) {
    return new MethodVisitor(OpenedClassReader.ASM_API, next) {
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
    };
  }
}
