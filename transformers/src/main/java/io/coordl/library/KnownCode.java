package io.coordl.library;

import io.coordl.bridge.AheadRandom;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a pipeline may be run before the program asks for it, and once more if the program
 * does not: whether it draws from the library's random generator at most, keeps no state, writes
 * nothing, and holds no arrays that the program may close meanwhile.
 *
 * <p>The objects are followed through their fields, the program's code through its class files;
 * library and JDK are known. What cannot be told is left alone: a lambda, which has no class file;
 * a field that is set outside a constructor; an array or a collection in a field that the same
 * method changes something like; output; threads. So a pipeline of the library's own parts is
 * known, and a user's plain transform or data set is.
 */
public final class KnownCode {
  private static final int MAX_OBJECTS = 20_000;
  private static final int MAX_CLASSES = 300;

  /** Elements of a collection that are looked at: the rest will be alike. */
  private static final int ELEMENTS = 1_000;

  /** Classes of the JDK that draw, remember, wait or write. */
  private static final List<String> UNKNOWN =
      List.of(
          "java/util/Random",
          "java/util/random/",
          "java/util/SplittableRandom",
          "java/util/UUID",
          "java/util/Timer",
          "java/util/concurrent/",
          "java/security/",
          "java/lang/Thread",
          "java/lang/InheritableThreadLocal",
          "java/lang/reflect/",
          "java/lang/ref/",
          "java/lang/Process",
          "java/lang/foreign/",
          "java/net/",
          "java/io/PrintStream",
          "java/io/PrintWriter",
          "java/io/FileWriter",
          "java/io/FileOutputStream",
          "java/io/BufferedWriter",
          "java/sql/",
          "java/util/logging/",
          "java/util/prefs/");

  private static final Set<String> UNKNOWN_METHODS =
      Set.of(
          "java/lang/Math.random",
          "java/lang/StrictMath.random",
          "java/util/Collections.shuffle",
          "java/lang/System.nanoTime",
          "java/lang/System.currentTimeMillis",
          "java/lang/System.identityHashCode",
          "java/lang/System.setProperty",
          "java/lang/System.exit",
          "java/lang/Object.wait",
          "java/lang/Object.notify",
          "java/lang/Object.notifyAll");

  private static final Set<String> CHANGES =
      Set.of(
          "add",
          "addAll",
          "addFirst",
          "addLast",
          "put",
          "putAll",
          "putIfAbsent",
          "set",
          "setAll",
          "remove",
          "removeAll",
          "removeIf",
          "removeFirst",
          "removeLast",
          "retainAll",
          "replace",
          "replaceAll",
          "clear",
          "compute",
          "computeIfAbsent",
          "computeIfPresent",
          "merge",
          "push",
          "pop",
          "poll",
          "pollFirst",
          "pollLast",
          "offer",
          "sort");

  /** What is at another place after each use. */
  private static final List<String> SEQUENTIAL =
      List.of(
          "Ljava/io/",
          "Ljava/nio/channels/",
          "Ljava/util/Scanner;",
          "Ljava/util/Iterator;",
          "Ljava/util/ListIterator;",
          "Ljava/util/Enumeration;",
          "Ljava/lang/StringBu",
          "Ljava/lang/Appendable;");

  private static final Set<String> FACTORIES =
      Set.of(
          "java/lang/invoke/LambdaMetafactory",
          "java/lang/invoke/StringConcatFactory",
          "java/lang/runtime/ObjectMethods",
          "java/lang/runtime/SwitchBootstraps");

  private final String library;
  private final Known known;

  /** What is known of the library. */
  public interface Known {
    /** Why an object of this class of the library cannot be run ahead; null if it can. */
    @Nullable String reasonToLeave(Class<?> type);

    /** Whether the fields of such an object need not be followed. */
    boolean isClosed(Class<?> type);

    /** Whether a method may be called ahead. */
    boolean isKnown(String owner, String method);
  }

  /**
   * Knows a library.
   *
   * @param library where the names of its classes begin, with a dot at the end
   */
  public KnownCode(String library, Known known) {
    this.library = library;
    this.known = known;
  }

  /** Why these objects cannot be run ahead, in words for the user; null if they can. */
  public @Nullable String reasonToLeave(List<? extends @Nullable Object> roots) {
    try {
      Look look = new Look();
      roots.forEach(root -> look.add(root, "the pipeline"));
      return look.findReason();
    } catch (RuntimeException | LinkageError e) {
      return "it cannot be looked at (" + e + ")";
    }
  }

  /** One look at a pipeline. */
  private final class Look {
    /** Every object found, with the class that keeps it. */
    private final IdentityHashMap<Object, String> seen = new IdentityHashMap<>();

    private final Deque<Object> objects = new ArrayDeque<>();
    private final Map<String, ClassCode> classes = new HashMap<>();
    private final Set<String> checked = new HashSet<>();
    private final Deque<Call> calls = new ArrayDeque<>();
    private @Nullable String reason;

