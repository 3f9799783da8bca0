package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FileReader} that opens no file itself, but decodes from the agent's stream. {@link
 * java.io.Reader} implements the other methods in terms of these.
 */
final class ItemFileReader extends FileReader {
  private final InputStreamReader reader;

  ItemFileReader(InputStream stream, Charset charset) {
    super(new FileDescriptor());
    this.reader = new InputStreamReader(stream, charset);
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
  public int read(char[] target, int offset, int length) throws IOException {
    return reader.read(target, offset, length);
  }

  @Override
  public int read(CharBuffer target) throws IOException {
    return reader.read(target);
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
