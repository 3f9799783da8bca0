package io.coordl.reports.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.recording.RecordingException;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Finding the number of accelerators that a host can feed needs few runs. */
class AcceleratorProfileTest {
  private final List<Integer> tried = new ArrayList<>();

  /** Returns the phases of accelerators that share this rate of batches; a step takes 50 ms. */
  private List<PhaseEvent> host(int count, double batchesPerSecond) {
    tried.add(count);
    double each = Math.min(20, batchesPerSecond / count);
    List<PhaseEvent> phases = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      PhaseEvent phase = new PhaseEvent();
      phase.phase = "accelerator";
      phase.steps = 100;
      phase.samples = 3_200;
      phase.wall = Math.round(100 / each * 1e9);
      phase.compute = 5_000_000_000L;
      phase.storageBytes = 320_000_000;
      phases.add(phase);
    }
    return phases;
  }

  private AcceleratorProfile profile(double batchesPerSecond, int max) throws RecordingException {
    return AcceleratorProfile.of(50, max, count -> host(count, batchesPerSecond));
  }

  @Test
  void theNumberIsDoubledThenBisected() throws Exception {
    // Each takes 20 batches a second: six want 120 and get 111, which is 92.5 %.
    AcceleratorProfile profile = profile(111, 64);
    assertThat(profile.fed()).isEqualTo(6);
    assertThat(tried).containsExactly(1, 2, 4, 8, 6, 7);
    assertThat(profile.runs())
        .extracting(AcceleratorProfile.Run::accelerators)
        .containsExactly(1, 2, 4, 6, 7, 8);
    AcceleratorProfile.Run six = profile.runs().get(3);
    assertThat(six.utilisation()).isCloseTo(0.925, within(1e-6));
    assertThat(six.samplesPerSecond()).isCloseTo(111 * 32, within(0.01));
    assertThat(six.storageBytesPerSecond()).isCloseTo(111 * 3.2e6, within(1e3));
    assertThat(profile.batchSamples()).isEqualTo(32);
    assertThat(AcceleratorText.lines(profile))
        .contains(
            "CoorDL emulated accelerator: steps of 50 ms, batches of 32 samples, every item from"
                + " storage",
            "This host feeds 6 such accelerators at 90 % utilisation or more; 7 have 79.3 %.");
  }

  @Test
  void aHostMayFeedNoAccelerator() throws Exception {
    AcceleratorProfile profile = profile(10, 64);
    assertThat(profile.fed()).isZero();
    assertThat(tried).containsExactly(1);
    assertThat(AcceleratorText.lines(profile))
        .contains(
            "This host does not feed even one such accelerator: its utilisation is below 90 %.");
  }

  @Test
  void noMoreAcceleratorsThanRequestedAreTried() throws Exception {
    AcceleratorProfile profile = profile(1e6, 5);
    assertThat(profile.fed()).isEqualTo(5);
    assertThat(tried).containsExactly(1, 2, 4, 5);
    assertThat(profile.remarks()).containsExactly("more than 5 were not tried (--up-to)");
  }

  @Test
  void aFailedRunEndsTheSearchWithTheRunsSoFar() throws Exception {
    AcceleratorProfile.Instances few =
        count -> {
          if (count > 2) {
            throw new RecordingException("no memory.");
          }
          return host(count, 1e6);
        };
    AcceleratorProfile profile = AcceleratorProfile.of(50, 64, few);
    assertThat(profile.fed()).isEqualTo(2);
    assertThat(profile.remarks()).containsExactly("4 instances could not be measured: no memory.");
    assertThatThrownBy(
            () ->
                AcceleratorProfile.of(
                    50,
                    64,
                    count -> {
                      throw new RecordingException("no memory.");
                    }))
        .isInstanceOf(RecordingException.class);
  }
}
