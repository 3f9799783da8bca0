package io.coordl.pipeline;

import io.coordl.purity.ClassFiles;
import io.coordl.purity.Member;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.Type;

/**
 * Checks, once per loader, that a library matches the version that the agent was compiled against,
 * so that an incompatible class is detected before it is used, not while the program trains.
 */
public final class Symbols {
  private final Map<Class<?>, Set<String>> known = new HashMap<>();

  private Symbols() {}

  /** Returns a field of the library that the agent uses, made accessible. */
  public static Field field(Class<?> owner, String name) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /** Like {@link #field(Class, String)}, for a field of this type. */
  public static Field field(Class<?> owner, String name, Class<?> type)
      throws NoSuchFieldException {
    Field field = field(owner, name);
    if (field.getType() != type) {
      throw new NoSuchFieldException(owner.getName() + "." + name + " is a " + field.getType());
    }
    return field;
  }

  /** Requires that the library has every member that these classes and their nested classes use. */
  public static void require(Class<?>... ours) throws ReflectiveOperationException {
    Symbols symbols = new Symbols();
    for (Class<?> outer : ours) {
      for (Class<?> our : outer.getNestMembers()) {
        for (Member used : ClassFiles.uses(our)) {
          if (!used.owner().startsWith("java") && !used.owner().startsWith("io/coordl/")) {
            symbols.require(our, used);
          }
        }
      }
    }
  }

  private void require(Class<?> our, Member used) throws ReflectiveOperationException {
    Class<?> owner;
    try {
      owner = Class.forName(used.className(), false, our.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new NoClassDefFoundError(used.owner());
    }
    boolean inherited = owner.isAssignableFrom(our); // An inherited member need not be public.
    if (!inherited
        && !known
            .computeIfAbsent(owner, Symbols::members)
            .contains(used.name() + used.descriptor())) {
      throw new NoSuchMethodException(used.toString());
    }
  }

  private static Set<String> members(Class<?> type) {
    return Stream.of(
            Stream.of(type.getFields())
                .map(field -> field.getName() + Type.getDescriptor(field.getType())),
            Stream.of(type.getConstructors())
                .map(constructor -> "<init>" + Type.getConstructorDescriptor(constructor)),
            Stream.of(type.getMethods())
                .map(method -> method.getName() + Type.getMethodDescriptor(method)))
        .flatMap(all -> all)
        .collect(Collectors.toSet());
  }
}
