package io.coordl.transformers.hook;

import io.coordl.transformers.classfile.ClassFile;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/** Times the batches of a returned iterable: {@code r = Spans.timed(r)}. */
final class TimedIterableMethod extends WovenMethod {
  TimedIterableMethod(MethodVisitor next, ClassFile.Method target, int first) {
    super(next, target, first, Type.VOID_TYPE);
  }

  @Override
  @Nullable Label left(Label end) {
    loadResult();
    callBridge("io/coordl/bridge/Spans", "timed", "(Ljava/lang/Iterable;)Ljava/lang/Iterable;");
    storeResult();
    mv.visitJumpInsn(Opcodes.GOTO, end);
    return null;
  }
}
