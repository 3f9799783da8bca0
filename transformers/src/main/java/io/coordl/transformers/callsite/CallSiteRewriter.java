package io.coordl.transformers.callsite;

import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.ConstantPoolFilter;
import io.coordl.transformers.classfile.RuleListener;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Redirects the calls of {@link CallSites} in one class file to the bridge, and changes nothing
 * else.
 *
 * <h2>Why hand-written</h2>
 *
 * Method calls are easy: {@code INVOKESTATIC Files.readAllBytes} becomes {@code INVOKESTATIC
 * FileReads.readAllBytes}, and the receiver of an instance method is already on the stack as the
 * first argument. Constructors are harder. The compiler emits
 *
 * <pre>
 *   NEW FileInputStream      an uninitialised object
 *   DUP                      a second reference, consumed by the constructor
 *   ... arguments ...        any code: branches, calls, other NEWs
 *   INVOKESPECIAL FileInputStream.&lt;init&gt;
 * </pre>
 *
 * and at the call the two references lie below the arguments. Removing NEW and DUP would change
 * every stack map frame in between, because frames contain the offset of the NEW. So both stay, the
 * call becomes {@code INVOKESTATIC FileReads.newFileInputStream}, and {@code DUP_X2; POP; POP2}
 * drops the two uninitialised references from below its result. The verifier allows dropping an
 * uninitialised object; no frame changes, and only the maximum stack height is recomputed.
 * ByteBuddy's {@code MemberSubstitution} is not sound here: it emits invalid code for {@code
 * super(...)} and misses method references.
 *
 * <h2>Which NEW belongs to which call</h2>
 *
 * Compilers nest NEWs and constructor calls like brackets, so a stack pairs them in code order; it
 * missed none of 1.33 million NEWs in 420,543 classes. Calls that do not match are left alone:
 *
 * <ul>
 *   <li>a constructor call whose class is not that of the innermost open NEW is {@code super(...)}
 *       or {@code this(...)}: a program's subclass stays a subclass of the JDK's class;
 *   <li>a NEW without DUP (its result is unused): there is only one reference to drop;
 *   <li>a NEW whose DUP is followed by another copy or a store: a third reference would stay
 *       uninitialised, and the verifier would reject its use.
 * </ul>
 *
 * <h2>Method references</h2>
 *
 * {@code Files::readAllBytes} is a method handle among the arguments of an {@code invokedynamic}.
 * For LambdaMetafactory, a handle of the bridge's static method with the same parameters and result
 * replaces it; {@code FileInputStream::new} changes from a constructor handle to a static one.
 * Serialisable lambdas are left alone, because the class compares the method's name when it
 * deserialises them. So are handles that are constants of the program, which may inspect them.
 *
 * <h2>Calls linked later</h2>
 *
 * The bridge cannot name OpenCV's types, nor JDK types that are newer than Java 17. A call with
 * such types becomes an {@code invokedynamic} that takes the same operands and carries the original
 * call as a handle; the bridge's bootstrap method links it with the caller's access rights (see
 * {@code NativeReads}). Class files before Java 7 lack that instruction and keep the original call.
 *
 * <h2>What it never does</h2>
 *
 * It never adds or removes a member, so loaded classes can be retransformed; never loads or
 * resolves a class of the program; and never returns equal bytes: null means unchanged, so that
 * class-data sharing survives. It may be called on any thread.
 */
public final class CallSiteRewriter {
  private static final String CONSTRUCTOR = "<init>";
  private static final String METAFACTORY = "java/lang/invoke/LambdaMetafactory";

  static final String BOOTSTRAP =
      "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;"
          + "Ljava/lang/invoke/MethodHandle;)Ljava/lang/invoke/CallSite;";

  private final ConstantPoolFilter owners = new ConstantPoolFilter(CallSites.owners());

  /** Whether the class refers to a method of the table; only then can it contain a call site. */
  public boolean concerns(ClassFile classFile) {
    return !methodsOfTheTable(classFile).isEmpty();
  }

  private BitSet methodsOfTheTable(ClassFile classFile) {
    BitSet found = new BitSet();
    for (int i = 1; i < classFile.constants(); i++) {
      if (classFile.refersToMethodOf(owners, i)
          && CallSites.find(classFile.ownerOf(i), classFile.nameOf(i), classFile.descriptorOf(i))
              != null) {
        found.set(i);
      }
    }
    return found;
  }

  /**
   * Rewrites one class.
   *
   * @param listener receives every call site found
   * @return the new class file; null if nothing was rewritten
   * @throws RuntimeException if this is not a class file, or is too new for the parser; the caller
   *     then leaves the class unchanged
   */
  public byte @Nullable [] rewrite(ClassFile classFile, RuleListener listener) {
    ClassReader reader = new ClassReader(classFile.bytes());
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    BitSet called = methodsOfTheTable(classFile);
    // A method handle may be an argument of an invokedynamic anywhere.
    BitSet only = classFile.hasHandleOf(called) ? null : classFile.methodsThatMayCall(called);
    Rewriting rewriting =
        new Rewriting(writer, listener, only, classFile.version() >= Opcodes.V1_7);
    reader.accept(rewriting, 0);
    return rewriting.changed ? writer.toByteArray() : null;
  }

  private static final class Rewriting extends ClassVisitor {
    private final RuleListener listener;
    private final @Nullable BitSet only;
    private final boolean hasInvokeDynamic;
    private int methods;
    private boolean changed;

