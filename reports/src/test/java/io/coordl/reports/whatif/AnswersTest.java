package io.coordl.reports.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.HostEvent;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/**
 * Curves and sentences, mostly for the pipelines of {@link Profiles#emitSerial} and {@link
 * Profiles#emitWorkers} as if their figures had no errors.
 */
class AnswersTest {
  /**
   * A cache of a quarter of the data set, 16 cores, 3x faster steps, storage of 500 MB/s, 4 jobs, 4
   * hosts, 1 GB/s between them.
   */
  private static final Scenario ASKED = new Scenario(null, 0.25, 16, 3.0, 5e8, 4, 4, 1e9, null);

  private Pipeline serial;
  private Pipeline workers;

  @BeforeEach
  void measure() throws Exception {
    serial = exact(Pipeline.of(Recordings.read(WhatIfTest.SERIAL)));
    workers = exact(Pipeline.of(Recordings.read(WhatIfTest.WORKERS)));
  }

  private static Pipeline exact(Pipeline measured) {
    UnaryOperator<Measure> exact = measure -> Measure.exact(measure.value());
    return WhatIfTest.seen(measured.withComputeCores(0.0), exact, exact);
  }

  private static Question question(String name) {
    return WhatIf.QUESTIONS.stream().filter(one -> one.name.equals(name)).findFirst().get();
  }

  // ---- curves

  /** Asserts that the curve has these ends and, at each point, the speed that the law gives. */
  private static void curve(
      Answer answer, String name, double from, double to, DoubleFunction<Measure> law) {
    Series curve =
        answer.plot().series().stream().filter(one -> one.name().equals(name)).findFirst().get();
    List<Point> points = curve.points();
    assertThat(points.get(0).x()).isEqualTo(from);
    assertThat(points.get(points.size() - 1).x()).isEqualTo(to);
    for (Point point : points) {
      assertThat(point.y().value())
          .as("%s of %s at %s", name, answer.question(), point.x())
          .isCloseTo(law.apply(point.x()).value(), within(1e-6));
    }
  }

  @Test
  void everyCurveFollowsTheLaw() {
    for (Pipeline of : List.of(serial, workers)) {
      for (Scenario scenario : List.of(Scenario.NONE, ASKED)) {
        curvesFollowTheLaw(of, scenario);
      }
    }
  }

