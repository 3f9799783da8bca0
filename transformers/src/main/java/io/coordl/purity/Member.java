package io.coordl.purity;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.StringJoiner;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Type;

/** A field or method as named in code; {@code owner} is an internal name. */
public record Member(String owner, String name, String descriptor) {
  static final Member NONE = new Member("", "", "");

  static Member of(Handle handle) {
    return new Member(handle.getOwner(), handle.getName(), handle.getDesc());
  }

  /** Returns a field, as code names it. */
  public static Member of(Field field) {
    return new Member(
        Type.getInternalName(field.getDeclaringClass()),
        field.getName(),
        Type.getDescriptor(field.getType()));
  }

  /** Returns a method, as code names it. */
  public static Member of(Method method) {
    return new Member(
        Type.getInternalName(method.getDeclaringClass()),
        method.getName(),
        Type.getMethodDescriptor(method));
  }

  /** Returns the name of the member's class, in source form. */
  public String className() {
    return owner.replace('/', '.');
  }

  @Override
  public String toString() {
    String text = className() + "." + name;
    if (!descriptor.startsWith("(")) {
      return text;
    }
    StringJoiner parameters = new StringJoiner(", ", "(", ")");
    for (Type parameter : Type.getArgumentTypes(descriptor)) {
      parameters.add(parameter.getClassName());
    }
    return text + parameters;
  }
}
