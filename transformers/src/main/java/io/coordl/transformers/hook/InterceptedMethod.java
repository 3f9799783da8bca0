package io.coordl.transformers.hook;

import io.coordl.transformers.classfile.ClassFile;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * Asks the runtime for a replacement before a method runs, and skips the body if it gets one. For a
 * static method, its class stands in for the receiver.
 */
final class InterceptedMethod extends WovenMethod {
  private static final String CALL = "io/coordl/bridge/InterceptedCall";
  private static final String OBJECT = "java/lang/Object";

  private final String interceptor;

  /** Requires a class file of Java 5 or newer. */
  InterceptedMethod(MethodVisitor next, ClassFile.Method target, int first, String interceptor) {
    super(next, target, first, Type.getObjectType(CALL));
    this.interceptor = interceptor;
  }

  @Override
  void enter(Label body) {
    mv.visitLdcInsn(interceptor);
    mv.visitLdcInsn(Type.getObjectType(target.owner()));
    mv.visitLdcInsn(target.name());
    if (target.isStatic()) {
      mv.visitLdcInsn(Type.getObjectType(target.owner()));
    } else {
      mv.visitVarInsn(Opcodes.ALOAD, 0);
    }
    arguments();
    callBridge(
        BRIDGE,
        "enter",
        "(Ljava/lang/String;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Object;"
            + "[Ljava/lang/Object;)Lio/coordl/bridge/InterceptedCall;");
    mv.visitVarInsn(Opcodes.ASTORE, stateSlot);
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    mv.visitJumpInsn(Opcodes.IFNULL, body);
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, CALL, "replaced", "()Z", false);
    mv.visitJumpInsn(Opcodes.IFEQ, body);
    skipBody();
  }

  private void arguments() {
    Type[] types = Type.getArgumentTypes(target.descriptor());
    mv.visitIntInsn(Opcodes.SIPUSH, types.length);
    mv.visitTypeInsn(Opcodes.ANEWARRAY, OBJECT);
    int slot = target.isStatic() ? 0 : 1;
    for (int i = 0; i < types.length; i++) {
      mv.visitInsn(Opcodes.DUP);
      mv.visitIntInsn(Opcodes.SIPUSH, i);
      mv.visitVarInsn(types[i].getOpcode(Opcodes.ILOAD), slot);
      Boxes.box(mv, types[i]);
      mv.visitInsn(Opcodes.AASTORE);
      slot += types[i].getSize();
    }
  }

  @Override
  void thrown(Label end) {
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    mv.visitJumpInsn(Opcodes.IFNULL, end);
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    callBridge(BRIDGE, "failed", "(Lio/coordl/bridge/InterceptedCall;)V");
    mv.visitJumpInsn(Opcodes.GOTO, end);
  }

  @Override
  Label left(Label end) {
    Label raise = new Label();
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    mv.visitJumpInsn(Opcodes.IFNULL, end);
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    callBridge(BRIDGE, "thrown", "(Lio/coordl/bridge/InterceptedCall;)Ljava/lang/Throwable;");
    mv.visitInsn(Opcodes.DUP);
    mv.visitJumpInsn(Opcodes.IFNONNULL, raise);
    mv.visitInsn(Opcodes.POP);
    mv.visitVarInsn(Opcodes.ALOAD, stateSlot);
    loadResultAsObject();
    callBridge(
        BRIDGE,
        "leave",
        "(Lio/coordl/bridge/InterceptedCall;Ljava/lang/Object;)Ljava/lang/Object;");
    if (result.getSort() == Type.VOID) {
      mv.visitInsn(Opcodes.POP);
    } else {
      Boxes.unbox(mv, result);
      storeResult();
    }
    mv.visitJumpInsn(Opcodes.GOTO, end);
    return raise;
  }
}
