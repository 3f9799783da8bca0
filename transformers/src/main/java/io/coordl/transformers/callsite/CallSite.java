package io.coordl.transformers.callsite;

import java.util.StringJoiner;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * One rule: calls of this method go to the bridge. Which method of the bridge follows from the rule
 * and is not declared: a constructor of {@code X} becomes {@code newX} with the same parameters, a
 * static method keeps name and parameters, an instance method gets its receiver as first parameter.
 *
 * @param owner internal name of the class as call sites name it
 * @param name {@code <init>} for a constructor
 * @param bridge internal name of the bridge class that is called
 * @param provenOn versions of the library or JDK that the rule was tested on
 */
public record CallSite(
    Kind kind, String owner, String name, String descriptor, String bridge, String provenOn) {

  /** How a call is made, and so how it is rewritten. */
  public enum Kind {
    /** {@code new}: the object comes from a static method instead. */
    CONSTRUCTOR(Opcodes.INVOKESPECIAL, Opcodes.H_NEWINVOKESPECIAL),
    /** A static method: becomes another static method. */
    STATIC(Opcodes.INVOKESTATIC, Opcodes.H_INVOKESTATIC),
    /** An instance method: becomes a static method that takes the receiver. */
    VIRTUAL(Opcodes.INVOKEVIRTUAL, Opcodes.H_INVOKEVIRTUAL),
    /**
     * A static method whose types the bridge cannot name: becomes an {@code invokedynamic}, which a
     * bootstrap method of the bridge links.
     */
    STATIC_LINKED(Opcodes.INVOKESTATIC, Opcodes.H_INVOKESTATIC),
    /** As {@link #STATIC_LINKED}, an instance method. */
    VIRTUAL_LINKED(Opcodes.INVOKEVIRTUAL, Opcodes.H_INVOKEVIRTUAL);

    /** Of the plain call. */
    final int opcode;

    /** Of a method handle that does the same. */
    final int tag;

    Kind(int opcode, int tag) {
      this.opcode = opcode;
      this.tag = tag;
    }

    boolean isLinked() {
      return this == STATIC_LINKED || this == VIRTUAL_LINKED;
    }
  }

  /** What the prefilter looks for: a string of each class with such calls, and of few others. */
  public String marker() {
    return owner.startsWith("java/lang/") ? name : owner;
  }

  /** Name of the bridge method, or of the bootstrap method that links the call. */
  public String target() {
    if (kind == Kind.CONSTRUCTOR) {
      return "new" + owner.substring(owner.lastIndexOf('/') + 1);
    }
    return kind == Kind.VIRTUAL_LINKED ? "fileChannel" : name;
  }

  /** Descriptor of the static method, or of the {@code invokedynamic}, that replaces the call. */
  public String targetDescriptor() {
    return switch (kind) {
      case CONSTRUCTOR -> descriptor.substring(0, descriptor.length() - 1) + "L" + owner + ";";
      case STATIC, STATIC_LINKED -> descriptor;
      case VIRTUAL, VIRTUAL_LINKED -> "(L" + owner + ";" + descriptor.substring(1);
    };
  }

  /** The call as a reader writes it, for example {@code new FileInputStream(File)}. */
  public String signature() {
    StringJoiner parameters = new StringJoiner(", ", "(", ")");
    for (Type type : Type.getArgumentTypes(descriptor)) {
      String name = type.getClassName();
      parameters.add(name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1));
    }
    String type = owner.substring(owner.lastIndexOf('/') + 1);
    return (kind == Kind.CONSTRUCTOR ? "new " + type : type + "." + name) + parameters;
  }
}
