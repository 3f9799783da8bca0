package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.gpu.Natives.UnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Missing native code is reported to the user; checking for it does not disturb the program. */
class BindingTest {
  private static final String RAW = "(?s).*(Exception|Error|java\\.|com\\.|org\\.).*";

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMissingDriverIsReportedInOneSentence(boolean requested) {
    Binding binding = new Binding("none", getClass().getClassLoader(), requested);
    assertThatThrownBy(() -> binding.open("libnothing-of-nvidia.so.1", "nvml"))
        .isInstanceOf(UnavailableException.class)
        .message()
        .doesNotMatch(RAW)
        .containsPattern("cannot find libnothing-of-nvidia.so.1|needs JNA on the class path");
  }

  @Test
  void missingPresetsAreNamed(@TempDir Path empty) {
    assertThatThrownBy(() -> new Binding(empty.toString(), null, true).open("any", "nvml"))
        .hasMessage("gpu.presets=" + empty + " has no jar files");
  }

  /** If JNA cannot be initialized, the program must be the first to see the error. */
  @Test
  void theProgramsJnaIsNotInitializedUnlessRequested(@TempDir Path classes) throws Exception {
    Path source = classes.resolve("NativeLibrary.java");
    Files.writeString(
        source,
        "package com.sun.jna; public class NativeLibrary {"
            + " static { if (true) throw new UnsatisfiedLinkError(\"no room\"); }"
            + " public static Object getInstance(String name) { return null; }"
            + " public Object getFunction(String name) { return null; } }");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", classes.toString(), source.toString());
    assertThat(compiled).isZero();
    try (URLClassLoader program = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null)) {
      Binding binding = new Binding("none", program, false);
      assertThatThrownBy(() -> binding.open("libnothing-of-nvidia.so.1", "nvml"))
          .isInstanceOf(UnavailableException.class);
      assertThatThrownBy(() -> Class.forName("com.sun.jna.NativeLibrary", true, program))
          .isInstanceOf(UnsatisfiedLinkError.class)
          .hasMessage("no room");
    }
  }

  private static final class Late {
    static final List<Integer> NUMBERS = new ArrayList<>();
  }

  @Test
  @EnabledForJreRange(max = JRE.JAVA_21) // Later JDKs have java.lang.foreign.
  void checkingForInitializationDoesNotInitialize() {
    assertThat(JnaNatives.isInitialized(Late.class)).isFalse();
    assertThat(Late.NUMBERS).isEmpty();
    assertThat(JnaNatives.isInitialized(Late.class)).isTrue();
  }

  @Test
  void otherFailuresKeepTheirFirstLine() {
    assertThat(UnavailableException.reason(new InvocationTargetException(new Error("one\ntwo"))))
        .isEqualTo("one");
    assertThat(UnavailableException.reason(new NoClassDefFoundError("a/B")))
        .isEqualTo("there is no class a.B");
    assertThat(UnavailableException.reason(new IllegalStateException()))
        .isEqualTo("it failed with IllegalStateException");
  }
}