  private static void curvesFollowTheLaw(Pipeline of, Scenario scenario) {
    boolean asked = scenario.equals(ASKED);
    Setup today = of.today();
    curve(question("cacheSize").ask(of, scenario), "MinIO", 0, 1, x -> of.speed(today.hit(x)));

    Answer minio = question("minio").ask(of, scenario);
    curve(minio, "MinIO", 0, 1, x -> of.speed(today.hit(x)));
    curve(minio, "random replacement", 0, 1, x -> of.speed(today.hit(HitLaw.RANDOM.hit(x))));
    curve(minio, "least recently used", 0, 1, x -> of.speed(today.hit(HitLaw.LRU.hit(x))));

    curve(
        question("decoded").ask(of, scenario),
        "decoded",
        0,
        1,
        x -> {
          // Decoded items take 6x GB of the 0.5 GB; the page cache has the rest for 1 - x GB of
          // files.
          double left = x == 1 ? 0 : HitLaw.pageCache((0.5 - 6 * x) / (1 - x)).value();
          double page = Math.min(of.todayHit.value(), left);
          return of.speed(today.hit(x + (1 - x) * page).decoded(x));
        });

    Answer overlap = question("overlap").ask(of, scenario);
    curve(overlap, "beside the step", 0, 8, x -> of.speed(today.workers(x)));

    Answer cores = question("cores").ask(of, scenario);
    int count = asked ? 16 : (int) of.cores;
    String name = count + " cores";
    curve(cores, name, 0, 8, x -> of.speed(today.cores(count).workers(x)));
    curve(cores, "a core for each", 0, 8, x -> of.speed(today.cores(Math.max(1, x)).workers(x)));

    Answer storage = question("storage").ask(of, scenario);
    double hit = asked ? 0.25 : 0;
    double rate = 2e8;
    String cached = asked ? "25 % cached" : "0 % cached";
    curve(storage, cached, rate / 8, rate * 16, x -> of.speed(today.hit(hit).storage(x / rate)));
    curve(storage, "as today", rate / 8, rate * 16, x -> of.speed(today.storage(x / rate)));

    Answer gpu = question("gpu").ask(of, scenario);
    curve(gpu, "today", 1, 8, x -> of.speed(today.step(x)));
    curve(gpu, "everything in memory", 1, 8, x -> of.speed(today.hit(1).step(x)));

    Answer jobs = question("jobs").ask(of, scenario);
    curve(jobs, "independent jobs", 1, 8, x -> of.speed(today.jobs((int) x, false)));
    curve(jobs, "coordinated", 1, 8, x -> of.speed(today.jobs((int) x, true)));

    Answer hosts = question("hosts").ask(of, scenario);
    double share = asked ? 0.25 : 0.5;
    double net = asked ? 1e5 : 8e4; // 100,000 bytes at 1 or 1.25 GB/s.
    Setup stored = asked ? today.storage(2.5) : today;
    DoubleFunction<Setup> partitioned =
        n -> {
          double local = Math.min(share, 1 / n);
          return stored.hit(local).remote((n - 1) * local, net, net);
        };
    curve(hosts, "nothing cached", 1, 256, n -> of.speed(stored.hit(0).hosts(n)).times(n));
    curve(hosts, "separate caches", 1, 256, n -> of.speed(stored.hit(share).hosts(n)).times(n));
    curve(
        hosts, "partitioned cache", 1, 256, n -> of.speed(partitioned.apply(n).hosts(n)).times(n));
    curve(hosts, "storage per host", 1, 256, n -> of.speed(partitioned.apply(n)).times(n));

    Answer locality = question("locality").ask(of, scenario);
    curve(locality, "other hosts", 1, 256, n -> Measure.exact((n - 1) * Math.min(share, 1 / n)));
    curve(
        locality,
        "if assigned by cache",
        1,
        256,
        n -> Measure.exact(Balancing.moved((int) n, 32, Math.min(1, n * share))));
    curve(locality, "storage", 1, 256, n -> Measure.exact(Math.max(0, 1 - n * share)));
  }

  @Test
  void todaysPointIsWhereTheJobIs() {
    Measure speed = workers.speed(workers.today());
    double[] places = {0.5, 0.5, 0, 2, 2, 2e8, 1, 1, 1};
    for (int i = 0; i < places.length; i++) {
      Answer answer = WhatIf.QUESTIONS.get(i).ask(workers, Scenario.NONE);
      assertThat(answer.plot().today())
          .as(answer.question())
          .isEqualTo(new Point(places[i], speed));
    }
    assertThat(question("locality").ask(workers, Scenario.NONE).plot().today()).isNull();
  }

  // ---- sentences

  private static String answers(Pipeline pipeline, Scenario scenario) {
    return WhatIf.QUESTIONS.stream()
        .filter(question -> question.concerns(pipeline))
        .map(question -> question.ask(pipeline, scenario))
        .map(answer -> answer.title() + ": " + answer.sentence() + " " + answer.arguments())
        .collect(Collectors.joining("\n"));
  }

