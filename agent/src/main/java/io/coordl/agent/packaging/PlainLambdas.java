package io.coordl.agent.packaging;

import io.coordl.transformers.hook.Boxes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Compiles each lambda and method reference of the agent to a class, like an anonymous class.
 * Normally the JVM creates these classes at first use, with machinery that the program itself may
 * never need. For about 40 lambdas, this machinery and its JIT compilation cost a short job 0.2 s
 * of CPU.
 *
 * <p>The new class joins the nest of its original class, so that it may call private members. A
 * call of its {@code make} method, with the call site's descriptor, replaces the {@code
 * invokedynamic}. Lambdas of unusual form stay unchanged.
 */
public final class PlainLambdas {
  private static final String METAFACTORY = "java/lang/invoke/LambdaMetafactory";
  private static final String OBJECT = "java/lang/Object";
  private static final String SUFFIX = ".classdata";
  private static final String MAKE = "make";

  private final Map<String, byte[]> classes = new TreeMap<>();

  /** New nest members by nest host. */
  private final Map<String, List<String>> newNestMembers = new HashMap<>();

  private PlainLambdas() {}

  /** Arguments: a folder of classes named {@code *.classdata}, and the package to rewrite. */
  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    PlainLambdas lambdas = new PlainLambdas();
    try (Stream<Path> files = Files.walk(root.resolve(args[1]))) {
      for (Path file : files.filter(path -> path.toString().endsWith(SUFFIX)).toList()) {
        lambdas.classes.put(root.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    lambdas.rewrite();
    for (Map.Entry<String, byte[]> entry : lambdas.classes.entrySet()) {
      Files.write(root.resolve(entry.getKey()), entry.getValue());
    }
  }

  private void rewrite() {
    for (Map.Entry<String, byte[]> entry : List.copyOf(classes.entrySet())) {
      ClassReader reader = new ClassReader(entry.getValue());
      ClassWriter writer = new ClassWriter(0);
      Rewriting rewriting = new Rewriting(reader.getClassName(), writer);
      reader.accept(rewriting, 0);
      if (rewriting.generated > 0) {
        classes.put(entry.getKey(), writer.toByteArray());
      }
    }
    newNestMembers.forEach(
        (host, members) -> {
          ClassWriter writer = new ClassWriter(0);
          new ClassReader(classes.get(host + SUFFIX)).accept(writer, 0);
          members.forEach(writer::visitNestMember);
          classes.put(host + SUFFIX, writer.toByteArray());
        });
  }

  private final class Rewriting extends ClassVisitor {
    private final String name;
    private String host;
    private int generated;

    Rewriting(String name, ClassVisitor next) {
      super(Opcodes.ASM9, next);
      this.name = name;
      this.host = name;
    }

    @Override
    public void visitNestHost(String nestHost) {
      host = nestHost;
      super.visitNestHost(nestHost);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, method, descriptor, signature, exceptions);
      return new MethodVisitor(Opcodes.ASM9, next) {
        @Override
        public void visitInvokeDynamicInsn(
            String sam, String descriptor, Handle bootstrap, Object... arguments) {
          String plainClass = plainClass(sam, descriptor, bootstrap, arguments);
          if (plainClass == null) {
            super.visitInvokeDynamicInsn(sam, descriptor, bootstrap, arguments);
          } else {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, plainClass, MAKE, descriptor, false);
          }
        }
      };
    }

    private @Nullable String plainClass(
        String sam, String descriptor, Handle bootstrap, Object[] arguments) {
      if (!bootstrap.getOwner().equals(METAFACTORY)
          || !bootstrap.getName().equals("metafactory")
          || !(arguments[0] instanceof Type erased)
          || !(arguments[1] instanceof Handle implementation)
          || !(arguments[2] instanceof Type exact)) {
        return null;
      }
      Lambda lambda =
          new Lambda(sam, Type.getMethodType(descriptor), erased, exact, implementation);
      String plainClass = name + "$$Plain" + generated;
      byte[] written = lambda.write(plainClass, host);
      if (written == null) {
        return null;
      }
      generated++;
      classes.put(plainClass + SUFFIX, written);
      newNestMembers.computeIfAbsent(host, first -> new ArrayList<>()).add(plainClass);
      return plainClass;
    }
  }

  /**
   * A call site of the metafactory.
   *
   * @param sam name of the interface's method
   * @param factory descriptor of the call site: captured values and the interface
   * @param erased the interface's method as declared
   * @param exact the same with the types known at the call site
   * @param implementation the method to run
   */
  private record Lambda(String sam, Type factory, Type erased, Type exact, Handle implementation) {

    /** Returns the parameter types of the implementation, including its receiver. */
    private Type[] parameterTypes() {
      Type[] declared = Type.getArgumentTypes(implementation.getDesc());
      int tag = implementation.getTag();
      if (tag == Opcodes.H_INVOKESTATIC || tag == Opcodes.H_NEWINVOKESPECIAL) {
        return declared;
      }
      Type[] all = new Type[declared.length + 1];
      all[0] = Type.getObjectType(implementation.getOwner());
      System.arraycopy(declared, 0, all, 1, declared.length);
      return all;
    }

    private Type returnType() {
      return implementation.getTag() == Opcodes.H_NEWINVOKESPECIAL
          ? Type.getObjectType(implementation.getOwner())
          : Type.getReturnType(implementation.getDesc());
    }

    private static boolean isPrimitive(Type type) {
      return type.getSort() < Type.ARRAY;
    }

