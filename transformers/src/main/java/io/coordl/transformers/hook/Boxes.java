package io.coordl.transformers.hook;

import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** Emits boxing and unboxing of values of any type. */
public final class Boxes {
  private Boxes() {}

  /** Boxes the value on the stack. */
  public static void box(MethodVisitor code, Type type) {
    String box = boxOf(type);
    if (!box.isEmpty()) {
      String descriptor = "(" + type.getDescriptor() + ")L" + box + ";";
      code.visitMethodInsn(Opcodes.INVOKESTATIC, box, "valueOf", descriptor, false);
    }
  }

  /** Unboxes the object on the stack, or casts it to the type. */
  public static void unbox(MethodVisitor code, Type type) {
    String box = boxOf(type);
    if (box.isEmpty()) {
      code.visitTypeInsn(Opcodes.CHECKCAST, type.getInternalName());
    } else {
      code.visitTypeInsn(Opcodes.CHECKCAST, box);
      String method = type.getClassName() + "Value";
      code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, box, method, "()" + type.getDescriptor(), false);
    }
  }

  /** The wrapper class of a primitive type; empty for other types. */
  public static String boxOf(Type type) {
    return switch (type.getSort()) {
      case Type.BOOLEAN -> "java/lang/Boolean";
      case Type.CHAR -> "java/lang/Character";
      case Type.BYTE -> "java/lang/Byte";
      case Type.SHORT -> "java/lang/Short";
      case Type.INT -> "java/lang/Integer";
      case Type.FLOAT -> "java/lang/Float";
      case Type.LONG -> "java/lang/Long";
      case Type.DOUBLE -> "java/lang/Double";
      default -> "";
    };
  }
}
