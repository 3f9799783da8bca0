package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With prefetch=N, items and batches are prefetched, and every batch and loss stays the same. */
class PrefetchIT {
  private static final Pattern AHEAD =
      Pattern.compile(
          "prefetch: (\\d+) items? prefetched; (\\d+) batch(?:es)? prefetched, (\\d+) of them"
              + " used");

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void everyBatchAndLossIsTheSame(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("prefetch-" + framework + "-" + jdk.version());
    Finished plain = Job.plain(framework, jdk);
    List<String> policies =
        Workshop.first(
            2,
            List.of(
                "decoded=share,prefetch=1",
                "cache=minio,decoded=share,prefetch=3",
                "decoded=share,prefetch=2",
                "cache=minio,prefetch=2"));
    for (String policy : policies) {
      Finished ahead =
          new Job(framework, jdk, directory, policy.replace(',', '-')).agent(policy).runWell();
      assertThat(ahead.differenceFrom(plain)).as(policy).isEmpty();
      assertThat(figure(ahead.result().err(), 1)).as(policy).isPositive();
      int all = Job.EPOCHS * Pictures.all().files().size() / 16;
      assertThat(figure(ahead.result().err(), 3))
          .as(policy)
          .isEqualTo(framework == Framework.DJL ? all - Job.EPOCHS : 0);
    }
  }

  /**
   * A DJL loop, the largest number of batches prefetched for it, and how many of these it uses. The
   * others are dropped because it leaves an epoch early, draws random numbers or changes its
   * transforms. Both numbers are -1 if timing determines them.
   *
   * @param reasons why batches are not prefetched, separated by semicolons; empty if none
   */
  private record Loop(String program, int prepared, int used, String reasons) {}

  private static final List<Loop> LOOPS =
      Workshop.first(
          4,
          List.of(
              new Loop("break", 9, 6, ""),
              new Loop("draws", 9, 0, "the program draws from DJL's random generator between"),
              new Loop("interrupt", -1, -1, ""),
              // Changes of Normalize's arrays and of OfFile's file are noticed between batches.
              new Loop(
                  "changes",
                  6,
                  0,
                  "OfStatic.transform reads example.prefetch.Changing.factor, which;"
                      + " OfVolatile.transform reads example.prefetch.Changing$Knobs.factor, which;"
                      + " OfObject.transform reads example.prefetch.Changing$Knobs.value, which;"
                      + " OfArray.transform reads example.prefetch.Changing$OfArray.factors, an"
                      + " array; OfProperty.transform uses java.lang.System.getProperty;"
                      + " OfTurn.transform reads example.prefetch.Changing.batchRequested, which;"
                      + " the program changes its transforms, or settings such as the locale,"
                      + " between batches"),
              new Loop("own-data", 15, 12, ""),
              new Loop("exception", -1, -1, ""),
              new Loop("together", -1, -1, ""),
              new Loop("plain", 33, 33, ""),
              new Loop("own-transform", 9, 6, ""),
              new Loop(
                  "own-random", 0, 0, "DjlLoops$Noise keeps an object of class java.util.Random"),
              new Loop("counter", 0, 0, "DjlLoops$Fading.transform sets its field calls"),
              new Loop("lambda", 9, 6, ""),
              new Loop("restart", -1, -1, ""),
              new Loop("validation", -1, -1, ""),
              new Loop("close", -1, -1, "")));

