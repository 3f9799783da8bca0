package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.host.Machine;
import io.coordl.host.SetupHolder;
import io.coordl.store.ByteBudget;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The group as the program of a single job sees it. */
class PrepGroupTest {
  private static final int ITEMS = 90;

  private static final Fingerprint PIPELINE =
      new Fingerprint(Map.of("data set", "synthetic", "batch size", "8"));

  @TempDir Path directory;
  private final List<String> logged = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger prepared = new AtomicInteger();

  private PrepGroup group(String budget) {
    return new PrepGroup(directory, "g", ByteBudget.parse(budget), 1, logged::add);
  }

  private PreparedBatch prepare(int batch, int[] items) {
    prepared.incrementAndGet();
    return Batches.prepared(items, batch);
  }

  @Test
  void everyBatchComesOnceFromTheBuffer() {
    try (PrepGroup group = group("64k")) {
      for (int number = 0; number < 3; number++) {
        BatchOrder own = Batches.order(ITEMS, 8, number);
        SharedEpoch epoch = group.begin(PIPELINE, own);
        epoch.prepareWith(this::prepare, 2);
        assertThat(epoch.order().items).isEqualTo(own.items);
        for (int batch = 0; batch < own.batches(); batch++) {
          ByteBuffer staged = Batches.take(epoch, batch);
          assertThat(staged).as("batch %d of epoch %d", batch, number).isNotNull();
          assertThat(Batches.checkAndOverwrite(own.items(batch), staged)).isTrue();
        }
        epoch.end();
        assertThat(Batches.take(epoch, 0)).isNull();
      }
      assertThat(prepared.get()).isEqualTo(3 * 12);
      assertThat(directory).isNotEmptyDirectory();
    }
    assertThat(directory).isEmptyDirectory();
    assertThat(logged).isEmpty();
  }

  /** Happens when a job ends while its heartbeat notices that the agent is off. */
  @Test
  void theSecondCloseWaitsForTheFirst() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    PrepGroup group = group("64k");
    group
        .begin(PIPELINE, Batches.order(ITEMS, 8, 0))
        .prepareWith(
            (batch, items) -> {
              entered.countDown();
              released.await();
              return prepare(batch, items);
            },
            1);
    entered.await();
    Thread first = new Thread(group::close);
    first.start();
    while (first.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    group.close();
    assertThat(directory).isEmptyDirectory();
    released.countDown();
    first.join();
  }

  /** Takes two batches and leaves the loop; in training, the model changes after each batch. */
  private void epoch(PrepGroup group, Fingerprint pipeline, AtomicLong updates, boolean trains) {
    SharedEpoch epoch = group.begin(pipeline, Batches.order(ITEMS, 8, 0));
    epoch.prepareWith(this::prepare, 1);
    for (int batch = 0; batch < 2; batch++) {
      Batches.take(epoch, batch);
      updates.addAndGet(trains ? 1 : 0);
    }
  }

  @Test
  void updatesBetweenBatchesDistinguishTrainingFromEvaluation() {
    AtomicLong updates = new AtomicLong();
    Fingerprint other = new Fingerprint(Map.of("data set", "held out", "batch size", "8"));
    try (PrepGroup group = group("64k")) {
      group.updates(updates::get);
      for (int number = 0; number < 3; number++) {
        epoch(group, PIPELINE, updates, true);
        epoch(group, other, updates, false);
      }
      assertThat(group.statistics())
          .extracting(staging -> staging.updates)
          .containsExactlyInAnyOrder(3L, 0L);
    }
  }

  @Test
  void theReadListenerGetsTheSlotsOwnBufferBeforeEachRead() throws IOException {
    BatchOrder own = Batches.order(ITEMS, 8, 7);
    List<ByteBuffer> readSlots = new ArrayList<>();
    try (PrepGroup group = group("16k")) { // Four slots.
      group.whenRead(readSlots::add);
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith((batch, items) -> new Ones(100), 1);
      for (int batch = 0; batch < own.batches(); batch++) {
        int before = readSlots.size();
        Byte last = epoch.use(batch, bytes -> readSlots.get(before).get(bytes.limit() - 1));
        assertThat(last).isEqualTo((byte) 1);
      }
      epoch.end();
    }
    assertThat(readSlots)
        .hasSize(own.batches())
        .allMatch(slot -> slot.remaining() == StagingDescriptor.PAGE);
    Set<ByteBuffer> slots = Collections.newSetFromMap(new IdentityHashMap<>());
    slots.addAll(readSlots);
    assertThat(slots).hasSizeLessThanOrEqualTo(4);
  }

