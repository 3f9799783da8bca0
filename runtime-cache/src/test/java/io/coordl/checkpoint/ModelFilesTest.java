package io.coordl.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.telemetry.event.PersistEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFilesTest {
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final List<PersistEvent> events = new CopyOnWriteArrayList<>();
  private final ModelFiles files = files(1 << 30);
  @TempDir Path folder;

  private ModelFiles files(long staging) {
    return new ModelFiles(
        true, () -> staging, (event, start, end) -> events.add(event), logged::add);
  }

  private static ModelFiles.Content text(String text) {
    return out -> out.write(text.getBytes(UTF_8));
  }

  private void write(Path target, String text) throws IOException {
    try (ModelFile file = files.create(target)) {
      files.write(file, text(text));
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.skip(1).map(file -> folder.relativize(file).toString()).sorted().toList();
    }
  }

  @Test
  void aFileIsCompleteAndHasItsChecksum() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    write(target, "second one");

    assertThat(target).hasContent("second one");
    assertThat(names()).containsExactly(".coordl", ".coordl/model.zip.sha256", "model.zip");
    assertThat(files.detectDamage(target)).isFalse();
    Process check =
        new ProcessBuilder("sha256sum", "-c", "--strict", ".coordl/model.zip.sha256")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(new String(check.getInputStream().readAllBytes(), UTF_8))
        .isEqualTo("model.zip: OK\n");
    assertThat(check.waitFor()).isZero();
    assertThat(events).extracting(event -> event.bytes).containsExactly(5L, 10L);
    assertThat(logged).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"link", "fifo", "directory"})
  void aForeignFileInPlaceOfASideFileIsLeftAlone(String what) throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Path target = folder.resolve("model.zip");
    Path side = SideFile.of(target);
    Files.createDirectory(side.getParent());
    switch (what) {
      case "link" -> Files.createSymbolicLink(side, victim);
      case "fifo" -> assertThat(new ProcessBuilder("mkfifo", side + "").start().waitFor()).isZero();
      default -> Files.createDirectory(side);
    }
    write(target, "first");
    assertThat(target).hasContent("first");
    assertThat(victim).hasContent("precious");
    assertThat(Files.isRegularFile(side, LinkOption.NOFOLLOW_LINKS)).isFalse();
    assertThat(files.detectDamage(target)).isFalse();
    assertThat(logged).singleElement().asString().contains("cannot be verified later");
  }

  @ParameterizedTest
  @ValueSource(strings = {"link", "file"})
  void aForeignFileInPlaceOfTheAgentsDirectoryIsLeftAlone(String what) throws Exception {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Path own = folder.resolve(".coordl");
    if (what.equals("link")) {
      Files.createSymbolicLink(own, elsewhere);
    } else {
      Files.writeString(own, "precious");
    }
    assertThat(files.create(folder.resolve("model.zip"))).isNull();
    assertThat(elsewhere).isEmptyDirectory();
    assertThat(logged).singleElement().asString().contains("by the library", "not a directory");
  }

  /** DJL saves models in this way. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLibraryMayOpenTheFileAndCloseItsStream(boolean background) throws Exception {
    Path target = folder.resolve("model.zip");
    if (!background) {
      files.close();
    }
    try (Saving saving = files.begin()) {
      assertThat(saving.isOpen()).isFalse();
      try (OutputStream stream = saving.open(target)) {
        stream.write("first".getBytes(UTF_8));
      }
      assertThat(saving.isOpen()).isTrue();
      saving.end();
    }
    files.await(target);
    assertThat(target).hasContent("first");
    assertThat(events).singleElement().matches(event -> event.background == background);
    assertThat(files.beginTurn()).isEqualTo(background); // The turn was given back.
  }

  @Test
  void aSaveThatThrowsKeepsTheOldFile() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    try (Saving saving = files.begin()) {
      saving.open(target).write("half".getBytes(UTF_8));
    }
    assertThat(target).hasContent("first");
    assertThat(names()).hasSize(3);
    assertThat(files.beginTurn()).isTrue();
  }

  @Test
  void theNewestUndamagedModelIsLoaded() throws Exception {
    Path[] models = new Path[3];
    for (int i = 0; i < models.length; i++) {
      models[i] = folder.resolve("model-" + i);
      write(models[i], "whole");
    }
    List<Integer> older = List.of(1, 0);
    assertThat(files.newestWhole(2, older, i -> models[i])).isEqualTo(2);
    Files.writeString(models[2], "other");
    Files.writeString(models[1], "other");
    assertThat(files.newestWhole(2, older, i -> models[i])).isZero();
    Files.writeString(models[0], "other");
    assertThat(files.newestWhole(2, older, i -> models[i])).isEqualTo(2);
  }

  @Test
  void aFailedSaveKeepsTheOldFile() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    try (ModelFile file = files.create(target)) {
      assertThatThrownBy(
              () ->
                  files.write(
                      file,
                      out -> {
                        out.write(new byte[100_000]);
                        throw new IOException("the disk is full");
                      }))
          .hasMessage("the disk is full");
    }
    assertThat(target).hasContent("first");
    assertThat(files.detectDamage(target)).isFalse();
    assertThat(names()).hasSize(3);
    assertThat(events.get(1).failure).isEqualTo("the disk is full");
  }

  /** A job killed between the two moves leaves the old file with the new checksum. */
  @Test
  void theOldModelVerifiesAgainstTheNewChecksumFile() throws Exception {
    Path target = folder.resolve("model.zip");
    Path side = SideFile.of(target);
    write(target, "first");
    Path old = Files.copy(target, folder.resolve("old"));
    write(target, "second one");
    Files.move(old, target, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertThat(files.detectDamage(target)).isFalse();
    assertThat(Files.readString(side)).contains("# before: 5 bytes");
  }

  @Test
  void oneFlippedBitIsDetected() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    FileTime time = Files.getLastModifiedTime(target);
    Files.writeString(target, "firsu");

    assertThat(files.detectDamage(target)).isTrue();
    files.check(target); // The time changed, so another program wrote it: the library decides.
    Files.setLastModifiedTime(target, time);
    assertThatThrownBy(() -> files.check(target))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("model.zip is damaged");
    Files.writeString(target, "firs", StandardOpenOption.TRUNCATE_EXISTING);
    assertThat(files.detectDamage(target)).isTrue();
    assertThat(logged.get(0)).contains("model.zip is damaged", "delete the latter if");
    assertThat(files.summary()).contains("4 found damaged");
  }

  @Test
  void anothersChecksumFileStays() throws Exception {
    Path target = folder.resolve("model.zip");
    Files.createDirectory(folder.resolve(".coordl"));
    Files.writeString(SideFile.of(target), "mine");
    write(target, "first");
    assertThat(SideFile.of(target)).hasContent("mine");
    assertThat(target).hasContent("first");
    assertThat(logged).singleElement().asString().contains("cannot be verified later");
  }

  @Test
  void leftoversOfKilledJobsAreDeleted() throws Exception {
    Files.createDirectory(folder.resolve(".coordl"));
    Path left = Files.writeString(folder.resolve(".coordl/7fffffff-3ab.incomplete"), "half");
    Path mine = Files.writeString(folder.resolve("my.incomplete"), "mine");
    Path orphan = folder.resolve("gone.zip");
    write(orphan, "gone");
    Files.delete(orphan);
    ModelFile busy = files.create(folder.resolve("busy.zip"));
    assertThat(files(0).detectDamage(orphan))
        .isFalse(); // A check by the next job deletes leftovers.
    assertThat(left).doesNotExist();
    assertThat(mine).exists();
    assertThat(SideFile.of(orphan)).exists(); // Its model may be about to be moved into place.
    assertThat(names()).filteredOn(name -> name.endsWith(".incomplete")).hasSize(2);
    busy.close();
    assertThat(files(0).detectDamage(orphan)).isFalse();
    assertThat(names()).containsExactly(".coordl", "my.incomplete");
  }

  /** Opening and closing such a file would drop its lock: another job could delete it. */
  @Test
  void thisJobsFilesAreKeptEvenIfReachedThroughALink() throws Exception {
    Path models = Files.createDirectory(folder.resolve("models"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), models);
    try (ModelFile file = files.create(models.resolve("model.zip"))) {
      assertThat(files.detectDamage(link.resolve("another.zip"))).isFalse();
      files.write(file, text("whole"));
    }
    assertThat(link.resolve("model.zip")).hasContent("whole");
  }

  @Test
  void linksAndPermissionsAreKept() throws Exception {
    Path target = Files.writeString(folder.resolve("model.zip"), "old");
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-rw-r--"));
    Path link = Files.createSymbolicLink(folder.resolve("latest.zip"), Path.of("model.zip"));
    write(link, "new");
    assertThat(link).isSymbolicLink();
    assertThat(target).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo("rw-rw-r--");

    Files.createLink(folder.resolve("second.zip"), target);
    assertThat(files.create(target)).isNull();
    assertThat(files.create(folder)).isNull();
    assertThat(files.create(Path.of("/dev/null"))).isNull();
    assertThat(files.create(folder.resolve("absent/model.zip"))).isNull();
    assertThat(files.create(Files.createSymbolicLink(folder.resolve("loose"), Path.of("nothing"))))
        .isNull();
    assertThat(logged).anyMatch(line -> line.contains("hard links"));
  }

  @Test
  void callbacksAndReadersWaitForABackgroundSave() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    CountDownLatch hold = new CountDownLatch(1);
    List<String> order = new CopyOnWriteArrayList<>();
    ModelFiles.Pending pending = files.persist(files.create(target), held(hold, "second"));
    pending.then(() -> order.add("line " + read(target)));
    pending.then(() -> order.add("deletion"));
    assertThat(target).hasContent("first");
    assertThat(order).isEmpty();

    Thread reader =
        new Thread(
            () -> {
              files.await(target);
              order.add("read " + read(target));
            });
    reader.start();
    files.await(folder.resolve("another.zip")); // Nothing to wait for.
    hold.countDown();
    reader.join();
    files.await();
    assertThat(order).containsExactly("line second", "deletion", "read second");
    pending.then(() -> order.add("immediately"));
    assertThat(order).contains("immediately");
    assertThat(events.get(1).background).isTrue();
  }

  private static ModelFiles.Content held(CountDownLatch hold, String text) {
    return out -> {
      try {
        hold.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      text(text).writeTo(out);
    };
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Test
  void aFailureIsRaisedOnceAtTheNextSave() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    List<String> order = new ArrayList<>();
    CountDownLatch hold = new CountDownLatch(1);
    ModelFiles.Pending pending =
        files.persist(
            files.create(target),
            out -> {
              held(hold, "half").writeTo(out);
              throw new IOException("the disk is full");
            });
    pending.then(() -> order.add("never"));
    hold.countDown();
    files.await();
    pending.then(() -> order.add("never"));
    assertThatThrownBy(files::raise)
        .hasMessageContaining("could not be written to " + target)
        .hasMessageContaining("the disk is full");
    files.raise();
    assertThat(order).isEmpty();
    assertThat(target).hasContent("first");
    assertThat(names()).hasSize(3);
  }

  @Test
  void aSnapshotDuringAnotherIsRefusedWithoutWaiting() throws Exception {
    assertThat(files.beginTurn()).isTrue();
    assertThat(files.beginTurn()).isFalse(); // A save inside a save.
    List<Boolean> turns = new CopyOnWriteArrayList<>();
    Thread other = new Thread(() -> turns.add(files.beginTurn()));
    other.start();
    other.join();
    assertThat(turns).containsExactly(false);
    files.endTurn();
    assertThat(files.beginTurn()).isTrue();
    files.endTurn();
  }

  @Test
  void aFileTheProgramWritesDuringASaveStays() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    CountDownLatch hold = new CountDownLatch(1);
    files.persist(files.create(target), held(hold, "second"));
    Files.writeString(target, "by the program");
    hold.countDown();
    files.await();
    assertThat(target).hasContent("by the program");
    assertThat(logged).anyMatch(line -> line.contains("version is discarded"));
    assertThat(events.get(1).failure).contains("by the program");
    assertThat(files.summary()).contains("1 model file written whole");
    assertThat(names()).noneMatch(name -> name.endsWith(".incomplete"));
  }

  @Test
  void anInterruptDoesNotEndASave() throws Exception {
    Path target = folder.resolve("model.zip");
    write(target, "first");
    Thread.currentThread().interrupt();
    write(target, "second");
    assertThat(files.detectDamage(target)).isFalse();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(target).hasContent("second");
    assertThat(logged).isEmpty();
  }

  /**
   * The program waits for its own file, as it would without the agent; JVM shutdown gives up after
   * ten minutes without progress.
   */
  @Test
  void hungStorageBlocksTheProgramButNotJvmShutdown() throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    CountDownLatch program = new CountDownLatch(200);
    ModelFiles hung =
        new ModelFiles(
            true,
            () -> 1 << 30,
            (event, start, end) -> events.add(event),
            logged::add,
            done -> {
              program.countDown();
              return done.getCount() == 0;
            });
    Path target = folder.resolve("model.zip");
    ModelFiles.Pending pending = hung.persist(hung.create(target), held(hold, "whole"));
    Thread saves = new Thread(hung::await);
    saves.start();
    program.await(); // The program waits longer than JVM shutdown would.
    assertThat(saves.isAlive()).isTrue();
    assertThat(logged).isEmpty();

    hung.ends();
    saves.join();
    hung.close();
    assertThat(logged)
        .singleElement()
        .asString()
        .contains(
            "storage has accepted no bytes of " + target + " for 600 s; the job ends without");

    hold.countDown();
    CountDownLatch whole = new CountDownLatch(1);
    pending.then(whole::countDown);
    whole.await();
    assertThat(target).hasContent("whole");
  }

  @Test
  void theEndWaitsAndLogsFailures() throws Exception {
    Path target = folder.resolve("model.zip");
    files.persist(files.create(target), text("last"));
    files.close();
    assertThat(target).hasContent("last");
    // In a shutdown hook of the program, which may run after the agent's.
    files.persist(files.create(target), text("later still"));
    assertThat(target).hasContent("later still");

    ModelFiles failing = files(0);
    failing.persist(
        failing.create(target),
        out -> {
          throw new IOException("gone");
        });
    failing.close();
    assertThat(logged)
        .anyMatch(line -> line.contains("could not be written") && line.contains("gone"));
  }

  @Test
  void snapshotsBeyondMemoryGoToTheFile() throws Exception {
    byte[] all = new byte[3 * SnapshotMemory.PIECE + 5];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) (i >>> 3);
    }
    for (int room : new int[] {0, 2, 4}) {
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      ModelFiles some = files((long) room * SnapshotMemory.PIECE);
      Staged staged = new Staged(some.memory(), file);
      staged.write(all, 0, 7);
      staged.write(all[7]);
      staged.write(all, 8, all.length - 8);
      assertThat(staged.isFlushed()).isEqualTo(room < 4);
      if (!staged.isFlushed()) {
        assertThat(file.size()).isZero();
        staged.writeTo(file);
      }
      assertThat(file.toByteArray()).isEqualTo(all);
      // The memory is free for the next snapshot.
      Staged again = new Staged(some.memory(), OutputStream.nullOutputStream());
      again.write(all, 0, Math.min(all.length, room * SnapshotMemory.PIECE));
      assertThat(again.isFlushed()).isFalse();
    }
    assertThat(logged).hasSize(2).allMatch(line -> line.contains("checkpoint.size"));
  }

  @Test
  void gapsAreFilledInOrder() throws Exception {
    Captured captured = new Captured();
    captured.capture(
        out -> {
          assertThat(Captured.current()).isSameAs(captured);
          out.write('<');
          out.write(captured.gap(text("one")));
          out.write(captured.gap(text("")));
          out.write('|');
          out.write(captured.gap(text("two")));
        });
    assertThat(Captured.current()).isNull();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    captured.fill(captured.bytes(), out);
    assertThat(out).hasToString("<one|two");
    captured.requireFilled();
    captured.gap(text("never written"));
    assertThatThrownBy(captured::requireFilled).isInstanceOf(IOException.class);
  }
}
