package io.coordl.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is alive, as far as one process can ask. */
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
  void anOldJobCountsItself() throws IOException {
    Liveness liveness = new Liveness(channel);
    liveness.join(1);
    assertThat(liveness.count(10_000)).isEqualTo(1);
  }

  @Test
  void whoHasLeftCountsNobody() throws IOException {
    Liveness liveness = new Liveness(channel);
    liveness.join(1);
    liveness.leave();
    assertThat(liveness.count(10)).isZero();
    channel.close();
    assertThat(liveness.count(10)).isZero();
  }

  @Test
  void joiningWaitsForAnothersProbe() throws Exception {
    Liveness liveness = new Liveness(channel);
    FileLock probe = channel.tryLock(FIRST_JOB_BYTE, 1, true);
    FutureTask<Void> join =
        new FutureTask<>(
            () -> {
              liveness.join(1);
              return null;
            });
    Thread thread = new Thread(join);
    thread.start();
    while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
      Thread.onSpinWait();
    }
    probe.release();
    join.get();
    assertThat(liveness.count(1)).isEqualTo(1);
  }

  @Test
  void aNumberThatStaysTakenIsAnError() throws IOException {
    FileLock taken = channel.tryLock(FIRST_JOB_BYTE, 1, false);
    assertThatThrownBy(() -> new Liveness(channel).join(1)).hasMessageContaining("is taken");
    taken.release();
  }
}