  @Test
  void sentencesForAJobWithoutWorkers() {
    assertThat(answers(serial, Scenario.NONE))
        .isEqualTo(
            """
            Best size of a MinIO cache: x* = 100 ± 0 % of the data set (953.7 MiB): 200 ± 0 \
            samples/s, 1.20 ± 0.00x as fast as with nothing cached; more memory gains \
            nothing; today it runs at 173 ± 0 samples/s; the free memory (476.8 MiB) gives 182 ± \
            0 samples/s. [cache=minio, cache.size=477m]
            MinIO cache in place of the page cache: with 50 % of the data set in memory (476.8 \
            MiB), MinIO hits 50 %, a page cache 15 % to 28 %: 182 ± 0 samples/s instead of 173 ± \
            2 samples/s, 1.05 ± 0.01x as fast. [cache=minio, cache.size=477m]
            Decoded items cached in memory: decoding is 67 ± 0 % of preparation; with 8 % of the \
            decoded items cached (all of them take 5.6 GiB) the job runs at 174 ± 0 samples/s, \
            1.01 ± 0.00x as fast as today. []
            Preparation beside the step: one thread that prepares beside the step makes the job \
            1.53 ± 0.00x as fast (264 ± 0 samples/s instead of 173 ± 0 samples/s). \
            [prefetch=2]
            Workers and cores needed: k* = 2 workers (1.89 ± 0.00) on 1.50 ± 0.00 cores keep \
            up with the steps; with 4 cores the job then runs at 500 ± 0 samples/s, today at \
            173 ± 0 samples/s. []
            Storage rate needed: S* = 724.8 MiB/s ± 0 bytes/s limits fetching to 5 % of the time \
            when nothing is cached; this storage gives 190.7 MiB/s ± 0 bytes/s, with which the job \
            runs at 167 ± 0 samples/s. []
            A faster accelerator: steps 2.0x as fast make the job 1.21 ± 0.00x as \
            fast (209 ± 0 samples/s). However fast the steps are, the job becomes at most 1.53 ± \
            0.00x as fast; for 95 % of that speed, steps must be 10.0 ± 0.0x as fast. []
            Several jobs on this host: each of 2 jobs runs at 173 ± 0 samples/s independently and \
            at 500 ± 0 samples/s with coordinated prep, 2.89 ± 0.00x as fast; one alone \
            runs at 173 ± 0 samples/s. [prep=coordinate, prep.jobs=2]
            Several hosts with a partitioned cache: 2 hosts, each with room for 50 % of the data \
            set in memory, train at 364 ± 0 samples/s with separate caches and at 397 ± 0 \
            samples/s with a partitioned one, 1.09 ± 0.00x as fast. Each host then finds 50.0 \
            % of the items in its own memory, 50.0 % in that of the others and 0.0 % in storage. \
            Without a cache, the storage can feed 10.0 ± 0.0 hosts. []
            Samples to the hosts that cache them: 2 hosts with a partitioned cache fetch 50.0 % \
            of the items from each other; if each sample went to the host that caches it, with \
            batches of 32 per host, 5.0 % would move, and the hosts would train 1.01 ± 0.00x as \
            fast (256 hosts: 1.01 ± 0.00x). The agent does not do this. []
            Gain from auto: the job waits for data 65 ± 0 % of the time; with 25 % of \
            the files or 4 % of the decoded items in memory it runs at 174 ± 0 samples/s, 1.01 \
            ± 0.00x as fast as today, and at most 2.89 ± 0.00x as fast if no \
            transform draws random numbers and all samples fit. [auto=on]
            Cores, memory and storage needed: 1 core, 858.3 MiB for items and 190.7 MiB/s from \
            storage give 98 % of the speed of 4 cores with every item in memory (200 samples/s). []\
            """);
  }

