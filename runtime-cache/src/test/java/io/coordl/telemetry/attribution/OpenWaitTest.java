package io.coordl.telemetry.attribution;

import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.TAKE;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import jdk.jfr.Event;
import org.junit.jupiter.api.Test;

/** A wait counts while it lasts; the test controls the clock. */
class OpenWaitTest {
  private static final long SECOND = 1_000_000_000L;

  private final List<Event> events = new ArrayList<>();
  private final Object iterator = new Object();
  private long now = SECOND;
  private final SpanRecorder spans = ClockedSpans.on(() -> now);

  /** A batch that comes after {@code seconds}, and a step of the same length. */
  private void batch(long seconds) {
    long token = spans.enter(TAKE, iterator);
    now += seconds * SECOND;
    spans.exit(token, new Object());
    now += seconds * SECOND;
  }

  private void hangs(long seconds) {
    spans.enter(TAKE, iterator);
    now += seconds * SECOND;
  }

  @Test
  void aWaitThatHasNotEndedIsPartOfTheTotalsSoFar() {
    spans.enter(FIT, null);
    batch(2);
    hangs(6);
    JobStatisticsEvent job = spans.soFar(true);
    assertThat(job.openWait).isEqualTo(6 * SECOND);
    assertThat(job.longestWait).isEqualTo(2 * SECOND);
    assertThat(job.stall).isEqualTo(8 * SECOND);
    assertThat(job.queueStall).isEqualTo(6 * SECOND);
    assertThat(job.wall).isEqualTo(10 * SECOND);
    assertThat(job.betweenEpochs()).isZero();
    assertThat(spans.soFar(false).stall).as("without the open wait").isEqualTo(2 * SECOND);
  }

  @Test
  void anOpenWaitCountsForTheJobWhenTheJobEnds() {
    spans.events().open((event, start, end) -> events.add(event));
    spans.enter(FIT, null);
    batch(2);
    hangs(30);
    spans.finish();
    JobStatisticsEvent job = spans.soFar(true);
    assertThat(job.openWait).isEqualTo(30 * SECOND);
    assertThat(job.stall).isEqualTo(32 * SECOND);
    assertThat(job.wall).isEqualTo(34 * SECOND);
    assertThat(job.waitsTooLong()).isTrue();
    assertThat(events)
        .filteredOn(DataStallEvent.class::isInstance)
        .extracting(event -> ((DataStallEvent) event).wait)
        .containsExactly(2 * SECOND, 30 * SECOND);
    assertThat(events)
        .filteredOn(EpochEvent.class::isInstance)
        .extracting(event -> ((EpochEvent) event).stall)
        .containsExactly(32 * SECOND);
  }

  @Test
  void aWaitThatEndsCountsOnceAndForItsCause() {
    spans.enter(FIT, null);
    long token = spans.enter(TAKE, iterator);
    now += 6 * SECOND;
    assertThat(spans.soFar(true).openWait).isEqualTo(6 * SECOND);
    spans.exit(token, new Object());
    JobStatisticsEvent job = spans.soFar(true);
    assertThat(job.openWait).isZero();
    assertThat(job.prepStall).isEqualTo(6 * SECOND);
    assertThat(job.queueStall).isZero();
    assertThat(spans.openWait()).isNull();
  }

  @Test
  void anOpenWaitNamesItsThreadAndTheFileOpenedLast() throws InterruptedException {
    spans.enter(FIT, null);
    batch(1);
    Thread loader = new Thread(() -> spans.itemOpened("broken.jpg"), "loader");
    loader.start();
    loader.join();
    hangs(12);
    OpenWaitEvent event = Objects.requireNonNull(spans.openWait()).event();
    assertThat(event.thread).isEqualTo(Thread.currentThread().getName());
    assertThat(event.waited).isEqualTo(12 * SECOND);
    assertThat(event.longest).isEqualTo(SECOND);
    assertThat(event.stack).contains("OpenWaitTest.anOpenWaitNamesItsThread");
    assertThat(event.file).isEqualTo("broken.jpg");
  }

  @Test
  void onlyAWaitMuchLongerThanAnyBeforeIsTooLong() {
    assertThat(JobStatisticsEvent.isTooLong(19 * SECOND, 2 * SECOND)).isFalse();
    assertThat(JobStatisticsEvent.isTooLong(20 * SECOND, 2 * SECOND)).isTrue();
    assertThat(JobStatisticsEvent.isTooLong(4 * SECOND, 1)).isFalse();
  }

  /** Before training, for example while a normalizer gathers its statistics, no step waits. */
  @Test
  void aThreadThatDoesNotTrainDoesNotWait() {
    hangs(60);
    assertThat(spans.openWait()).isNull();
    assertThat(spans.soFar(true).openWait).isZero();
  }
}
