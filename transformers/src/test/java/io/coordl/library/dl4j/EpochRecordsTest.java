package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** A reader that continues an epoch gets the records not yet taken. */
class EpochRecordsTest {
  private static final List<String> RECORDS = List.of("a", "b", "c", "d", "e");

  @Test
  void continuesFromTheGivenRecord() {
    EpochRecords<String> records =
        new EpochRecords<>(RECORDS::get, RECORDS.size(), null, Collections.emptyIterator());
    assertThat(records.next()).isEqualTo("a");
    assertThat(records.place()).isEqualTo(1);
    records.moveTo(3, 5);
    assertThat(records.next()).isEqualTo("d");
    assertThat(records.next()).isEqualTo("e");
    assertThat(records.hasNext()).isFalse();
    assertThatThrownBy(records::next).isInstanceOf(NoSuchElementException.class);
    records.moveTo(0, 1);
    assertThat(records.next()).isEqualTo("a");
    assertThat(records.hasNext()).isFalse();
  }

  @Test
  void ownEpochIsNotShared() {
    assertThat(
            new EpochRecords<>(RECORDS::get, RECORDS.size(), null, Collections.emptyIterator())
                .sharedOf(this))
        .isNull();
  }
}
