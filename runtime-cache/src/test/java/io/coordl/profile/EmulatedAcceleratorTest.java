package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The clock advances by the wait for each batch and by the emulated step's sleep. */
class EmulatedAcceleratorTest {
  private static final long MILLI = 1_000_000;
  private static final int BATCH = 16;

  private final List<PhaseEvent> written = new ArrayList<>();
  private final List<String> dropped = new ArrayList<>();
  private final EventLog events = new EventLog();
  private long now;
  private long wait = 5 * MILLI;

  private final Batches batches =
      new Batches() {
        @Override
        public int samples(Object batch) {
          return BATCH;
        }

        @Override
        public Kept keep(Object batch) {
          throw new IllegalStateException("no batch is to be kept");
        }

        @Override
        public void drop(Object batch) {
          dropped.add((String) batch);
        }
      };

  private EmulatedAccelerator stage(Accelerator accelerator, int wanted) {
    events.open(
        (event, start, end) -> {
          if (event instanceof PhaseEvent phase) {
            written.add(phase);
          }
        });
    Durations noDurations =
        new Durations() {
          @Override
          public void record(Kind kind, long nanos) {}

          @Override
          public void epochEnded(long epoch) {}
        };
    Plan plan =
        new Plan(
            Set.of(EmulatedAccelerator.PHASE),
            wanted,
            new SpanRecorder(events, noDurations, () -> 0),
            new ProfiledItems(path -> false, line -> {}),
            null,
            line -> {},
            () -> now);
    EmulatedAccelerator stage =
        new EmulatedAccelerator(plan, accelerator, wanted, nanos -> now += nanos);
    stage.begin();
    return stage;
  }

  private Iterator<String> epoch(int count) {
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < count;
      }

      @Override
      public String next() {
        // The second batch was produced while the program trained on the first.
        now += next == 1 ? 0 : wait;
        return "batch " + next++;
      }
    };
  }

  private BatchGet get(Iterator<String> epoch) {
    return new BatchGet(batches, epoch, true, 0);
  }

  @Test
  void theEmulatedStepCountsAsCompute() {
    EmulatedAccelerator stage = stage(Accelerator.parse("20"), 0);
    assertThat(stage.get(get(epoch(100_000)))).isEqualTo(Stage.Next.DONE);
    stage.end();

    PhaseEvent phase = written.get(0);
    assertThat(phase.phase).isEqualTo("accelerator");
    assertThat((double) phase.compute / phase.wall).isCloseTo(0.8, within(1e-9));
    assertThat(phase.wall).isBetween(20_000 * MILLI, 20_050 * MILLI);
    assertThat(phase.samples).isEqualTo(BATCH * phase.steps);
    assertThat(phase.sampleNanos).isCloseTo(25.0 * MILLI / BATCH, within(1.0));
    assertThat(phase.warmupSteps).as("ten seconds of warm-up").isBetween(398L, 401L);
    assertThat(dropped).hasSizeGreaterThan(1_000);
  }

  @Test
  void theProgramGetsTheLastBatchOfAnEpochAndTheFirstStepDoesNotCount() {
    EmulatedAccelerator stage = stage(Accelerator.parse("20"), 120);
    int epochs = 0;
    BatchGet last;
    Stage.Next next;
    do {
      epochs++;
      last = get(epoch(50));
      now += 10_000 * MILLI; // The program's own step, and an evaluation.
      next = stage.get(last);
      if (next == Stage.Next.ANSWER) {
        assertThat(last.inHand).isEqualTo("batch 49");
      }
    } while (next == Stage.Next.ANSWER);
    stage.end();

    assertThat(epochs).isGreaterThan(2);
    assertThat(dropped).doesNotContain("batch 49");
    assertThat(written.get(0).steps).isEqualTo(120);
    assertThat((double) written.get(0).compute / written.get(0).wall).isCloseTo(0.8, within(1e-9));
  }

  @Test
  void inShortEpochsAllStepsButTheFirstCount() {
    EmulatedAccelerator stage = stage(Accelerator.parse("20"), 30);
    int epochs = 0;
    while (stage.get(get(epoch(4))) == Stage.Next.ANSWER) {
      epochs++;
    }
    stage.end();
    assertThat(epochs).isBetween(40, 60);
    assertThat(written.get(0).steps).isEqualTo(30);
  }

  @Test
  void measuringStartsWithTheLastInstanceAndLastsUntilAllAreDone(@TempDir Path meeting)
      throws Exception {
    EmulatedAccelerator stage = stage(new Accelerator(20 * MILLI, 2, meeting), 0);
    Iterator<String> own = epoch(1_000_000);
    Iterator<String> watched =
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            return true;
          }

          @Override
          public String next() {
            if (now > 60_000 * MILLI) {
              come(meeting, "warm-other");
            }
            if (now > 100_000 * MILLI) {
              come(meeting, "measured-other");
            }
            // Slower until the other instance arrives: must not count.
            wait = now > 60_000 * MILLI ? 5 * MILLI : 50 * MILLI;
            return own.next();
          }
        };
    assertThat(stage.get(get(watched))).isEqualTo(Stage.Next.DONE);
    stage.end();

    assertThat(now).as("it stays until the other is done").isGreaterThan(100_000 * MILLI);
    assertThat((double) written.get(0).compute / written.get(0).wall).isCloseTo(0.8, within(0.002));
    try (Stream<Path> files = Files.list(meeting)) {
      assertThat(files.map(file -> file.getFileName().toString().replaceFirst("-.*", "")))
          .containsExactlyInAnyOrder("warm", "warm", "measured", "measured");
    }
  }

  private static void come(Path meeting, String name) {
    try {
      Path file = meeting.resolve(name);
      if (Files.notExists(file)) {
        Files.createFile(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void missingInstancesAreReported(@TempDir Path meeting) {
    EmulatedAccelerator stage = stage(new Accelerator(20 * MILLI, 2, meeting), 0);
    assertThat(stage.get(get(epoch(1_000_000)))).isEqualTo(Stage.Next.DONE);
    stage.end();
    assertThat(written.get(0).wall).isZero();
    assertThat(written.get(0).note).isEqualTo("not all of the 2 instances arrived");
  }

  @Test
  void invalidStepsAreRefused() {
    assertThat(Accelerator.parse("3.5").stepNanos()).isEqualTo(3_500_000);
    assertThat(Accelerator.parse("50:4:/tmp/a:b"))
        .isEqualTo(new Accelerator(50 * MILLI, 4, Path.of("/tmp/a:b")));
    for (String wrong :
        List.of("", "off", "-1", "0", "0.05", "1e3", "50:0:/tmp", "50:4", "50:4:")) {
      assertThatThrownBy(() -> Accelerator.parse(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