  @Test
  void sentencesForAJobWithWorkersAndAScenario() {
    assertThat(answers(workers, ASKED))
        .isEqualTo(
            """
            Best size of a MinIO cache: x* = 71 ± 0 % of the data set (681.2 MiB): 1,000 ± 0 \
            samples/s, 2.00 ± 0.00x as fast as with nothing cached; more memory gains \
            nothing; today it runs at 590 ± 0 samples/s; the free memory (476.8 MiB) gives 769 ± \
            0 samples/s; a cache of 25 % gives 606 ± 0 samples/s. [cache=minio, cache.size=477m]
            MinIO cache in place of the page cache: with 25 % of the data set in memory (238.4 \
            MiB), MinIO hits 25 %, a page cache 3 % to 7 %: 606 ± 0 samples/s instead of 519 ± 6 \
            samples/s, 1.17 ± 0.01x as fast. [cache=minio, cache.size=239m]
            Decoded items cached in memory: decoding is 75 ± 0 % of preparation; with 25 % of the \
            decoded items cached (all of them take 5.6 GiB) the job runs at 650 ± 0 samples/s, \
            1.10 ± 0.00x as fast as today. [decoded=share, decoded.size=2g]
            Preparation beside the step: nothing: 2 threads prepare beside the step already. []
            Workers and cores needed: k* = 4 workers (3.39 ± 0.00) on 1.20 ± 0.00 cores keep \
            up with the steps; with 16 cores the job then runs at 1,000 ± 0 samples/s, today at \
            590 ± 0 samples/s. []
            Storage rate needed: S* = 500.7 MiB/s ± 0 bytes/s keeps up with the rest of the job \
            when 25 % is cached; this storage gives 190.7 MiB/s ± 0 bytes/s, with which the job \
            runs at 606 ± 0 samples/s; with 476.8 MiB/s it would run at 980 ± 0 samples/s. []
            A faster accelerator: steps 3.0x as fast make the job 1.00 ± 0.00x as \
            fast (590 ± 0 samples/s). However fast the steps are, the job becomes at most 1.00 ± \
            0.00x as fast; for 95 % of that speed, steps must be 1.00 ± 0.00x as fast. []
            Several jobs on this host: each of 4 jobs runs at 590 ± 0 samples/s independently and \
            at 1,000 ± 0 samples/s with coordinated prep, 1.70 ± 0.00x as fast; one alone \
            runs at 590 ± 0 samples/s. [prep=coordinate, prep.jobs=4]
            Several hosts with a partitioned cache: 4 hosts, each with room for 25 % of the data \
            set in memory, train at 3,922 ± 0 samples/s with separate caches and at 4,000 \
            ± 0 samples/s with a partitioned one, 1.02 ± 0.00x as fast. Each host then finds \
            25.0 % of the items in its own memory, 75.0 % in that of the others and 0.0 % in \
            storage. Without a cache, the storage can feed 5.00 ± 0.00 hosts. []
            Samples to the hosts that cache them: 4 hosts with a partitioned cache fetch 75.0 % \
            of the items from each other; if each sample went to the host that caches it, with \
            batches of 32 per host, 6.1 % would move, and the hosts would train 1.00 ± 0.00x as \
            fast (256 hosts: 1.00 ± 0.00x). The agent does not do this. []
            Gain from auto: the job waits for data 41 ± 0 % of the time; with 25 % of \
            the files or 25 % of the decoded items in memory it runs at 650 ± 0 samples/s, 1.10 \
            ± 0.00x as fast as today, and at most 1.70 ± 0.00x as fast if no \
            transform draws random numbers and all samples fit. [auto=on]
            Cores, memory and storage needed: 1.5 cores, 667.6 MiB for items and 190.7 MiB/s from \
            storage give 98 % of the speed of 8 cores with every item in memory (1,000 \
            samples/s). []\
            """);
  }

  private static Pipeline recorded(Runnable events) throws Exception {
    return Pipeline.of(Recordings.read(events));
  }

  private static String sentence(String question, Pipeline pipeline, Scenario scenario) {
    return question(question).ask(pipeline, scenario).sentence();
  }

  @Test
  void oneJobAndOneHostAreInTheSingular() {
    Scenario one = new Scenario(null, 0.25, null, null, null, 1, 1, null, null);

    assertThat(sentence("jobs", serial, one)).startsWith("each of 1 job runs at 173 ");
    assertThat(question("jobs").ask(serial, one).arguments()).isEmpty();
    assertThat(sentence("hosts", serial, one)).startsWith("1 host, each with room for 25 % ");
    assertThat(sentence("locality", serial, one))
        .startsWith("1 host fetches 0.0 % of the items from each other");
  }