  @Test
  void aReaderThatCopiesGetsEachBatchOnceAndHoldsNoSlot() throws IOException {
    BatchOrder own = Batches.order(ITEMS, 8, 7);
    try (PrepGroup group = group("16k")) { // Two slots.
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 1);
      for (int batch = 0; batch < own.batches(); batch++) {
        int[] items = own.items(batch);
        Boolean right =
            epoch.use(
                batch, bytes -> bytes.isReadOnly() && Batches.checkAndOverwrite(items, bytes));
        assertThat(right).as("batch %d", batch).isTrue();
      }
      StagingStatisticsEvent figures = group.statistics().get(0);
      assertThat(figures.taken).isEqualTo(own.batches());
      assertThat(figures.preparedLocally()).isZero();
    }
    assertThat(prepared.get()).isEqualTo(own.batches());
  }

  @Test
  void aReadersExceptionIsThrownAndTheSlotIsReleased() throws IOException {
    BatchOrder own = Batches.order(ITEMS, 8, 7);
    try (PrepGroup group = group("16k")) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 1);
      for (int batch = 0; batch < own.batches(); batch++) {
        int number = batch;
        assertThatThrownBy(
                () ->
                    epoch.use(
                        number,
                        bytes -> {
                          throw new IOException("no array of " + bytes.capacity() + " bytes");
                        }))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith("no array");
      }
    }
    assertThat(prepared.get()).isEqualTo(own.batches());
  }

  @Test
  void aBatchThatCannotBePreparedAndAllLaterOnesAreLeftToTheProgram() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group = group("64k")) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(
          (batch, items) -> {
            if (batch == 5) {
              throw new IOException("unreadable");
            }
            return prepare(batch, items);
          },
          1);
      for (int batch = 0; batch < own.batches(); batch++) {
        ByteBuffer staged = Batches.take(epoch, batch);
        assertThat(staged == null).as("batch %d", batch).isEqualTo(batch >= 5);
        if (staged != null) {
          assertThat(Batches.checkAndOverwrite(own.items(batch), staged)).isTrue();
        }
      }
    }
  }

  @Test
  void anExceptionOnAgentThreadsIsReportedAsOneFaultOfThePipeline() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    List<String> faults = Collections.synchronizedList(new ArrayList<>());
    Bridge.install(
        SpanSink.NONE,
        ItemSource.NONE,
        (where, cause, tripped) -> faults.add(where + ": " + cause.getMessage()));
    try (PrepGroup group = group("64k")) {
      for (int number = 0; number < 2; number++) {
        SharedEpoch epoch = group.begin(PIPELINE, own);
        epoch.prepareWith(
            (batch, items) -> {
              throw new IllegalStateException("no array of that shape");
            },
            2);
        assertThat(Batches.take(epoch, 0)).isNull();
        epoch.end();
      }
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
    assertThat(faults).containsExactly("preparing batches for the group: no array of that shape");
  }

  @Test
  void anExceptionOfTheProgramsCodeIsNotAFaultOfTheAgent() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    List<String> faults = Collections.synchronizedList(new ArrayList<>());
    Bridge.install(
        SpanSink.NONE,
        ItemSource.NONE,
        (where, cause, tripped) -> faults.add(where + ": " + cause.getMessage()));
    try (PrepGroup group = group("64k")) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(
          (batch, items) -> {
            throw new NotPreparedException(new IOException("item 3 is gone"));
          },
          2);
      assertThat(Batches.take(epoch, 0)).isNull();
      epoch.end();
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
    assertThat(faults).isEmpty();
  }

  @Test
  void aBatchThatEndsJustPastAPageIsReadToItsLastByte() throws IOException {
    int bytes = 4096 + 4;
    try (PrepGroup group = group("64k")) {
      SharedEpoch epoch = group.begin(PIPELINE, Batches.order(8, 8, 1));
      epoch.prepareWith((batch, items) -> new Ones(bytes), 1);
      epoch.use(
          0,
          staged -> {
            assertThat(staged.capacity()).isEqualTo(bytes);
            assertThat(staged.order()).isEqualTo(ByteOrder.nativeOrder());
            for (int i = 0; i < bytes; i++) {
              assertThat(staged.get(i)).as("byte %d", i).isEqualTo((byte) 1);
            }
            return staged;
          });
      assertThat(group.statistics().get(0).taken).isEqualTo(1);
    }
  }

  /** A batch whose bytes are all 1. */
  private record Ones(long bytes) implements PreparedBatch {
    @Override
    public void writeTo(ByteBuffer target) {
      for (int i = 0; i < bytes; i++) {
        target.put(i, (byte) 1);
      }
    }

    @Override
    public void close() {}
  }

  @Test
  void aBufferLockedByAStoppedJobIsUsedOnceThatJobContinues() throws Exception {
    Duration soon = Duration.ofMillis(50);
    Timeouts timeouts = new Timeouts(soon, soon, soon, soon, soon);
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    String name = "coordl-" + Machine.user() + "-g," + Long.toHexString(PIPELINE.checksum());
    Path file = directory.resolve(name + StagingContents.SUFFIX);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (SetupHolder other = new SetupHolder(file);
        PrepGroup group =
            new PrepGroup(directory, "g", ByteBudget.parse("64k"), 1, timeouts, logged::add)) {
      assertThat(group.begin(PIPELINE, own)).isNull();
      assertThat(group.begin(PIPELINE, own)).isNull();
      assertThat(logged)
          .containsExactly(
              "The staging buffer "
                  + file
                  + " is locked by another job that makes no progress (is it stopped?); nothing is"
                  + " shared. This job prepares the batches of this epoch itself, and tries again"
                  + " at each later epoch.");
      other.resume();
      SharedEpoch epoch = group.begin(PIPELINE, own);
      assertThat(epoch).isNotNull();
      epoch.end();
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aPipelineThatChangesFromEpochToEpochDoesNotTakeAllMemory() {
    try (PrepGroup group = group("64k")) {
      for (int number = 0; number < 40; number++) {
        Fingerprint changed = new Fingerprint(Map.of("calls", Integer.toString(number)));
        SharedEpoch epoch = group.begin(changed, Batches.order(ITEMS, 8, number));
        assertThat(epoch == null).as("epoch %d", number).isEqualTo(number >= 32);
        if (epoch != null) {
          epoch.end();
        }
      }
      assertThat(directory.toFile().list()).hasSize(32);
      assertThat(logged).singleElement().asString().contains("more than 32 pipelines");
    }
  }

  @Test
  void aBudgetBelowTwoBatchesIsLoggedOnce() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group = group("12k")) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 2);
      for (int batch = 0; batch < own.batches(); batch++) {
        assertThat(Batches.take(epoch, batch)).isNull();
      }
    }
    assertThat(logged).hasSize(1).allMatch(line -> line.contains("prep.size"));
  }

  /**
   * Pauses of an interrupted thread end immediately, so the thread polls. Before a fix, one run of
   * this test in 25 missed a batch that was published after the job had checked the batch and
   * before it checked whether any job was still preparing.
   */
  @RepeatedTest(40)
  void anInterruptedThreadStillTakesBatchesAndStaysInterrupted() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group = group("64k")) {
      Thread.currentThread().interrupt();
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 1);
      for (int batch = 0; batch < own.batches(); batch++) {
        ByteBuffer staged = Batches.take(epoch, batch);
        assertThat(Batches.checkAndOverwrite(own.items(batch), staged)).isTrue();
      }
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      Thread.interrupted();
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aThreadThatHangsInTheProgramsCodeIsAbandoned() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    Duration soon = Duration.ofMillis(50);
    Timeouts timeouts = new Timeouts(soon, soon, soon, soon, soon);
    CountDownLatch lock = new CountDownLatch(1);
    try (PrepGroup group =
        new PrepGroup(directory, "g", ByteBudget.parse("64k"), 1, timeouts, logged::add)) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(
          (batch, items) -> {
            lock.await();
            return prepare(batch, items);
          },
          1);
      assertThat(Batches.take(epoch, 0)).isNull();
      epoch.end();
      assertThat(group.begin(PIPELINE, own)).isNull();
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("hangs in the program's code"));
    } finally {
      lock.countDown();
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void missingSharedMemoryIsLoggedWithItsReason() {
    Path absent = directory.resolve("absent");
    try (PrepGroup group = new PrepGroup(absent, "g", ByteBudget.parse("64k"), 1, logged::add)) {
      assertThat(group.begin(PIPELINE, Batches.order(ITEMS, 8, 1))).isNull();
    }
    assertThat(logged)
        .last()
        .asString()
        .startsWith("The staging buffer " + absent + "/")
        .contains(" cannot be created or used (No such file or directory): ")
        .endsWith("This job prepares all batches of this pipeline itself.");
  }

  @Test
  void aJobWhoseAgentIsSwitchedOffLeavesItsGroup() {
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group = group("64k")) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 2);
      assertThat(Batches.take(epoch, 0)).isNotNull();
      Bridge.trip();
      while (directory.toFile().list().length != 0) {
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(Batches.take(epoch, 1)).isNull();
      assertThat(group.begin(PIPELINE, own)).isNull();
      assertThat(prepared.get()).isLessThan(own.batches());
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void theFirstEpochBeginsWithoutMissingJobs() {
    Timeouts usual = Timeouts.USUAL;
    Timeouts timeouts =
        new Timeouts(
            usual.patience(),
            usual.beat(),
            usual.lease(),
            Duration.ofMillis(10),
            Duration.ofMillis(50));
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group =
        new PrepGroup(directory, "g", ByteBudget.parse("64k"), 3, timeouts, logged::add)) {
      SharedEpoch epoch = group.begin(PIPELINE, own);
      epoch.prepareWith(this::prepare, 1);
      for (int batch = 0; batch < own.batches(); batch++) {
        ByteBuffer staged = Batches.take(epoch, batch);
        assertThat(Batches.checkAndOverwrite(own.items(batch), staged)).isTrue();
      }
    }
    assertThat(logged)
        .last()
        .isEqualTo("1 of 3 jobs arrived within 0 s: the first epoch begins without the others.");
  }

  @Test
  void jobsMissingAtOnePipelineAreNotWaitedForAtTheNext() throws IOException {
    Timeouts usual = Timeouts.USUAL;
    Timeouts timeouts =
        new Timeouts(
            usual.patience(),
            usual.beat(),
            usual.lease(),
            Duration.ofMillis(10),
            Duration.ofMillis(50));
    BatchOrder own = Batches.order(ITEMS, 8, 1);
    try (PrepGroup group =
        new PrepGroup(directory, "g", ByteBudget.parse("64k"), 3, timeouts, logged::add)) {
      group.begin(PIPELINE, own);
      group.begin(new Fingerprint(Map.of("pipeline", "another")), own);
    }
    assertThat(logged).filteredOn(line -> line.contains("arrived within")).hasSize(1);
  }

  @Test
  void aPipelineWithoutAFileIsNotRetriedAndATooSmallBudgetIsNotASystemError() {
    Path absent = directory.resolve("absent");
    try (PrepGroup group = new PrepGroup(absent, "g", ByteBudget.parse("64k"), 1, logged::add)) {
      for (int number = 0; number < 2; number++) {
        assertThat(group.begin(PIPELINE, Batches.order(ITEMS, 8, 1))).isNull();
      }
    }
    assertThat(logged)
        .filteredOn(line -> line.startsWith("The staging buffer " + absent + "/"))
        .hasSize(1)
        .allMatch(line -> line.endsWith("This job prepares all batches of this pipeline itself."));
    logged.clear();
    try (PrepGroup group = group("4k")) {
      assertThat(group.begin(PIPELINE, Batches.order(ITEMS, 8, 1))).isNull();
    }
    assertThat(logged).last().asString().doesNotContain("cannot be created or used");
  }

  @Test
  void preparingThreadsHaveTheProgramsContextClassLoader() {
    ClassLoader own = new ClassLoader(null) {};
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    List<ClassLoader> seen = Collections.synchronizedList(new ArrayList<>());
    Thread.currentThread().setContextClassLoader(own);
    try (PrepGroup group = group("64k")) {
      SharedEpoch epoch = group.begin(PIPELINE, Batches.order(ITEMS, 8, 1));
      epoch.prepareWith(
          (batch, items) -> {
            seen.add(Thread.currentThread().getContextClassLoader());
            return prepare(batch, items);
          },
          1);
      Batches.take(epoch, 0);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
    assertThat(seen).isNotEmpty().containsOnly(own);
  }

  @Test
  void aJobSendsHeartbeatsUntilItLeaves() throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Set<Thread> threads;
    try (PrepGroup group = group("64k")) {
      group.begin(PIPELINE, Batches.order(ITEMS, 8, 1));
      threads = new HashSet<>(Thread.getAllStackTraces().keySet());
      threads.removeAll(before);
      Path file = directory.resolve(directory.toFile().list()[0]);
      try (RandomAccessFile staging = new RandomAccessFile(file.toFile(), "r")) {
        long first = beats(staging);
        while (beats(staging) == first) {
          LockSupport.parkNanos(1_000_000);
        }
      }
    }
    threads.removeIf(thread -> !thread.getName().equals("coordl-prep-heartbeat"));
    assertThat(threads).hasSize(1);
    for (Thread heartbeat : threads) {
      heartbeat.join();
    }
  }

  private static long beats(RandomAccessFile staging) throws IOException {
    staging.seek(StagingDescriptor.participant(0) + StagingDescriptor.PARTICIPANT_BEAT);
    return staging.readLong();
  }
}