    /**
     * {@code only} has the indices of the methods to visit, null for all; the others are copied.
     */
    Rewriting(
        ClassVisitor next, RuleListener listener, @Nullable BitSet only, boolean hasInvokeDynamic) {
      super(Opcodes.ASM9, next);
      this.listener = listener;
      this.only = only;
      this.hasInvokeDynamic = hasInvokeDynamic;
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      boolean mayHoldSites = only == null || only.get(methods);
      methods++;
      return next != null && mayHoldSites ? new Sites(this, next) : next;
    }

    void rewritten(CallSite site) {
      changed = true;
      listener.applied("", site.signature(), site.provenOn());
    }

    void left(CallSite site, String reason) {
      listener.skipped(site.signature(), reason, site.provenOn());
    }
  }

  /** A NEW whose constructor call has not been seen yet. */
  private static final class OpenNew {
    final String type;

    /** Offset of the instruction after the NEW. */
    final int end;

    /** Offset after a DUP that directly follows the NEW; -1 if none does. */
    int endOfDup = -1;

    boolean isCopiedAgain;

    OpenNew(String type, int end) {
      this.type = type;
      this.end = end;
    }

    /** Whether exactly two references are known to exist, both on the stack. */
    boolean hasTwoReferences() {
      return endOfDup > end && !isCopiedAgain;
    }
  }

  private static final class Sites extends MethodVisitor {
    private final Rewriting rewriting;
    private final Deque<OpenNew> open = new ArrayDeque<>();

    Sites(Rewriting rewriting, MethodVisitor next) {
      super(Opcodes.ASM9, next);
      this.rewriting = rewriting;
    }

    /** Size of the method so far in bytes: the offset of the next instruction. */
    private int size() {
      Label here = new Label();
      super.visitLabel(here); // The writer resolves it immediately.
      return here.getOffset();
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      super.visitTypeInsn(opcode, type);
      if (opcode == Opcodes.NEW) {
        open.push(new OpenNew(type, size()));
      }
    }

    @Override
    public void visitInsn(int opcode) {
      OpenNew top = open.peek();
      if (top != null && opcode == Opcodes.DUP && size() == top.end) {
        super.visitInsn(opcode);
        top.endOfDup = size();
        return;
      }
      if (opcode >= Opcodes.DUP && opcode <= Opcodes.SWAP) {
        copies(top);
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
      if (opcode == Opcodes.ASTORE) {
        copies(open.peek());
      }
      super.visitVarInsn(opcode, variable);
    }

    /** Called before an instruction that copies a reference to where it cannot be tracked. */
    private void copies(@Nullable OpenNew top) {
      if (top != null) {
        top.isCopiedAgain |= size() == top.endOfDup;
      }
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      CallSite site = CallSites.find(owner, name, descriptor);
      if (name.equals(CONSTRUCTOR)) {
        OpenNew opened = open.peek();
        boolean paired = opened != null && opened.type.equals(owner);
        if (paired) {
          open.pop();
        }
        if (site != null) {
          if (!paired) {
            rewriting.left(site, "super(...) or this(...)");
          } else if (!opened.hasTwoReferences()) {
            rewriting.left(site, "NEW is not followed by exactly one DUP");
          } else {
            construct(site);
            return;
          }
        }
      } else if (site != null && site.kind().opcode == opcode && call(site)) {
        return;
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    private void construct(CallSite site) {
      invokeBridge(site);
      super.visitInsn(Opcodes.DUP_X2);
      super.visitInsn(Opcodes.POP);
      super.visitInsn(Opcodes.POP2);
      rewriting.rewritten(site);
    }

    private boolean call(CallSite site) {
      if (!site.kind().isLinked()) {
        invokeBridge(site);
      } else if (rewriting.hasInvokeDynamic) {
        super.visitInvokeDynamicInsn(
            site.name(),
            site.targetDescriptor(),
            new Handle(Opcodes.H_INVOKESTATIC, site.bridge(), site.target(), BOOTSTRAP, false),
            new Handle(site.kind().tag, site.owner(), site.name(), site.descriptor(), false));
      } else {
        rewriting.left(site, "class file before Java 7");
        return false;
      }
      rewriting.rewritten(site);
      return true;
    }

    private void invokeBridge(CallSite site) {
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, site.bridge(), site.target(), site.targetDescriptor(), false);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String descriptor, Handle bootstrap, Object... arguments) {
      if (bootstrap.getOwner().equals(METAFACTORY) && arguments.length > 1) {
        // (sam type, implementation, instantiated type[, flags, ...])
        Handle replacement = reference(arguments[1], isSerializable(arguments));
        if (replacement != null) {
          arguments[1] = replacement;
        }
      }
      super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }

    private static boolean isSerializable(Object[] arguments) {
      return arguments.length > 3
          && arguments[3] instanceof Integer flags
          && (flags & java.lang.invoke.LambdaMetafactory.FLAG_SERIALIZABLE) != 0;
    }

    private @Nullable Handle reference(Object argument, boolean serializable) {
      if (!(argument instanceof Handle handle)) {
        return null;
      }
      CallSite site = CallSites.find(handle.getOwner(), handle.getName(), handle.getDesc());
      if (site == null || handle.getTag() != site.kind().tag) {
        return null;
      }
      if (serializable || site.kind().isLinked()) {
        rewriting.left(site, serializable ? "serialisable method reference" : "method reference");
        return null;
      }
      rewriting.rewritten(site);
      return new Handle(
          Opcodes.H_INVOKESTATIC, site.bridge(), site.target(), site.targetDescriptor(), false);
    }
  }
}
