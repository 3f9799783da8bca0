package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.bytebuddy.jar.asm.Type;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The table and the bridge agree, in both directions. */
final class CallSitesTest {
  static final List<CallSite> TABLE = CallSites.TABLE;

  @ParameterizedTest
  @FieldSource("TABLE")
  void bridgeHasAMethodForEveryRule(CallSite site) throws Exception {
    List<String> methods = new ArrayList<>();
    for (Method method : bridge(site.bridge()).getMethods()) {
      if (Modifier.isStatic(method.getModifiers())) {
        methods.add(method.getName() + Type.getMethodDescriptor(method));
      }
    }
    String descriptor =
        site.kind().isLinked() ? CallSiteRewriter.BOOTSTRAP : site.targetDescriptor();

    assertThat(methods).contains(site.target() + descriptor);
  }

  @ParameterizedTest
  @FieldSource("TABLE")
  void jdkHasEveryMethodOfTheTable(CallSite site) throws Exception {
    if (site.kind().isLinked()) {
      return; // Of a newer JDK or a library.
    }
    Class<?> owner = Class.forName(site.owner().replace('/', '.'));
    List<String> methods = new ArrayList<>();
    for (Method method : owner.getMethods()) {
      methods.add(method.getName() + Type.getMethodDescriptor(method));
    }
    for (var constructor : owner.getConstructors()) {
      methods.add("<init>" + Type.getConstructorDescriptor(constructor));
    }

    assertThat(methods).contains(site.name() + site.descriptor());
  }

  @Test
  void tableHasEveryPublicMethodOfTheBridge() throws Exception {
    Set<String> targets = new HashSet<>();
    Set<String> bridges = new HashSet<>();
    for (CallSite site : CallSites.TABLE) {
      bridges.add(site.bridge());
      targets.add(
          site.target()
              + (site.kind().isLinked() ? CallSiteRewriter.BOOTSTRAP : site.targetDescriptor()));
    }
    for (String name : bridges) {
      for (Method method : bridge(name).getDeclaredMethods()) {
        if (Modifier.isPublic(method.getModifiers())) {
          assertThat(targets).contains(method.getName() + Type.getMethodDescriptor(method));
        }
      }
    }
  }

  @Test
  void signatureReadsLikeTheCall() {
    assertThat(CallSites.TABLE.get(0).signature()).isEqualTo("new FileInputStream(File)");
    assertThat(CallSites.TABLE)
        .extracting(CallSite::signature)
        .doesNotHaveDuplicates()
        .contains(
            "Files.newInputStream(Path, OpenOption[])",
            "URL.openStream()",
            "FileChannel.map(MapMode, long, long, Arena)");
  }

  private static Class<?> bridge(String internalName) throws ClassNotFoundException {
    return Class.forName(internalName.replace('/', '.'));
  }
}
