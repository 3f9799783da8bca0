package io.coordl.checkpoint;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Passes arrays on in one piece, and leaves the stream below open. */
public final class SharedStream extends FilterOutputStream {
  public SharedStream(OutputStream out) {
    super(out);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
  }

  @Override
  public void close() throws IOException {
    flush();
  }
}
