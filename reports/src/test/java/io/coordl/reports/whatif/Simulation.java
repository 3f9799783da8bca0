package io.coordl.reports.whatif;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Simulates a pipeline event by event: each thread fetches and prepares one batch at a time,
 * storage serves one fetch at a time, each core runs one task, queues are bounded, and training
 * threads take batches in order. Uses none of the formulas.
 */
final class Simulation {
  private static final int BATCH = 16;

  private final Costs costs;
  private final Setup setup;
  private final Random random;
  private final double spread;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::time).thenComparingLong(Event::number));
  private final Resource storage = new Resource(1);
  private final Resource cores;
  private final List<Boolean> order = new ArrayList<>();
  private double owed;
  private long scheduled;
  private double now;

  /**
   * @param spread each time deviates from its mean by at most this share, uniformly distributed
   */
  Simulation(Costs costs, Setup setup, double spread, long seed) {
    this.costs = costs;
    this.setup = setup;
    this.spread = spread;
    this.random = new Random(seed);
    this.cores = new Resource((int) setup.cores);
  }

  private record Event(double time, long number, Runnable action) {}

  private void after(double delay, Runnable action) {
    events.add(new Event(now + delay, scheduled++, action));
  }

  private double about(double mean) {
    return mean * (1 + spread * (2 * random.nextDouble() - 1));
  }

  /** Serves as many requests at a time as it has servers; the others queue in order. */
  private final class Resource {
    private int free;
    private final Deque<Runnable> waiting = new ArrayDeque<>();

    Resource(int servers) {
      this.free = servers;
    }

    void use(double duration, Runnable then) {
      Runnable start =
          () ->
              after(
                  duration,
                  () -> {
                    free++;
                    Runnable next = waiting.poll();
                    if (next != null) {
                      free--;
                      next.run();
                    }
                    then.run();
                  });
      if (free > 0) {
        free--;
        start.run();
      } else {
        waiting.add(start);
      }
    }
  }

  /** Batches that threads prepare for one trainer or several. */
  private final class Stream {
    private final int window;
    private final List<Trainer> trainers = new ArrayList<>();
    private final Deque<Runnable> parked = new ArrayDeque<>();
    private final List<Boolean> ready = new ArrayList<>();
    private int claimed;

    Stream(int window) {
      this.window = window;
    }

    void work() {
      int slowest = trainers.stream().mapToInt(trainer -> trainer.taken).min().orElseThrow();
      if (claimed >= slowest + window) {
        parked.add(this::work);
        return;
      }
      int batch = claimed++;
      ready.add(false);
      prepare(
          0,
          () -> {
            ready.set(batch, true);
            trainers.forEach(Trainer::wake);
            work();
          });
    }

    boolean isReady(int batch) {
      return batch < ready.size() && ready.get(batch);
    }

    void taken() {
      for (int i = parked.size(); i > 0; i--) {
        parked.remove().run();
      }
    }
  }

  private void prepare(int sample, Runnable then) {
    if (sample == BATCH) {
      then.run();
      return;
    }
    double hit = setup.hit == null ? costs.todayHit() : setup.hit;
    Runnable prep =
        () ->
            cores.use(
                about(costs.prepParallel() - setup.decoded * costs.decode()),
                () -> prepare(sample + 1, then));
    if (nextHits(hit)) {
      prep.run();
    } else {
      double served = about(costs.storage() / setup.storageFactor);
      double latency = Math.max(0, costs.miss() - costs.storage()) / setup.storageFactor;
      after(about(latency), () -> storage.use(served, prep));
    }
  }

  /**
   * Whether the next item hits. Of every hundred items, exactly the expected number hit, in random
   * order, as in an epoch.
   */
  private boolean nextHits(double hit) {
    if (order.isEmpty()) {
      owed += 100 * hit;
      for (int i = 0; i < 100; i++) {
        order.add(i < Math.floor(owed));
      }
      owed -= Math.floor(owed);
      Collections.shuffle(order, random);
    }
    return order.remove(order.size() - 1);
  }

  private final class Trainer {
    private final Stream stream;
    private int taken;
    private boolean waits;

    Trainer(Stream stream) {
      this.stream = stream;
      stream.trainers.add(this);
    }

    void train() {
      if (setup.workers == 0 && !setup.coordinated) {
        prepare(0, () -> step(0));
        return;
      }
      waits = true;
      wake();
    }

    void wake() {
      if (waits && stream.isReady(taken)) {
        waits = false;
        step(0);
      }
    }

    /** Computes this sample and the following; then returns the batch's place in the window. */
    private void step(int sample) {
      if (sample == BATCH) {
        taken++;
        stream.taken();
        train();
        return;
      }
      double duration = about(costs.compute() / setup.stepFactor);
      Runnable then = () -> step(sample + 1);
      if (costs.computeCores() > 0) {
        cores.use(duration, then);
      } else {
        after(duration, then);
      }
    }
  }

  /** Time of a sample of each job, after a tenth of the batches as warm-up. */
  double nanos(int batches) {
    int jobs = setup.jobs;
    int workers = (int) Math.max(1, setup.workers);
    List<Trainer> trainers = new ArrayList<>();
    if (setup.coordinated) {
      Stream stream = new Stream(4 * jobs * workers);
      for (int job = 0; job < jobs; job++) {
        trainers.add(new Trainer(stream));
      }
      start(stream, jobs * workers);
    } else {
      for (int job = 0; job < jobs; job++) {
        Stream stream = new Stream(2 * workers + 1);
        trainers.add(new Trainer(stream));
        start(stream, setup.workers == 0 ? 0 : workers);
      }
    }
    trainers.forEach(Trainer::train);
    int warm = batches / 10 * jobs;
    double warmed = 0;
    int done = 0;
    while (done < batches * jobs) {
      Event event = events.remove();
      now = event.time();
      event.action().run();
      done = trainers.stream().mapToInt(trainer -> trainer.taken).sum();
      if (done <= warm) {
        warmed = now;
      }
    }
    return (now - warmed) / (done - warm) * jobs / BATCH;
  }

  private static void start(Stream stream, int workers) {
    for (int worker = 0; worker < workers; worker++) {
      stream.work();
    }
  }
}
