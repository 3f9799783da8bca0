package io.coordl.purity;

import java.io.IOException;
import java.io.InputStream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Type;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a lambda is the only one of its kind in its class: which one it is, its own class
 * does not say.
 */
public final class LambdaSites {
  private LambdaSites() {}

  /**
   * How many lambdas and method references of type {@code kind} a class and all nested in it have.
   * A lambda's nest host is the outermost class.
   *
   * @throws IOException if its class file cannot be read
   */
  public static int count(Class<?> host, Class<?> kind) throws IOException {
    int count = count(host, Type.getDescriptor(kind));
    for (Class<?> nested : host.getNestMembers()) {
      if (nested != host) {
        count += count(nested, Type.getDescriptor(kind));
      }
    }
    return count;
  }

  private static int count(Class<?> type, String kind) throws IOException {
    String name = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(name)) {
      if (in == null) {
        throw new IOException("the class file of " + type.getName() + " cannot be found");
      }
      Counter counter = new Counter(kind);
      OpenedClassReader.of(in.readAllBytes())
          .accept(counter, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return counter.sites;
    }
  }

  private static final class Counter extends ClassVisitor {
    private final String kind;
    private int sites;

    Counter(String kind) {
      super(OpenedClassReader.ASM_API);
      this.kind = kind;
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      return new MethodVisitor(OpenedClassReader.ASM_API) {
        @Override
        public void visitInvokeDynamicInsn(
            String method, String site, Handle bootstrap, Object... arguments) {
          if (Type.getReturnType(site).getDescriptor().equals(kind)) {
            sites++;
          }
        }
      };
    }
  }
}
