package io.coordl.reports.recording;

import static io.coordl.reports.recording.Recordings.MILLISECOND;
import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.telemetry.event.JobStatisticsEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RecordingReaderTest {
  @TempDir Path folder;

  private JobRecording read(Path file) throws RecordingException {
    return RecordingReader.read(file, done -> {});
  }

  private void assertRefused(Path file, String sentence) {
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(RecordingException.class)
        .hasMessageContaining(sentence)
        .hasMessageStartingWith(file.toString())
        .hasMessageEndingWith(sentence.endsWith("?") ? "?" : ".");
  }

  private Path job() throws Exception {
    return Recordings.record(folder.resolve("job.jfr"), Recordings::emitJob);
  }

  @Test
  void argumentsFromTheUserAreDistinguishedFromDefaults() throws Exception {
    JobRecording recording =
        read(
            Recordings.record(
                folder.resolve("given.jfr"),
                () -> {
                  Recordings.emitConfiguration("cache", "off", "default");
                  Recordings.emitConfiguration("cache.scope", "host", "peer");
                  Recordings.emitConfiguration("decoded", "share", "environment");
                  Recordings.emitConfiguration("dataset", "/data", "file");
                  Recordings.emitEpoch(1, 70 * SECOND, 40 * SECOND);
                }));

    assertThat(recording.configuration()).hasSize(4);
    assertThat(recording.given()).isEqualTo(Map.of("decoded", "share", "dataset", "/data"));
  }

  @Test
  void theLastTotalsCountAndEveryEpochOccursOnce() throws Exception {
    JobRecording recording = read(job());

    JobStatisticsEvent job = recording.job();
    assertThat(job)
        .extracting(
            "mainClass",
            "frameworks",
            "samples",
            "updates",
            "epochs",
            "evaluations",
            "faults",
            "wall",
            "batches",
            "compute",
            "stall",
            "fetchStall",
            "prepStall",
            "gcStall",
            "queueStall",
            "checkpoint",
            "fetchTime",
            "decodeTime",
            "transformTime",
            "otherTime",
            "items",
            "memoryItems",
            "peerItems",
            "storageItems",
            "memoryBytes",
            "peerBytes",
            "storageBytes")
        .containsExactly(
            "my.Train --epochs 3",
            "DJL 0.35.1",
            9_600L,
            300L,
            3L,
            0L,
            0L,
            130 * SECOND,
            300L,
            76 * SECOND,
            51 * SECOND,
            42 * SECOND,
            6 * SECOND,
            3 * SECOND / 4L,
            9 * SECOND / 4L,
            3 * SECOND,
            42 * SECOND,
            21 * SECOND,
            15 * SECOND,
            9 * SECOND,
            3_000L,
            2_000L,
            0L,
            1_000L,
            200_000_000L,
            0L,
            100_000_000L);
    assertThat(recording.epochs()).extracting(epoch -> epoch.epoch).containsExactly(1L, 2L, 3L);
    assertThat(recording.epochs())
        .extracting(epoch -> epoch.wall)
        .containsExactly(70 * SECOND, 30 * SECOND, 30 * SECOND);
    assertThat(recording.epochs())
        .extracting(epoch -> epoch.storageItems)
        .containsExactly(1_000L, 0L, 0L);
    assertThat(recording.stores())
        .singleElement()
        .extracting(
            "store",
            "scope",
            "group",
            "capacity",
            "used",
            "items",
            "hits",
            "misses",
            "admitted",
            "peer",
            "bypassed",
            "full",
            "hitBytes",
            "peerBytes",
            "order",
            "itemBytes",
            "itemSaves",
            "jobs")
        .containsExactly(
            "raw",
            "process",
            "images",
            1L << 30L,
            1L << 28L,
            1_000L,
            2_000L,
            1_000L,
            1_000L,
            0L,
            0L,
            false,
            200_000_000L,
            0L,
            "first",
            100_000L,
            2_000_000L,
            1L);
    assertThat(recording.stagings())
        .extracting(staging -> staging.pipeline, staging -> staging.taken)
        .containsExactly(tuple("a1", 20L), tuple("b2", 6L));
    assertThat(recording.latencies())
        .extracting(latency -> latency.kind, latency -> latency.p50, latency -> latency.p99)
        .containsExactly(
            tuple("decode", 3 * MILLISECOND, 5 * MILLISECOND),
            tuple("fetch", 2 * MILLISECOND, 40 * MILLISECOND),
            tuple("step", 200 * MILLISECOND, 210 * MILLISECOND));
    assertThat(recording.configuration()).containsExactly(Map.entry("cache", "minio"));
    assertThat(recording.jvm()).isNotNull();
    assertThat(recording.jvm().pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(recording.endsEarly()).isFalse();
  }

  @Test
  void theSameRecordingTwiceInOneFileChangesNoFigure() throws Exception {
    Path job = job();
    Path twice = concatenate(job, job);

    JobRecording once = read(job);
    JobRecording both = read(twice);

    assertThat(both.epochs()).usingRecursiveComparison().isEqualTo(once.epochs());
    assertThat(both.job()).usingRecursiveComparison().isEqualTo(once.job());
    assertThat(both.stores()).usingRecursiveComparison().isEqualTo(once.stores());
  }

  @Test
  void faultsAreCountedAndTheFirstFewKept() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("faults.jfr"),
            () -> {
              for (int i = 0; i < 100; i++) {
                Recordings.emitFault("store " + i / 10, "java.io.IOException");
              }
            });

    JobRecording recording = read(file);

    assertThat(recording.faults()).isEqualTo(100);
    assertThat(recording.firstFaults())
        .extracting(fault -> fault.where)
        .containsExactly("store 0", "store 1", "store 2", "store 3", "store 4");
  }

  @Test
  void aFileThatIsNotARecordingIsRefused() throws Exception {
    assertRefused(folder.resolve("missing.jfr"), "does not exist.");
    assertRefused(folder, "is a directory");
    assertRefused(
        Files.createFile(folder.resolve("empty.jfr")),
        "is empty: JFR writes this file when the JVM ends. If the JVM is still running, `coordl"
            + " dump PID`");
    assertRefused(Path.of("/dev/null"), "is not a file.");
    assertRefused(
        Files.writeString(folder.resolve("text.jfr"), "no recording\n".repeat(100)),
        "is not a Flight Recorder recording.");
    assertRefused(
        Files.writeString(folder.resolve("short.jfr"), "PK"),
        "is not a Flight Recorder recording.");
    byte[] later = Files.readAllBytes(job());
    later[5] = 9;
    assertRefused(
        Files.write(folder.resolve("later.jfr"), later), "of a version that coordl cannot read.");
  }

  @Test
  void anUnreadableFileIsRefused() throws Exception {
    Path file = job();
    assumeTrue(file.toFile().setReadable(false) && !Files.isReadable(file), "runs as root");
    assertRefused(file, "cannot be read by this user.");
  }

  @Test
  void aRecordingWithoutOurEventsIsRefused() throws Exception {
    Path file = folder.resolve("foreign.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.JVMInformation");
      recording.start();
      recording.dump(file);
    }
    assertRefused(file, "has no CoorDL events: was the agent attached to the program?");
  }

  @Test
  void aRecordingCutOffAnywhereIsRefused() throws Exception {
    Path whole = job();
    byte[] bytes = Files.readAllBytes(whole);
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<Integer> cuts = new ArrayList<>(List.of(1, 3, 4, 67, 68, 69, bytes.length - 1));
    Set<Integer> boundaries = boundaries(bytes);
    while (cuts.size() < 37) {
      int cut = 1 + random.nextInt(bytes.length - 1);
      if (!boundaries.contains(cut)) {
        cuts.add(cut);
      }
    }
    for (int cut : cuts) {
      Path file = Files.write(folder.resolve("cut.jfr"), Arrays.copyOf(bytes, cut));
      assertThatThrownBy(() -> read(file))
          .as("cut at %s of %s, seed %s", cut, bytes.length, seed)
          .isInstanceOf(RecordingException.class)
          .hasMessageContaining("is cut off");
    }
  }

  /** Positions where a cut leaves a shorter but complete recording. */
  private static Set<Integer> boundaries(byte[] bytes) {
    Set<Integer> boundaries = new HashSet<>();
    for (int at = 0; at < bytes.length; ) {
      at += (int) ByteBuffer.wrap(bytes).getLong(at + 8);
      boundaries.add(at);
    }
    return boundaries;
  }

  /** A flipped bit may change a figure; it must never cause a stack trace or a hang. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aDamagedRecordingIsReadOrRefused() throws Exception {
    byte[] bytes = Files.readAllBytes(job());
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 300; i++) {
      byte[] damaged = bytes.clone();
      // The header and the first constants break in more ways than the rest.
      int at = random.nextInt(random.nextBoolean() ? 200 : bytes.length);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Path file = Files.write(folder.resolve("damaged.jfr"), damaged);
      try {
        assertThat(read(file)).isNotNull();
      } catch (RecordingException refused) {
        assertThat(refused).hasMessageContaining(file.toString());
      } catch (RuntimeException | Error e) {
        throw new AssertionError("byte " + at + ", seed " + seed, e);
      }
    }
  }

  @Test
  void twoJobsInOneFileAreRefused() throws Exception {
    Path other = ChildJob.record(folder.resolve("other.jfr"));
    assertRefused(concatenate(job(), other), "holds recordings of 2 JVMs (pid ");
  }

  @Test
  void totalsThatGoBackByMillisecondsBelongToOneRun() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("clocks.jfr"),
            () -> {
              Recordings.emitTotals(3, 300, 130 * SECOND, 42 * SECOND);
              Recordings.emitTotals(3, 299, 130 * SECOND - 10_000_000, 42 * SECOND);
            });
    assertThat(read(file).job()).isNotNull();
  }

  @Test
  void totalsThatGoBackwardsAreRefused() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("backwards.jfr"),
            () -> {
              Recordings.emitTotals(3, 300, 130 * SECOND, 42 * SECOND);
              Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
            });
    assertRefused(file, "holds recordings of more than one run");
  }

  @Test
  void dataThatADeadJvmFlushedIsReadAsEndingEarly() throws Exception {
    Path file = ChildJob.die(folder.resolve("dead.jfr"));
    byte[] before = Files.readAllBytes(file);

    JobRecording recording = read(file);

    assertThat(recording.endsEarly()).isTrue();
    assertThat(recording.epochs()).extracting(epoch -> epoch.epoch).containsExactly(1L, 2L);
    assertThat(recording.job()).isNotNull();
    assertThat(recording.job().batches).isEqualTo(100);
    assertThat(file).hasBinaryContent(before);
  }

  @Test
  void aDeadJvmsUnflushedChunkIsRefused() throws Exception {
    byte[] header = Arrays.copyOf(Files.readAllBytes(job()), 200);
    ByteBuffer.wrap(header).putLong(8, 200).putLong(24, 0).put(64, (byte) 1);
    Path file = Files.write(folder.resolve("dead.jfr"), header);
    assertRefused(file, "has no readable data");

    JobRecording recording = read(concatenate(job(), file));

    assertThat(recording.endsEarly()).isTrue();
    assertThat(recording.epochs()).hasSize(3);
  }

  @Test
  void aJvmKilledBeforeItsFirstEventIsReportedAsSuch() throws Exception {
    Path file = Recordings.record(folder.resolve("killed.jfr"), () -> {});
    byte[] bytes = Files.readAllBytes(file);
    bytes[ChunkHeader.STATE_OFFSET] = 1;
    Files.write(file, bytes);
    assertRefused(
        file, "has no events yet: its JVM has just started, or was killed during start-up.");
  }

  @Test
  void anotherVersionsEventIsNotReadAsZeroes() throws Exception {
    assertRefused(
        ChildJob.recordOtherVersion(folder.resolve("other.jfr")),
        "was written by another version of the agent (event io.coordl.Epoch has no usable field"
            + " 'source'): use the coordl.jar that came with it.");
  }

  @Test
  void millionsOfEventsFitASmallHeap() throws Exception {
    int many = 2_000_000;
    Path file =
        Recordings.record(
            folder.resolve("big.jfr"),
            () -> {
              Recordings.emitFetches(many);
              Recordings.emitJob();
            });

    Java.Ended ended =
        Java.run(
            List.of("-Xmx64m", "io.coordl.reports.Coordl", "summary", "--json", file.toString()));

    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(ended.output()).contains("\"batches\" : 300");
  }

  @Test
  void aFileReplacedWhileItIsReadIsRefused() throws Exception {
    Path file = job();
    Path other = Files.copy(file, folder.resolve("other.jfr"));
    boolean[] replaced = new boolean[1];

    assertThatThrownBy(
            () ->
                RecordingReader.read(
                    file,
                    fraction -> {
                      if (fraction >= 0.5 && !replaced[0]) {
                        replaced[0] = true;
                        move(other, file);
                      }
                    }))
        .isInstanceOf(RecordingException.class)
        .hasMessage(
            file + " changed while being read: try again when no process is writing to it.");
  }

  @Test
  void aFileCutShortWhileItIsReadIsRefused() throws Exception {
    Path file = job();

    assertThatThrownBy(
            () ->
                RecordingReader.read(
                    file,
                    fraction -> {
                      if (fraction >= 0.5) {
                        cut(file);
                      }
                    }))
        .isInstanceOf(RecordingException.class);
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void cut(Path file) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(1_000);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** While a JVM still writes a recording, its flushed part is read and marked as ending early. */
  @Test
  void aLiveRecordingIsReadUpToItsLastFlush() throws Exception {
    Path file = ChildJob.die(folder.resolve("live.jfr"));

    RecordingReader.read(
        file,
        fraction -> {
          if (fraction >= 0.5) {
            append(file);
          }
        });

    assertThat(read(file).endsEarly()).isTrue();
  }

  /**
   * After a flush between the two passes over the file, only the part read in the first pass is
   * used.
   */
  @Test
  void aFlushWhileALiveRecordingIsReadDoesNotDamageIt() throws Exception {
    Path file = ChildJob.die(folder.resolve("live.jfr"));
    boolean[] flushed = new boolean[1];

    JobRecording recording =
        RecordingReader.read(
            file,
            fraction -> {
              if (fraction >= 0.5 && !flushed[0]) {
                flushed[0] = true;
                flush(file);
              }
            });

    assertThat(recording.endsEarly()).isTrue();
    assertThat(recording.epochs()).extracting(epoch -> epoch.epoch).containsExactly(1L, 2L);
  }

  /** Appends constants to the file and updates the header of its first chunk. */
  private static void flush(Path file) {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer size = ByteBuffer.allocate(Long.BYTES);
      channel.read(size, 8);
      long end = size.getLong(0);
      ByteBuffer moved = ByteBuffer.allocate(2 * Long.BYTES);
      moved.putLong(end + 64).putLong(end).flip();
      channel.write(moved, 8);
      channel.write(ByteBuffer.allocate(64), Math.max(end, channel.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The header declares more than the file contained when its size was taken. */
  @Test
  void aRecordingThatGrowsDuringTheFirstPassIsReadAgain() throws Exception {
    Path file = ChildJob.die(folder.resolve("live.jfr"));
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length - 10));
    boolean[] written = new boolean[1];

    JobRecording recording =
        RecordingReader.read(
            file,
            fraction -> {
              if (!written[0]) {
                written[0] = true;
                write(file, whole);
              }
            });

    assertThat(recording.epochs()).extracting(epoch -> epoch.epoch).containsExactly(1L, 2L);
  }

  private static void write(Path file, byte[] bytes) {
    try {
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aJobBeforeItsFirstTotalsIsNotReportedAsZeroes() throws Exception {
    Path file = Recordings.record(folder.resolve("young.jfr"), () -> Recordings.emitFetches(100));
    byte[] bytes = Files.readAllBytes(file);
    bytes[ChunkHeader.STATE_OFFSET] = 1;
    Files.write(file, bytes);
    assertRefused(file, "has no figures yet: the agent writes the first when an epoch ends.");
  }

  private static void append(Path file) {
    try {
      Files.write(file, new byte[100], StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void anEventOfANewerAgentMayHaveMoreFields() throws Exception {
    JobRecording recording = read(ChildJob.recordNewerVersion(folder.resolve("newer.jfr")));

    assertThat(recording.configuration()).containsExactly(Map.entry("cache", "minio"));
  }

  @Test
  void anEventWithAFieldOfAnotherTypeIsNotRead() throws Exception {
    assertRefused(
        ChildJob.recordOtherType(folder.resolve("type.jfr")),
        "was written by another version of the agent");
  }

  @Test
  void progressRisesToOne() throws Exception {
    List<Double> seen = new ArrayList<>();

    RecordingReader.read(job(), seen::add);

    assertThat(seen).isSorted().last().isEqualTo(1.0);
    assertThat(seen).first().isEqualTo(0.0);
  }

  /** A killed dump leaves a partial file; in a container the next dump may have the same pid. */
  @Test
  void joiningOverwritesALongerFileCompletely() throws Exception {
    Path file = job();
    byte[] expected = Files.readAllBytes(file);
    Path left = Files.write(folder.resolve("left.jfr"), new byte[expected.length + 1_000]);

    RecordingReader.join(List.of(file), left);

    assertThat(left).hasBinaryContent(expected);
  }

  /** {@code coordl top} may run for days, while the system deletes old temporary files. */
  @Test
  void aDeletedCopyIsCreatedAgain() throws Exception {
    Path file = job();
    RecordingReader.readCopy(file);
    Files.delete(RecordingReader.copy);

    assertThat(RecordingReader.readCopy(file).job().batches).isEqualTo(300);
  }

  private Path concatenate(Path first, Path second) throws Exception {
    Path file = folder.resolve("both.jfr");
    try (OutputStream out = Files.newOutputStream(file)) {
      Files.copy(first, out);
      Files.copy(second, out);
    }
    return file;
  }
}