    void add(@Nullable Object object, String keeper) {
      if (object != null && seen.putIfAbsent(object, keeper) == null) {
        objects.add(object);
      }
    }

    @Nullable String findReason() {
      while (reason == null) {
        Object object = objects.poll();
        Call call = object == null ? calls.poll() : null;
        if (object != null) {
          visit(object, seen.getOrDefault(object, ""));
        } else if (call != null) {
          follow(call);
        } else {
          return null;
        }
        if (seen.size() > MAX_OBJECTS || classes.size() > MAX_CLASSES) {
          return "it is more than can be looked at";
        }
      }
      return reason;
    }

    private void visit(Object object, String keeper) {
      Class<?> type = object.getClass();
      String name = type.getName();
      if (object instanceof Object[] array) {
        for (int i = 0; i < Math.min(ELEMENTS, array.length); i++) {
          add(array[i], keeper);
        }
      } else if (object instanceof AheadRandom || object instanceof Class || type.isArray()) {
        return; // The library's generator, whose draws are known; a class; plain values.
      } else if (JdkObjects.isOfJdk(type)) {
        visitJdk(object, name, keeper);
      } else if (type.isHidden() || type.isSynthetic()) {
        reason = keeper + " keeps a lambda (" + name.replaceAll("[$/].*", "") + ")";
      } else if (name.startsWith(library)) {
        String why = known.reasonToLeave(type);
        if (why != null) {
          reason = keeper + " keeps a " + name + ", which " + why;
        } else if (!known.isClosed(type)) {
          visitFields(object, type, false);
        }
      } else {
        for (Class<?> at = type; at != null && isProgram(at); at = at.getSuperclass()) {
          calls.add(new Call(at.getName().replace('.', '/'), null, null, at.getClassLoader()));
        }
        visitFields(object, type, true);
      }
    }

    private boolean isProgram(Class<?> type) {
      return !JdkObjects.isOfJdk(type) && !type.getName().startsWith(library);
    }

    private void visitJdk(Object object, String name, String keeper) {
      if (isUnknown(name.replace('.', '/')) || object instanceof Random) {
        reason = keeper + " keeps a " + name;
      } else if (object instanceof Collection<?> collection) {
        collection.stream().limit(ELEMENTS).forEach(element -> add(element, keeper));
      } else if (object instanceof Map<?, ?> map) {
        map.entrySet().stream()
            .limit(ELEMENTS)
            .forEach(
                entry -> {
                  add(entry.getKey(), keeper);
                  add(entry.getValue(), keeper);
                });
      }
    }

    private void visitFields(Object object, Class<?> type, boolean statics) {
      for (Class<?> at = type; at != null && !JdkObjects.isOfJdk(at); at = at.getSuperclass()) {
        for (Field field : at.getDeclaredFields()) {
          boolean isStatic = Modifier.isStatic(field.getModifiers());
          if (field.getType().isPrimitive() || (isStatic && !(statics && isProgram(at)))) {
            continue;
          }
          try {
            field.setAccessible(true);
            add(field.get(object), type.getName());
          } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
          }
        }
      }
    }

