package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Unit tests of a staging buffer's parts. */
class StagingPartsTest {
  // ---- orders

  @Test
  void anOrderIsCutIntoBatches() {
    BatchOrder evenly = BatchOrder.evenly(new int[] {5, 3, 1, 4, 2}, 2);
    assertThat(evenly.batches()).isEqualTo(3);
    assertThat(evenly.items(0)).containsExactly(5, 3);
    assertThat(evenly.items(2)).containsExactly(2);
    assertThat(List.of(evenly.end(0), evenly.end(1), evenly.end(2))).containsExactly(2, 4, 5);
    assertThat(BatchOrder.evenly(new int[] {1, 2}, 2).batches()).isEqualTo(1);
    // Programs request "all in one batch" this way.
    assertThat(BatchOrder.evenly(new int[] {1, 2}, Integer.MAX_VALUE).batches()).isEqualTo(1);
    assertThat(BatchOrder.batches(Integer.MAX_VALUE, Integer.MAX_VALUE)).isEqualTo(1);
    assertThat(BatchOrder.batches(Integer.MAX_VALUE, 1)).isEqualTo(Integer.MAX_VALUE);
    assertThat(BatchOrder.batches(0, 7)).isZero();
    BatchOrder of = BatchOrder.of(List.of(new int[] {7}, new int[] {}, new int[] {8, 9}));
    assertThat(of.items).containsExactly(7, 8, 9);
    assertThat(of.ends).containsExactly(1, 1, 3);
    assertThat(of.items(1)).isEmpty();
    assertThat(new BatchOrder(new int[0], new int[0]).batches()).isZero();
  }

