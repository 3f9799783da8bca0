package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.telemetry.event.EpochEvent;
import org.junit.jupiter.api.Test;

/** Recordings of earlier versions, which had fewer fields. */
final class EventReaderTest {
  private final EventReader<EpochEvent> reader = new EventReader<>(EpochEvent.class);

  /** Returns an event whose numbers are all 7, without one of its fields. */
  private static JobEvent without(String missing) {
    return new FakeEvent(field -> field.equals(missing) ? null : 7L);
  }

  @Test
  void aFieldAddedLaterMayBeMissing() {
    assertThat(reader.read(without("none")).cpu).isEqualTo(7);
    EpochEvent old = reader.read(without("cpu"));
    assertThat(old.cpu).isZero();
    assertThat(old.batches).isEqualTo(7);
  }

  @Test
  void anyOtherMissingFieldMeansAnotherVersion() {
    assertThatThrownBy(() -> reader.read(without("batches")))
        .hasMessage("event io.coordl.Epoch has no usable field 'batches'");
  }
}
