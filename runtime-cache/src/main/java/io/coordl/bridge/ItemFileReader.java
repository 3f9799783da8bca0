package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.CharBuffer;
import org.jspecify.annotations.Nullable;

/** A {@link FileReader} that decodes from a stream of ours and whose own file is none. */
final class ItemFileReader extends FileReader {
  private final InputStreamReader reader;

  ItemFileReader(InputStreamReader reader) {
    super(new FileDescriptor());
    this.reader = reader;
  }

  @Override
  public @Nullable String getEncoding() {
    return reader.getEncoding();
  }

  @Override
  public int read() throws IOException {
    return reader.read();
  }

  @Override
  public int read(char[] target) throws IOException {
    return reader.read(target);
  }

  @Override
  public int read(char[] target, int offset, int length) throws IOException {
    return reader.read(target, offset, length);
  }

  @Override
  public int read(CharBuffer target) throws IOException {
    return reader.read(target);
  }

  @Override
  public long skip(long n) throws IOException {
    return reader.skip(n);
  }

  @Override
  public long transferTo(Writer out) throws IOException {
    return reader.transferTo(out);
  }

  @Override
  public boolean ready() throws IOException {
    return reader.ready();
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
