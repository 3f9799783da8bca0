package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whoever reads on from a pass gets what has not been taken. */
class PassFilesTest {
  private static final List<File> FILES =
      Stream.of("a", "b", "c", "d", "e").map(File::new).toList();

  @Test
  void whatIsTakenIsNotReadAgain() {
    PassFiles files = new PassFiles(FILES);
    assertThat(files.last()).isNull();
    assertThat(files.peek(2)).isEqualTo(FILES.subList(0, 2));
    files.take(2);
    assertThat(files.last()).isEqualTo(FILES.get(1));
    assertThat(files.next()).isEqualTo(FILES.get(2));
    assertThat(files.taken()).isEqualTo(3);
    assertThat(files.peek(9)).isEqualTo(FILES.subList(3, 5));
    files.take(9);
    assertThat(files.hasNext()).isFalse();
    assertThat(files.last()).isEqualTo(FILES.get(4));
    assertThatThrownBy(files::next).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void aPassOfItsOwnIsSharedWithNobody() {
    assertThat(new PassFiles(FILES).sharedOf(this)).isNull();
  }
}
