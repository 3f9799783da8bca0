package io.coordl.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Reads files that the user names, before the program runs. Opens only regular files: a FIFO blocks
 * until some process writes to it, and a device may never end. Waits at most a minute for storage
 * that does not answer, such as a mount whose server is gone.
 */
public final class UserFile {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private UserFile() {}

  /**
   * Returns the bytes of a regular file.
   *
   * @throws NoSuchFileException if it does not exist
   * @throws IOException if it cannot be read; the message is for the user
   */
  public static byte[] read(Path file) throws IOException {
    return call(
        () -> {
          if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("it is not a regular file");
          }
          return Files.readAllBytes(file);
        });
  }

  /** Calls storage; throws an {@link IOException} if it does not answer within a minute. */
  public static <T> T call(Callable<T> access) throws IOException {
    return Objects.requireNonNull(new StorageCall<>(access).get(PATIENCE));
  }
}