  /** Loops that leave an epoch early, restart it, fail or are interrupted get the same batches. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void loopsOfEveryKindGetTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    new Job(Framework.DJL, jdk, Workshop.empty("prefetch-loops"), "natives")
        .args("--epochs", "0")
        .runWell();
    String programs = LOOPS.stream().map(Loop::program).collect(Collectors.joining(","));
    String plains = djl(jdk, programs).run().orFail("Loops without the agent").out();
    Map<String, String> plain =
        Stream.of(plains.split("(?m)^(?=program )", -1))
            .collect(Collectors.toMap(out -> out.lines().findFirst().orElseThrow(), out -> out));
    for (Loop loop : LOOPS) {
      String alone = plain.get("program " + loop.program());
      assertThat(alone.lines()).as(loop.program()).hasSizeGreaterThan(10);
      String all = "decoded=share,prefetch=2";
      for (String policy :
          loop.program().equals("break") ? List.of("prefetch=1", all) : List.of(all)) {
        ChildResult ahead =
            djl(jdk, loop.program())
                .agent(Workshop.checkout().agentJar(), "record=off," + policy)
                .run()
                .orFail(loop + " with " + policy);
        SameOutput.check(loop + " with " + policy, ahead, alone);
        assertThat(ahead.err()).contains(loop.reasons().split("; ")).doesNotContain("fault");
        if (loop.prepared() >= 0) {
          assertThat(figure(ahead.err(), 3)).as(loop.program()).isEqualTo(loop.used());
          // Timing determines whether the last batch of an abandoned epoch was begun.
          assertThat(figure(ahead.err(), 2))
              .as(loop.program())
              .isBetween((long) loop.used(), (long) loop.prepared());
        } else {
          assertThat(figure(ahead.err(), 3)).as(loop.program()).isPositive();
        }
      }
    }
  }

  private static ChildJvm djl(Jdk jdk, String programs) throws IOException {
    return loop(jdk, Framework.DJL, programs, Pictures.all().directory());
  }

  /** The same with DL4J, whose own thread prepares the batches. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void loopsOfDl4jGetTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    Path pictures =
        Pictures.all().copyTo(Workshop.empty("prefetch-dl4j-" + jdk.version()), 24).directory();
    for (String program :
        Workshop.first(2, List.of("break", "flip", "exception", "plain", "async"))) {
      ChildResult plain =
          loop(jdk, Framework.DL4J, program, pictures).run().orFail(program + " without the agent");
      assertThat(plain.out().lines()).as(program).hasSizeGreaterThan(8);
      String policy =
          program.equals("flip") ? "cache=minio,prefetch=2" : "decoded=share,prefetch=2";
      ChildResult ahead =
          loop(jdk, Framework.DL4J, program, pictures)
              .agent(
                  Workshop.checkout().agentJar(), "dataset=" + pictures + ",record=off," + policy)
              .run()
              .orFail(program + " with " + policy);
      SameOutput.check(program, ahead, plain.out());
      assertThat(ahead.err()).doesNotContain("fault");
      assertThat(figure(ahead.err(), 1)).as(program).isPositive();
    }
  }

  /** Batches that the program or an early-stopping trainer takes from an iterator. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesTakenByHandArePrefetched(Jdk jdk) throws IOException, InterruptedException {
    for (String programs :
        Workshop.first(
            1,
            List.of(PreparedIT.DL4J + ",stopping", PreparedIT.HOSTILE_DL4J, "csv", "sequences"))) {
      ChildResult plain = PreparedIT.records(jdk, programs).run().orFail(programs);
      for (String policy :
          Workshop.inTurns(programs, List.of("prefetch=1", "prefetch=1,prepared=share"))) {
        ChildResult early =
            PreparedIT.agent(PreparedIT.records(jdk, programs), policy).run().orFail(policy);
        SameOutput.check(programs + " with " + policy, early, plain.out());
        assertThat(early.err()).doesNotContain("fault");
        assertThat(figure(early.err(), 3)).as(programs).isGreaterThanOrEqualTo(4);
      }
    }
  }

  private static ChildJvm loop(Jdk jdk, Framework framework, String program, Path pictures)
      throws IOException {
    return Workshop.program(
            jdk,
            framework,
            "example.prefetch." + (framework == Framework.DJL ? "Djl" : "Dl4j") + "Loops")
        .args(program, pictures.toString());
  }

  /** Returns a figure from the agent's line about prefetching; 0 without such a line. */
  private static long figure(String err, int group) {
    Matcher matcher = AHEAD.matcher(err);
    return matcher.find() ? Long.parseLong(matcher.group(group)) : 0;
  }
}
