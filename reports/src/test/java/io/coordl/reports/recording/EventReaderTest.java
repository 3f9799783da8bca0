package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.event.EpochEvent;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Recordings of versions that had fewer fields. */
final class EventReaderTest {
  private final EventReader<EpochEvent> reader = new EventReader<>(EpochEvent.class);

  /** An event whose numbers are all 7, without one of its fields. */
  private record Without(String missing) implements JobEvent {
    @Override
    public Instant start() {
      return Instant.EPOCH;
    }

    @Override
    public Instant end() {
      return Instant.EPOCH;
    }

    @Override
    public boolean has(String field) {
      return !field.equals(missing);
    }

    @Override
    public long number(String field) {
      return 7;
    }

    @Override
    public double real(String field) {
      return 7;
    }

    @Override
    public boolean flag(String field) {
      return true;
    }

    @Override
    public String text(String field) {
      return field;
    }
  }

  @Test
  void aFieldThatWasAddedSinceMayBeMissingAndIsUnknown() {
    assertThat(reader.read(new Without("none")).cpu).isEqualTo(7);
    EpochEvent old = reader.read(new Without("cpu"));
    assertThat(old.cpu).isZero();
    assertThat(old.batches).isEqualTo(7);
  }

  @Test
  void anyOtherMissingFieldIsOfAnotherVersion() {
    assertThatThrownBy(() -> reader.read(new Without("batches")))
        .hasMessage("event io.coordl.Epoch has no field 'batches'");
  }
}
