package io.coordl.peers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.peers.HostPort;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisUriTest {
  @Test
  void allPartsOfAnAddressAreParsed() {
    RedisUri uri = RedisUri.parse("rediss://me:p%40ss+%2F@cache.example:6380/3");

    assertThat(uri)
        .isEqualTo(new RedisUri(true, new HostPort("cache.example", 6380), 3, "me", "p@ss+/"));
  }

  @Test
  void omittedPartsHaveDefaults() {
    assertThat(RedisUri.parse("redis://redis_1"))
        .isEqualTo(new RedisUri(false, new HostPort("redis_1", 6379), 0, null, null));
    assertThat(RedisUri.parse("redis://:secret@[::1]:7000/"))
        .isEqualTo(new RedisUri(false, new HostPort("::1", 7000), 0, null, "secret"));
    assertThat(RedisUri.parse("redis://a:b@c:d@h"))
        .as("the last @ ends the password")
        .isEqualTo(new RedisUri(false, new HostPort("h", 6379), 0, "a", "b@c:d"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://h",
        "redis://",
        "redis://u:secret@",
        "redis://u:secret@h:0",
        "redis://u:secret@h:99999",
        "redis://u:secret@h:x",
        "redis://u:secret@h:1/x",
        "redis://secret@h",
        "redis://u:%zzsecret@h",
        "redis://u:secret@h?a=b",
        "redis:/u:secret@h",
      })
  void aWrongAddressIsReportedWithoutTheSecret(String text) {
    assertThatThrownBy(() -> RedisUri.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DB]")
        .hasMessageNotContaining("secret");
  }

  @Test
  void missingEncryptionOrPasswordIsReported() {
    assertThat(RedisUri.parse("redis://me:secret@h").exposure())
        .startsWith("redis://h:6379 is used without encryption:")
        .doesNotContain("secret@");
    assertThat(RedisUri.parse("rediss://h").exposure())
        .startsWith("rediss://h:6379 is used without a password:");
    for (String safe : List.of("rediss://me:secret@h", "redis://localhost", "redis://127.0.0.1")) {
      assertThat(RedisUri.parse(safe).exposure()).isNull();
    }
  }

  @Test
  void theTextContainsNoSecret() {
    assertThat(RedisUri.parse("redis://me:secret@h:1/2")).hasToString("redis://h:1/2");
    assertThat(RedisUri.parse("rediss://:secret@[fe80::1]")).hasToString("rediss://[fe80::1]:6379");
  }
}
