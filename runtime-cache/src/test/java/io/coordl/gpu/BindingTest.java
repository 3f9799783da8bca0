package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.gpu.Natives.UnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The user's message if native code cannot be called. */
class BindingTest {
  private static final String RAW = "(?s).*(Exception|Error|java\\.|com\\.|org\\.).*";

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMachineWithoutADriverIsASentence(boolean asked) {
    Binding binding = new Binding("none", getClass().getClassLoader(), asked);
    assertThatThrownBy(() -> binding.open("libnothing-of-nvidia.so.1", "nvml"))
        .isInstanceOf(UnavailableException.class)
        .message()
        .doesNotMatch(RAW)
        .containsPattern("cannot find libnothing-of-nvidia.so.1|needs JNA on the class path");
  }

  @Test
  void presetsThatAreNotThereAreNamed(@TempDir Path empty) {
    assertThatThrownBy(() -> new Binding(empty.toString(), null, true).open("any", "nvml"))
        .hasMessage("gpu.presets=" + empty + " has no jar files");
  }

  @Test
  void whatElseFailsKeepsItsFirstLine() {
    assertThat(UnavailableException.reason(new InvocationTargetException(new Error("one\ntwo"))))
        .isEqualTo("one");
    assertThat(UnavailableException.reason(new NoClassDefFoundError("a/B")))
        .isEqualTo("there is no class a.B");
    assertThat(UnavailableException.reason(new IllegalStateException()))
        .isEqualTo("it failed with IllegalStateException");
  }
}
