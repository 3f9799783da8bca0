package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With prepared=share, samples are prepared once, and every batch stays the same. */
class PreparedIT {
  private static final int SAMPLES = 96;

  /** Number of pictures: 24 in each of four classes. */
  private static final int PICTURES = 4 * 24;

  private static final Pattern STORE =
      Pattern.compile("prepared cache \\(\\w+\\): (\\d+) items, .*; (\\d+) hits, (\\d+) misses");

  private static final String PURE = "csv,text,audio,sounds,numbered,images,flipped,threads,split";
  private static final String HOSTILE =
      "rewritten,touched,added,drawing,boxed,scaled-by-file,scaled-by-mapping,sized,marked,localised,piped,failing,"
          + "closed,knob,knob-by-transform,own-pipeline,strings,own-random,counter,"
          + "remembers,draws,gaussian";
  static final String DL4J =
      "csv,normalized,text,sequences,images,arrays,prefetched,scaled,composed,labels,saved";
  static final String HOSTILE_DL4J =
      "level,counter,draws,views,lambda,refitted,swapped,kept,rewritten,touched,rotated,own-labels,"
          + "shuffled,failing,deleted,replaced,appended,condition,locale,types,workspace,names,"
          + "static,settings,map,pipe,named-twice,named-wrapped,alternating";
  private static final String OWN =
      "own,own-doubled,own-totals,own-cached,own-same-way,own-several,own-ordered,own-queue,"
          + "own-queue-array,own-queue-twice";
  private static final String HOSTILE_OWN =
      "own-time,own-thread,own-property,own-random,own-last,own-array,own-class,own-zip,own-stream,"
          + "own-device,own-queue-cycled,own-queue-iterated,own-queue-passed";

  /** Iterators with some batches that are the same in each epoch, and some that are not. */
  private static final String PARTLY_OWN =
      "own-nested,own-total,own-field,own-counter,own-way,own-scaled,own-early,own-seek,own-rewritten,"
          + "own-null,own-order,own-static,own-knobs,own-lambda,own-shuffled,own-held,"
          + "own-queue-grown,own-queue-shuffled,own-queue-mixed";

