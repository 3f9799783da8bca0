package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The launchers of docs/recipes.md, other than {@code java}. */
class RecipesIT {
  /** The essential steps of bin/spark-submit, which is not in any jar. */
  private static final String SPARK_SUBMIT =
      "mapfile -d '' -t command < <(\"$JAVA_HOME/bin/java\" -cp \"$SPARK_HOME/jars/*\""
          + " org.apache.spark.launcher.Main org.apache.spark.deploy.SparkSubmit \"$@\");"
          + " command[1]=${command[1]#$'\\n'}; exec \"${command[@]:1}\"";

  /** How Maven starts a program. */
  enum Goal {
    /** In Maven's own JVM. */
    JAVA(Framework.DJL, "MAVEN_OPTS"),
    /** In another JVM; both have the agent, but in Maven's JVM it is idle. */
    EXEC(Framework.DL4J, "JAVA_TOOL_OPTIONS");

    private final Framework framework;
    private final String variable;

    Goal(Framework framework, String variable) {
      this.framework = framework;
      this.variable = variable;
    }
  }

  static List<Goal> goals() {
    return Workshop.first(1, List.of(Goal.values()));
  }

  @ParameterizedTest
  @MethodSource("goals")
  void mavenStartsTheExample(Goal goal) throws IOException, InterruptedException {
    Path directory = Workshop.empty("maven-" + goal);
    Finished plain = Job.plain(goal.framework, Jdks.running());
    Path log = directory.resolve("batches.log");
    String arguments =
        "--data %s --log %s --epochs %d --batch 16 --seed 1 %s"
            .formatted(
                Pictures.all().directory(),
                log,
                Job.EPOCHS,
                String.join(" ", goal.framework.small()));
    String cache = "-DDJL_CACHE_DIR=" + Workshop.checkout().work("djl-cache");
    List<String> maven =
        new ArrayList<>(
            List.of(
                "env",
                "OMP_NUM_THREADS=1",
                "JAVA_HOME=" + Jdks.running().home(),
                goal.variable
                    + "=-javaagent:%s=record=%s/coordl-%%p.jfr -Dai.djl.offline=true %s"
                        .formatted(Workshop.checkout().agentJar(), directory, cache),
                "mvn",
                "-ntp",
                "-B",
                "-f",
                Workshop.checkout()
                    .root()
                    .resolve("examples/" + goal.framework.module())
                    .toString()));
    if (goal == Goal.JAVA) {
      maven.addAll(
          List.of(
              "org.codehaus.mojo:exec-maven-plugin:java",
              "-Dexec.mainClass=" + goal.framework.mainClass(),
              "-Dexec.args=" + arguments));
    } else {
      maven.addAll(
          List.of(
              "org.codehaus.mojo:exec-maven-plugin:exec",
              "-Dexec.executable=java",
              "-Dexec.args=-cp %classpath " + goal.framework.mainClass() + " " + arguments));
    }
    String output = Shell.run(maven.toArray(new String[0]));
    List<Path> recordings = recordings(directory);
    assertThat(recordings).as(output).hasSize(1);
    Finished job = new Finished(plain.result(), log, recordings.get(0));
    assertThat(job.differenceFrom(plain)).isEmpty();
    assertThat(output)
        .contains("[coordl] recording: " + recordings.get(0), "BUILD SUCCESS")
        .containsOnlyOnce("watches this");
    Summary summary = Summary.of(recordings.get(0));
    assertThat(summary.epochs("samples")).containsExactly(96L, 96L, 96L);
    assertThat(summary.faults()).isZero();
  }

  /** Two executors on one host, started by spark-submit. */
  @Test
  void sparkExecutorsAreSummarizedTogetherAndShareDecodedImages()
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(Workshop.FULL, "runs only with -Pfull, because Spark is 250 MB");
    Path directory = Workshop.empty("spark");
    List<String> plain = spark(directory.resolve("plain"), null);
    assertThat(plain).hasSize(Job.EPOCHS);
    assertThat(spark(directory.resolve("observed"), "")).isEqualTo(plain);
    String share = ",decoded=share,cache.scope=host,group=%s,dataset=%s";
    share = share.formatted(directory.toString().hashCode(), Pictures.all().directory());
    Path shared = directory.resolve("shared");
    assertThat(spark(shared, share)).isEqualTo(plain);
    List<Path> executors = recordings(shared);
    assertThat(executors).hasSize(2);
    long opened = 0;
    long kept = 0;
    for (Path executor : executors) {
      Summary summary = Summary.of(executor);
      opened += summary.total("storageItems");
      kept += summary.store("hits");
      assertThat(summary.total("samples")).isPositive();
      assertThat(summary.faults()).isZero();
    }
    int pictures = Pictures.all().files().size();
    assertThat(opened).isEqualTo(pictures);
    assertThat(kept).isEqualTo((Job.EPOCHS - 1L) * pictures);
    // A heading and a line per executor; the driver's recording has another name.
    assertThat(Summary.coordl("summary", shared.toString())).hasLineCount(3);
    PagesIT.assertNoProblems(List.of(PagesIT.page(directory.resolve("all.html"), shared)));
  }

  /**
   * Runs the Spark example and returns its lines about epochs.
   *
   * @param agent arguments of the agent besides the recording; null for no agent
   */
  private static List<String> spark(Path directory, @Nullable String agent)
      throws IOException, InterruptedException {
    Path jars = Files.createDirectories(directory.resolve("home/jars"));
    Path libraries = Workshop.checkout().exampleClassPath("dl4j-spark");
    for (String library : Files.readString(libraries).strip().split(":", -1)) {
      Files.createSymbolicLink(jars.resolve(Path.of(library).getFileName()), Path.of(library));
    }
    String jvm = "-javaagent:" + Workshop.checkout().agentJar() + "=record=" + directory;
    // Otherwise log lines would mix with the lines about epochs.
    String driver = "spark.driver.extraJavaOptions=-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";
    List<String> submit =
        new ArrayList<>(
            List.of(
                "env",
                "OMP_NUM_THREADS=1",
                "SPARK_LOCAL_IP=127.0.0.1",
                "SPARK_SCALA_VERSION=2.12",
                "SPARK_HOME=" + jars.getParent(),
                "JAVA_HOME=" + Jdks.running().home(),
                "bash",
                "-c",
                SPARK_SUBMIT,
                "spark-submit",
                "--master",
                "local-cluster[2,1,1024]",
                "--conf",
                "spark.ui.enabled=false"));
    if (agent != null) {
      driver += " " + jvm + "/driver";
      submit.addAll(
          List.of("--conf", "spark.executor.extraJavaOptions=" + jvm + "/coordl-%p.jfr" + agent));
    }
    submit.addAll(
        List.of(
            "--conf",
            driver,
            "--class",
            "example.spark.TrainImages",
            Workshop.checkout().exampleJar("dl4j-spark").toString(),
            Pictures.all().directory().toString(),
            Integer.toString(Job.EPOCHS),
            "8"));
    String output = Shell.run(submit.toArray(new String[0]));
    if (agent != null) {
      assertThat(output).contains("[coordl] recording: " + directory + "/driver");
    }
    return output.lines().filter(line -> line.startsWith("epoch ")).toList();
  }

  private static List<Path> recordings(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jfr")) {
      files.forEach(found::add);
    }
    found.sort(Comparator.naturalOrder());
    return found;
  }
}
