package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.classfile.ClassFile;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Surrounds a method with a span: {@code token = Spans.enter(kind, subject)}, {@code
 * Spans.exit(token, r)}. The subject is {@code this}, or null for a static method; for a {@code
 * FIT} span it is the only int parameter, if there is just one: the number of epochs. {@code r} is
 * the result or the exception.
 */
final class SpanMethod extends WovenMethod {
  private static final String SPANS = "io/coordl/bridge/Spans";
  private static final String KIND = "io/coordl/bridge/SpanKind";

  private final SpanKind kind;

  SpanMethod(MethodVisitor next, ClassFile.Method target, int first, SpanKind kind) {
    super(next, target, first, Type.LONG_TYPE);
    this.kind = kind;
  }

  @Override
  void enter(Label body) {
    mv.visitFieldInsn(Opcodes.GETSTATIC, KIND, kind.name(), "L" + KIND + ";");
    int epochs = kind == SpanKind.FIT ? onlyInt() : -1;
    if (epochs >= 0) {
      mv.visitVarInsn(Opcodes.ILOAD, epochs);
      Boxes.box(mv, Type.INT_TYPE);
    } else if (target.isStatic()) {
      mv.visitInsn(Opcodes.ACONST_NULL);
    } else {
      mv.visitVarInsn(Opcodes.ALOAD, 0);
    }
    callBridge(SPANS, "enter", "(L" + KIND + ";Ljava/lang/Object;)J");
    mv.visitVarInsn(Opcodes.LSTORE, stateSlot);
    mv.visitJumpInsn(Opcodes.GOTO, body);
  }

  /** Local variable of the only int parameter; -1 if there is none, or several. */
  private int onlyInt() {
    int found = -1;
    int slot = target.isStatic() ? 0 : 1;
    for (Type type : Type.getArgumentTypes(target.descriptor())) {
      if (type.getSort() == Type.INT) {
        if (found >= 0) {
          return -1;
        }
        found = slot;
      }
      slot += type.getSize();
    }
    return found;
  }

  @Override
  void thrown(Label end) {
    mv.visitVarInsn(Opcodes.LLOAD, stateSlot);
    loadThrown();
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