  private static final String LEFT_OWN =
      "OfStatic to the program: its transforms, settings or fields change with each sample"
          + "; OfTime.of uses java.lang.System.nanoTime"
          + "; OfThread.of uses java.lang.Thread.currentThread"
          + "; OfProperty.of uses java.lang.System.getProperty"
          + "; OfRandom.of uses java.util.Random.nextFloat"
          + "; OfLast to the program: it keeps objects of each batch"
          + "; OfArray.of may change an array it keeps"
          + "; OfNested keeps an object of class example.prepared.OwnIterators$Rows";
  private static final String LOOPS =
      String.join(
          ",",
          Workshop.first(
              7,
              List.of(
                  "plain",
                  "break",
                  "own-transform",
                  "counter",
                  "draws",
                  "interrupt",
                  "changes",
                  "own-random",
                  "lambda",
                  "own-data",
                  "exception",
                  "restart",
                  "together",
                  "validation",
                  "close")));

  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyBatchIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    String all = PURE + "," + HOSTILE;
    ChildResult plain = samples(jdk, all).run().orFail("Samples without the agent");
    assertThat(plain.out().lines()).hasSizeGreaterThan(4 * 14 * SAMPLES / 32);
    for (String policy :
        Workshop.first(1, List.of("prepared=share,prefetch=2", "prepared=share"))) {
      ChildResult kept = agent(samples(jdk, all), policy).run().orFail(policy);
      SameOutput.check(policy, kept, plain.out());
      assertThat(kept.err())
          .doesNotContain("fault")
          .contains(
              "DjlSamples$Counted.get sets its field calls",
              "DjlSamples$Remembering.get may change a collection it keeps");
      assertThat(figure(kept, 2)).as(policy).isGreaterThan(3L * 8 * SAMPLES / 2);
    }
  }

  /** Public fields, long call chains, lambdas, and objects of the library. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void samplesOfEverydayCodeAreCached(Jdk jdk) throws IOException, InterruptedException {
    String programs = "features,records,deep,lambda,transformed,boxes";
    ChildResult plain = samples(jdk, programs).run().orFail("Samples without the agent");
    ChildResult kept = agent(samples(jdk, programs), "prepared=share").run().orFail(programs);
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault");
    assertThat(figure(kept, 2)).isGreaterThan(6 * 2L * SAMPLES);
  }

  /** The program gets its own batches; the summary says whether repeated samples were equal. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aCheckComparesSamplesThatAreMadeTwice(Jdk jdk) throws IOException, InterruptedException {
    String programs = "tallied,slipping,features,crops";
    ChildResult plain = samples(jdk, programs).run().orFail("Samples without the agent");
    ChildResult checked = agent(samples(jdk, programs), "prepared=check").run().orFail("check");
    SameOutput.check(checked, plain);
    String line = "[coordl] prepared=check: ";
    assertThat(checked.err())
        .doesNotContain("fault", "prepared cache")
        .contains(
            line
                + "example.prepared.Everyday$Tallying: 96 of 96 samples were bit-identical"
                + " when made again; if they always are, use"
                + " prepared=share:example.prepared.Everyday$Tallying\n",
            line
                + "example.prepared.Everyday$Slipping: 1 of 96 samples differed when made again;"
                + " do not declare them deterministic\n",
            line
                + "example.prepared.Everyday$OfFeatures: 96 of 96 samples were bit-identical"
                + " when made again; prepared=share proves it and needs no check\n")
        .containsPattern(
            "ImageFolder: [1-9]\\d* of 96 samples differed when made again; prepared=share caches"
                + " what it proves deterministic\n");
    ChildResult vouched =
        agent(samples(jdk, "tallied"), "prepared=share:example.prepared.Everyday$Tallying")
            .run()
            .orFail("as advised");
    assertThat(figure(vouched, 2)).isGreaterThan(2L * SAMPLES);
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aCheckComparesBatchesAtTheSamePosition(Jdk jdk) throws IOException, InterruptedException {
    for (boolean slips : new boolean[] {false, true}) {
      String program = slips ? "slipping" : "tallied";
      ChildResult plain = records(jdk, program).run().orFail("Records without the agent");
      ChildResult checked = agent(records(jdk, program), "prepared=check").run().orFail(program);
      SameOutput.check(program, checked, plain.out());
      assertThat(checked.err())
          .doesNotContain("fault", "RecordReaderMultiDataSetIterator")
          .contains(
              "prepared=check: org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator: "
                  + (slips
                      ? "1 of 12 batches differed when made again; do not declare them"
                          + " deterministic"
                      : "12 of 12 batches were bit-identical when made again; if they always"
                          + " are, use prepared=share:example.prepared.Dl4jSamples$Tallying"));
    }
  }

  /** A data set that changes each epoch, and data sets that the program no longer uses. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aChangingDataSetIsLeftAndADroppedOneIsCollected(Jdk jdk)
      throws IOException, InterruptedException {
    String programs = "renewed,dropped";
    ChildResult plain = samples(jdk, programs).run().orFail("Samples without the agent");
    ChildResult kept = agent(samples(jdk, programs), "prepared=share").run().orFail(programs);
    assertThat(kept.out()).isEqualTo(plain.out()).contains("\n0 of 40 data sets are kept");
    assertThat(kept.err())
        .doesNotContain("fault")
        .contains(
            "prepared=share leaves samples of example.prepared.DjlSamples$Renewed to the program:"
                + " ");
  }

  /** The exception is each thread's first sample, which the agent uses to choose the form. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void preparedSamplesAreCachedInNoOtherForm(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = samples(jdk, "images").run().orFail("Samples without the agent");
    String forms = "prepared=share,decoded=share,cache=minio";
    for (String policy : Workshop.first(1, List.of(forms + ",prefetch=2", forms))) {
      Path recording = Workshop.empty("prepared-" + jdk.version()).resolve("job.jfr");
      ChildResult kept =
          samples(jdk, "images")
              .agent(Workshop.checkout().agentJar(), "record=" + recording + "," + policy)
              .run()
              .orFail(policy);
      SameOutput.check(kept, plain);
      assertThat(figure(kept, 2)).isPositive();
      for (String form : List.of("raw", "decoded")) {
        assertThat(kept.err()).doesNotContainPattern(form + " cache \\(process\\): ([3-9]|\\d\\d)");
      }
      assertThat(RecordingFile.readAllEvents(recording))
          .filteredOn(event -> event.getEventType().getName().equals("io.coordl.Tuning"))
          .as("only batching follows ToTensor")
          .extracting(event -> event.getString("change"))
          .singleElement()
          .asString()
          .endsWith("are kept prepared (stage 3 of 3)");
    }
  }

  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void loopsOfEveryKindGetTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = loops(jdk).run().orFail("Loops without the agent");
    ChildResult kept = agent(loops(jdk), "prepared=share").run().orFail("prepared=share");
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault");
    assertThat(figure(kept, 2)).isPositive();
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyBatchOfReadersIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    String all = DL4J + "," + HOSTILE_DL4J;
    ChildResult plain = records(jdk, all).run().orFail("Records without the agent");
    assertThat(plain.out().lines()).hasSizeGreaterThan(4 * 20 * SAMPLES / 32);
    for (String policy :
        Workshop.first(1, List.of("prepared=share", "prepared=share,decoded=share,prefetch=2"))) {
      ChildResult kept = agent(records(jdk, all), policy).run().orFail(policy);
      SameOutput.check(policy, kept, plain.out());
      assertThat(kept.err())
          .doesNotContain("fault")
          .contains(
              "Dl4jSamples$Flipping.getLabelForPath sets its field calls",
              "its records come in another order in each epoch");
      assertThat(figure(kept, 2)).as(policy).isGreaterThan(3L * 4 * SAMPLES / 32);
    }
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void imagesAreCachedOneByOneIfTheirBatchesCannotBe(Jdk jdk)
      throws IOException, InterruptedException {
    for (Map.Entry<String, String> program :
        Workshop.first(
            1,
            List.of(
                Map.entry("images-shuffled", "its files are shuffled before each epoch"),
                Map.entry(
                    "images-large",
                    "its largest sample or batch takes \\d+.\\d MiB, more than the limit of 8.0"
                        + " MiB"),
                Map.entry("images-flipped", "its image transform may draw random numbers")))) {
      String name = program.getKey();
      ChildResult plain = longer(records(jdk, name)).run().orFail(name);
      ChildResult kept = agent(longer(records(jdk, name)), "prepared=share").run().orFail(name);
      SameOutput.check(name, kept, plain.out());
      assertThat(kept.err())
          .doesNotContain("fault")
          .containsPattern(
              "prepared=share caches no batches of org.datavec.image.recordreader"
                  + ".ImageRecordReader, only its images: "
                  + program.getValue());
      assertThat(figure(kept, 1)).as(name).isEqualTo(PICTURES);
      assertThat(kept.err())
          .as(name)
          .containsPattern("decode: .* (" + PICTURES + "|" + (PICTURES + 1) + ") images decoded");
      // The reader loads one image when it is initialised.
      assertThat(figure(kept, 2)).as(name).isBetween(5L * PICTURES, 5L * PICTURES + 1);
    }
  }

  /** The batches would be too large to cache as floats, or as scaled by the preprocessor. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesOfImagesAreCachedAsBytes(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = records(jdk, "images-packed").run().orFail("Without the agent");
    ChildResult kept =
        agent(records(jdk, "images-packed"), "prepared=share").run().orFail("prepared=share");
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault").doesNotContain("only its images");
    assertThat(figure(kept, 1)).isLessThan(PICTURES); // Batches, and the first batch's images.
    assertThat(figure(kept, 2)).isBetween(3L * PICTURES / 32, 1L * PICTURES);
  }

  private static ChildJvm longer(ChildJvm program) {
    return program.jvmArgs("-Depochs=6");
  }

  /** New memory causes page faults; the memory of four batches has 37,632 pages. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void iteratorsOfLaterEpochsUseTheMemoryOfTheFirst(Jdk jdk)
      throws IOException, InterruptedException {
    ChildResult plain = iteratorMemory(jdk).run().orFail("Without the agent");
    assertThat(plain.out()).contains("of zeros: true").doesNotContain("of zeros: false");
    for (String policy : List.of("prepared=share", "decoded=share")) {
      ChildResult job = agent(iteratorMemory(jdk), policy).run().orFail(policy);
      SameOutput.check(policy, job, plain.out());
      assertThat(job.err()).doesNotContain("fault:");
      List<Long> faults =
          job.err()
              .lines()
              .filter(line -> line.startsWith("faults of an epoch: "))
              .map(line -> Long.parseLong(line.substring(line.indexOf(':') + 2)))
              .toList();
      assertThat(faults.subList(2, 4)).allMatch(count -> count < 37_632 / 2);
    }
  }

  private static ChildJvm iteratorMemory(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.prepared.IteratorMemory");
  }

  /** The agent caches an iterator's batches, or leaves them to the program and reports why. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void customIteratorsReturnTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    String all = OWN + "," + HOSTILE_OWN + "," + PARTLY_OWN;
    ChildResult plain = records(jdk, all).run().orFail("Iterators without the agent");
    ChildResult kept = agent(records(jdk, all), "prepared=share").run().orFail("prepared=share");
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault").contains(LEFT_OWN.split("; "));
    int programs = OWN.split(",", -1).length;
    long pureHits = 3L * SAMPLES / 32 * programs;
    assertThat(figure(kept, 2)).isGreaterThanOrEqualTo(pureHits);
    if (Workshop.FULL) { // Without -Pfull, only the output would show a wrongly cached batch.
      ChildResult pure = agent(records(jdk, OWN), "prepared=share").run().orFail(OWN);
      // The first batch is not cached if the program has only just written the file.
      assertThat(figure(pure, 2)).isBetween(pureHits - programs, pureHits);
      ChildResult hostile =
          agent(records(jdk, HOSTILE_OWN), "prepared=share").run().orFail("hostile");
      assertThat(hostile.err()).contains("prepared=share did nothing: ").doesNotContain(" cache (");
    }
  }

  /** Records of readers of the program's own classes; a TransformProcess may drop some of them. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void customReadersReturnTheSameRecords(Jdk jdk) throws IOException, InterruptedException {
    String pure = "reader,reader-filtered,reader-arrays,reader-sequences";
    String all =
        pure + ",reader-shuffled,reader-counts,reader-draws,reader-reuses,reader-overrides";
    ChildResult plain = records(jdk, all).run().orFail("Readers without the agent");
    ChildResult kept = agent(records(jdk, all), "prepared=share").run().orFail("prepared=share");
    SameOutput.check(kept, plain);
    assertThat(kept.err())
        .doesNotContain("fault")
        .contains(
            "OwnReaders$Draws.make uses java.util.Random.nextDouble",
            "OwnReaders$Reuses keeps an object of class org.datavec.api.writable.DoubleWritable",
            "leaves readers of class example.prepared.OwnReaders$Overrides to DL4J");
    assertThat(figure(kept, 2)).isGreaterThanOrEqualTo(3L * 4 * SAMPLES);
  }

  /** Two different jobs of a group, whose loops change the state that their iterators read. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void changesToStateThatIteratorsReadAreNotMissed(Jdk jdk) throws Exception {
    String policy = "prepared=share,cache.scope=host,prepared.size=64m,group=" + UUID.randomUUID();
    String plain = hostile(jdk, 2).run().orFail("Iterators without the agent").out();
    CompletableFuture<ChildResult> first = started(agent(hostile(jdk, 1), policy));
    ChildResult second = agent(hostile(jdk, 2), policy).run().orFail("the second job");
    SameOutput.check("the second job", second, plain);
    assertThat(first.get().orFail("the first job").out())
        .isEqualTo(hostile(jdk, 1).run().orFail("Iterators without the agent").out());
    assertThat(plain).contains("collected true").doesNotContain("compared", "hashed");
    for (ChildResult job : List.of(first.get(), second)) {
      assertThat(job.err()).doesNotContain("fault");
      assertThat(figure(job, 2))
          .isGreaterThan(40); // From iterators whose batches are cached, at least in part.
    }
  }

  /** The same with DJL, whose jobs also start with different settings. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void changesToStateThatDataSetsReadAreNotMissed(Jdk jdk) throws Exception {
    String policy =
        "prepared=share,prefetch=1,cache.scope=host,prepared.size=64m,group=" + UUID.randomUUID();
    List<String> plain = new ArrayList<>();
    for (int job = 1; job <= 2; job++) {
      plain.add(hostileData(jdk, job).run().orFail("Data sets without the agent").out());
    }
    CompletableFuture<ChildResult> first = started(agent(hostileData(jdk, 1), policy));
    ChildResult second = agent(hostileData(jdk, 2), policy).run().orFail("the second job");
    SameOutput.check("the second job", second, plain.get(1));
    SameOutput.check("the first job", first.get().orFail("the first job"), plain.get(0));
    for (ChildResult job : List.of(first.get(), second)) {
      assertThat(job.err()).doesNotContain("fault");
      assertThat(figure(job, 2)).isGreaterThan(200);
    }
  }

  private static ChildJvm hostileData(Jdk jdk, int job) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.prepared.HostileDatasets")
        .directory(Workshop.empty("hostile-data-" + job + "-" + jdk.version()))
        .jvmArgs("-Dfile.encoding=" + (job == 1 ? "ISO-8859-1" : "UTF-8"))
        .args(Integer.toString(job));
  }

  private static ChildJvm hostile(Jdk jdk, int job) throws IOException {
    Path table = Workshop.shared("rows").resolve("rows.csv");
    if (!Files.exists(table)) {
      Files.write(
          table, IntStream.range(0, SAMPLES).mapToObj(i -> i + ",1,2,3,4,5,6,7," + i % 2).toList());
    }
    return Workshop.program(jdk, Framework.DL4J, "example.prepared.HostileIterators")
        .directory(Workshop.empty("hostile-iterators-" + job + "-" + jdk.version()))
        .args(table.toString(), Integer.toString(job));
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void readersOfEveryKindReturnTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    Path data = Workshop.empty("prepared-readers-" + jdk.version());
    readers(jdk, data, "write").run().orFail("The data");
    ChildResult plain = readers(jdk, data).run().orFail("Readers without the agent");
    ChildResult kept = agent(readers(jdk, data), "prepared=share").run().orFail("prepared=share");
    SameOutput.check(kept, plain);
    assertThat(kept.err()).doesNotContain("fault");
    assertThat(figure(kept, 2)).isPositive(); // After a while small batches are no longer cached.
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void twoJobsTogetherPrepareEachBatchOnce(Jdk jdk) throws Exception {
    ChildResult plain = records(jdk, "sequences").run().orFail("Records without the agent");
    long batches = SAMPLES / 32;
    assertThat(samplesMadeByTwoJobs(() -> records(jdk, "sequences"), plain))
        .isBetween(batches + 1, batches + 3);
  }

  /** An array's alignment in memory may change the last bit of a result. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyLossIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    String[] still = {"--augment", "false"};
    Finished plain = Job.plain(Framework.DJL, jdk, still);
    Finished kept =
        new Job(Framework.DJL, jdk, Workshop.empty("prepared-losses-" + jdk.version()), "kept")
            .args(still)
            .agent("prepared=share")
            .runWell();
    assertThat(kept.differenceFrom(plain)).isEmpty();
    int files = Pictures.all().files().size();
    assertThat(figure(kept.result(), 2)).isEqualTo((Job.EPOCHS - 1L) * files);
  }

  /** Both jobs request the same samples, in the same order, at the same time. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void twoJobsTogetherPrepareEachSampleOnce(Jdk jdk) throws Exception {
    ChildResult plain = samples(jdk, "audio").run().orFail("Samples without the agent");
    assertThat(samplesMadeByTwoJobs(() -> samples(jdk, "audio"), plain))
        .isBetween(SAMPLES + 1L, SAMPLES + 3L);
  }

  /** Returns how many samples two jobs make; both may make the first, before they share. */
  private static long samplesMadeByTwoJobs(Callable<ChildJvm> job, ChildResult plain)
      throws Exception {
    String policy = "prepared=share,cache.scope=host,prepared.size=16m,group=" + UUID.randomUUID();
    CompletableFuture<ChildResult> one = started(agent(job.call(), policy));
    ChildResult two = agent(job.call(), policy).run().orFail("the second job");
    long made = 0;
    for (ChildResult done : List.of(one.get().orFail("the first job"), two)) {
      SameOutput.check(done, plain);
      assertThat(done.err()).doesNotContain("fault");
      assertThat(figure(done, 2)).isPositive();
      made += figure(done, 3);
    }
    return made;
  }

  private static CompletableFuture<ChildResult> started(ChildJvm job) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return job.run();
          } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  static ChildJvm samples(Jdk jdk, String programs) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.prepared.DjlSamples")
        .args(programs, folder(jdk).toString(), Integer.toString(SAMPLES));
  }

  static ChildJvm records(Jdk jdk, String programs) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.prepared.Dl4jSamples")
        .args(programs, folder(jdk).toString(), Integer.toString(SAMPLES));
  }

  private static ChildJvm readers(Jdk jdk, Path data, String... uses) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.records.UseReaders")
        .args(data.toString())
        .args(uses);
  }

  /** Each JDK has its own folder, because the programs rewrite files in it. */
  private static synchronized Path folder(Jdk jdk) throws IOException {
    Path folder = Workshop.checkout().work("samples-" + jdk.version());
    Path pictures = folder.resolve("pictures");
    if (!Files.exists(pictures)) {
      Files.createDirectories(folder);
      Files.createSymbolicLink(
          pictures,
          Pictures.all()
              .copyTo(Workshop.empty("few-pictures-" + jdk.version()), PICTURES / 4)
              .directory());
    }
    return folder;
  }

  private static ChildJvm loops(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.prefetch.DjlLoops")
        .args(LOOPS, Pictures.all().directory().toString());
  }

  static ChildJvm agent(ChildJvm child, String policy) {
    return child.agent(Workshop.checkout().agentJar(), "record=off," + policy);
  }

  static long figure(ChildResult job, int group) {
    Matcher matcher = STORE.matcher(job.err());
    assertThat(matcher.find()).as(job.err()).isTrue();
    return Long.parseLong(matcher.group(group));
  }
}
