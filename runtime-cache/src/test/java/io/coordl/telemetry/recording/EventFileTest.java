package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.host.Machine;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.BatchId;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Relational;
import jdk.jfr.Timespan;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK reads what the agent writes. */
class EventFileTest {
  private static final int STATE = 64;

  @TempDir Path folder;

  private final EventTypes types;

  EventFileTest() throws IOException {
    types = new EventTypes();
  }

  private static FetchEvent fetch(String path, long bytes) {
    FetchEvent event = new FetchEvent();
    event.batch = 7;
    event.path = path;
    event.bytes = bytes;
    event.fetchTime = 2_000_000;
    event.memory = true;
    return event;
  }

  private static void fetched(EventFile file, String path, long bytes) {
    long now = System.nanoTime();
    file.write(fetch(path, bytes), now - 2_000_000, now);
  }

  /** Readers of recordings expect {@code jdk.JVMInformation} with the JDK's own fields. */
  @Test
  void theJvmEventRoundTrips() throws IOException {
    Path path = folder.resolve("jvm.jfr");
    EventFile file = new EventFile(path, types, true);
    file.write(JvmInformation.ofThis(), System.nanoTime(), System.nanoTime());
    file.finish();

    RecordedEvent jvm = RecordingFile.readAllEvents(path).get(0);
    assertThat(jvm.getLong("pid")).isEqualTo(ProcessHandle.current().pid());
    assertThat(jvm.getLong("jvmStartTime")).isPositive();
    assertThat(jvm.getString("jvmVersion")).contains(System.getProperty("java.vm.name"));
  }

  @Test
  void eventsRoundTrip() throws IOException {
    Path path = folder.resolve("one.jfr");
    EventFile file = new EventFile(path, types, true);
    long now = System.nanoTime();
    Instant at = Instant.now();
    file.write(fetch("/data/grün \u4e00.jpg", Long.MAX_VALUE), now - 3_000_000, now);
    file.finish();

    RecordedEvent event = RecordingFile.readAllEvents(path).get(0);
    assertThat(event.getLong("batch")).isEqualTo(7);
    assertThat(event.getString("path")).isEqualTo("/data/grün \u4e00.jpg");
    assertThat(event.getLong("bytes")).isEqualTo(Long.MAX_VALUE);
    assertThat(event.getBoolean("memory")).isTrue();
    assertThat(event.getString("origin")).isNull();
    assertThat(event.getDuration()).isEqualTo(Duration.ofMillis(3));
    assertThat(event.getEndTime()).isCloseTo(at, within(1, ChronoUnit.SECONDS));
    assertThat(event.getThread().getJavaName()).isEqualTo(Thread.currentThread().getName());
    assertThat(event.getThread().getJavaThreadId()).isEqualTo(Thread.currentThread().getId());
  }

  @Test
  void negativeNumbersAndFractionsSurvive() throws IOException {
    Path path = folder.resolve("numbers.jfr");
    EventFile file = new EventFile(path, types, true);
    PhaseEvent phase = new PhaseEvent();
    phase.phase = "";
    phase.wall = -1;
    phase.compute = 1L << 56;
    phase.sampleNanos = 1.0 / 3;
    phase.steady = true;
    long now = System.nanoTime();
    file.write(phase, now, now);
    file.finish();

    RecordedEvent event = RecordingFile.readAllEvents(path).get(0);
    assertThat(event.getString("phase")).isEmpty();
    assertThat(event.getLong("wall")).isEqualTo(-1);
    assertThat(event.getLong("compute")).isEqualTo(1L << 56);
    assertThat(event.getDouble("sampleNanos")).isEqualTo(1.0 / 3);
    assertThat(event.getBoolean("steady")).isTrue();
  }

  /** The file describes events with the labels, units and relations of their classes. */
  @Test
  void theTypeDescriptionMatchesTheEventClasses() throws IOException {
    Path path = folder.resolve("described.jfr");
    new EventFile(path, types, true).finish();

    List<EventType> read;
    try (RecordingFile file = new RecordingFile(path)) {
      read = file.readEventTypes();
    }
    EventType fetch =
        read.stream().filter(type -> type.getName().equals("io.coordl.Fetch")).findFirst().get();
    FlightRecorder.register(FetchEvent.class);
    EventType jfr = EventType.getEventType(FetchEvent.class);
    assertThat(fetch.getLabel()).isEqualTo(jfr.getLabel());
    assertThat(fetch.getDescription()).isEqualTo(jfr.getDescription());
    assertThat(fetch.getCategoryNames()).isEqualTo(jfr.getCategoryNames());
    assertThat(fetch.getField("bytes").getAnnotation(DataAmount.class).value())
        .isEqualTo(DataAmount.BYTES);
    assertThat(fetch.getField("fetchTime").getAnnotation(Timespan.class).value())
        .isEqualTo(Timespan.NANOSECONDS);
    assertThat(fetch.getField("batch").getContentType())
        .isEqualTo(jfr.getField("batch").getContentType());
    assertThat(BatchId.class).hasAnnotation(Relational.class);
    assertThat(read)
        .extracting(EventType::getName)
        .doesNotHaveDuplicates()
        .hasSize(AgentEvents.ALL.size() + 1);
  }

