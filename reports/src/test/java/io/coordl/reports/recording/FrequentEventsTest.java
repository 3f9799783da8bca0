package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.StepEvent;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Totals over the events that a job writes for every batch, item and transform. */
class FrequentEventsTest {
  @TempDir Path folder;

  @Test
  void everyNameIsReadAsItWasWritten() throws Exception {
    long seed = System.nanoTime();
    Path file = Recordings.record(folder.resolve("all.jfr"), () -> emitOddities(new Random(seed)));

    Activity.Names files = RecordingReader.readInFull(file, done -> {}).activity().files();

    Map<String, Long> counts = new HashMap<>();
    files.slowest().forEach(total -> counts.put(total.name(), total.count()));
    Map<String, Long> expected = new HashMap<>();
    Arrays.stream(TEXTS).forEach(text -> expected.put(text == null ? "(unknown)" : text, 375L));
    assertThat(counts).as("seed %s", seed).containsAllEntriesOf(expected);
  }

  private static final @Nullable String[] TEXTS = {
    null,
    "",
    "a",
    "/data/train/images/a path that is repeated and thus written once.jpg",
    "/data/" + "x".repeat(200),
    "/data/ü日本語\uD83D\uDE00/<&\">'.jpg",
    "\u00e9t\u00e9 in Latin-1, long enough to be written once",
    "y".repeat(3_000),
  };

  /** Emits strings and numbers in every encoding, over several chunks. */
  private static void emitOddities(Random random) {
    for (int i = 0; i < 3_000; i++) {
      Recordings.emitFetch(random.nextLong(), TEXTS[i % TEXTS.length], random.nextLong() >>> 20);
      if (i % 500 == 0) {
        Recordings.nextChunk();
        Recordings.emitBatches(i, 5, "/data");
        StepEvent step = new StepEvent();
        step.compute = Long.MIN_VALUE;
        step.checkpoint = Long.MAX_VALUE;
        step.commit();
        new DecodeEvent().commit();
      }
    }
  }

