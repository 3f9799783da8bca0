package io.coordl.purity;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Finds the package-private fields that a library sets only in constructors, by reading all class
 * files of their package in the same jar or directory.
 */
final class PackageFields {
  /**
   * Names and types of the fields that the package sets, except in this class's constructors; empty
   * if unknown.
   */
  private static final ClassValue<Optional<Set<String>>> SET =
      new ClassValue<>() {
        @Override
        protected Optional<Set<String>> computeValue(Class<?> type) {
          try {
            return Optional.ofNullable(fieldsSet(type));
          } catch (IOException | URISyntaxException | RuntimeException e) {
            return Optional.empty();
          }
        }
      };

  private PackageFields() {}

  /** Whether, within the library, only constructors of its class set this field. */
  static boolean isSetOnlyInConstructors(Class<?> type, Field field) {
    int access = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE | Modifier.STATIC;
    return (field.getModifiers() & access) == 0
        && SET.get(type)
            .map(set -> !set.contains(field.getName() + Type.getDescriptor(field.getType())))
            .orElse(false);
  }

  private static @Nullable Set<String> fieldsSet(Class<?> type)
      throws IOException, URISyntaxException {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source == null || source.getLocation() == null) {
      return null;
    }
    String owner = Type.getInternalName(type);
    Set<String> set = new HashSet<>();
    for (String name : classes(Path.of(source.getLocation().toURI()), owner)) {
      ClassCode code = ClassCode.read(name, type.getClassLoader());
      if (code == null) {
        return null;
      }
      for (MethodCode method : code.methods) {
        boolean isConstructor = name.equals(owner) && method.name.equals("<init>");
        for (int i = 0; i < method.instructions.size(); i++) {
          MethodCode.Instruction it = method.instructions.get(i);
          if (it.isCall() && FieldProof.findsFields(it.member())) {
            return null;
          }
          List<Flow.Value> operands =
              it.opcode() == Opcodes.PUTFIELD ? method.flow().operands(i) : null;
          if (operands != null && !(isConstructor && operands.get(0).isOnly(Flow.Plain.THIS))) {
            set.add(it.member().name() + it.member().descriptor());
          }
        }
      }
    }
    return set;
  }

  /** Returns the internal names of the classes in the package of {@code owner}. */
  private static List<String> classes(Path source, String owner) throws IOException {
    String folder = owner.substring(0, owner.lastIndexOf('/') + 1);
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(source)) {
      try (Stream<Path> files = Files.list(source.resolve(folder))) {
        files.forEach(file -> names.add(folder + file.getFileName()));
      }
    } else {
      try (JarFile jar = new JarFile(source.toFile())) {
        jar.stream().forEach(entry -> names.add(entry.getName()));
      }
    }
    return names.stream()
        .filter(name -> name.endsWith(".class"))
        .filter(name -> name.lastIndexOf('/') == folder.length() - 1 && name.startsWith(folder))
        .map(name -> name.substring(0, name.length() - ".class".length()))
        .toList();
  }
}
