package io.coordl.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResumeTest {
  private static final int LARGE = 3 << 20;

  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final ModelFiles files =
      new ModelFiles(true, () -> 1 << 30, (event, start, end) -> {}, logged::add);
  @TempDir Path root;

  /** Saves a model whose state is its step number and many bytes. */
  private final class Saver implements AgentCheckpoints.Saver {
    private final ModelFiles files;
    private final int step;

    Saver(ModelFiles files, int step) {
      this.files = files;
      this.step = step;
    }

    @Override
    public void save(Path directory) throws IOException {
      files.save(
          directory.resolve("model"),
          new ModelFiles.Content() {
            @Override
            public void writeTo(OutputStream out) throws IOException {
              out.write(("step " + step).getBytes(UTF_8));
            }

            @Override
            public ModelFiles.Content snapshot() {
              return this;
            }
          });
    }

    @Override
    public void state(DataOutputStream out) throws IOException {
      out.writeInt(step);
      out.write(new byte[LARGE]);
    }
  }

  /** Leaves checkpoints of steps 2, 4 and 6. */
  private void train(boolean background, long memory, String... models) {
    ModelFiles files =
        new ModelFiles(background, () -> memory, (event, start, end) -> {}, logged::add);
    AgentCheckpoints checkpoints =
        new AgentCheckpoints(root.toString(), "2", 0.035, 9, 1, () -> null, files, logged::add);
    for (String model : models) {
      for (int step = 1; step <= 6; step++) {
        checkpoints.stepped(model, model, new Saver(files, step));
        files.await();
      }
    }
  }

  private Resume resume(Path from) {
    return new Resume(from.toString(), files, logged::add);
  }

  private static int stateOf(Path checkpoint) throws IOException {
    try (DataInputStream in = Resume.open(checkpoint)) {
      return in.readInt();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"in the background", "without room", "synchronously"})
  void theNewestIsFoundFromAnyDirectory(String how) throws Exception {
    train(!how.equals("synchronously"), how.equals("without room") ? 1 << 10 : 1 << 30, "mlp");
    Path model = root.resolve("mlp");
    for (Path from : List.of(root, model, model.resolve("000003"), model.resolve("latest"))) {
      Resume resume = resume(from);
      Path newest = resume.take();
      assertThat(newest).as(from.toString()).isNotNull();
      assertThat(stateOf(newest)).isEqualTo(6);
      assertThat(newest.resolve("model")).hasContent("step 6");
      assertThat(resume.take()).as("only one model is resumed").isNull();
    }
    assertThat(resume(model.resolve("000002")).take()).isEqualTo(model.resolve("000002"));
  }

  @Test
  void anIncompleteCheckpointIsSkippedForTheOneBefore() throws Exception {
    train(true, 1 << 30, "mlp");
    Path model = root.resolve("mlp");
    Path state = model.resolve("000003/.coordl/state");
    byte[] bytes = Files.readAllBytes(state);
    bytes[LARGE / 2] ^= 1;
    Files.write(state, bytes);
    assertThat(resume(root).take()).isEqualTo(model.resolve("000002"));
    assertThat(logged.get(logged.size() - 1)).contains("000003 is damaged");

    Files.delete(state);
    assertThat(resume(root).take()).isEqualTo(model.resolve("000002"));
    assertThat(logged.get(logged.size() - 1))
        .contains("000003 is not used, because its job ended before it was completely written");

    Files.write(model.resolve("000002/model"), "step 7".getBytes(UTF_8));
    assertThat(resume(root).take()).isEqualTo(model.resolve("000001"));

    Files.write(model.resolve("000001/.coordl/state"), new byte[7]);
    Resume none = resume(root);
    assertThat(none.take()).isNull();
    assertThat(none.whyUnused()).contains("no complete agent checkpoint");
    assertThat(logged.get(logged.size() - 1)).contains("runs as it would without resume=");
  }

  @Test
  void withoutACheckpointTheJobStartsFresh() throws Exception {
    assertThat(resume(root).take()).isNull();
    assertThat(resume(root.resolve("not-there")).take()).isNull();
    Path file = Files.createFile(root.resolve("file"));
    assertThat(resume(file).take()).isNull();
    Files.createDirectories(root.resolve("2024/000001")); // The user's.
    assertThat(resume(root).take()).isNull();
    assertThat(logged).hasSize(4).allMatch(line -> line.contains("resume: cannot continue from"));
  }

  @Test
  void modelsSavedAtDifferentTimesAreNotResumed() {
    train(true, 1 << 30, "mlp", "other");
    Resume resume = resume(root);
    assertThat(resume.take()).isNull();
    assertThat(resume.whyUnused()).contains("several models");
    assertThat(resume(root.resolve("other")).take()).isNotNull();
  }

  @Test
  void unrestoredStateIsLoggedOnceAndInTheSummary() {
    train(true, 1 << 30, "mlp");
    Resume resume = resume(root);
    resume.take();
    assertThat(resume.trySkipSave()).isFalse();
    resume.begin(6);
    assertThat(resume.isSkipping()).isTrue();
    assertThat(resume.trySkipSave()).isTrue();
    resume.lacks("the moon is another one");
    resume.lacks("the moon is another one");
    assertThat(logged).filteredOn(line -> line.contains("moon")).hasSize(1);
    assertThat(resume.summary()).contains("ended before step 6", "skipped: 1");
    resume.end();
    assertThat(resume.isSkipping()).isFalse();
    assertThat(resume.trySkipSave()).isFalse();
    assertThat(resume.summary()).contains("after step 6", "skipped: 1", "the moon is another");
    assertThat(resume.whyUnused()).isEmpty();
  }

  /** The program's own model may be newer than the checkpoint; resuming would then lose steps. */
  @Test
  void aProgramThatLoadsItsOwnModelIsNotResumed() throws Exception {
    train(true, 1 << 30, "mlp");
    Resume resume = resume(root);
    Path own = Files.writeString(root.resolve("own.zip"), "epoch 3");
    files.check(own);
    assertThat(resume.take()).isNull();
    assertThat(resume.continued()).isNull();
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("the program itself loads", "own.zip", "resume=");
    assertThat(resume.whyUnused()).contains("own.zip");
  }

  /** When fine-tuning, for example, each run starts from the same model. */
  @Test
  void aProgramThatStartsFromTheSameModelIsResumed() throws Exception {
    Path pretrained = Files.writeString(root.resolve("pretrained.zip"), "weights");
    files.rememberLoads();
    files.check(pretrained);
    String loads = files.loads();
    Path claimed = Files.createDirectories(root.resolve("runs"));
    Path checkpoint = CheckpointDirectory.claim(claimed, null).directory("mlp").next(loads);
    files.train();
    files.check(Files.writeString(root.resolve("later.zip"), "not what it began with"));
    assertThat(CheckpointDirectory.loads(checkpoint)).isEqualTo(loads).hasSize(64);

    train(true, 1 << 30, "mlp");
    Path mark = root.resolve("mlp/000003/.coordl/checkpoint");
    Files.copy(checkpoint.resolve(".coordl/checkpoint"), mark, StandardCopyOption.REPLACE_EXISTING);
    ModelFiles next = new ModelFiles(true, () -> 1, (event, start, end) -> {}, logged::add);
    Resume same = new Resume(root.resolve("mlp").toString(), next, logged::add);
    next.check(Files.copy(pretrained, root.resolve("copy.zip")));
    assertThat(same.take()).isNotNull();
    assertThat(logged).isEmpty();

    ModelFiles none = new ModelFiles(true, () -> 1, (event, start, end) -> {}, logged::add);
    assertThat(new Resume(root.resolve("mlp").toString(), none, logged::add).take()).isNull();
    assertThat(logged).singleElement().asString().contains("does not load the model");

    Files.write(mark, new byte[0]); // Written by an earlier agent.
    ModelFiles older = new ModelFiles(true, () -> 1, (event, start, end) -> {}, logged::add);
    Resume unknown = new Resume(root.resolve("mlp").toString(), older, logged::add);
    older.check(pretrained);
    assertThat(unknown.take()).isNotNull();
    assertThat(logged.get(1)).contains("pretrained.zip", "do not use resume= in programs");
  }

  @Test
  void aFailedRestoreReportsItsReason() {
    train(true, 1 << 30, "mlp");
    Resume resume = resume(root);
    resume.take();
    resume.fail("the network has other parameters");
    assertThat(resume.summary()).isEmpty();
    assertThat(resume.isSkipping()).isFalse();
    assertThat(resume.whyUnused()).contains("other parameters");
  }
}
