package io.coordl.telemetry.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.junit.jupiter.api.Test;

class AgentEventsTest {
  @Test
  void anEventIsNamedByItsAnnotation() {
    for (Class<? extends Event> event : AgentEvents.ALL) {
      assertThat(AgentEvents.name(event)).isEqualTo(event.getAnnotation(Name.class).value());
    }
  }

  @Test
  void anEventRecordsExactlyItsLabelledFields() {
    for (Class<? extends Event> event : AgentEvents.ALL) {
      List<Field> labelled = new ArrayList<>();
      for (Class<?> type = event; type != null; type = type.getSuperclass()) {
        Arrays.stream(type.getDeclaredFields())
            .filter(field -> field.isAnnotationPresent(Label.class))
            .forEach(labelled::add);
      }
      assertThat(AgentEvents.fields(event)).isNotEmpty().containsExactlyElementsOf(labelled);
    }
  }
}