  @Test
  void aDataSetThatFitsInMemoryNeedsNoCache() {
    Scenario all = new Scenario(null, 1.0, null, null, null, null, null, null, null);

    assertThat(sentence("minio", workers, all))
        .startsWith("nothing after the first epoch: the data set (953.7 MiB) fits in memory");
    assertThat(question("minio").ask(workers, all).arguments()).isEmpty();
  }

  @Test
  void aSizeInBytesIsConvertedToAShareOfTheDataSet() throws Exception {
    Scenario bytes = new Scenario(2.5e8, null, null, null, null, null, null, null, null);
    Scenario more = new Scenario(2e9, null, null, null, null, null, null, null, null);

    assertThat(bytes.cacheShare(workers)).isEqualTo(0.25);
    assertThat(more.cacheShare(workers)).isEqualTo(1);
    assertThat(Scenario.NONE.cacheShare(workers)).isNull();
    assertThat(bytes.cacheShare(recorded(() -> Recordings.emitFetches(1)))).isNull();
    // All decoded items take 6 GB; 0.25 GB hold 4 %.
    assertThat(sentence("decoded", workers, bytes))
        .contains("with 4 % of the decoded items cached");
  }

  @Test
  void prefetchingIsAdvisedIfOneThreadKeepsUp() throws Exception {
    Pipeline quick =
        recorded(
            () -> {
              Profiles.emitPhase("ingestion", 0, 2e6, 0, 0);
              Profiles.emitPhase("cached", 0, 3e6, 0, 1e6);
              Profiles.emitPhase("cold", 0, 3.5e6, 0.5e6, 1e6);
              Profiles.emitHost(4, 500_000_000L, 200_000_000L, 0.5e6);
              Recordings.emitTotals(1, 100, 70 * Recordings.SECOND, 0);
            });

    assertThat(question("cores").ask(quick, Scenario.NONE).arguments())
        .containsExactly("prefetch=2");
    assertThat(question("cores").ask(serial, Scenario.NONE).arguments()).isEmpty();
  }

  @Test
  void aCacheIsAdvisedOnlyIfItsBestSizeIsKnown() throws Exception {
    // Storage takes 1.5 ms a sample, memory 0.5 ms, a step 1 ms: half of the data set is enough.
    Pipeline known =
        recorded(
            () -> {
              Profiles.emitPhase("ingestion", 2, 1e6, 0, 0);
              Profiles.emitPhase("cached", 2, 1e6, 0, 0.2e6);
              Profiles.emitPhase("cold", 2, 1.5e6, 0.5e6, 0.2e6);
              HostEvent host = Profiles.host(4, 500_000_000L, 66_666_667L, 0.1e6);
              host.memoryRate = 200_000_000L;
              host.commit();
            });
    Measure memory = known.memoryRate;
    Measure vague = new Measure(memory.value(), memory.value());
    Pipeline unknown =
        WhatIfTest.seen(known, UnaryOperator.identity(), of -> memory.equals(of) ? vague : of);

    assertThat(sentence("cacheSize", known, Scenario.NONE)).startsWith("x* = 50 ");
    assertThat(question("cacheSize").ask(known, Scenario.NONE).arguments()).hasSize(2);
    assertThat(sentence("cacheSize", unknown, Scenario.NONE))
        .startsWith("uncertain; rerun on an idle machine: x* = 50 ± 5");
    assertThat(question("cacheSize").ask(unknown, Scenario.NONE).arguments()).isEmpty();
  }

  @Test
  void storageOfUnknownRateIsAssumedToBeFastEnough() throws Exception {
    String enough = "the storage, whose rate is not known, does not limit the job";
    Pipeline ordinary = recorded(WhatIfTest.ORDINARY);

    assertThat(question("cacheSize").ask(ordinary, Scenario.NONE).assumptions()).contains(enough);
    assertThat(question("cacheSize").ask(workers, Scenario.NONE).assumptions())
        .doesNotContain(enough);
  }

