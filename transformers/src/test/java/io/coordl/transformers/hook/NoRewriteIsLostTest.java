package io.coordl.transformers.hook;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.library.catalog.Libraries;
import io.coordl.transformers.callsite.CallSiteRewriter;
import io.coordl.transformers.callsite.CallSites;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.ConstantPoolFilter;
import io.coordl.transformers.classfile.RuleListener;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;

/**
 * Reading class files in place finds the same code to change as fully parsing them, for every class
 * of DJL and DL4J, or of the jars in {@code -Dcorpus=a.jar:b.jar}.
 */
final class NoRewriteIsLostTest {
  private static final CallSiteRewriter CALL_SITES = new CallSiteRewriter();
  private static final HookWeaver HOOKS = Libraries.known().weaver(Libraries.known().hooks());
  private static final ConstantPoolFilter PREFILTER = prefilter();
  private static final Set<String> TABLE = new HashSet<>();

  static {
    CallSites.TABLE.forEach(
        site -> TABLE.add(site.owner() + "." + site.name() + site.descriptor()));
  }

  private static ConstantPoolFilter prefilter() {
    Set<String> interesting = new HashSet<>(HOOKS.markers());
    CallSites.TABLE.forEach(site -> interesting.add(site.marker()));
    return new ConstantPoolFilter(interesting);
  }

  @Test
  void exactlyTheClassesThatTheParserWouldChangeAreFound() {
    int[] counts = new int[5];
    corpus()
        .forEach(
            (name, bytes) -> {
              ClassFile classFile = ClassFile.read(bytes);
              boolean passes = PREFILTER.mentionsAny(bytes);
              boolean concerned = CALL_SITES.concerns(classFile);
              Sites sites = new Sites();
              CALL_SITES.rewrite(classFile, sites);
              Map<String, List<HookRule>> parsed = Parsed.of(bytes).chosen();

              assertThat(sites.found).as(name).isEqualTo(refers(bytes));
              assertThat(concerned).as(name).isEqualTo(sites.found);
              assertThat(chosen(HOOKS.plan(classFile))).as(name).isEqualTo(parsed);
              assertThat(passes || !(concerned || !parsed.isEmpty())).as(name).isTrue();
              counts[0]++;
              counts[1] += passes ? 1 : 0;
              counts[2] += concerned || !parsed.isEmpty() ? 1 : 0;
              counts[3] += sites.found ? 1 : 0;
              counts[4] += parsed.isEmpty() ? 0 : 1;
            });
    System.out.printf(
        "%d classes: %d pass the prefilter, %d are parsed: %d with call sites, %d with hooks%n",
        counts[0], counts[1], counts[2], counts[3], counts[4]);
    assertThat(counts[3]).isPositive();
    assertThat(counts[4]).isPositive();
  }

  private static Map<String, List<HookRule>> chosen(HookWeaver.Plan plan) {
    Map<String, List<HookRule>> chosen = new LinkedHashMap<>();
    plan.chosen.forEach((method, one) -> chosen.put(method, one.rules()));
    return chosen;
  }

  private static Map<String, byte[]> corpus() {
    String jars = System.getProperty("corpus");
    if (jars == null) {
      return Library.read().classes;
    }
    Map<String, byte[]> classes = new LinkedHashMap<>();
    for (String path : jars.split(":", -1)) {
      try (JarFile jar = new JarFile(path)) {
        for (JarEntry entry : jar.stream().toList()) {
          if (entry.getName().endsWith(".class") && !entry.getName().endsWith("-info.class")) {
            try (InputStream in = jar.getInputStream(entry)) {
              classes.put(path + "!" + entry.getName(), in.readAllBytes());
            }
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return classes;
  }

  private static final class Sites implements RuleListener {
    boolean found;

    @Override
    public void applied(String library, String rule, String provenOn) {
      found = true;
    }

    @Override
    public void skipped(String rule, String reason, String provenOn) {
      found = true;
    }
  }

  /** Whether the class has a call or method reference that is in the table. */
  private static boolean refers(byte[] bytes) {
    boolean[] refers = new boolean[1];
    new ClassReader(bytes)
        .accept(
            new ClassVisitor(Opcodes.ASM9) {
              @Override
              public MethodVisitor visitMethod(
                  int access, String name, String descriptor, String signature, String[] thrown) {
                return new MethodVisitor(Opcodes.ASM9) {
                  @Override
                  public void visitMethodInsn(
                      int opcode, String owner, String called, String type, boolean ofInterface) {
                    refers[0] |= !ofInterface && TABLE.contains(owner + "." + called + type);
                  }

                  @Override
                  public void visitInvokeDynamicInsn(
                      String name, String type, Handle bootstrap, Object... arguments) {
                    for (Object argument : arguments) {
                      refers[0] |=
                          argument instanceof Handle handle
                              && TABLE.contains(
                                  handle.getOwner() + "." + handle.getName() + handle.getDesc());
                    }
                  }
                };
              }
            },
            ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return refers[0];
  }

  /** The rules that fit, according to the parser. */
  private static final class Parsed extends ClassVisitor {
    private String name = "";
    private boolean isInterface;
    private final List<String[]> methods = new ArrayList<>();

    private Parsed() {
      super(Opcodes.ASM9);
    }

    static Parsed of(byte[] classFile) {
      Parsed parsed = new Parsed();
      new ClassReader(classFile)
          .accept(parsed, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return parsed;
    }

    @Override
    public void visit(
        int version, int access, String name, String sig, String superName, String[] interfaces) {
      this.name = name;
      isInterface = (access & Opcodes.ACC_INTERFACE) != 0;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String descriptor, String signature, String[] exceptions) {
      if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) == 0) {
        methods.add(new String[] {method, descriptor});
      }
      return null;
    }

    Map<String, List<HookRule>> chosen() {
      Map<String, List<HookRule>> chosen = new LinkedHashMap<>();
      if ((isInterface && methods.isEmpty()) || Libraries.known().isNotDataSource(name)) {
        return chosen;
      }
      for (HookRule rule : Libraries.known().hooks()) {
        for (String[] method : methods) {
          if (fits(rule, method)) {
            List<HookRule> rules =
                chosen.computeIfAbsent(method[0] + method[1], unused -> new ArrayList<>());
            if (rule.weave() == HookRule.Weave.INTERCEPT) {
              rules.add(0, rule);
            } else if (rules.stream().allMatch(r -> r.weave() == HookRule.Weave.INTERCEPT)) {
              rules.add(rule);
            }
          }
        }
      }
      return chosen;
    }

    private boolean fits(HookRule rule, String[] method) {
      return (rule.owner() == null || rule.owner().equals(name))
          && rule.method().equals(method[0])
          && (rule.descriptor() == null || rule.descriptor().equals(method[1]))
          && (rule.beside() == null
              || methods.stream().anyMatch(m -> rule.beside().equals(m[0] + m[1])));
    }
  }
}
