package io.coordl.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.thread.Uninterrupted;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentCheckpointsTest {
  private final List<String> said = new CopyOnWriteArrayList<>();
  private final ModelFiles files =
      new ModelFiles(true, () -> 1 << 30, (event, start, end) -> {}, said::add);
  private final Object model = new Object();
  @TempDir Path root;

  private AgentCheckpoints checkpoints(String every, int keep) {
    return new AgentCheckpoints(root.toString(), every, 0.035, keep, 1, files, said::add);
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

  /** What is written when it is told to be, in the background. */
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
  void theNewestStayAndAnEarlierJobsAreTheirPredecessors() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("2", 2);
    for (int step = 1; step <= 9; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(names("mlp")).containsExactly("000003", "000004", "latest");
    // The first step has no beginning that is known.
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 9");
    assertThat(root.resolve("mlp/000003/model")).hasContent("step 7");

    checkpoints.stepped(new Object(), "mlp", saves("never"));
    assertThat(names("mlp-2")).isEmpty();
    assertThat(checkpoints.said())
        .contains("checkpoint.every=2: 4 checkpoints of the agent's own in " + root)
        .contains("one in 2 steps");
    assertThat(checkpoints.whyUnused()).isEmpty();
    assertThat(said).isEmpty();
  }

  @Test
  void aDirectoryIsOfOneJob() throws Exception {
    CheckpointDirectory.Claim other = CheckpointDirectory.claim(root);
    AgentCheckpoints checkpoints = checkpoints("1", 2);
    for (int step = 1; step <= 9; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(root.resolve("mlp")).doesNotExist();
    assertThat(said).singleElement().asString().contains("the job goes on without");
    assertThat(checkpoints.whyUnused()).contains(root.toString());
    assertThat(other.directory("it/s")).isNotNull();
    assertThat(root.resolve("it_s")).isDirectory();
  }

  @Test
  void whatIsNotWholeIsNeverTheLatest() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    checkpoints.stepped(model, "mlp", saves("step 0"));
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
    assertThat(said).singleElement().asString().contains("the disk is full", "the job goes on");
    checkpoints.stepped(model, "mlp", saves("step 3"));
    assertThat(names("mlp")).containsExactly("000003", "latest");
  }

  @Test
  void whatFailsLeavesNothingBehind() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    for (int step = 0; step < 9; step++) {
      checkpoints.stepped(
          model, "mlp", directory -> Files.writeString(directory.resolve("model"), "as it is"));
    }
    assertThat(names("mlp")).containsExactly("000008"); // The next one would delete it.
    assertThat(said).singleElement().asString().contains("no file can be written whole");
  }

  @Test
  void whatIsNotTheAgentsStays() throws Exception {
    Path mine = Files.createDirectories(root.resolve("mlp/20261101")).resolve("results");
    Files.writeString(mine, "precious");
    Path next = Files.createDirectories(root.resolve("mlp/000002")).resolve("model");
    try (ModelFile file = files.create(next)) {
      files.write(file, content("the program's"));
    }
    Files.createDirectory(root.resolve("mlp/latest"));
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    for (int step = 0; step <= 4; step++) {
      checkpoints.stepped(model, "mlp", saves("step " + step));
    }
    assertThat(names("mlp")).containsExactly("000002", "000005", "20261101", "latest");
    assertThat(mine).hasContent("precious");
    assertThat(next).hasContent("the program's");
    assertThat(said).singleElement().asString().contains("no link latest");
  }

  @Test
  void whatAKilledJobHasLeftIsDeletedByTheNext() throws Exception {
    CheckpointDirectory killed = CheckpointDirectory.claim(root.resolve("other")).directory("mlp");
    Files.createDirectory(root.resolve("mlp"));
    Path half = killed.next();
    Files.writeString(half.resolve(".coordl/1-1.incomplete"), "half");
    Path left = Files.move(half, root.resolve("mlp/000001"));
    checkpoints("1", 1).stepped(model, "mlp", saves("step 0"));
    assertThat(left).doesNotExist();
  }

  @Test
  void aDirectoryThatIsRemovedIsMadeAgain() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    checkpoints.stepped(model, "mlp", saves("step 0"));
    checkpoints.stepped(model, "mlp", saves("step 1"));
    CheckpointDirectory.delete(root.resolve("mlp"));
    checkpoints.stepped(model, "mlp", saves("step 2"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 2");
  }

  @Test
  void modelsThatAreNoLongerTrainedGiveWay() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 1);
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(new Object());
      checkpoints.stepped(all.get(i), "mlp", saves("first"));
      checkpoints.stepped(all.get(i), "mlp", saves("model " + i));
    }
    assertThat(said).singleElement().asString().contains("4 models at a time");
    for (int step = 0; step < 1001; step++) {
      checkpoints.stepped(all.get(3), "mlp", saves("model 3"));
    }
    checkpoints.stepped(all.get(4), "mlp", saves("first"));
    checkpoints.stepped(all.get(4), "mlp", saves("model 4"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("model 4");
    assertThat(names("")).containsExactly(".coordl", "mlp", "mlp-2", "mlp-3", "mlp-4");
  }

  @Test
  void noneBeginsWhileOneIsWritten() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("continuous", 5);
    CountDownLatch hold = new CountDownLatch(1);
    checkpoints.stepped(model, "mlp", saves("step 0"));
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

  /** One of the program's own that fails is the program's to hear of, and the other way round. */
  @Test
  void failuresGoToWhoseTheyAre() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    checkpoints.stepped(model, "mlp", saves("step 0"));
    ModelFiles.Content fails =
        out -> {
          throw new IOException("gone");
        };
    files.persist(files.create(root.resolve("programs")), fails);
    files.await();
    checkpoints.stepped(model, "mlp", saves("step 1"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(said).isEmpty();
    assertThatThrownBy(files::raise).hasMessageContaining("gone");

    checkpoints.stepped(
        model, "mlp", directory -> files.persist(files.create(directory.resolve("model")), fails));
    files.await();
    files.raise();
    assertThat(said).singleElement().asString().contains("checkpoint.every", "gone");
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
  }

  /** However soon it fails. */
  @Test
  void whatFailsInTheBackgroundIsNoCheckpointAndIsSaidOnce() {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    checkpoints.stepped(model, "mlp", saves("step 0"));
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
    assertThat(checkpoints.said()).contains("0 checkpoints of");
    assertThat(said).singleElement().asString().contains("checkpoint.every", "gone");
  }

  /** Else a disk that is full for a while would cost all later snapshots their memory. */
  @Test
  void aCheckpointThatFailsGivesItsMemoryBack() throws Exception {
    ModelFiles small =
        new ModelFiles(true, () -> 2 * SnapshotMemory.PIECE, (event, start, end) -> {}, said::add);
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
      Files.createDirectories(directory.resolve(".coordl"));
      Files.createSymbolicLink(StateFile.of(directory), Path.of("/dev/full"));
      small.asAgent(saver, directory);
      small.await();
      assertThat(directory.resolve("model")).doesNotExist();
      Files.delete(StateFile.of(directory));
    }
    assertThat(said).singleElement().asString().contains("checkpoint.every", "000001");
  }

  @Test
  void theEndOfTheProgramDoesNotWaitForWhatIsTheAgents() throws Exception {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    CountDownLatch hold = new CountDownLatch(1);
    checkpoints.stepped(model, "mlp", saves("step 0"));
    checkpoints.stepped(model, "mlp", saves("step 1"));
    files.await();
    checkpoints.stepped(
        model, "mlp", directory -> files.save(directory.resolve("model"), held(hold, "step 2")));
    checkpoints.end();
    hold.countDown();
    files.close();
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(checkpoints.said()).contains("1 checkpoint of");
    assertThat(said).singleElement().asString().contains("the job ended while");
  }

  private ModelFiles waiting(Predicate<CountDownLatch> patience) {
    return new ModelFiles(true, () -> 1 << 30, (event, start, end) -> {}, said::add, patience);
  }

  @Test
  void storageThatHangsStopsNeitherTheProgramNorItsEnd() throws Exception {
    ModelFiles models = waiting(done -> false);
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(root.toString(), "1", 0.035, 3, 1, models, said::add);
    CountDownLatch hold = new CountDownLatch(1);
    List<ModelFiles.Pending> pending = new ArrayList<>();
    AgentCheckpoints.Saver hangs =
        directory -> pending.add(models.save(directory.resolve("model"), held(hold, "hung")));
    checkpoints.stepped(model, "mlp", hangs);
    checkpoints.stepped(model, "mlp", hangs);

    Path programs = root.resolve("programs");
    assertThat(models.save(programs, held(new CountDownLatch(0), "one")).isInPlace()).isTrue();
    assertThat(models.save(programs, held(new CountDownLatch(0), "two")).isInPlace()).isTrue();
    assertThat(programs).hasContent("two");
    checkpoints.stepped(model, "mlp", hangs);
    assertThat(names("mlp")).containsExactly("000001"); // None begins before it is written.
    models.close();
    assertThat(models.said()).contains("2 model files");
    assertThat(said).singleElement().asString().contains("storage has taken nothing of", "000001");

    hold.countDown();
    CountDownLatch whole = new CountDownLatch(1);
    pending.get(0).then(whole::countDown);
    whole.await();
    assertThat(root.resolve("mlp/latest/model")).hasContent("hung");
  }

  @Test
  void aJvmThatIsToldToEndWaitsAsLongAsItMayForStorageThatTakesNothing() throws Exception {
    ModelFiles models = waiting(done -> false);
    CountDownLatch hold = new CountDownLatch(1);
    models.asAgent(
        directory -> models.save(directory.resolve("model"), held(hold, "last")),
        Files.createDirectories(root.resolve("000001/.coordl")).getParent());
    Thread end = new Thread(() -> models.awaitAgents(Long.MAX_VALUE / 2));
    end.start();
    while (end.isAlive() && end.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    hold.countDown();
    end.join();
    assertThat(root.resolve("000001/model")).hasContent("last");
    assertThat(said).isEmpty();
  }

  @Test
  void storageThatIsSlowIsWaitedFor() throws Exception {
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch more = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    ModelFiles models =
        waiting(
            done -> {
              if (more.getCount() > 0) { // The first time something is written, but not all.
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
    assertThat(said).isEmpty();
  }

  /** Only a signal makes the end wait for a step that may never come. */
  @Test
  void anEndOfTheProgramsOwnDoesNotWait() {
    AgentCheckpoints checkpoints = checkpoints("1", 5);
    checkpoints.stepped(model, "mlp", saves("step 0"));
    checkpoints.end();
    checkpoints.stepped(model, "mlp", saves("step 1"));
    assertThat(root.resolve("mlp/latest/model")).hasContent("step 1");
    assertThat(said).isEmpty();
  }
}