  @Test
  void aCacheIsAdvisedOnlyIfItBeatsThePageCache() throws Exception {
    Pipeline ample =
        recorded(
            () -> {
              Profiles.emitWorkers();
              Profiles.emitHost(8, 1_000_000_000L, 200_000_000L, 0.9e6);
            });
    Pipeline unknown =
        recorded(
            () -> {
              Profiles.emitWorkers();
              Profiles.emitHost(8, 0, 200_000_000L, 0.9e6);
            });

    assertThat(sentence("cacheSize", ample, Scenario.NONE))
        .startsWith("x* = 71 ")
        .contains("today it runs at 1,000 ");
    assertThat(question("cacheSize").ask(ample, Scenario.NONE).arguments()).isEmpty();
    assertThat(sentence("cacheSize", unknown, Scenario.NONE))
        .startsWith("x* = 71 ")
        .doesNotContain("today");
    assertThat(question("cacheSize").ask(unknown, Scenario.NONE).arguments())
        .containsExactly("cache=minio", "cache.size=750m");
  }

  @Test
  void thePageCacheGetsTheMemoryThatDecodedItemsLeave() throws Exception {
    String left = "the page cache has the free memory that decoded items leave";
    Scenario all = new Scenario(null, 1.0, null, null, null, null, null, null, null);
    Pipeline unknown =
        recorded(
            () -> {
              Profiles.emitWorkers();
              HostEvent host = Profiles.host(8, 500_000_000L, 200_000_000L, 0.9e6);
              host.decodedItemBytes = 0;
              host.commit();
            });

    assertThat(question("decoded").ask(workers, ASKED).assumptions()).contains(left);
    assertThat(question("decoded").ask(workers, all).assumptions()).doesNotContain(left);
    assertThat(question("decoded").ask(unknown, ASKED).assumptions()).doesNotContain(left);
    assertThat(sentence("decoded", unknown, ASKED))
        .contains("(how much memory that takes is not known)");
  }

  @Test
  void workersNeedCoresBesidesThoseOfTheStep() {
    Pipeline busy = workers.withComputeCores(8.0);

    curve(
        question("cores").ask(busy, Scenario.NONE),
        "a core for each",
        0,
        8,
        x -> busy.speed(busy.today().cores(Math.max(1, x) + 8).workers(x)));
  }

  @Test
  void theMeasuredRateOfOtherHostsIsStated() throws Exception {
    Pipeline pipeline = recorded(Recordings::emitPartitionedJob);
    Scenario scenario = new Scenario(null, null, null, null, 1e8, 3, 3, null, null);
    Answer hosts = question("hosts").ask(pipeline, scenario);

    // The store has 1 GiB for 100 MB, so each host can keep all.
    assertThat(hosts.sentence()).startsWith("3 hosts, each with room for 100 % of the data set");
    assertThat(hosts.assumptions())
        .anyMatch(line -> line.startsWith("a thread gets 95.4 MiB/s from another host"))
        .anyMatch(line -> line.startsWith("the network gives each host 1.2 GiB/s (10 Gbit/s"));
    Coupling coupling = Coupling.of(pipeline, scenario);
    // Per sample; 1,000 items hold 3,200 samples.
    assertThat(coupling.networkNanos()).isCloseTo(8e4 / 3.2, within(1e-6));
    assertThat(coupling.threadNanos()).isCloseTo(1e6 / 3.2, within(1e-6));
    assertThat(pipeline.today().remoteNanos).isCloseTo(1e6 / 3.2, within(1e-6));
  }

