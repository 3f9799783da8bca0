package io.coordl.reports;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An output stream that remembers why a write failed: print writers report only that a write
 * failed, and the reader of recordings would mistake the exception for damage.
 */
final class Output extends FilterOutputStream {
  private @Nullable IOException failure;

  Output(OutputStream out) {
    super(out);
  }

  static Output stdout() {
    return new Output(new FileOutputStream(FileDescriptor.out));
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    if (failure != null) {
      throw failure;
    }
    try {
      out.write(bytes, from, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** Returns the first failure; null if everything was written. */
  @Nullable IOException failure() {
    return failure;
  }

  /** Returns whether the reader of the output has ended or closed it, as {@code head} does. */
  static boolean isClosedPipe(IOException failure) {
    return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("broken pipe");
  }
}
