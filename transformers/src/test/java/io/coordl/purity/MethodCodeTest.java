package io.coordl.purity;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which methods may catch an exception and return. */
class MethodCodeTest {
  /** The methods to examine. */
  static final class Handlers {
    private Handlers() {}

    static int wraps(InputStream in) {
      try {
        return in.read();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    static int closes() throws IOException {
      try (InputStream in = new ByteArrayInputStream(new byte[1])) {
        return in.read();
      }
    }

    static int replaces(InputStream in) {
      try {
        return in.read();
      } catch (IOException e) {
        return -1;
      }
    }

    static int replacesSome(InputStream in, boolean some) {
      int read = 0;
      try {
        read = in.read();
      } catch (IOException e) {
        if (!some) {
          throw new UncheckedIOException(e);
        }
      }
      return read;
    }
  }

  @Test
  void aHandlerThatThrowsInTheEndSwallowsNothing() {
    ClassCode code =
        Objects.requireNonNull(
            ClassCode.read(
                Handlers.class.getName().replace('.', '/'), Handlers.class.getClassLoader()));
    List<String> swallows =
        code.methods.stream()
            .filter(MethodCode::swallows)
            .map(method -> method.name)
            .sorted()
            .toList();
    assertThat(swallows).containsExactly("replaces", "replacesSome");
  }
}
