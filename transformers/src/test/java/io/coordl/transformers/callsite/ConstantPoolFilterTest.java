package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.transformers.classfile.ConstantPoolFilter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The prefilter finds present constants and survives other files. */
final class ConstantPoolFilterTest {
  /** Has constants that take two pool entries. */
  @SuppressWarnings("UnusedMethod")
  private static final class Longs {
    double value(java.util.Random random) {
      return random.nextLong() * 0x1122334455667788L + 1234.5678;
    }
  }

  @Test
  void findsAStringOfTheConstantPool() throws Exception {
    byte[] classFile = CallSiteRewriterTest.bytesOf(Longs.class);

    assertThat(new ConstantPoolFilter(List.of("java/util/Random")).mentionsAny(classFile)).isTrue();
    assertThat(
            new ConstantPoolFilter(List.of("no/Such", "java/util/Random")).mentionsAny(classFile))
        .isTrue();
    assertThat(new ConstantPoolFilter(List.of("java/util/Rando_")).mentionsAny(classFile))
        .isFalse();
    assertThat(new ConstantPoolFilter(List.of()).mentionsAny(classFile)).isFalse();
  }

  @Test
  void findsNothingInOtherFiles() throws Exception {
    ConstantPoolFilter pool = new ConstantPoolFilter(CallSites.owners());
    byte[] classFile = CallSiteRewriterTest.bytesOf(Subject.class);

    assertThat(pool.mentionsAny(classFile)).isTrue();
    assertThat(pool.mentionsAny(new byte[0])).isFalse();
    assertThat(pool.mentionsAny(new byte[100])).isFalse();
    for (int length = 0; length < 200; length++) {
      boolean unused = pool.mentionsAny(Arrays.copyOf(classFile, length));
    }
  }

  @Test
  void offersProgramNamesButNotThoseOfTheJdkOrAgents() {
    assertThat(
            List.of("ai/djl/Model", "org/datavec/X", "Main", "io/coordl/benchmarks/X", "javafx/X"))
        .allMatch(ClassNames::isOffered);
    assertThat(
            List.of(
                "java/lang/X",
                "javax/imageio/X",
                "sun/X",
                "com/sun/X",
                "jdk/X",
                "io/coordl/agent/CoordlAgent",
                "net/bytebuddy/X",
                "org/jacoco/agent/X"))
        .noneMatch(ClassNames::isOffered);
  }
}
