package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** User text cannot control the terminal, and passwords are not shown. */
final class UserTextTest {
  @ParameterizedTest
  @CsvSource({
    "redis://u:secret@h:6379/2, redis://(not shown)@h:6379/2",
    "redis://u:sec@ret@h, redis://(not shown)@h",
    "redis://a:secret@h;redis://b:secret@i, redis://(not shown)@i",
    "redis://:sec ret@h, redis://(not shown)@h",
    "u:secret@h, (not shown)@h",
    "redis://h:6379, redis://h:6379",
    "/data/me@home/*.jpg, /data/me@home/*.jpg",
    "C:/data, C:/data",
    "'', ''"
  })
  void aValueLosesOnlyItsSecret(String value, String shown) {
    assertThat(UserText.value(value)).isEqualTo(shown);
    assertThat(UserText.value(shown)).isEqualTo(shown);
  }

  @Test
  void anAddressInASentenceLosesOnlyItsCredentials() {
    assertThat(UserText.line("redis://u:sec@ret@h is down; mail me@example.org"))
        .isEqualTo("redis://(not shown)@h is down; mail me@example.org");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u001b[2J",
        "a\r\nb",
        "\u0007",
        "\u009b1m",
        "\u202e",
        "\u2028",
        "\ufeff",
        "\ud800"
      })
  void controlCharactersAreEscaped(String raw) {
    assertThat(UserText.value(raw))
        .matches("\\p{ASCII}+")
        .contains("\\u")
        .doesNotContainPattern("\\p{Cntrl}");
  }

  @Test
  void lettersOfAnyScriptAndEmojiAreKept() {
    assertThat(UserText.value("/дані/图/é\ud83d\ude00 x")).isEqualTo("/дані/图/é\ud83d\ude00 x");
  }

  @Test
  void theLogPrintsOneLinePerMessage() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      AgentLog log = new AgentLog();
      log.say("group \u001b[31mred\nredis://u:secret@h");
      log.fault("open \u0007/a\nb", new IllegalStateException("x\ny redis://u:secret@h"), false);
    } finally {
      System.setErr(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "[coordl] group \\u001b[31mred\\u000aredis://(not shown)@h",
            "[coordl] fault in open \\u0007/a\\u000ab: java.lang.IllegalStateException: x\\u000ay"
                + " redis://(not shown)@h; the program's own call runs instead");
  }
}
