package io.coordl.transformers.classfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import org.junit.jupiter.api.Test;

/** Reading in place gives the same results as the parser. */
final class ClassFileTest {
  private static byte[] bytes() throws IOException {
    try (InputStream in = Subject.class.getResourceAsStream("ClassFileTest$Subject.class")) {
      return in.readAllBytes();
    }
  }

  /** Has members with attributes of several lengths, and constants of several kinds. */
  @SuppressWarnings("UnusedMethod")
  private abstract static class Subject implements Runnable {
    static final long NUMBER = 0x1122334455667788L;
    static final double FRACTION = 1.5;
    final String unusedText = "text";

    @Deprecated
    int add(int a, long b) {
      long sum = a + b + NUMBER;
      return (int) sum;
    }

    abstract void add(String text);

    double multiply(java.util.Random random) {
      return random.nextLong() * FRACTION;
    }
  }

  @Test
  void namesMethodsAndLocalsMatchTheParsers() throws IOException {
    ClassFile read = ClassFile.read(bytes());

    assertThat(read.name()).isEqualTo(Subject.class.getName().replace('.', '/'));
    assertThat(read.isInterface()).isFalse();
    assertThat(read.version()).isEqualTo(61);
    assertThat(read.methods(Set.of("add", "missing")))
        .extracting(ClassFile.Method::name, ClassFile.Method::descriptor)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("add", "(IJ)I"),
            org.assertj.core.groups.Tuple.tuple("add", "(Ljava/lang/String;)V"));
    assertThat(read.methods(Set.of("add")))
        .extracting(ClassFile.Method::maxLocals)
        .containsExactly(6, 0);
  }

  @Test
  void referencedMethodsAreFoundByClass() throws IOException {
    ClassFile read = ClassFile.read(bytes());
    ConstantPoolFilter random = new ConstantPoolFilter(List.of("java/util/Random"));

    int found = 0;
    for (int i = 1; i < read.constants(); i++) {
      if (read.refersToMethodOf(random, i)) {
        found++;
        assertThat(read.ownerOf(i)).isEqualTo("java/util/Random");
        assertThat(read.nameOf(i)).isEqualTo("nextLong");
        assertThat(read.descriptorOf(i)).isEqualTo("()J");
      }
    }
    assertThat(found).isEqualTo(1);
  }

  @Test
  void newestVersionIsTheParsers() throws IOException {
    byte[] bytes = bytes();
    bytes[7] = ClassFile.NEWEST;
    assertThat(new ClassReader(bytes).getClassName()).isNotEmpty();

    bytes[7] = ClassFile.NEWEST + 1;
    assertThatIllegalArgumentException().isThrownBy(() -> new ClassReader(bytes));
  }

  @Test
  void otherFilesAreNotClassFiles() throws IOException {
    assertThat(ClassFile.read(new byte[9])).isNull();
    byte[] unknownKind = bytes();
    unknownKind[10] = 99;
    assertThat(ClassFile.read(unknownKind)).isNull();
    assertThat(ClassFile.read(Arrays.copyOf(bytes(), 100))).isNull();
  }
}
