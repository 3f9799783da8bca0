package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's jobs share files even if other users have taken names for the shared directory. */
class OwnDirectoryTest {
  @TempDir Path parent;
  private final List<String> logged = new ArrayList<>();
  private long user;

  @BeforeEach
  void readUser() throws IOException {
    user = Machine.user();
  }

  private Path numbered(int number) {
    return parent.resolve("coordl-" + user + "-" + number);
  }

  private static void mode(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private ArenaStore open(String group) throws IOException {
    return ArenaStore.openHost(OwnDirectory.in(parent), group, ByteBudget.parse("2m"), logged::add);
  }

  @Test
  void theDirectoryExistsFromTheFirstFileToTheLast() throws IOException {
    assertThat(OwnDirectory.in(parent)).isEqualTo(numbered(0));
    assertThat(numbered(0)).doesNotExist();
    try (ArenaStore one = open("one")) {
      assertThat(mode(numbered(0))).isEqualTo("rwx------");
      try (ArenaStore two = open("two")) {
        assertThat(one.jobs() + two.jobs()).isEqualTo(2);
        assertThat(numbered(0)).isDirectoryContaining("glob:**.arena");
      }
      assertThat(numbered(0)).isNotEmptyDirectory();
    }
    assertThat(parent).isEmptyDirectory();
    assertThat(logged).isEmpty();
  }

  @Test
  void namesTakenByOthersAreSkipped() throws Exception {
    Files.createFile(numbered(0));
    assertThat(new ProcessBuilder("mkfifo", numbered(1).toString()).start().waitFor()).isZero();
    Files.createSymbolicLink(numbered(2), Files.createDirectory(parent.resolve("elsewhere")));
    mode(Files.createDirectory(numbered(3)), "rwxrwxrwx");
    Files.createSymbolicLink(numbered(4), parent.resolve("nothing"));
    try (ArenaStore store = open("group")) {
      assertThat(store.jobs()).isEqualTo(1);
      assertThat(numbered(5)).isDirectoryContaining("glob:**.arena");
      // The next job finds the same directory although a name is free now.
      Files.delete(numbered(0));
      assertThat(OwnDirectory.in(parent)).isEqualTo(numbered(5));
    }
    assertThat(numbered(5)).doesNotExist();
    assertThat(mode(numbered(3))).isEqualTo("rwxrwxrwx");
    assertThat(parent.resolve("elsewhere")).isEmptyDirectory();
    assertThat(logged).isEmpty();
  }

  @Test
  void anotherUsersDirectoryIsNotUsed() throws IOException {
    Files.createDirectory(
        numbered(0),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    try {
      Files.setAttribute(numbered(0), "unix:uid", 65534);
    } catch (IOException e) {
      System.out.println("skipped: only root can give a directory to another user");
      return;
    }
    assertThat(OwnDirectory.in(parent)).isEqualTo(numbered(1));
  }

  @Test
  void ifAllNamesAreTakenTheRuntimeDirectoryIsUsed() throws IOException {
    Path runtime = Files.createTempDirectory(ArenaStore.SHARED_MEMORY, "runtime-"); // Mode 0700.
    try {
      for (int number = 0; number < 64; number++) {
        Files.createFile(numbered(number));
      }
      Path own = runtime.resolve("coordl-" + user + "-0");
      assertThat(OwnDirectory.in(parent, runtime.toString())).isEqualTo(own);
      try (ArenaStore store =
          ArenaStore.openHost(own, "group", ByteBudget.parse("2m"), logged::add)) {
        assertThat(own).isDirectoryContaining("glob:**.arena");
        Files.delete(numbered(7));
        assertThat(OwnDirectory.in(parent, runtime.toString()))
            .as("the next job finds the same directory although a name is free now")
            .isEqualTo(own);
        assertThat(store.jobs()).isEqualTo(1);
      }
      assertThat(runtime).isEmptyDirectory();
      assertThat(OwnDirectory.in(parent, runtime.toString())).isEqualTo(numbered(7));
    } finally {
      Files.delete(runtime);
    }
  }

  @Test
  void ifAllNamesAreTakenAndTheRuntimeDirectoryIsUnsafeTheParentIsUsed() throws IOException {
    for (int number = 0; number < 64; number++) {
      Files.createFile(numbered(number));
    }
    mode(Files.createDirectory(parent.resolve("open")), "rwxrwxrwx");
    assertThat(OwnDirectory.in(parent, parent.resolve("open").toString())).isEqualTo(parent);
    assertThat(OwnDirectory.in(parent, "relative")).isEqualTo(parent);
    assertThat(OwnDirectory.in(parent, parent.resolve("missing").toString())).isEqualTo(parent);
    assertThat(OwnDirectory.in(parent, "no\0path")).isEqualTo(parent);
    assertThat(OwnDirectory.in(parent, null)).isEqualTo(parent);
  }

  @Test
  void aDirectoryThatVanishesIsCreatedAgain() throws IOException {
    Path directory = OwnDirectory.in(parent);
    assertThat(OwnDirectory.make(directory, user)).isTrue();
    assertThat(OwnDirectory.make(directory, user)).as("it exists").isTrue();
    Files.delete(directory);
    ArenaStore.openHost(directory, "group", ByteBudget.parse("2m"), logged::add).close();
    assertThat(directory).doesNotExist();
    assertThat(OwnDirectory.make(parent.resolve("no"), user)).isFalse();
    Path missing = parent.resolve("missing");
    assertThatThrownBy(
            () -> ArenaStore.openHost(missing, "group", ByteBudget.parse("2m"), logged::add))
        .hasMessageStartingWith("The store " + missing)
        .hasMessageEndingWith("nothing is cached.");
  }
}
