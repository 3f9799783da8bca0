package io.coordl.metrics;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/** As little of JSON as is written here: maps, collections, strings, and numbers as they are. */
final class Json {
  private Json() {}

  static String of(Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> of(entry.getKey()) + ":" + of(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    } else if (value instanceof Collection<?> all) {
      return all.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
    } else if (value instanceof CharSequence text) {
      return string(text);
    }
    return value.toString();
  }

  private static String string(CharSequence text) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || Character.isSurrogate(c)) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    return json.append('"').toString();
  }
}
