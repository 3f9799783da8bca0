package io.coordl.transformers.hook;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * Resolves the agent's references to a library as the JVM would, but before the code runs and
 * without loading any of it. Of references by reflection, it finds only fields whose class and name
 * are constants.
 */
final class References {
  private static final String OURS = "io/coordl/";

  private final Library library;
  private final Map<String, Shape> shapes = new HashMap<>();

  References(Library library) {
    this.library = library;
  }

  /** A class and its members, by name and descriptor. */
  private record Shape(
      int access, String superName, List<String> interfaces, Map<String, Integer> members) {
    boolean isInterface() {
      return (access & Opcodes.ACC_INTERFACE) != 0;
    }
  }

  /**
   * Returns, as readable text, the missing references of {@code interceptor} and of the classes of
   * its package that it uses.
   */
  Set<String> missing(String interceptor) {
    Set<String> missing = new TreeSet<>();
    String ourPackage = interceptor.substring(0, interceptor.lastIndexOf('/') + 1);
    Set<String> seen = new HashSet<>(Set.of(interceptor));
    Deque<String> classes = new ArrayDeque<>(seen);
    while (!classes.isEmpty()) {
      String ours = classes.remove();
      new ClassReader(library.classFile(ours))
          .accept(
              new Uses() {
                @Override
                void type(String name) {
                  if (name.startsWith(ourPackage) && seen.add(name)) {
                    classes.add(name);
                  } else if (Library.isOfLibrary(name) && !isAccessible(name)) {
                    missing.add(dotted(name));
                  }
                }

                @Override
                void fieldByName(String owner, String name) {
                  Shape shape = shape(owner);
                  if (shape != null
                      && shape.members.keySet().stream().noneMatch(m -> m.startsWith(name + " "))) {
                    missing.add(dotted(owner) + "." + name);
                  }
                }

                @Override
                void member(int opcode, String owner, String name, String descriptor) {
                  // A forwarded call: if the method does not exist, nobody calls the forwarder.
                  boolean forwarded =
                      (name + descriptor).equals(method) && shape(ours).interfaces.contains(owner);
                  if (Library.isOfLibrary(owner)
                      && !forwarded
                      && !exists(opcode, owner, name, descriptor)) {
                    missing.add(dotted(owner) + "." + name + readable(descriptor));
                  }
                }
              },
              ClassReader.SKIP_DEBUG);
      missing.addAll(notImplemented(ours));
    }
    return missing;
  }

  private boolean isAccessible(String name) {
    Shape shape = shape(name);
    return shape != null && (shape.access & Opcodes.ACC_PUBLIC) != 0;
  }

  /** Whether an instruction or a handle finds an accessible member. */
  private boolean exists(int opcode, String owner, String name, String descriptor) {
    Shape shape = shape(owner);
    if (shape == null) {
      return false;
    }
    boolean field = opcode >= Opcodes.GETSTATIC && opcode <= Opcodes.PUTFIELD;
    boolean asInterface = opcode == Opcodes.INVOKEINTERFACE;
    if (asInterface != shape.isInterface() && !field && opcode != Opcodes.INVOKESTATIC) {
      return false;
    }
    Integer access = find(owner, name + (field ? " " : "") + descriptor);
    boolean wantsStatic =
        opcode == Opcodes.GETSTATIC
            || opcode == Opcodes.PUTSTATIC
            || opcode == Opcodes.INVOKESTATIC;
    return access != null
        && (access & (Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) != 0
        && wantsStatic == ((access & Opcodes.ACC_STATIC) != 0);
  }

  private Integer find(String owner, String member) {
    Shape shape = shape(owner);
    if (shape == null) {
      return null;
    }
    Integer own = shape.members.get(member);
    if (own != null || member.startsWith("<init>")) {
      return own;
    }
    Integer inherited = shape.superName == null ? null : find(shape.superName, member);
    for (String above : shape.interfaces) {
      inherited = inherited == null ? find(above, member) : inherited;
    }
    return inherited;
  }

  /** Returns abstract methods of the library that a class of the agent does not implement. */
  private Set<String> notImplemented(String ours) {
    Set<String> missing = new TreeSet<>();
    Shape shape = shape(ours);
    if ((shape.access & Opcodes.ACC_ABSTRACT) == 0) {
      Set<String> above = new TreeSet<>();
      collect(ours, above);
      for (String type : above) {
        for (Map.Entry<String, Integer> member : shape(type).members.entrySet()) {
          if (Library.isOfLibrary(type)
              && (member.getValue() & Opcodes.ACC_ABSTRACT) != 0
              && !isImplemented(ours, above, member.getKey())) {
            missing.add(dotted(type) + "." + member.getKey() + " to be implemented");
          }
        }
      }
    }
    return missing;
  }

  private void collect(String name, Set<String> above) {
    Shape shape = shape(name);
    if (shape != null && above.add(name)) {
      shape.interfaces.forEach(type -> collect(type, above));
      if (shape.superName != null) {
        collect(shape.superName, above);
      }
    }
  }

  private boolean isImplemented(String ours, Set<String> above, String method) {
    Integer nearest = find(ours, method);
    if (nearest != null && (nearest & Opcodes.ACC_ABSTRACT) == 0) {
      return true;
    }
    for (String type : above) { // A default method of another interface.
      Integer access = shape(type).members.get(method);
      if (access != null && (access & Opcodes.ACC_ABSTRACT) == 0) {
        return true;
      }
    }
    return false;
  }

  private Shape shape(String name) {
    if (!shapes.containsKey(name)) {
      byte[] classFile = library.classFile(name);
      shapes.put(name, classFile == null ? null : shape(new ClassReader(classFile)));
    }
    return shapes.get(name);
  }

  private static Shape shape(ClassReader reader) {
    Map<String, Integer> members = new HashMap<>();
    int[] access = {reader.getAccess()};
    reader.accept(
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public void visitInnerClass(String name, String outer, String inner, int flags) {
            if (name.equals(reader.getClassName())) {
              access[0] = flags; // As declared, perhaps private or protected.
            }
          }

          @Override
          public FieldVisitor visitField(
              int flags, String name, String descriptor, String signature, Object value) {
            members.put(name + " " + descriptor, flags);
            return null;
          }

          @Override
          public MethodVisitor visitMethod(
              int flags, String name, String descriptor, String signature, String[] thrown) {
            members.put(name + descriptor, flags);
            return null;
          }
        },
        ClassReader.SKIP_CODE);
    return new Shape(
        access[0], reader.getSuperName(), List.of(reader.getInterfaces()), Map.copyOf(members));
  }

