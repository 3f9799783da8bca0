package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.testing.Full;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs in separate JVMs are killed, paused (SIGSTOP) or ended; hosts are addresses 127.0.0.x. */
final class MembershipIT {
  @TempDir Path work;

  private final List<Job> jobs = new ArrayList<>();
  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = Hosts.freePort();
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Job job : jobs) {
      job.process.destroyForcibly().waitFor();
    }
  }

  /** A job and its output so far. */
  private static final class Job {
    final Process process;
    final List<String> lines = new CopyOnWriteArrayList<>();

    Job(Process process) {
      this.process = process;
      Thread reading = new Thread(this::read);
      reading.setDaemon(true);
      reading.start();
    }

    private void read() {
      try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
        out.lines().forEach(lines::add);
      } catch (IOException | UncheckedIOException e) {
        // The job was killed.
      }
    }

    boolean hasPrinted(String line) {
      return lines.contains(line);
    }

    /** Returns the line of the job's last view, which starts with the name of its own host. */
    String view() {
      return lines.stream().filter(line -> line.contains(" sees ")).reduce("", (a, b) -> b);
    }

    List<String> views() {
      return lines.stream().filter(line -> line.contains(" sees ")).toList();
    }

    void awaitView(String view) {
      Hosts.await("the view is " + view + ": " + lines, () -> view().equals(view));
    }

    void signal(String name) throws IOException, InterruptedException {
      assertThat(new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor())
          .isZero();
    }
  }

  private Job job(int host, int peers) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                MemberMain.class.getName(),
                Files.createDirectories(work.resolve("host" + host)).toString(),
                Hosts.name(host, port)));
    command.addAll(Hosts.names(peers, port));
    Job job =
        new Job(new ProcessBuilder(command).redirectError(work.resolve("err").toFile()).start());
    jobs.add(job);
    return job;
  }

  private String sees(int host, int... others) {
    StringBuilder view = new StringBuilder(Hosts.name(host, port)).append(" sees");
    for (int other : others) {
      view.append(' ').append(Hosts.name(other, port));
    }
    return view.toString();
  }

  private static boolean carries(Job job) {
    return job.hasPrinted("carries");
  }

  @Test
  void twoJobsOfAHostAreOneMemberAndTheSecondTakesOverSilently() throws Exception {
    Job first = job(1, 2);
    first.awaitView(sees(1, 1));
    Job second = job(1, 2);
    second.awaitView(sees(1, 1));
    assertThat(carries(second)).isFalse();
    Job other = job(2, 2);
    first.awaitView(sees(1, 1, 2));
    second.awaitView(sees(1, 1, 2));
    other.awaitView(sees(2, 1, 2));
    int seen = other.views().size();

    first.signal("KILL");
    Hosts.await("the second takes over", () -> carries(second));
    Job third = job(3, 3); // The next host learns the view from the job that took over.
    third.awaitView(sees(3, 1, 2, 3));
    other.awaitView(sees(2, 1, 2, 3));
    second.awaitView(sees(1, 1, 2, 3));
    assertThat(other.views()).as("views of the other host").hasSize(seen + 1);
    assertThat(second.views()).allMatch(view -> view.startsWith(sees(1, 1)));

    Job fourth = job(1, 3);
    fourth.awaitView(sees(1, 1, 2, 3));
    second.process.getOutputStream().close();
    assertThat(second.process.waitFor()).isZero();
    Hosts.await("the fourth takes over", () -> carries(fourth));
    assertThat(other.views()).as("views of the other host").hasSize(seen + 1);
    assertThat(Files.readString(work.resolve("err"))).isEmpty();
  }

  @Test
  void aKilledHostLeavesAndAStoppedOneReturns() throws Exception {
    assumeTrue(Full.ON, "takes most of a minute: runs only with -Pfull");
    Job first = job(1, 3);
    first.awaitView(sees(1, 1));
    Job second = job(2, 3);
    Job third = job(3, 3);
    first.awaitView(sees(1, 1, 2, 3));
    second.awaitView(sees(2, 1, 2, 3));
    third.awaitView(sees(3, 1, 2, 3));

    second.signal("KILL");
    third.signal("STOP");
    first.awaitView(sees(1, 1));
    third.signal("CONT");
    first.awaitView(sees(1, 1, 3));
    third.awaitView(sees(3, 1, 3));
    assertThat(Files.readString(work.resolve("err"))).isEmpty();
  }
}