    /** Looks at a method of the program's, or at all that run once its object is made. */
    private void follow(Call call) {
      if (!checked.add(call.owner() + "." + call.name() + call.descriptor())) {
        return;
      }
      ClassCode code = classes.get(call.owner());
      if (code == null) {
        code = ClassCode.read(call.owner(), call.loader());
        classes.put(call.owner(), code);
      }
      String name = call.owner().replace('/', '.');
      if (code.reader == null) {
        reason = name + " has no class file";
        return;
      }
      boolean[] found = new boolean[1];
      code.reader.accept(
          new ClassVisitor(OpenedClassReader.ASM_API) {
            @Override
            public @Nullable MethodVisitor visitMethod(
                int access,
                String method,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
              if (!call.concerns(access, method, descriptor)) {
                return null;
              }
              found[0] = true;
              if ((access & Opcodes.ACC_NATIVE) != 0) {
                reason = name + "." + method + " is native";
                return null;
              }
              if ((access & Opcodes.ACC_SYNCHRONIZED) != 0) {
                reason = name + "." + method + " locks";
                return null;
              }
              return new Body(name, method, call.loader());
            }
          },
          ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      String parent = code.reader.getSuperName();
      if (!found[0] && call.name() != null && parent != null && isProgram(parent)) {
        calls.add(new Call(parent, call.name(), call.descriptor(), call.loader()));
      }
    }

    private boolean isProgram(String owner) {
      return !owner.startsWith("java/")
          && !owner.startsWith("javax/")
          && !owner.startsWith("[")
          && !owner.replace('/', '.').startsWith(library);
    }

    private boolean isUnknown(String owner) {
      return UNKNOWN.stream().anyMatch(owner::startsWith);
    }

    /** What one method does. */
    private final class Body extends MethodVisitor {
      private final String type;
      private final String method;
      private final @Nullable ClassLoader loader;
      private boolean holdsArray;
      private boolean holdsCollection;
      private boolean storesElement;
      private boolean changesCollection;

      Body(String type, String method, @Nullable ClassLoader loader) {
        super(OpenedClassReader.ASM_API);
        this.type = type;
        this.method = method;
        this.loader = loader;
      }

      private void unknown(String why) {
        reason = type + "." + method + " " + why;
      }

      @Override
      public void visitFieldInsn(int opcode, String owner, String field, String descriptor) {
        boolean making = method.equals("<init>") || method.equals("<clinit>");
        if ((opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC) && !making) {
          unknown("sets its field " + field);
        } else if (isUnknown(owner)) {
          unknown("uses " + owner.replace('/', '.'));
        } else if (!making) {
          if (isSequential(descriptor)) {
            unknown("uses its field " + field);
          }
          holdsArray |= descriptor.startsWith("[");
          holdsCollection |= descriptor.startsWith("Ljava/util/");
        }
      }

      private boolean isSequential(String descriptor) {
        return !descriptor.equals("Ljava/io/File;")
            && (SEQUENTIAL.stream().anyMatch(descriptor::startsWith)
                || (descriptor.startsWith("Ljava/nio/") && descriptor.endsWith("Buffer;")));
      }

      @Override
      public void visitInsn(int opcode) {
        storesElement |= opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE;
        if (opcode == Opcodes.MONITORENTER) {
          unknown("locks");
        }
      }

      @Override
      public void visitTypeInsn(int opcode, String name) {
        if (isUnknown(name)) {
          unknown("uses " + name.replace('/', '.'));
        } else if (opcode == Opcodes.NEW && isProgram(name)) {
          calls.add(new Call(name, null, null, loader));
        }
      }

      @Override
      public void visitMethodInsn(
          int opcode, String owner, String name, String descriptor, boolean ofInterface) {
        called(opcode == Opcodes.INVOKESTATIC, owner, name, descriptor);
      }

      private void called(boolean isStatic, String owner, String name, String descriptor) {
        if (isUnknown(owner)
            || UNKNOWN_METHODS.contains(owner + "." + name)
            || name.startsWith("parallel")
            || (owner.equals("java/nio/file/Files") && name.startsWith("write"))
            || (owner.replace('/', '.').startsWith(library) && !known.isKnown(owner, name))) {
          unknown("uses " + owner.replace('/', '.') + "." + name);
        } else if (isProgram(owner)) {
          calls.add(
              isStatic || name.equals("<init>")
                  ? new Call(owner, name, descriptor, loader)
                  : new Call(owner, null, null, loader));
        } else {
          changesCollection |= owner.startsWith("java/util/") && CHANGES.contains(name);
        }
      }

      @Override
      public void visitInvokeDynamicInsn(
          String name, String descriptor, Handle bootstrap, Object... arguments) {
        if (!FACTORIES.contains(bootstrap.getOwner())) {
          unknown("is linked by " + bootstrap.getOwner().replace('/', '.'));
        }
        for (Object argument : arguments) {
          if (argument instanceof Handle handle) {
            called(true, handle.getOwner(), handle.getName(), handle.getDesc());
          }
        }
      }

      @Override
      public void visitLdcInsn(Object value) {
        if (value instanceof Handle || (value instanceof Type t && t.getSort() == Type.METHOD)) {
          unknown("uses a method handle");
        }
      }

      @Override
      public void visitEnd() {
        if (holdsArray && storesElement) {
          unknown("may change an array it keeps");
        } else if (holdsCollection && changesCollection) {
          unknown("may change a collection it keeps");
        }
      }
    }
  }

  /** A method of the program's; without name, all that an object of the class may be asked for. */
  private record Call(
      String owner,
      @Nullable String name,
      @Nullable String descriptor,
      @Nullable ClassLoader loader) {
    boolean concerns(int access, String method, String described) {
      if (name != null) {
        return name.equals(method) && described.equals(descriptor);
      }
      // A data set is prepared by the program's own call, before the pass.
      return (access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0
          && !method.equals("<init>")
          && !method.equals("prepare");
    }
  }

  /** A class file as it lies on disk. */
  private static final class ClassCode {
    private final @Nullable ClassReader reader;

    private ClassCode(@Nullable ClassReader reader) {
      this.reader = reader;
    }

    static ClassCode read(String name, @Nullable ClassLoader loader) {
      String file = name + ".class";
      try (InputStream in =
          loader == null
              ? ClassLoader.getSystemResourceAsStream(file)
              : loader.getResourceAsStream(file)) {
        return new ClassCode(in == null ? null : OpenedClassReader.of(in.readAllBytes()));
      } catch (IOException e) {
        return new ClassCode(null);
      }
    }
  }
}