  @Test
  void everyEventClassOfTheAgentIsDescribed() throws Exception {
    Path classes =
        Path.of(EpochEvent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.list(classes.resolve("io/coordl/telemetry/event"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> name.endsWith("Event.class"))
          .isNotEmpty()
          .isSubsetOf(
              EventDescription.EVENTS.stream()
                  .map(type -> type.getSimpleName() + ".class")
                  .toList());
    }
  }

  @Test
  void everyFieldOfEveryEventCanBeWritten() throws Exception {
    Path path = folder.resolve("all.jfr");
    EventFile file = new EventFile(path, types, true);
    for (Class<? extends Event> event : AgentEvents.ALL) {
      file.write(event.getConstructor().newInstance(), 0, Duration.ofSeconds(1).toNanos());
    }
    file.finish();

    assertThat(file.lost()).isZero();
    assertThat(RecordingFile.readAllEvents(path)).hasSize(AgentEvents.ALL.size());
  }

  @Test
  void eventsBelowTheirThresholdAreNotWritten() throws IOException {
    Path path = folder.resolve("threshold.jfr");
    EventFile file = new EventFile(path, types, true);
    file.write(new DecodeEvent(), 0, 999_999);
    file.write(new DecodeEvent(), 0, 1_000_000);
    file.finish();

    assertThat(RecordingFile.readAllEvents(path)).hasSize(1);
  }

  @Test
  void aRecordingOfManyChunksIsCompleteAndKeepsItsThreads() throws Exception {
    Path path = folder.resolve("chunks.jfr");
    EventFile file = new EventFile(path, types, true);
    String name = "x".repeat(1_000);
    for (int part = 0; part < 50; part++) {
      Thread writer =
          new Thread(
              () -> {
                for (int i = 0; i < 1_000; i++) {
                  fetched(file, name, i);
                }
              },
              "writer-" + part % 3);
      writer.start();
      writer.join();
      file.flush();
    }
    file.finish();

    assertThat(Files.size(path)).isGreaterThan(48L << 20);
    assertThat(chunks(path)).isEqualTo(3);
    List<RecordedEvent> events = RecordingFile.readAllEvents(path);
    assertThat(events).hasSize(50_000);
    assertThat(events).allMatch(event -> event.getThread().getJavaName().startsWith("writer-"));
    assertThat(events.stream().mapToLong(event -> event.getLong("bytes")).sum())
        .isEqualTo(50L * 999 * 500);
  }

  private static int chunks(Path path) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    int chunks = 0;
    for (int at = 0; at < bytes.limit(); at += (int) bytes.getLong(at + 8)) {
      chunks++;
    }
    return chunks;
  }

  @Test
  void aFileThatIsNotARecordingIsNotReplaced() throws IOException {
    Path path = Files.writeString(folder.resolve("thesis.txt"), "precious");
    assertThatThrownBy(() -> new EventFile(path, types, true))
        .isInstanceOf(IOException.class)
        .hasMessage("it exists and is not a recording");
    assertThat(path).hasContent("precious");

    Files.write(path, new byte[0]);
    new EventFile(path, types, true).finish();
    new EventFile(path, types, true).finish();
    assertThat(RecordingFile.readAllEvents(path)).isEmpty();
  }

  @Test
  void anEventFileKnowsWhetherItIsStillInPlace() throws IOException {
    Path path = folder.resolve("taken.jfr");
    EventFile one = new EventFile(path, types, true);
    assertThat(one.exists()).isTrue();
    assertThatThrownBy(() -> new EventFile(path, types, true))
        .as("it is being written")
        .isInstanceOf(FileAlreadyExistsException.class);
    Files.delete(path);
    EventFile other = new EventFile(path, types, true);
    assertThat(one.exists()).isFalse();
    assertThat(other.exists()).isTrue();
    one.finish();
    other.finish();
    assertThatThrownBy(() -> new EventFile(path, types, false))
        .isInstanceOf(FileAlreadyExistsException.class);
    new EventFile(path, types, true).finish();
    Files.delete(path);
    assertThat(other.exists()).isFalse();
  }

  /** As after {@code kill -9}: the file is not finished. */
  @Test
  void flushedEventsAreReadableInAnUnfinishedFile() throws IOException {
    Path path = folder.resolve("killed.jfr");
    EventFile file = new EventFile(path, types, true);
    fetched(file, "first", 1);
    file.flush();
    fetched(file, "second", 2);
    file.flush();
    fetched(file, "never written", 3);
    byte[] killed = Files.readAllBytes(path);

    assertThat(killed[STATE]).isNotZero();
    killed[STATE] = 0;
    Path repaired = Files.write(folder.resolve("repaired.jfr"), killed);
    assertThat(RecordingFile.readAllEvents(repaired))
        .extracting(event -> event.getString("path"))
        .containsExactly("first", "second");
  }

