package io.coordl.benchmarks.micro;

import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Recording;

/**
 * Writes a recording with about a given number of the agent's events, in the mix of a long job:
 * batches of 32 items; a fetch, a decode and a transform per item; a preparation, a stall and a
 * step per batch. Arguments: file, events.
 */
public final class LargeRecording {
  private static final int ITEMS = 32;
  private static final int EVENTS_PER_BATCH = 3 * ITEMS + 3;

  /** Number of different files, as in ImageNet. */
  private static final int FILES = 1_281_167;

  private LargeRecording() {}

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException {
    Path file = Path.of(args[0]);
    long events = Long.parseLong(args[1]);
    AgentEvents.register();
    try (Recording recording = new Recording()) {
      recording.setToDisk(true);
      for (Class<? extends Event> event :
          List.of(
              BatchEvent.class,
              DataStallEvent.class,
              DecodeEvent.class,
              EpochEvent.class,
              FetchEvent.class,
              JobStatisticsEvent.class,
              StepEvent.class,
              TransformEvent.class)) {
        recording.enable(event).withThreshold(Duration.ZERO).withoutStackTrace();
      }
      recording.enable("jdk.JVMInformation");
      recording.start();
      long batches = events / EVENTS_PER_BATCH;
      for (long batch = 1; batch <= batches; batch++) {
        batch(batch);
      }
      total(batches);
      recording.dump(file);
    }
  }

  private static void batch(long batch) {
    DataStallEvent stall = new DataStallEvent();
    stall.begin();
    BatchEvent prepared = new BatchEvent();
    prepared.begin();
    for (int item = 0; item < ITEMS; item++) {
      long number = batch * ITEMS + item;
      FetchEvent fetch = new FetchEvent();
      fetch.begin();
      fetch.batch = batch;
      fetch.path = "/data/imagenet/train/" + number * 7_919 % FILES + ".JPEG";
      fetch.bytes = 110_000;
      fetch.fetchTime = 100_000 + number % 1_000;
      fetch.memory = number % 3 == 0;
      fetch.commit();
      DecodeEvent decode = new DecodeEvent();
      decode.begin();
      decode.batch = batch;
      decode.codec = "ai.djl.modality.cv.BufferedImageFactory";
      decode.commit();
      TransformEvent transform = new TransformEvent();
      transform.begin();
      transform.batch = batch;
      transform.transform = "ai.djl.modality.cv.transform.RandomResizedCrop";
      transform.commit();
    }
    prepared.batch = batch;
    prepared.fetch = 3_000_000;
    prepared.decode = 50_000_000;
    prepared.transform = 20_000_000;
    prepared.other = 5_000_000;
    prepared.items = ITEMS;
    prepared.source = "ai.djl.training.dataset.DataIterable";
    prepared.commit();
    stall.batch = batch;
    stall.epoch = 1;
    stall.wait = 30;
    stall.fetch = 10;
    stall.prep = 17;
    stall.gc = 2;
    stall.queue = 1;
    stall.commit();
    StepEvent step = new StepEvent();
    step.begin();
    step.batch = batch;
    step.epoch = 1;
    step.compute = 70;
    step.commit();
  }

  private static void total(long batches) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.mainClass = "LargeRecording";
    job.epochs = 1;
    job.batches = batches;
    job.wall = 100 * batches;
    job.compute = 70 * batches;
    job.stall = 30 * batches;
    job.fetchStall = 10 * batches;
    job.prepStall = 17 * batches;
    job.gcStall = 2 * batches;
    job.queueStall = batches;
    job.items = ITEMS * batches;
    job.storageItems = ITEMS * batches;
    job.commit();
  }
}
