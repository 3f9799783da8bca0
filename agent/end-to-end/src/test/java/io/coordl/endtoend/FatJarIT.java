package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Checkout;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The agent works with a Spring Boot fat jar, where DJL is in a child class loader. */
class FatJarIT {
  private static final String POLICY = "cache=minio,cache.size=64m";
  private static Path fatJar;

  @BeforeAll
  static void pack() throws IOException {
    Checkout checkout = Workshop.checkout();
    String module = Framework.DJL.module();
    fatJar = Workshop.empty("fat-jar").resolve("train.jar");
    FatJar.write(
        fatJar,
        checkout.root().resolve("agent/end-to-end/target/spring-boot-loader.jar"),
        checkout.exampleJar(module),
        Framework.DJL.mainClass(),
        Files.readString(checkout.exampleClassPath(module)).strip());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aFatJarIsObservedAndCachedLikeAClassPath(Jdk jdk) throws IOException, InterruptedException {
    Path directory = Workshop.empty("fat-" + jdk.version());
    Finished plain = Job.plain(Framework.DJL, jdk);
    Job classPathJob = new Job(Framework.DJL, jdk, directory, "class-path").agent(POLICY);
    Finished classPath = classPathJob.runWell();
    Job fatJob = Job.ofFatJar(fatJar, FatJar.LAUNCHER, jdk, directory, "fat").agent(POLICY);
    Finished fat = fatJob.runWell();

    assertThat(fat.batches()).isNotEmpty();
    assertThat(classPath.differenceFrom(plain)).isEmpty();
    assertThat(fat.differenceFrom(plain)).isEmpty();

    Summary expected = Summary.of(classPathJob.recording());
    Summary found = Summary.of(fatJob.recording());
    long files = Pictures.all().files().size();
    assertThat(found.faults()).isZero();
    assertThat(found.epochs("storageItems")).isEqualTo(List.of(files, 0L, 0L));
    assertThat(found.epochs("memoryItems")).isEqualTo(List.of(0L, files, files));
    for (String figure : List.of("batches", "memoryItems", "storageItems")) {
      assertThat(found.epochs(figure)).as(figure).isEqualTo(expected.epochs(figure));
      assertThat(found.total(figure)).as(figure).isEqualTo(expected.total(figure));
    }
    for (String figure : List.of("items", "hits", "misses", "admitted", "bypassed")) {
      assertThat(found.store(figure)).as(figure).isEqualTo(expected.store(figure));
    }
  }
}
