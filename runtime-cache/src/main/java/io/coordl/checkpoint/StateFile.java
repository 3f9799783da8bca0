package io.coordl.checkpoint;

import io.coordl.host.Closeables;
import io.coordl.host.OwnFiles;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * Job state that a model file lacks, and that a job needs to continue exactly from one of the
 * agent's checkpoints. The file is in a directory beside the model and ends with the SHA-256 of the
 * preceding bytes. The state is copied when the checkpoint is taken. A checkpoint is complete only
 * with this file; it is usually written before the model is moved into place. Used by one thread at
 * a time.
 */
final class StateFile implements Closeable {
  private static final int HASH = 32;
  private static final int BUFFER = 1 << 16;

  private final MessageDigest digest = SideFile.sha256();
  private final HashingStream hashing;
  private final OutputStream out;
  private final Staged staged;
  private final Path checkpoint;
  private boolean written;
  private ModelFiles.@Nullable Pending writtenWith;

  StateFile(Path checkpoint, SnapshotMemory memory, AgentCheckpoints.Saver content)
      throws IOException {
    this.checkpoint = checkpoint;
    hashing =
        new HashingStream(
            () -> new FileOutputStream(OwnFiles.create(of(checkpoint)).getFD()), digest);
    out = new BufferedOutputStream(hashing, BUFFER);
    staged = new Staged(memory, out);
    try (DataOutputStream data = new DataOutputStream(new BufferedOutputStream(staged, BUFFER))) {
      content.state(data);
    } catch (Throwable t) {
      close();
      throw t;
    }
  }

  /** Returns the checkpoint that the state belongs to. */
  Path checkpoint() {
    return checkpoint;
  }

  static Path of(Path checkpoint) {
    return checkpoint.resolve(SideFile.DIRECTORY).resolve("state");
  }

  /** Writes the file durably; later calls do nothing. */
  void write() throws IOException {
    if (!written) {
      written = true;
      staged.writeTo(out);
      out.flush();
      FileOutputStream file = hashing.file();
      file.write(digest.digest());
      file.getFD().sync();
      file.close();
    }
  }

  HashingStream hashing() {
    return hashing;
  }

  /** Leaves writing and closing this file to the thread that writes {@code file}. */
  void handOver(ModelFiles.Pending file) {
    writtenWith = file;
  }

  /**
   * Returns the model file whose thread writes and closes this file; null if the calling thread,
   * which created it, must do so.
   */
  ModelFiles.@Nullable Pending writtenWith() {
    return writtenWith;
  }

  /** Releases the memory; unwritten state is lost. */
  @Override
  public void close() {
    staged.discard();
    Closeables.closeQuietly(hashing::end);
  }

  /** Whether a checkpoint has a state file, intact or not. */
  static boolean exists(Path checkpoint) {
    return Files.isRegularFile(of(checkpoint), LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether a checkpoint has an undamaged state file. */
  static boolean isIntact(Path checkpoint) throws IOException {
    Path path = of(checkpoint);
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) || Files.size(path) < HASH) {
      return false;
    }
    MessageDigest digest = SideFile.sha256();
    long left = Files.size(path) - HASH;
    byte[] chunk = new byte[BUFFER];
    try (InputStream in = new DigestInputStream(new FileInputStream(path.toFile()), digest)) {
      while (left > 0) {
        int n = in.read(chunk, 0, (int) Math.min(chunk.length, left));
        if (n < 0) {
          return false;
        }
        left -= n;
      }
      byte[] actual = digest.digest();
      return MessageDigest.isEqual(actual, in.readNBytes(HASH));
    }
  }
}
