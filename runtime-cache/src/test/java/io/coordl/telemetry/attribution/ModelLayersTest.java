package io.coordl.telemetry.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.SpanKind;
import io.coordl.telemetry.event.LayerEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The layers of a model are recorded when it makes its first step. */
class ModelLayersTest {
  private final List<LayerEvent> written = new ArrayList<>();
  private final EventLog events = new EventLog();
  private final SpanRecorder spans = new SpanRecorder(events, noDurations(), () -> 0);
  private int describeCalls;

  private static Durations noDurations() {
    return new Durations() {
      @Override
      public void record(Kind kind, long nanos) {}

      @Override
      public void epochEnded(long epoch) {}
    };
  }

  private void step(Object trainer) {
    spans.exit(spans.enter(SpanKind.UPDATE, trainer), null);
  }

  private static LayerEvent layer(String name) {
    LayerEvent layer = new LayerEvent();
    layer.layer = name;
    return layer;
  }

  @Test
  void eachModelIsRecordedOnce() {
    events.open(
        (event, start, end) -> {
          if (event instanceof LayerEvent layer) {
            written.add(layer);
          }
        });
    spans.layers(
        trainer -> {
          describeCalls++;
          return List.of(layer(trainer + " first"), layer(trainer + " second"));
        });
    Object generator = "generator";
    Object critic = "critic";
    for (int i = 0; i < 3; i++) {
      step(generator);
      step(generator);
      step(critic);
    }

    assertThat(describeCalls).isEqualTo(2);
    assertThat(written)
        .extracting(layer -> layer.model + " " + layer.place + " " + layer.layer)
        .containsExactly(
            "1 1 generator first", "1 2 generator second", "2 1 critic first", "2 2 critic second");
  }

  /** A hyper-parameter search trains many identical networks, each with its own trainer. */
  @Test
  void epochsIdentifyTheirModelByItsLayers() {
    events.close();
    spans.layers(trainer -> List.of(layer(trainer.toString().substring(0, 1))));
    List<Long> models = new ArrayList<>();
    spans.totals().onEpochEnd(epoch -> models.add(epoch.model));
    long fit = spans.enter(SpanKind.FIT, null);
    for (String trainer : List.of("a1", "b1", "a2", "b1")) {
      Object data = new Object();
      spans.exit(spans.enter(SpanKind.TAKE, data), new Object());
      step(trainer);
      spans.exit(spans.enter(SpanKind.ASK, data), false);
    }
    spans.exit(fit, null);
    assertThat(models).containsExactly(1L, 2L, 1L, 2L);
  }

  @Test
  void onlyTheFirstSixteenModelsAreRecorded() {
    spans.layers(
        trainer -> {
          describeCalls++;
          return List.of();
        });
    for (int i = 0; i < 100; i++) {
      step("model " + i);
    }
    assertThat(describeCalls).isEqualTo(16);
  }
}
