package io.coordl.transformers.callsite;

import java.util.StringJoiner;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * One rule: calls of this method go to the bridge. The rule determines the bridge method: a
 * constructor of {@code X} becomes {@code newX} with the same parameters, a static method keeps
 * name and parameters, and an instance method takes its receiver as first parameter.
 *
 * @param owner internal name of the class, as in call sites
 * @param name {@code <init>} for a constructor
 * @param bridge internal name of the bridge class that is called
 * @param provenOn versions of the library or JDK with which the rule was tested
 */
public record CallSite(
    Kind kind, String owner, String name, String descriptor, String bridge, String provenOn) {

  /** The kind of call, which determines how it is rewritten. */
  public enum Kind {
    /** {@code new}: a static method creates the object instead. */
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
    /** Like {@link #STATIC_LINKED}, for an instance method. */
    VIRTUAL_LINKED(Opcodes.INVOKEVIRTUAL, Opcodes.H_INVOKEVIRTUAL);

    /** Opcode of the original call. */
    final int opcode;

    /** Tag of the equivalent method handle. */
    final int tag;

    Kind(int opcode, int tag) {
      this.opcode = opcode;
      this.tag = tag;
    }

    boolean isLinked() {
      return this == STATIC_LINKED || this == VIRTUAL_LINKED;
    }
  }

  /** String for the prefilter: contained in every class that calls this method, and few others. */
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

  /** The call in source form, for example {@code new FileInputStream(File)}. */
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