    /** Generates the class; null if the lambda has an unusual form. */
    byte @Nullable [] write(String name, String host) {
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      int access = Opcodes.ACC_FINAL | Opcodes.ACC_SUPER | Opcodes.ACC_SYNTHETIC;
      String type = factory.getReturnType().getInternalName();
      writer.visit(Opcodes.V17, access, name, null, OBJECT, new String[] {type});
      writer.visitNestHost(host);
      Type[] captured = factory.getArgumentTypes();
      String constructor = Type.getMethodDescriptor(Type.VOID_TYPE, captured);

      MethodVisitor make =
          writer.visitMethod(Opcodes.ACC_STATIC, MAKE, factory.getDescriptor(), null, null);
      make.visitCode();
      make.visitTypeInsn(Opcodes.NEW, name);
      make.visitInsn(Opcodes.DUP);
      int slot = 0;
      for (Type part : captured) {
        make.visitVarInsn(part.getOpcode(Opcodes.ILOAD), slot);
        slot += part.getSize();
      }
      make.visitMethodInsn(Opcodes.INVOKESPECIAL, name, "<init>", constructor, false);
      end(make, Opcodes.ARETURN);

      MethodVisitor init = writer.visitMethod(0, "<init>", constructor, null, null);
      init.visitCode();
      init.visitVarInsn(Opcodes.ALOAD, 0);
      init.visitMethodInsn(Opcodes.INVOKESPECIAL, OBJECT, "<init>", "()V", false);
      slot = 1;
      for (int i = 0; i < captured.length; i++) {
        String descriptor = captured[i].getDescriptor();
        writer.visitField(Opcodes.ACC_FINAL, "c" + i, descriptor, null, null).visitEnd();
        init.visitVarInsn(Opcodes.ALOAD, 0);
        init.visitVarInsn(captured[i].getOpcode(Opcodes.ILOAD), slot);
        init.visitFieldInsn(Opcodes.PUTFIELD, name, "c" + i, descriptor);
        slot += captured[i].getSize();
      }
      end(init, Opcodes.RETURN);

      MethodVisitor method =
          writer.visitMethod(Opcodes.ACC_PUBLIC, sam, erased.getDescriptor(), null, null);
      return writeCall(method, name) ? writer.toByteArray() : null;
    }

    /** Generates the call; false if an argument or the result cannot be converted. */
    private boolean writeCall(MethodVisitor code, String name) {
      code.visitCode();
      if (implementation.getTag() == Opcodes.H_NEWINVOKESPECIAL) {
        code.visitTypeInsn(Opcodes.NEW, implementation.getOwner());
        code.visitInsn(Opcodes.DUP);
      }
      Type[] parameterTypes = parameterTypes();
      Type[] captured = factory.getArgumentTypes();
      Type[] passed = erased.getArgumentTypes();
      boolean isConvertible = parameterTypes.length == captured.length + passed.length;
      for (int i = 0; isConvertible && i < captured.length; i++) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, name, "c" + i, captured[i].getDescriptor());
        isConvertible = convert(code, captured[i], parameterTypes[i]);
      }
      int slot = 1;
      for (int i = 0; isConvertible && i < passed.length; i++) {
        code.visitVarInsn(passed[i].getOpcode(Opcodes.ILOAD), slot);
        isConvertible =
            convert(code, passed[i], exact.getArgumentTypes()[i])
                && convert(code, exact.getArgumentTypes()[i], parameterTypes[captured.length + i]);
        slot += passed[i].getSize();
      }
      code.visitMethodInsn(
          opcode(),
          implementation.getOwner(),
          implementation.getName(),
          implementation.getDesc(),
          implementation.isInterface());
      Type result = erased.getReturnType();
      if (result.getSort() != Type.VOID) {
        isConvertible &= convert(code, returnType(), exact.getReturnType());
      } else if (returnType().getSize() > 0) {
        code.visitInsn(returnType().getSize() == 2 ? Opcodes.POP2 : Opcodes.POP);
      }
      end(code, result.getOpcode(Opcodes.IRETURN));
      return isConvertible;
    }

    /**
     * Returns the call's opcode. Within a nest, private methods are called like any other; only
     * constructors differ.
     */
    private int opcode() {
      return switch (implementation.getTag()) {
        case Opcodes.H_INVOKESTATIC -> Opcodes.INVOKESTATIC;
        case Opcodes.H_NEWINVOKESPECIAL -> Opcodes.INVOKESPECIAL;
        default -> implementation.isInterface() ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL;
      };
    }

    /** Boxes, unboxes, casts, or widens an int to a long; false if more would be needed. */
    private static boolean convert(MethodVisitor code, Type from, Type to) {
      if (isPrimitive(from) && !isPrimitive(to)) {
        Boxes.box(code, from);
        return to.getInternalName().equals(OBJECT)
            || to.getInternalName().equals(Boxes.boxOf(from));
      } else if (!isPrimitive(from) && isPrimitive(to)) {
        Boxes.unbox(code, to);
        return from.getInternalName().equals(Boxes.boxOf(to));
      } else if (from.getSort() == Type.INT && to.getSort() == Type.LONG) {
        code.visitInsn(Opcodes.I2L);
      } else if (isPrimitive(from)) {
        return from.equals(to);
      } else if (!from.equals(to) && !to.getInternalName().equals(OBJECT)) {
        code.visitTypeInsn(Opcodes.CHECKCAST, to.getInternalName());
      }
      return true;
    }

    private static void end(MethodVisitor code, int opcode) {
      code.visitInsn(opcode);
      code.visitMaxs(0, 0);
      code.visitEnd();
    }
  }
}