  @Test
  void theSlowestFilesAreListedByPath() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("files.jfr"),
            () -> {
              Recordings.emitFetch(1, "/data/a.jpg", 3_000_000);
              Recordings.emitFetch(2, "/data/b.jpg", 2_000_000);
              Recordings.emitFetch(3, "/data/a.jpg", 4_000_000);
            });

    assertThat(RecordingReader.readInFull(file, done -> {}).activity().files().slowest())
        .extracting(Activity.Total::name, Activity.Total::count, Activity.Total::totalNanos)
        .containsExactly(
            tuple("/data/a.jpg", 2L, 7_000_000L), tuple("/data/b.jpg", 1L, 2_000_000L));
  }

  @Test
  void otherEventsAndTheirStackTracesAreSkipped() throws Exception {
    Path file = folder.resolve("profile.jfr");
    try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
      Recordings.EVENTS.forEach(
          event -> recording.enable(event).withThreshold(Duration.ZERO).withStackTrace());
      recording.start();
      Recordings.emitBatches(1, 20, "/data/train/images/in a long folder name");
      System.gc();
      Recordings.nextChunk();
      Recordings.emitBatches(2, 20, "/data/train/images/in a long folder name");
      recording.dump(file);
    }

    Activity activity = RecordingReader.readInFull(file, done -> {}).activity();
    assertThat(sum(activity.times().parts().get(Part.COMPUTE)))
        .isEqualTo(40 * 8 * Recordings.MILLISECOND);
    assertThat(activity.files().slowest())
        .hasSize(20)
        .allSatisfy(total -> assertThat(total.name()).startsWith("/data/train/images/in a long"));
  }

  @Test
  void anEventWithAFieldOfAnotherTypeIsNotRead() throws Exception {
    Path file = ChildJob.recordFractions(folder.resolve("fractions.jfr"));
    assertThatThrownBy(() -> RecordingReader.readInFull(file, done -> {}))
        .isInstanceOf(RecordingException.class)
        .hasMessageContaining("io.coordl.Step has no usable field 'compute'");
  }

  @Test
  void anEventWithoutAFieldIsNotReadAsZeroes() throws Exception {
    Path file = ChildJob.recordOtherStall(folder.resolve("stall.jfr"));
    assertThatThrownBy(() -> RecordingReader.readInFull(file, done -> {}))
        .isInstanceOf(RecordingException.class)
        .hasMessageContaining("io.coordl.DataStall has no usable field '");
  }

  @Test
  void repeatedAndReorderedChunksCountOnce() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("once.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitBatches(1, 100, "/data");
              Recordings.nextChunk();
              Recordings.emitBatches(2, 50, "/data");
            });
    byte[] bytes = Files.readAllBytes(file);
    int first = (int) ByteBuffer.wrap(bytes).getLong(8);
    Path twice = folder.resolve("twice.jfr");
    try (OutputStream out = Files.newOutputStream(twice)) {
      out.write(bytes, first, bytes.length - first);
      out.write(bytes);
    }

    JobActivity once = RecordingReader.readInFull(file, done -> {});
    Activity expected = once.activity();
    Activity activity = RecordingReader.readInFull(twice, done -> {}).activity();

    assertThat(expected.files().slowest()).isNotEmpty();
    assertThat(activity.files()).isEqualTo(expected.files());
    assertThat(activity.codecs()).isEqualTo(expected.codecs());
    assertThat(activity.transforms()).isEqualTo(expected.transforms());
    assertThat(activity.sources()).isEqualTo(expected.sources());
    assertThat(sum(activity.times().parts().get(Part.COMPUTE)))
        .isEqualTo(sum(expected.times().parts().get(Part.COMPUTE)));
    assertThat(sum(activity.times().parts().get(Part.FETCH_STALL)))
        .isEqualTo(sum(expected.times().parts().get(Part.FETCH_STALL)));
  }

  @Test
  void totalsAreTheSumsOfTheEvents() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("batches.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitBatches(1, 100, "/data");
              Recordings.nextChunk();
              Recordings.emitBatches(2, 100, "/data");
            });

    JobActivity job = RecordingReader.readInFull(file, done -> {});

    assertThat(job.recording())
        .usingRecursiveComparison()
        .isEqualTo(RecordingReader.readSteps(file, done -> {}));
    Activity.Times times = job.activity().times();
    assertThat(sum(times.parts().get(Part.COMPUTE))).isEqualTo(200 * 8 * Recordings.MILLISECOND);
    assertThat(sum(times.parts().get(Part.FETCH_STALL)))
        .isEqualTo(200 * 4 * Recordings.MILLISECOND);
    assertThat(sum(times.parts().get(Part.PREP_STALL))).isEqualTo(200 * 3 * Recordings.MILLISECOND);
    assertThat(sum(times.parts().get(Part.GC_STALL))).isEqualTo(200 * 2 * Recordings.MILLISECOND);
    assertThat(sum(times.parts().get(Part.QUEUE_STALL))).isEqualTo(200 * Recordings.MILLISECOND);
    assertThat(sum(times.parts().get(Part.CHECKPOINT))).isEqualTo(200 * Recordings.MILLISECOND);
    Activity.Names files = job.activity().files();
    assertThat(files.known()).isEqualTo(40);
    assertThat(files.slowest()).hasSize(20);
    assertThat(files.slowest().get(0))
        .isEqualTo(
            new Activity.Total("/data/image-11.jpg", 20, 16_000_000, 800_000, 2_000_000, 20));
    assertThat(
            files.others().count()
                + files.slowest().stream().mapToLong(Activity.Total::count).sum())
        .isEqualTo(800);
    assertThat(files.unnamed()).isZero();
    assertThat(job.activity().codecs().slowest())
        .extracting(Activity.Total::name, Activity.Total::count)
        .containsExactly(tuple("my.Jpeg", 800L));
    assertThat(job.activity().transforms().slowest())
        .extracting(Activity.Total::count)
        .containsExactly(400L, 400L);
    assertThat(job.activity().sources())
        .singleElement()
        .satisfies(
            source -> {
              assertThat(source.batches()).isEqualTo(200);
              assertThat(source.items()).isEqualTo(800);
              assertThat(source.decodeNanos()).isEqualTo(600 * Recordings.MILLISECOND);
              assertThat(source.otherNanos()).isEqualTo(100 * Recordings.MILLISECOND);
            });
  }

  @Test
  void aMillionEventsFitASmallHeap() throws Exception {
    int many = 1_000_000;
    Path file =
        Recordings.record(
            folder.resolve("big.jfr"),
            () -> {
              for (int i = 0; i < many; i++) {
                Recordings.emitFetch(i, "/data/train/" + i + ".jpg", 100_000 + i);
              }
              Recordings.emitJob();
            });
    Path page = folder.resolve("big.html");

    Java.Ended ended =
        Java.run(
            List.of(
                "-Xmx96m",
                "io.coordl.reports.Coordl",
                "report",
                file.toString(),
                "-o",
                page.toString()));

    assertThat(ended.code()).as(ended.output()).isZero();
    // On a busy machine JFR itself loses some of a million events.
    assertThat(page).content().containsPattern("\"known\":262144,\"unnamed\":[1-9]");
  }

  @Test
  void aGigabyteOfHeapDistinguishesTheFilesOfImageNet() {
    assertThat(ActivityCollector.filesIn(96L << 20)).isEqualTo(1 << 18);
    assertThat(ActivityCollector.filesIn(626L << 20)).isGreaterThan(1_281_167);
    assertThat(ActivityCollector.filesIn(1L << 30)).isEqualTo(1 << 21);
    assertThat(ActivityCollector.filesIn(Long.MAX_VALUE)).isEqualTo(1 << 21);
  }

  private static long sum(List<Long> slots) {
    return slots.stream().mapToLong(Long::longValue).sum();
  }
}
