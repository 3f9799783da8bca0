package io.coordl.library.declared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.transformers.hook.HookRule;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeclaredTest {
  private final Declared library = new Declared();

  private List<String> rules() {
    return library.hooks().stream().map(HookRule::describe).toList();
  }

  @Test
  void eachArgumentMayBeRepeatedAndMayNameOneOverload() {
    library.accept("batch", "my.Loader#next");
    library.accept("batch", "my.Loader#next(I)[[F");
    library.accept("batch", "my.Data$1#take");
    library.accept("step", "my.Trainer#step");
    library.accept("step", "my.Trainer#test([[F)V");
    library.accept("item", "Load#load");

    assertThat(library.remarks()).isEmpty();
    assertThat(rules())
        .contains(
            "my.Loader.next(..)",
            "my.Loader.next(I)[[F",
            "my.Data$1.take(..)",
            "my.Trainer.step(..)",
            "my.Trainer.test([[F)V",
            "Load.load(..)",
            "my.Loader.hasNext()Z",
            "my.Data$1.reset()V");
    assertThat(library.hooks())
        .filteredOn(rule -> rule.interceptor() != null)
        .extracting(HookRule::describe)
        .containsExactly("my.Loader.next(..)", "my.Loader.next(I)[[F", "my.Data$1.take(..)");
    assertThat(library.verdicts())
        .containsEntry("my.Data$1", "io.coordl.library.declared.ProvenLoop take")
        .containsEntry("my.Loader", "io.coordl.library.declared.ProvenLoop next next(I)[[F");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "next",
        "my.Loader",
        "my.Loader#",
        "#next",
        "my.Loader.next",
        "my..Loader#next",
        "my.Loader#next()",
        "my.Loader#next(int)",
        "my.Loader#next(I",
        "my.Loader#next(I)[[F trailing",
        "my.Loader#next(Ljava/lang/String)V",
        "my.Loader##next",
        "my/Loader#next",
        "my.Loader#next;my.Loader#other",
        "my.Loader#1next"
      })
  void valuesThatNameNoMethodAreRefused(String value) {
    for (String key : List.of("batch", "step", "item")) {
      assertThatThrownBy(() -> library.accept(key, value))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aStepWithoutABatchIsReported() {
    library.accept("step", "my.Trainer#step");
    library.accept("step", "my.Trainer#test");
    assertThat(library.remarks())
        .containsExactly(
            "step=my.Trainer#step observes nothing without batch=CLASS#METHOD",
            "step=my.Trainer#test observes nothing without batch=CLASS#METHOD");
    assertThat(library.kept()).isEmpty();
    library.accept("batch", "my.Loader#next");
    assertThat(library.remarks()).isEmpty();
    assertThat(library.kept()).isNotEmpty();
  }

  @Test
  void valuesThatMatchedNothingAreReportedAtTheEnd() {
    library.accept("batch", "my.Loader#next");
    library.accept("batch", "my.Loader#next(I)[[F");
    library.accept("step", "my.Trainer#step");
    library.accept("item", "my.Loader#load");
    library.applied("my.Loader.next(..)");
    library.applied("my.Trainer.step(..)");
    assertThat(library.unused())
        .containsExactly(
            "batch=my.Loader#next(I)[[F did nothing: the program loaded no class my.Loader that"
                + " declares such a method with a body",
            "item=my.Loader#load did nothing: the program loaded no class my.Loader that declares"
                + " such a method with a body");
  }
}