  @Test
  void anAnswerThatDependsOnTheCoresOfAStepSaysSo() throws Exception {
    WhatIf unknown = WhatIf.of(Recordings.read(WhatIfTest.SERIAL));
    WhatIf known =
        WhatIf.of(
            Recordings.read(WhatIfTest.SERIAL),
            new Scenario(null, null, null, null, null, null, null, null, 0.0),
            Set.of());

    // A step may keep none or all of the 4 cores busy; if all, two jobs compete for them.
    assertThat(unknown.answers())
        .filteredOn(answer -> answer.sentence().contains("pass --compute-cores N"))
        .extracting(Answer::question)
        .containsExactly("jobs");
    assertThat(known.answers()).noneMatch(answer -> answer.sentence().contains("--compute-cores"));
    assertThat(JsonMapper.shared().writeValueAsString(unknown)).contains("give --compute-cores N");
  }

  @Test
  void figuresHaveOnlySignificantDigits() {
    assertThat(new Measure(100, 1).text()).isEqualTo("100 ± 1");
    assertThat(new Measure(99, 1).text()).isEqualTo("99.0 ± 1.0");
    assertThat(new Measure(10, 1).text()).isEqualTo("10.0 ± 1.0");
    assertThat(new Measure(9, 1).text()).isEqualTo("9.00 ± 1.00");
    assertThat(Question.percent(new Measure(0.5, 0.25))).isEqualTo("50 ± 25 %");
    assertThat(Question.budget(95 << 20)).isEqualTo("105m");
    assertThat(Question.budget(10L << 30)).isEqualTo("11g");
    assertThat(Series.steps(2, 8, 3)).containsExactly(2, 5, 8);
  }

  @Test
  void aGainIsWorthItIfItExceedsItsErrorAndIsFivePercentOrMore() {
    assertThat(Question.isWorthIt(new Measure(1.05, 0.01))).isTrue();
    assertThat(Question.isWorthIt(new Measure(1.04, 0.01))).isFalse();
    assertThat(Question.isWorthIt(new Measure(1.5, 0.5))).isFalse();
    assertThat(Question.isWorthIt(new Measure(1.5, 0.49))).isTrue();
  }

  // ---- the page

  private static String page(Runnable events, Scenario scenario, String... questions)
      throws Exception {
    WhatIf whatIf = WhatIf.of(Recordings.read(events), scenario, Set.of(questions));
    // The first line contains the file name.
    return WhatIfText.lines(whatIf, WhatIfText.WIDTH).stream()
        .skip(1)
        .collect(Collectors.joining("\n"));
  }

  @Test
  void thePageHasSentencesTablesAndAssumptions() throws Exception {
    assertThat(page(WhatIfTest.WORKERS, ASKED, "minio", "locality"))
        .isEqualTo(
            """
            Program: my.Train --epochs 3, DJL 0.35.1, prepares on 2 worker threads
            A sample: compute 1.0 ms ± 10.0 us, prep 1.2 ms ± 10.9 us, fetch from storage 2.8 ms ± 28.5 us
            Check: phase cached measured 1.0 ms ± 10.0 us, predicted 1.0 ms ± 10.0 us (+0.0 %)
            Check: phase cold measured 2.0 ms ± 20.0 us, predicted 2.0 ms ± 15.5 us (+0.0 %)

            1  MinIO cache in place of the page cache
               with 25 % of the data set in memory (238.4 MiB), MinIO hits 25 %, a page cache 3 % to 7 %: 606 ±
               5 samples/s instead of 519 ± 11 samples/s, 1.17 ± 0.02x as fast.
                        cache                 MinIO    random replacement   least recently used
                          0 %               500 ± 4               500 ± 4               500 ± 4
                         10 %               538 ± 4               504 ± 4               502 ± 4
                         20 %               581 ± 4               515 ± 4               508 ± 4
                         30 %               633 ± 5               538 ± 4               518 ± 4
                         40 %               694 ± 5               573 ± 4               535 ± 4
                         50 %               769 ± 6               623 ± 5               560 ± 4
                         60 %               862 ± 6               694 ± 5               598 ± 4
                         70 %               980 ± 7               796 ± 6               655 ± 5
                         80 %            1,000 ± 10               950 ± 7               752 ± 5
                         90 %            1,000 ± 10            1,000 ± 10               941 ± 7
                        100 %            1,000 ± 10            1,000 ± 10            1,000 ± 10
               speed in samples/s; today: 50 %, 590 ± 33
               Try: -javaagent:coordl-agent.jar=cache=minio,cache.size=239m

            2  Samples to the hosts that cache them
               4 hosts with a partitioned cache fetch 75.0 % of the items from each other; if each sample went
               to the host that caches it, with batches of 32 per host, 6.1 % would move, and the hosts would
               train 1.00 ± 0.00x as fast (256 hosts: 1.00 ± 0.00x). The agent does not do this.
                        hosts           other hosts  if assigned by cache               storage
                            1                 0.0 %                 0.0 %                75.0 %
                            2                25.0 %                 0.0 %                50.0 %
                            4                75.0 %                 6.1 %                 0.0 %
                            8                87.5 %                 6.6 %                 0.0 %
                           16                93.8 %                 6.8 %                 0.0 %
                           32                96.9 %                 6.9 %                 0.0 %
                           64                98.4 %                 7.0 %                 0.0 %
                          128                99.2 %                 7.0 %                 0.0 %
                          256                99.6 %                 7.0 %                 0.0 %
               items from there in share

            Assumptions
               - the page cache has the free memory; its hit ratio lies between those of least recently used and
               random replacement
               - a step leaves the cores to preparation, as no competition was seen (--compute-cores overrides
               this)
               - every epoch requests every item once in a new random order, and the page cache has as much
               memory as the MinIO cache would
               - the hosts are identical and share one storage system, with the rate given or measured here
               - exchanging gradients costs no more than it does today
               - a thread spends no more time on a sample from another host than the network does
               - every host trains on its part of the same global batch, drawn at random from the whole data set\
            """);
  }

