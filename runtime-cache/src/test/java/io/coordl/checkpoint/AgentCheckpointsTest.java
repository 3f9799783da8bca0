package io.coordl.checkpoint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.host.AgentThread;
import io.coordl.host.Machine;
import io.coordl.host.Uninterrupted;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentCheckpointsTest {
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final ModelFiles files =
      new ModelFiles(true, () -> 1 << 30, (event, start, end) -> {}, logged::add);
  private final Object model = new Object();
  private @Nullable Path resumed;
  @TempDir Path root;

  private AgentCheckpoints checkpoints(String every, int keep) {
    return new AgentCheckpoints(
        root.toString(), every, 0.035, keep, 1, () -> resumed, files, logged::add);
  }

  private AgentCheckpoints.Saver saves(String text) {
    return directory -> {
      if (files.save(directory.resolve("model"), content(text)) == null) {
        throw new IOException("not here");
      }
    };
  }

  private static ModelFiles.Content content(String text) {
    return out -> out.write(text.getBytes(UTF_8));
  }

  /** Content that is written in the background once the latch opens. */
  private static ModelFiles.Content held(CountDownLatch hold, String text) {
    return new ModelFiles.Content() {
      @Override
      public void writeTo(OutputStream out) throws IOException {
        try {
          hold.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
        content(text).writeTo(out);
      }

      @Override
      public ModelFiles.Content snapshot() {
        return this;
      }
    };
  }

  private List<String> names(String directory) throws IOException {
    try (Stream<Path> all = Files.list(root.resolve(directory))) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void theNewestCheckpointsAreKept() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("2", 2);
    for (int step = 1; step <= 9; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(names("mlp")).containsExactly("000003", "000004", "latest");
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 8");
    assertThat(root.resolve("mlp/000003/model")).hasContent("step 6");

    checkpoints.stepped(new Object(), "mlp", saves("never"));
    assertThat(root.resolve("mlp-2")).doesNotExist();
    assertThat(checkpoints.summary())
        .contains("checkpoint.every=2: 4 agent checkpoints in " + root)
        .contains("one in 2 steps");
    assertThat(checkpoints.whyUnused()).isEmpty();
    assertThat(logged).isEmpty();
  }

  @Test
  void aDirectoryBelongsToOneJob() throws Exception {
    CheckpointDirectory.Claim other = CheckpointDirectory.claim(root, null);
    AgentCheckpoints checkpoints = checkpoints("1", 2);
    for (int step = 1; step <= 9; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(root.resolve("mlp")).doesNotExist();
    assertThat(logged).singleElement().asString().contains("the job continues without");
    assertThat(checkpoints.whyUnused()).contains(root.toString());
    assertThat(other.run()).isEqualTo(root);
  }

  @Test
  void anIncompleteCheckpointIsNeverTheLatest() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    checkpoints.stepped(model, "mlp", saves("step 1"));
    checkpoints.stepped(
        model,
        "mlp",
        directory -> {
          Files.writeString(directory.resolve("model"), "half");
          throw new IOException("the disk is full");
        });
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(names("mlp")).containsExactly("000001", "000002", "latest");
    assertThat(logged).singleElement().asString().contains("the disk is full", "the job continues");
    checkpoints.stepped(model, "mlp", saves("step 3"));
    assertThat(names("mlp")).containsExactly("000003", "latest");
  }

  @Test
  void theNextCheckpointDeletesAFailedOne() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    for (int step = 1; step < 9; step++) {
      checkpoints.stepped(
          model, "mlp", directory -> Files.writeString(directory.resolve("model"), "as it is"));
    }
    assertThat(names("mlp")).containsExactly("000008"); // The next one would delete it.
    assertThat(logged).singleElement().asString().contains("no file can be written whole");
  }

  @Test
  void foreignFilesAreKept() throws Exception {
    Path mine = Files.createDirectories(root.resolve("mlp/20261101")).resolve("results");
    Files.writeString(mine, "precious");
    Path next = Files.createDirectories(root.resolve("mlp/000002")).resolve("model");
    try (ModelFile file = files.create(next)) {
      files.write(file, content("the program's"));
    }
    Files.createDirectory(root.resolve("mlp/latest"));
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    for (int step = 1; step <= 4; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(names("mlp")).containsExactly("000002", "000005", "20261101", "latest");
    assertThat(mine).hasContent("precious");
    assertThat(next).hasContent("the program's");
    assertThat(logged).singleElement().asString().contains("no link named latest");
  }

  @Test
  void aKilledJobsPartialCheckpointIsDeletedOnceANewerOneIsComplete() throws Exception {
    CheckpointDirectory killed =
        CheckpointDirectory.claim(root.resolve("other"), null).directory("mlp");
    Files.createDirectory(root.resolve("mlp"));
    Path half = killed.next("");
    Files.writeString(half.resolve(".coordl/1-1.incomplete"), "half");
    Files.move(half, root.resolve("mlp/000001"));
    train("one", 1);
    assertThat(names("mlp")).containsExactly("000002", "latest");
    assertThat(logged).isEmpty();
  }

  /** Runs a job that takes {@code count} checkpoints and keeps two. */
  private void train(String text, int count) throws IOException {
    AgentCheckpoints checkpoints = checkpoints("1", 2);
    for (int i = 0; i < count; i++) {
      checkpoints.stepped(model, "mlp", saves(text));
    }
    checkpoints.release();
  }

  private Map<String, String> contents(String directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> all = Files.walk(root.resolve(directory))) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        contents.put(root.relativize(file).toString(), Files.readString(file, ISO_8859_1));
      }
    }
    return contents;
  }

  /** Changes that a program without the agent makes, or that the docs advise. */
  @ParameterizedTest
  @ValueSource(strings = {"longer", "of the same length", "without .sha256", "whole"})
  void aCheckpointChangedByOthersIsKept(String change) throws Exception {
    train("one", 1);
    Path only = root.resolve("mlp/000001");
    Files.writeString(only.resolve("notes.txt"), "precious");
    if (change.equals("longer")) {
      Files.writeString(only.resolve("model"), " and a normalizer", StandardOpenOption.APPEND);
    } else if (change.startsWith("of")) {
      Files.writeString(only.resolve("model"), "avg"); // Same length, like the mean of two models.
    } else if (change.startsWith("without")) {
      Files.delete(only.resolve(".coordl/model.sha256"));
    }
    Map<String, String> before = contents("mlp");
    train("two", 3);
    assertThat(contents("mlp")).isEqualTo(before);
    assertThat(root.resolve("mlp/latest/notes.txt")).hasContent("precious");

    logged.clear();
    resumed = only; // The next job continues this run, so newer checkpoints replace this one.
    train("three", 3);
    assertThat(root.resolve("mlp/latest/model")).hasContent("three");
    String kept = change.equals("whole") ? "mlp/000001" : "mlp/000001.kept";
    assertThat(root.resolve(kept + "/notes.txt")).hasContent("precious");
    assertThat(root.resolve(kept + "/model").toFile().exists()).isEqualTo(!change.equals("whole"));
    assertThat(logged)
        .singleElement()
        .asString()
        .contains(
            "000001",
            change.equals("whole")
                ? "files that the agent did not write"
                : "is kept as 000001.kept");
  }

  @Test
  void aCompleteCheckpointSurvivesLaterFailures() throws Exception {
    Files.createDirectories(root.resolve("mlp/latest")); // Prevents the link; a line is logged.
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(
            root.toString(),
            "1",
            0.035,
            1,
            1,
            () -> resumed,
            files,
            line -> {
              throw new OutOfMemoryError("simulated");
            });
    CountDownLatch hold = new CountDownLatch(1);
    checkpoints.stepped(
        model, "mlp", directory -> files.save(directory.resolve("model"), held(hold, "one")));
    hold.countDown();
    files.await();
    assertThat(root.resolve("mlp/000001/model")).hasContent("one");
  }

  @Test
  void aLinkToACheckpointElsewhereIsLeftAlone(@TempDir Path elsewhere) throws Exception {
    train("one", 2);
    Path other = elsewhere.resolve("000001");
    Files.move(root.resolve("mlp/000001"), other);
    Files.createSymbolicLink(root.resolve("mlp/000001"), other); // Moved off a full disk.
    resumed = root.resolve("mlp/000002");
    train("two", 4);
    assertThat(other.resolve("model")).hasContent("one");
  }

  /** The user may, for example, have moved the run to a larger disk. */
  @ParameterizedTest
  @ValueSource(strings = {"link", "file"})
  void aRunsNameIsNeverReused(String kind, @TempDir Path elsewhere) throws Exception {
    train("one", 1);
    train("two", 3);
    Path moved = elsewhere.resolve("second");
    Files.move(root.resolve("run.2"), moved);
    if (kind.equals("link")) {
      Files.createSymbolicLink(root.resolve("run.2"), moved);
    } else {
      Files.writeString(root.resolve("run.2"), "is on another disk");
    }
    train("three", 4);
    assertThat(moved.resolve("mlp/000002/model")).hasContent("two");
    assertThat(moved.resolve("mlp/000003/model")).hasContent("two");
    assertThat(root.resolve("run.3/mlp/latest/model")).hasContent("three");
    if (kind.equals("link")) {
      deleteAll(root.resolve("run.3"));
      Resume resume = new Resume(root.toString(), files, logged::add);
      resumed = resume.take();
      assertThat(resumed).isEqualTo(root.resolve("run.2/mlp/000003"));
      train("four", 1);
      assertThat(root.resolve("run.2/mlp/latest/model")).hasContent("four");
    }
  }

  private static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @Test
  void olderCheckpointsStayIfTheNewestFailsItsCheck() throws Exception {
    train("one", 1);
    resumed = root.resolve("mlp/000001");
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    checkpoints.stepped(
        model,
        "mlp",
        directory -> {
          ModelFiles.Pending saved = files.save(directory.resolve("model"), content("two"));
          assertThat(saved.isInPlace()).isTrue();
          Files.writeString(directory.resolve("model"), "2wo"); // Simulates a faulty disk.
        });
    assertThat(names("mlp")).containsExactly("000001", "000002", "latest");
    assertThat(root.resolve("mlp/latest/model")).hasContent("one");
    assertThat(logged).singleElement().asString().contains("000002", "nothing older is deleted");
  }

  @Test
  void aRunLeavesOtherRunsCheckpointsAlone() throws Exception {
    train("one", 3);
    Map<String, String> first = contents("mlp");
    train("two", 3);
    assertThat(contents("mlp")).isEqualTo(first);
    assertThat(names("mlp")).containsExactly("000002", "000003", "latest");
    assertThat(root.resolve("run.2/mlp/latest/model")).hasContent("two");
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("has the checkpoints of another run, which are kept", root.resolve("run.2") + "");

    resumed = root.resolve("run.2/mlp/latest");
    train("more", 2);
    assertThat(root.resolve("run.2/mlp/latest/model")).hasContent("more");
    assertThat(names("run.2/mlp")).containsExactly("000004", "000005", "latest");
    assertThat(logged).hasSize(1);

    // Resume from a checkpoint that is not the newest of its run.
    resumed = root.resolve("run.2/mlp/000004");
    Map<String, String> second = contents("run.2");
    train("aside", 2);
    assertThat(contents("run.2")).isEqualTo(second);
    assertThat(contents("mlp")).isEqualTo(first);
    assertThat(root.resolve("run.3/mlp/latest/model")).hasContent("aside");
  }

  /** Otherwise each job killed early would leave a directory. */
  @Test
  void theNextRunReusesADirectoryWithoutACheckpoint() throws Exception {
    train("one", 1);
    train("two", 0);
    // Left over from a job that was killed during its first checkpoint.
    Files.createDirectories(root.resolve("run.2/mlp/000001/.coordl"));
    Files.createFile(root.resolve("run.2/mlp/000001/.coordl/checkpoint"));
    train("three", 1);
    assertThat(names("")).containsExactly(".coordl", "mlp", "run.2");
    assertThat(names("run.2/mlp")).containsExactly("000002", "latest");
  }

  @ParameterizedTest
  @ValueSource(strings = {"link", "fifo", "directory", "another's", "link above"})
  void aForeignFileInPlaceOfTheLockIsLeftAlone(String what) throws Exception {
    Path victim = Files.writeString(root.resolve("victim"), "precious");
    Path lock = root.resolve("own/.coordl/lock");
    if (what.equals("link above")) {
      Files.createDirectories(root.resolve("own"));
      Files.createDirectory(root.resolve("elsewhere"));
      Files.createSymbolicLink(lock.getParent(), root.resolve("elsewhere"));
    } else {
      Files.createDirectories(lock.getParent());
    }
    switch (what) {
      case "link" -> Files.createSymbolicLink(lock, victim);
      case "fifo" -> assertThat(new ProcessBuilder("mkfifo", lock + "").start().waitFor()).isZero();
      case "directory" -> Files.createDirectory(lock);
      case "another's" -> {
        assumeTrue(Machine.user() == 0, "only root can give a file to another user");
        Files.createFile(lock);
        Files.setAttribute(lock, "unix:uid", 12345);
      }
      default -> {}
    }
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(
            root.resolve("own") + "", "1", 0.035, 1, 1, () -> null, files, logged::add);
    for (int step = 0; step < 3; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    checkpoints.end();
    assertThat(victim).hasContent("precious");
    assertThat(root.resolve("own/mlp")).doesNotExist();
    assertThat(logged).singleElement().asString().contains(".coordl", "the job continues without");
    assertThat(checkpoints.whyUnused()).contains("no checkpoint can be taken");
  }

  @Test
  void aRemovedDirectoryIsCreatedAgain() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    checkpoints.stepped(model, "mlp", saves("step 1"));
    CheckpointDirectory.delete(root.resolve("mlp"));
    checkpoints.stepped(model, "mlp", saves("step 2"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 2");
  }

  @Test
  void modelsNoLongerTrainedAreForgotten() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(new Object());
      checkpoints.stepped(all.get(i), "mlp", saves("model " + i));
    }
    assertThat(logged).singleElement().asString().contains("4 models at a time");
    CountDownLatch hold = new CountDownLatch(1); // Ensures that one checkpoint is taken, not 1001.
    for (int step = 0; step < 1001; step++) {
      checkpoints.stepped(
          all.get(3),
          "mlp",
          directory -> files.save(directory.resolve("model"), held(hold, "model 3")));
    }
    hold.countDown();
    files.await();
    checkpoints.stepped(all.get(4), "mlp", saves("model 4"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("model 4");
    assertThat(names("")).containsExactly(".coordl", "mlp", "mlp-2", "mlp-3", "mlp-4");
  }

  @Test
  void noCheckpointBeginsWhileOneIsWritten() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("continuous", 5);
    CountDownLatch hold = new CountDownLatch(1);
    checkpoints.stepped(
        model, "mlp", directory -> files.save(directory.resolve("model"), held(hold, "step 1")));
    for (int step = 2; step <= 9; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(names("mlp")).containsExactly("000001");
    hold.countDown();
    files.await();
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    checkpoints.stepped(model, "mlp", saves("step 10"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 10");
  }

  /**
   * A failed save of the program throws in the program; a failed checkpoint of the agent is logged.
   */
  @Test
  void failuresReachTheirOwnerOnly() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    ModelFiles.Content fails =
        out -> {
          throw new IOException("gone");
        };
    files.persist(files.create(root.resolve("programs")), fails);
    files.await();
    checkpoints.stepped(model, "mlp", saves("step 1"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(logged).isEmpty();
    assertThatThrownBy(files::raise).hasMessageContaining("gone");

    checkpoints.stepped(
        model, "mlp", directory -> files.persist(files.create(directory.resolve("model")), fails));
    files.await();
    files.raise();
    assertThat(logged).singleElement().asString().contains("checkpoint.every", "gone");
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
  }

  /** Even if it fails before the save returns. */
  @Test
  void aCheckpointThatFailsInTheBackgroundIsLoggedOnceAndNotCounted() {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    checkpoints.stepped(
        model,
        "mlp",
        directory -> {
          files.persist(
              files.create(directory.resolve("model")),
              out -> {
                throw new IOException("gone");
              });
          files.await();
        });
    assertThat(checkpoints.summary()).contains("0 agent checkpoints in ");
    assertThat(logged).singleElement().asString().contains("checkpoint.every", "gone");
  }

  /** Otherwise a temporarily full disk would use up the memory for later snapshots. */
  @Test
  void aFailedCheckpointFreesItsMemory() throws Exception {
    ModelFiles small =
        new ModelFiles(
            true, () -> 2 * SnapshotMemory.PIECE, (event, start, end) -> {}, logged::add);
    AgentCheckpoints.Saver saver =
        new AgentCheckpoints.Saver() {
          @Override
          public void state(DataOutputStream out) throws IOException {
            out.writeUTF("state");
          }

          @Override
          public void save(Path directory) throws IOException {
            ModelFile file = small.create(directory.resolve("model"));
            Staged staged = new Staged(small.memory(), file.stream());
            staged.write(1);
            assertThat(staged.isFlushed()).isFalse();
            small.persist(file, staged::writeTo);
          }
        };
    for (String name : List.of("000001", "000002")) {
      Path directory = root.resolve(name);
      Files.createDirectories(StateFile.of(directory)); // Prevents creating a file there.
      small.asAgent(saver, directory);
      small.await();
      assertThat(directory).doesNotExist();
    }
    assertThat(logged).singleElement().asString().contains("checkpoint.every", "000001");
  }

  @Test
  void theJobsEndDoesNotWaitForTheAgentsCheckpoints() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    CountDownLatch hold = new CountDownLatch(1);
    checkpoints.stepped(model, "mlp", saves("step 1"));
    files.await();
    checkpoints.stepped(
        model, "mlp", directory -> files.save(directory.resolve("model"), held(hold, "step 2")));
    checkpoints.end();
    hold.countDown();
    files.close();
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(names("mlp")).containsExactly("000001", "latest");
    assertThat(checkpoints.summary()).contains("1 agent checkpoint in ");
    assertThat(logged).singleElement().asString().contains("the job ended while");
  }

  private ModelFiles waiting(Predicate<CountDownLatch> patience) {
    return new ModelFiles(true, () -> 1 << 30, (event, start, end) -> {}, logged::add, patience);
  }

  @Test
  void hungStorageBlocksNeitherTheProgramNorItsEnd() throws Exception {
    List<ModelFiles.Pending> pending = new ArrayList<>();
    ModelFiles models =
        waiting(done -> pending.isEmpty() && AgentThread.await(done, Duration.ofMinutes(5)));
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(root.toString(), "1", 0.035, 3, 1, () -> resumed, models, logged::add);
    CountDownLatch hold = new CountDownLatch(1);
    AgentCheckpoints.Saver hangs =
        directory -> pending.add(models.save(directory.resolve("model"), held(hold, "hung")));
    checkpoints.stepped(model, "mlp", hangs);

    Path programs = root.resolve("programs");
    assertThat(models.save(programs, held(new CountDownLatch(0), "one")).isInPlace()).isTrue();
    assertThat(models.save(programs, held(new CountDownLatch(0), "two")).isInPlace()).isTrue();
    assertThat(programs).hasContent("two");
    checkpoints.stepped(model, "mlp", hangs);
    assertThat(names("mlp")).containsExactly("000001"); // None begins before this one is written.
    models.close();
    assertThat(models.summary()).contains("2 model files");
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("storage has accepted no bytes of", "000001");

    hold.countDown();
    CountDownLatch whole = new CountDownLatch(1);
    pending.get(0).then(whole::countDown);
    whole.await();
    assertThat(root.resolve("mlp/latest/model")).hasContent("hung");
  }

  /** Storage behaves like a lost mount. Also checks that no lock blocks the JVM's shutdown. */
  @Test
  void unresponsiveStorageDelaysNeitherAStepNorTheEnd() throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    resumed =
        (Path)
            Proxy.newProxyInstance(
                Path.class.getClassLoader(),
                new Class<?>[] {Path.class},
                (path, method, arguments) -> { // Called to find the job's run.
                  hold.await();
                  return root.resolve("nowhere/000001");
                });
    ModelFiles models =
        waiting(done -> hold.getCount() == 0 && AgentThread.await(done, Duration.ofMinutes(5)));
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(root + "", "1", 0.035, 3, 1, () -> resumed, models, logged::add);
    AgentCheckpoints.Saver saver =
        directory -> models.save(directory.resolve("model"), content("x"));
    for (int step = 0; step < 5; step++) {
      checkpoints.stepped(model, "mlp", saver);
    }
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("storage at " + root + " has not answered");
    assertThat(checkpoints.summary()).isEmpty();
    assertThat(checkpoints.whyUnused()).isNotEmpty();
    checkpoints.end();
    assertThat(root.resolve("mlp")).doesNotExist();

    hold.countDown();
    while (!Files.exists(root.resolve("mlp/latest"))) {
      assertThat(logged).hasSize(1);
      checkpoints.stepped(model, "mlp", saver);
    }
    assertThat(root.resolve("mlp/latest/model")).hasContent("x");
    assertThat(logged).hasSize(1);
  }

  @Test
  void aJvmEndedByASignalWaitsForStorage() throws Exception {
    ModelFiles models = waiting(done -> false);
    CountDownLatch hold = new CountDownLatch(1);
    models.asAgent(
        directory -> models.save(directory.resolve("model"), held(hold, "last")),
        Files.createDirectories(root.resolve("000001/.coordl")).getParent());
    Thread end = new Thread(() -> models.awaitAgentCheckpoint(Long.MAX_VALUE / 2));
    end.start();
    while (end.isAlive() && end.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    hold.countDown();
    end.join();
    assertThat(root.resolve("000001/model")).hasContent("last");
    assertThat(logged).isEmpty();
  }

  @Test
  void slowStorageIsWaitedFor() throws Exception {
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch more = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    ModelFiles models =
        waiting(
            done -> {
              if (more.getCount() > 0) { // The first wait: part of the file is written.
                begin.countDown();
                Uninterrupted.await(Long.MAX_VALUE / 2, nanos -> more.await(nanos, NANOSECONDS));
                return false;
              }
              end.countDown();
              return Uninterrupted.await(
                  Long.MAX_VALUE / 2, nanos -> done.await(nanos, NANOSECONDS));
            });
    models.asAgent(
        directory ->
            models.persist(
                models.create(directory.resolve("model")),
                out -> {
                  held(begin, "x".repeat(1 << 20)).writeTo(out);
                  more.countDown();
                  held(end, "y").writeTo(out);
                }),
        Files.createDirectories(root.resolve("000001/.coordl")).getParent());
    models.await();
    assertThat(root.resolve("000001/model")).hasSize((1 << 20) + 1);
    assertThat(logged).isEmpty();
  }

  /** Only after a signal does the shutdown wait for a step, which may never come. */
  @Test
  void aNormalEndDoesNotWaitForAStep() {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    checkpoints.stepped(model, "mlp", saves("step 0"));
    checkpoints.end();
    checkpoints.stepped(model, "mlp", saves("step 1"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(logged).isEmpty();
  }
}