  private static String dotted(String internalName) {
    return internalName.replace('/', '.');
  }

  private static String readable(String descriptor) {
    if (!descriptor.startsWith("(")) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (Type type : Type.getArgumentTypes(descriptor)) {
      text.append(text.isEmpty() ? "(" : ", ").append(simple(type));
    }
    return (text.isEmpty() ? "(" : text) + "): " + simple(Type.getReturnType(descriptor));
  }

  private static String simple(Type type) {
    return type.getClassName().replaceFirst(".*\\.", "");
  }

  /** Visits all references of a class. */
  private abstract static class Uses extends ClassVisitor {
    /** The method that contains the code: name and descriptor. */
    String method = "";

    Uses() {
      super(Opcodes.ASM9);
    }

    abstract void type(String name);

    /** Called for a field requested by name from {@code LibraryField} or {@code Symbols}. */
    abstract void fieldByName(String owner, String name);

    abstract void member(int opcode, String owner, String name, String descriptor);

    private void types(Type type) {
      switch (type.getSort()) {
        case Type.ARRAY -> types(type.getElementType());
        case Type.OBJECT -> type(type.getInternalName());
        case Type.METHOD -> {
          types(type.getReturnType());
          for (Type argument : type.getArgumentTypes()) {
            types(argument);
          }
        }
        default -> {}
      }
    }

    private void handle(Handle handle) {
      int opcode =
          switch (handle.getTag()) {
            case Opcodes.H_GETFIELD -> Opcodes.GETFIELD;
            case Opcodes.H_GETSTATIC -> Opcodes.GETSTATIC;
            case Opcodes.H_PUTFIELD -> Opcodes.PUTFIELD;
            case Opcodes.H_PUTSTATIC -> Opcodes.PUTSTATIC;
            case Opcodes.H_INVOKESTATIC -> Opcodes.INVOKESTATIC;
            case Opcodes.H_INVOKEINTERFACE -> Opcodes.INVOKEINTERFACE;
            default -> Opcodes.INVOKEVIRTUAL;
          };
      use(opcode, handle.getOwner(), handle.getName(), handle.getDesc());
    }

    private void use(int opcode, String owner, String name, String descriptor) {
      types(Type.getObjectType(owner));
      types(Type.getType(descriptor));
      if (!owner.startsWith("[")) {
        member(opcode, owner, name, descriptor);
      }
    }

    private void constant(Object value) {
      if (value instanceof Type type) {
        types(type);
      } else if (value instanceof Handle handle) {
        handle(handle);
      }
    }

    @Override
    public void visit(
        int version, int access, String name, String signature, String above, String[] interfaces) {
      type(above);
      List.of(interfaces).forEach(this::type);
    }

    @Override
    public void visitInnerClass(String name, String outer, String inner, int access) {
      if (name.startsWith(OURS)) {
        type(name);
      }
    }

    @Override
    public FieldVisitor visitField(
        int access, String name, String descriptor, String signature, Object value) {
      types(Type.getType(descriptor));
      return null;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] thrown) {
      types(Type.getType(descriptor));
      method = name + descriptor;
      return new MethodVisitor(Opcodes.ASM9) {
        /** Constants loaded immediately before the instruction that is visited. */
        private final List<Object> constants = new ArrayList<>();

        @Override
        public void visitTypeInsn(int opcode, String type) {
          constants.clear();
          types(Type.getObjectType(type));
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
          constants.clear();
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String field, String type) {
          if (!field.equals("TYPE")) { // int.class compiles to Integer.TYPE.
            constants.clear();
          }
          use(opcode, owner, field, type);
        }

        @Override
        public void visitMethodInsn(
            int opcode, String owner, String method, String type, boolean ofInterface) {
          if ((owner.equals(OURS + "pipeline/LibraryField")
                  || owner.equals(OURS + "pipeline/Symbols"))
              && type.startsWith("(Ljava/lang/Class;Ljava/lang/String;")
              && constants.size() >= 2
              && constants.get(0) instanceof Type declaring
              && constants.get(1) instanceof String name) {
            fieldByName(declaring.getInternalName(), name);
          }
          constants.clear();
          use(opcode, owner, method, type);
        }

        @Override
        public void visitInvokeDynamicInsn(
            String method, String type, Handle bootstrap, Object... arguments) {
          types(Type.getType(type));
          for (Object argument : arguments) {
            constant(argument);
          }
        }

        @Override
        public void visitLdcInsn(Object value) {
          constants.add(value);
          constant(value);
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
          types(Type.getType(type));
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
          if (type != null) {
            type(type);
          }
        }
      };
    }
  }
}