  @Test
  void questionsWithoutAnswerAreGroupedByReason() throws Exception {
    assertThat(page(WhatIfTest.ORDINARY, Scenario.NONE, "overlap", "storage", "minio"))
        .isEqualTo(
            """
            Program: my.Train --epochs 3, DJL 0.35.1, prepares on the training thread
            A sample: compute 2.0 ms ± 200.0 us, prep 3.0 ms ± 300.0 us, fetch from storage 1.0 ms ± 100.0 us
            Check: epochs after the first measured 6.0 ms ± 600.0 us, predicted 6.0 ms ± 374.2 us (+0.0 %)

            1  Preparation beside the step
               one thread that prepares beside the step makes the job 1.50 ± 0.07x as fast (250 ± 21 samples/s
               instead of 167 ± 11 samples/s).
                      workers       beside the step
                            0              167 ± 11
                            1              250 ± 21
                            2              500 ± 59
                            3              500 ± 56
                            4              500 ± 56
                            5              500 ± 56
                            6              500 ± 56
                            7              500 ± 56
                            8              500 ± 56
               speed in samples/s; today: 0, 167 ± 11
               Try: -javaagent:coordl-agent.jar=prefetch=2

            -  MinIO cache in place of the page cache; Storage rate needed
               no answer: an ordinary run does not show the rate of the storage behind the page cache; measure
               it with coordl profile -- java ... your.Program.

            Assumptions
               - an item is a sample, and the epochs after the first show the time of each stage to within 10 %
               or their spread, whichever is larger
               - the training thread prepares its batches itself, as it waited for nearly all of their
               preparation
               - a fetch from storage takes as long as today, when the page cache may serve part of it
               - a step leaves the cores to preparation, unless --compute-cores says otherwise\
            """);
  }

  @Test
  void ratesAndFactorsAreInTables() throws Exception {
    assertThat(page(WhatIfTest.WORKERS, Scenario.NONE, "storage", "gpu").lines())
        .contains(
            "      190.7 MiB/s               500 ± 4              590 ± 33",
            "   speed in samples/s; today: 190.7 MiB/s, 590 ± 33",
            "              2.0              590 ± 33            1,667 ± 17",
            "   speed in samples/s; today: 1.0, 590 ± 33");
  }
}