  @Test
  void anAbandonedFileContainsFlushedEvents() throws IOException {
    Path path = folder.resolve("given-up.jfr");
    EventFile file = new EventFile(path, types, true);
    fetched(file, "flushed", 1);
    file.flush();
    // As left by a write that failed halfway.
    Files.write(path, new byte[100], java.nio.file.StandardOpenOption.APPEND);
    fetched(file, "lost", 2);
    file.giveUp();
    fetched(file, "too late", 3);

    assertThat(RecordingFile.readAllEvents(path))
        .extracting(event -> event.getString("path"))
        .containsExactly("flushed");
  }

  @Test
  void anAbandonedFileWithoutEventsIsDeleted() throws IOException {
    Path path = folder.resolve("empty.jfr");
    EventFile file = new EventFile(path, types, true);
    fetched(file, "lost", 2);
    file.giveUp();

    assertThat(path).doesNotExist();
    assertThat(file.size()).isZero();
  }

  @Test
  void onlyTheUsersOwnLinksAreFollowed() throws IOException {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Path own = Files.createSymbolicLink(folder.resolve("own.jfr"), Path.of("new.jfr"));
    EventFile file = new EventFile(own, types, true);
    fetched(file, "one", 1);
    file.finish();
    assertThat(own).isSymbolicLink();
    assertThat(RecordingFile.readAllEvents(folder.resolve("new.jfr"))).hasSize(1);

    assumeTrue(Machine.user() == 0, "only root can create links of another user");
    Path planted = Files.createSymbolicLink(folder.resolve("planted.jfr"), victim);
    Files.setAttribute(planted, "unix:uid", 12345, LinkOption.NOFOLLOW_LINKS);
    assertThatThrownBy(() -> new EventFile(planted, types, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is a symbolic link of another user");
    Path directory = Files.createSymbolicLink(folder.resolve("directory"), folder);
    Files.setAttribute(directory, "unix:uid", 12345, LinkOption.NOFOLLOW_LINKS);
    assertThatThrownBy(() -> new EventFile(directory.resolve("victim"), types, true))
        .isInstanceOf(IOException.class);
    assertThat(victim).hasContent("precious");
  }

  /** An attacker with write access to the folder tries repeatedly to win the race. */
  @Test
  void aLinkPlantedDuringCreationIsNotWrittenThrough() throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Path path = folder.resolve("planted.jfr");
    AtomicBoolean over = new AtomicBoolean();
    FutureTask<Boolean> planter =
        new FutureTask<>(
            () -> {
              while (!over.get()) {
                Path link = Files.createSymbolicLink(folder.resolve("link"), victim);
                Files.move(link, path, StandardCopyOption.ATOMIC_MOVE);
                Files.deleteIfExists(path);
              }
              return true;
            });
    new Thread(planter, "planter").start();
    for (int i = 0; i < 5_000; i++) {
      try {
        new EventFile(path, types, true).giveUp();
      } catch (IOException e) {
        // The link won the race.
      }
    }
    over.set(true);
    assertThat(planter.get()).isTrue();
    assertThat(victim).hasContent("precious");
  }

  @Test
  void aFileThatCannotBeCreatedThrows() {
    Path path = Path.of("/dev/full");
    assertThatThrownBy(() -> new EventFile(path, types, true)).isInstanceOf(IOException.class);
    assertThat(path).exists();
    Path inNothing = folder.resolve("no/such/folder/job.jfr");
    assertThatThrownBy(() -> new EventFile(inNothing, types, true)).isInstanceOf(IOException.class);
  }

  @Test
  void aRecordingBeingWrittenByAnotherJobIsNotTouched() throws IOException {
    Path path = folder.resolve("shared.jfr");
    EventFile first = new EventFile(path, types, true);
    fetched(first, "of the first", 1);
    assertThatThrownBy(() -> new EventFile(path, types, true))
        .isInstanceOf(FileAlreadyExistsException.class);
    first.finish();

    assertThat(RecordingFile.readAllEvents(path))
        .extracting(event -> event.getString("path"))
        .containsExactly("of the first");
  }

  /** The agent does not wait for, write to or delete such a file. */
  @ParameterizedTest
  @ValueSource(strings = {"fifo", "directory", "another's"})
  void foreignFilesAreNotTouched(String what) throws Exception {
    Path path = folder.resolve("job.jfr");
    switch (what) {
      case "fifo" -> assertThat(new ProcessBuilder("mkfifo", path + "").start().waitFor()).isZero();
      case "directory" -> Files.createDirectory(path);
      default -> {
        assumeTrue(Machine.user() == 0, "only root can create files of another user");
        Files.createFile(path);
        Files.setAttribute(path, "unix:uid", 12345);
      }
    }
    assertThatThrownBy(() -> new EventFile(path, types, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(what.startsWith("another") ? "another user" : "not a regular file");
    assertThat(path).exists();
  }
}
