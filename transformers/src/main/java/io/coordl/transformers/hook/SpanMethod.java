package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * A span around a method: {@code token = Spans.enter(kind, this)}, {@code Spans.exit(token, r)}.
 */
final class SpanMethod extends WovenMethod {
  private static final String SPANS = "io/coordl/bridge/Spans";
  private static final String KIND = "io/coordl/bridge/SpanKind";

  private final SpanKind kind;

  SpanMethod(MethodVisitor next, Target target, int first, SpanKind kind) {
    super(next, target, first, Opcodes.LONG);
    this.kind = kind;
  }

  @Override
  void enter(Label body) {
    mv.visitFieldInsn(Opcodes.GETSTATIC, KIND, kind.name(), "L" + KIND + ";");
    if (target.isStatic()) {
      mv.visitInsn(Opcodes.ACONST_NULL);
    } else {
      mv.visitVarInsn(Opcodes.ALOAD, 0);
    }
    callBridge(SPANS, "enter", "(L" + KIND + ";Ljava/lang/Object;)J");
    mv.visitVarInsn(Opcodes.LSTORE, stateSlot);
    mv.visitJumpInsn(Opcodes.GOTO, body);
  }

  @Override
  void nothing() {
    mv.visitInsn(Opcodes.LCONST_0);
    mv.visitVarInsn(Opcodes.LSTORE, stateSlot);
  }

  @Override
  void thrown(Label end) {
    mv.visitVarInsn(Opcodes.LLOAD, stateSlot);
    mv.visitInsn(Opcodes.ACONST_NULL);
    exit(end);
  }

  @Override
  @Nullable Label left(Label end) {
    mv.visitVarInsn(Opcodes.LLOAD, stateSlot);
    loadResultAsObject();
    exit(end);
    return null;
  }

  private void exit(Label end) {
    callBridge(SPANS, "exit", "(JLjava/lang/Object;)V");
    mv.visitJumpInsn(Opcodes.GOTO, end);
  }
}
