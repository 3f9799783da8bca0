package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.RecordComponent;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;

/** Checks the only JDK event whose fields are read by name. */
class VocabularyTest {

  @Test
  void theJdkEventStillHasTheFieldsThatAreRead() {
    EventType type =
        FlightRecorder.getFlightRecorder().getEventTypes().stream()
            .filter(known -> known.getName().equals(Jvm.EVENT))
            .findFirst()
            .orElseThrow();
    for (RecordComponent component : Jvm.class.getRecordComponents()) {
      assertThat(type.getField(component.getName())).as(component.getName()).isNotNull();
    }
  }
}
