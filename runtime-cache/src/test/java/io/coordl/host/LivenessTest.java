package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Liveness checks that need only one process. */
class LivenessTest {
  private static final long FIRST_JOB_BYTE = (1L << 60) + 1;

  @TempDir Path directory;
  private FileChannel channel;

  @BeforeEach
  void open() throws IOException {
    channel =
        FileChannel.open(
            directory.resolve("file"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
  }

  @Test
  void aJobOlderThanTheNewest4096CountsItself() throws IOException {
    Liveness liveness = new Liveness(channel);
    assertThat(liveness.tryJoin(1)).isTrue();
    assertThat(liveness.count(10_000)).isEqualTo(1);
  }

  @Test
  void aJobThatLeftCountsNobody() throws IOException {
    Liveness liveness = new Liveness(channel);
    assertThat(liveness.tryJoin(1)).isTrue();
    liveness.leave();
    assertThat(liveness.count(10)).isZero();
    channel.close();
    assertThat(liveness.count(10)).isZero();
  }

  @Test
  void aNumberBeingProbedIsNotWaitedFor() throws IOException {
    Liveness liveness = new Liveness(channel);
    FileLock probe = channel.tryLock(FIRST_JOB_BYTE, 1, true);
    assertThat(liveness.tryJoin(1)).isFalse();
    assertThat(liveness.count(1)).isZero();
    assertThat(liveness.tryJoin(2)).isTrue();
    probe.release();
    assertThat(liveness.count(2)).isEqualTo(1);
  }

  @Test
  void aTakenNumberIsNotJoined() throws IOException {
    FileLock taken = channel.tryLock(FIRST_JOB_BYTE, 1, false);
    assertThat(new Liveness(channel).tryJoin(1)).isFalse();
    taken.release();
  }
}
