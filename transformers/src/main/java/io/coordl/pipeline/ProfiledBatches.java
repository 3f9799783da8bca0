package io.coordl.pipeline;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.coordination.BatchReader;
import io.coordl.profile.Batches;
import io.coordl.profile.Profile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code profile=}: the batches that a program gets from iterators of any class, and the library's
 * threads that prepare them.
 */
public final class ProfiledBatches implements LibraryHooks, Batches {
  private final Profile profile;
  private final LibraryBatches library;

  public ProfiledBatches(Services services, LibraryBatches library) {
    this.profile = Objects.requireNonNull(services.profile());
    this.library = library;
  }

  /** Intercepts {@code next} of the program's iterators; all other methods prepare batches. */
  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return method.equals("next") ? profile.enter(this, self) : profile.prepare();
  }

  @Override
  public int samples(Object batch) {
    return (int) Math.max(1, library.samples(batch));
  }

  @Override
  public void hold(Object batch) {
    library.hold(batch);
  }

  @Override
  public void drop(Object batch) {
    library.drop(batch);
  }

  /** Copies the bytes; throws if they are too many for a buffer. */
  @Override
  public Kept keep(Object batch) {
    LibraryBatches.Bytes original = library.bytes(batch);
    int length = Math.toIntExact(original.bytes().bytes());
    ByteBuffer bytes = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    original.bytes().writeTo(bytes);
    return new Replayed(samples(batch), bytes.clear(), original.reader());
  }

  private record Replayed(int samples, ByteBuffer bytes, BatchReader<?> reader) implements Kept {
    @Override
    public Object make() throws IOException {
      return reader.read(bytes.duplicate().order(ByteOrder.nativeOrder()));
    }
  }
}