  @Test
  void anOrderWhoseEndsDoNotMatchItsItemsIsRefused() {
    assertThatThrownBy(() -> new BatchOrder(new int[2], new int[] {1}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new BatchOrder(new int[1], new int[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  // ---- fingerprints

  private static Fingerprint fingerprint(String... namesAndValues) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      parts.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return new Fingerprint(parts);
  }

  @Test
  void theFirstPartThatDiffersIsNamed() {
    Fingerprint one = fingerprint("data set", "a", "batch size", "32");
    assertThat(one.difference(fingerprint("data set", "a", "batch size", "64")))
        .isEqualTo("it differs in its batch size: 32, not 64");
    assertThat(one.difference(fingerprint("data set", "a")))
        .isEqualTo("it has batch size: 32, which the other lacks");
    assertThat(one.difference(fingerprint("data set", "a", "batch size", "32", "seed", "1")))
        .isEqualTo("it has 2 properties, not 3");
    assertThat(one.difference(fingerprint("batch size", "32", "data set", "a"))).isNull();
    assertThat(one.likeness(fingerprint("data set", "a", "batch size", "64"))).isEqualTo(1);
    assertThat(one.likeness(one)).isEqualTo(2);
    assertThat(one.parts()).containsOnlyKeys("data set", "batch size");
  }

  @Test
  void aFingerprintIsReadBackFromItsText() {
    Fingerprint one = fingerprint("transforms", "a\tb\n c", "empty", "");
    assertThat(one.text()).isEqualTo("transforms\ta b c\nempty\t\n");
    Fingerprint again = Fingerprint.parse("no tab\n\tno name\n" + one.text());
    assertThat(again).isEqualTo(one).hasSameHashCodeAs(one);
    assertThat(again.checksum()).isEqualTo(one.checksum());
    assertThat(again).isNotEqualTo(fingerprint("empty", "")).isNotEqualTo("text");
  }

  @Test
  void aFingerprintIsReadFromTheHeadOfAFile() {
    String text = "data set\ta\n";
    ByteBuffer head =
        ByteBuffer.allocate(StagingDescriptor.TEXT_END).order(ByteOrder.nativeOrder());
    head.putLong((int) StagingDescriptor.TEXT_BYTES, text.length());
    head.put((int) StagingDescriptor.TEXT, text.getBytes(StandardCharsets.UTF_8));
    assertThat(StagingContents.fingerprint(head.array())).isEqualTo(fingerprint("data set", "a"));
    head.putLong((int) StagingDescriptor.TEXT_BYTES, -1);
    assertThat(StagingContents.fingerprint(head.array()).parts()).isEmpty();
    head.putLong((int) StagingDescriptor.TEXT_BYTES, Long.MAX_VALUE);
    assertThat(StagingContents.fingerprint(head.array()).parts()).containsKey("data set");
  }

  @Test
  void jobsWaitingForAFirstEpochAreReadFromTheHeadOfAFile() {
    ByteBuffer head =
        ByteBuffer.allocate(StagingDescriptor.TEXT_END).order(ByteOrder.nativeOrder());
    assertThat(StagingContents.waiting(head.array())).isEmpty();
    for (int participant : new int[] {0, 3, StagingDescriptor.MAX_PARTICIPANTS - 1}) {
      int at = (int) StagingDescriptor.participant(participant);
      head.putLong(at + (int) StagingDescriptor.PARTICIPANT_JOB, participant + 1);
      head.putLong(at + (int) StagingDescriptor.PARTICIPANT_PID, 100 + participant);
    }
    assertThat(StagingContents.waiting(head.array())).containsExactlyInAnyOrder(100L, 103L, 115L);
    head.putLong((int) StagingDescriptor.SIZER, 1);
    assertThat(StagingContents.waiting(head.array())).as("a batch is being prepared").isEmpty();
    head.putLong((int) StagingDescriptor.SIZER, 0);
    head.putLong((int) StagingDescriptor.SLOT_BYTES, 4096);
    assertThat(StagingContents.waiting(head.array())).as("a batch was prepared").isEmpty();
  }

  // ---- layout

  @Test
  void wordsRoundTrip() {
    long word = StagingDescriptor.word(3, 4_000_000, 16_000_000, 65_535);
    assertThat(StagingDescriptor.state(word)).isEqualTo(3);
    assertThat(StagingDescriptor.epoch(word)).isEqualTo(4_000_000);
    assertThat(StagingDescriptor.middle(word)).isEqualTo(16_000_000);
    assertThat(StagingDescriptor.low(word)).isEqualTo(65_535);
    assertThat(StagingDescriptor.cursor(2, 0)).isGreaterThan(StagingDescriptor.cursor(1, 5));
    assertThat(StagingDescriptor.cursor(1, 5)).isGreaterThan(StagingDescriptor.cursor(1, 4));
  }

  @Test
  void nothingInTheLayoutOverlaps() {
    long items = 1001;
    long batches = 77;
    List<long[]> parts = new ArrayList<>(); // Start and end offsets.
    parts.add(new long[] {0, StagingDescriptor.RESERVED + 8});
    for (int i = 0; i < StagingDescriptor.MAX_PARTICIPANTS; i++) {
      long at = StagingDescriptor.participant(i);
      parts.add(new long[] {at, at + StagingDescriptor.PARTICIPANT_CURSOR + 8});
    }
    for (int i = 0; i < StagingDescriptor.MAX_SLOTS; i++) {
      parts.add(new long[] {StagingDescriptor.slot(i), StagingDescriptor.slot(i) + 8});
      parts.add(new long[] {StagingDescriptor.slotLength(i), StagingDescriptor.slotLength(i) + 8});
    }
    parts.add(new long[] {StagingDescriptor.TEXT, StagingDescriptor.TEXT_END});
    for (int i = 0; i < 2; i++) {
      StagingDescriptor.Epoch at = StagingDescriptor.Epoch.at(i, items, batches);
      parts.add(new long[] {at.state(), at.state() + 8});
      parts.add(new long[] {at.batches(), at.batches() + 8});
      parts.add(new long[] {at.items(), at.items() + 8});
      parts.add(new long[] {at.claim(0), at.claim((int) batches - 1) + 8});
      parts.add(new long[] {at.endTable(), at.endTable() + 4 * batches});
      parts.add(new long[] {at.itemTable(), at.itemTable() + 4 * items});
    }
    for (int i = 0; i < 3; i++) {
      long at = StagingDescriptor.slotOffset(items, batches, i, 8192);
      assertThat(at % StagingDescriptor.PAGE).isZero();
      parts.add(new long[] {at, at + 8192});
    }
    parts.sort((a, b) -> Long.compare(a[0], b[0]));
    for (int i = 1; i < parts.size(); i++) {
      long at = parts.get(i)[0];
      boolean isWord = parts.get(i)[1] - at == 8;
      assertThat(at).isGreaterThanOrEqualTo(parts.get(i - 1)[1]);
      assertThat(at % (isWord ? 8 : 4)).as("alignment of %d", at).isZero();
    }
    assertThat(StagingFile.pages(0)).isZero();
    assertThat(StagingFile.pages(1)).isEqualTo(4096);
    assertThat(StagingFile.pages(4096)).isEqualTo(4096);
    assertThat(StagingFile.pages(4097)).isEqualTo(8192);
  }

  // ---- participants

  @Test
  void aJobTakesTheFirstFreeOrDeadParticipantAndResetsIt() {
    Words memory = new Words(8, 4);
    Set<Long> living = new HashSet<>(Set.of(1L, 2L, 3L));
    for (long job = 1; job <= 3; job++) {
      assertThat(Participants.enter(memory, job, 100 + job, living::contains)).isTrue();
    }
    long second = StagingDescriptor.participant(1);
    for (long at = second; at <= second + StagingDescriptor.PARTICIPANT_CURSOR; at += 8) {
      memory.set(at, 2);
    }
    long slot = StagingDescriptor.slot(5);
    long epoch = memory.epoch(1).state();
    memory.set(slot, StagingDescriptor.word(StagingDescriptor.READY, 1, 3, 0b111));
    memory.set(epoch, StagingDescriptor.word(StagingDescriptor.SLIDING, 1, 0, 0b111));
    living.remove(2L);

    living.add(4L);
    assertThat(Participants.enter(memory, 4, 104, living::contains)).isTrue();

    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_JOB)).isEqualTo(4);
    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_PID)).isEqualTo(104);
    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_BEAT)).isZero();
    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_BLOCKED)).isZero();
    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_PRODUCES)).isZero();
    assertThat(memory.get(second + StagingDescriptor.PARTICIPANT_CURSOR)).isZero();
    assertThat(StagingDescriptor.low(memory.get(slot))).isEqualTo(0b101);
    assertThat(StagingDescriptor.low(memory.get(epoch))).isEqualTo(0b101);
    Participants participants =
        new Participants(memory, Words.liveness(living), new Words.Time(), Timeouts.USUAL, 4);
    assertThat(participants.participantOf(4)).isEqualTo(1);
    assertThat(participants.pid(1)).isEqualTo(104);
    assertThat(participants.count()).isEqualTo(3);
    assertThatThrownBy(() -> participants.participantOf(2))
        .isInstanceOf(IllegalStateException.class);
    for (long job = 5; job <= StagingDescriptor.MAX_PARTICIPANTS + 1; job++) {
      living.add(job);
      assertThat(Participants.enter(memory, job, 100 + job, living::contains)).isTrue();
    }
    assertThat(Participants.enter(memory, 99, 199, living::contains)).as("too many").isFalse();
  }

  @Test
  void progressOfAnyJobIsSeen() {
    Words memory = new Words(8, 4);
    Set<Long> living = Set.of(1L);
    Participants.enter(memory, 1, 101, living::contains);
    Participants participants =
        new Participants(memory, Words.liveness(living), new Words.Time(), Timeouts.USUAL, 1);
    Set<Long> seen = new HashSet<>();
    for (int participant = 0; participant < StagingDescriptor.MAX_PARTICIPANTS; participant++) {
      for (int batch = 1; batch < 4; batch++) {
        memory.set(
            StagingDescriptor.participant(participant) + StagingDescriptor.PARTICIPANT_CURSOR,
            StagingDescriptor.cursor(1, batch));
        assertThat(seen.add(participants.progress())).isTrue();
      }
    }
  }

  // ---- gate and heartbeat

  @Test
  void aClosedGateAdmitsNoThread() {
    Gate gate = new Gate();
    assertThat(gate.enter()).isTrue();
    assertThat(gate.enter()).as("again, by the same thread").isTrue();
    gate.exit();
    gate.exit();
    assertThat(gate.isOpen()).isTrue();
    assertThat(gate.close()).isTrue();
    assertThat(gate.isOpen()).isFalse();
    assertThat(gate.enter()).isFalse();
  }

  @Test
  void anInterruptedThreadClosesAGateAndStaysInterrupted() {
    Gate gate = new Gate();
    Thread.currentThread().interrupt();
    assertThat(gate.close()).isTrue();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(gate.enter()).isFalse();
  }

  @Test
  void theHeartbeatThreadRunsCallsOnItsOwnThread() throws IOException {
    SynchronousQueue<Thread> beats = new SynchronousQueue<>();
    HeartbeatThread heartbeat = new HeartbeatThread(() -> beats.offer(Thread.currentThread()));
    try {
      Thread thread = heartbeat.call(Thread::currentThread);
      assertThat(thread).isNotSameAs(Thread.currentThread());
      assertThat(thread.isDaemon()).isTrue();
      assertThat(thread.getThreadGroup().getParent()).as("the root thread group").isNull();
      assertThat(heartbeat.<Thread>call(() -> heartbeat.call(Thread::currentThread)))
          .isSameAs(thread);
      assertThatThrownBy(
              () ->
                  heartbeat.call(
                      () -> {
                        throw new IOException("full");
                      }))
          .isInstanceOf(IOException.class)
          .hasMessage("full");
      assertThatThrownBy(
              () ->
                  heartbeat.call(
                      () -> {
                        throw new IllegalStateException("wrong");
                      }))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("wrong");
      heartbeat.later(
          () -> {
            throw new IOException("nobody hears of it");
          });
      AtomicBoolean done = new AtomicBoolean();
      heartbeat.later(() -> done.getAndSet(true));
      assertThat(heartbeat.<Boolean>call(done::get)).isTrue();
      Thread.currentThread().interrupt();
      assertThat(heartbeat.call(() -> 7)).isEqualTo(7);
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      heartbeat.stop();
    }
  }

  @Test
  void theHeartbeatSurvivesExceptions() throws Exception {
    CountDownLatch beats = new CountDownLatch(3);
    HeartbeatThread heartbeat =
        new HeartbeatThread(
            () -> {
              beats.countDown();
              throw new IllegalStateException("one beat fails");
            });
    beats.await();
    Thread thread = heartbeat.call(Thread::currentThread);
    heartbeat.stop();
    thread.join();
    assertThatThrownBy(() -> heartbeat.call(() -> 7)).hasMessage("The staging buffer is closed.");
  }

  @Test
  void aPauseKeepsTheInterruptStatus() {
    Thread.currentThread().interrupt();
    Clock.SYSTEM.pause(1);
    assertThat(Thread.interrupted()).isTrue();
    Clock.SYSTEM.pause(1);
    assertThat(Thread.interrupted()).isFalse();
  }

  // ---- figures

  @Test
  void batchesNotTakenCountAsPreparedLocally() {
    StagingStatisticsEvent one = new StagingStatisticsEvent();
    one.nobody = 1;
    one.notStaged = 2;
    one.late = 4;
    one.lost = 8;
    assertThat(one.preparedLocally()).isEqualTo(15);
  }
}
