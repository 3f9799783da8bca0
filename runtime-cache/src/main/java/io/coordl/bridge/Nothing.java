package io.coordl.bridge;

import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The runtime behind the bridge before the agent is installed and after it has tripped. It leaves
 * every call to the program; after a trip, library calls first wait for agent threads.
 */
final class Nothing implements SpanSink, ItemSource, LibraryHooks, FaultListener {
  static final Nothing INSTANCE = new Nothing();

  private Nothing() {}

  @Override
  public long enter(SpanKind kind, @Nullable Object subject) {
    return 0;
  }

  @Override
  public void exit(long token, @Nullable Object result) {}

  @Override
  public void fetchTime(long startNanos, long endNanos) {}

  @Override
  public void itemOpened(String path) {}

  @Override
  public void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {}

  @Override
  public boolean loadingSample() {
    return false;
  }

  @Override
  public @Nullable OpenItem open(String path) {
    return null;
  }

  @Override
  public void mapsToWrite(FileChannel channel) {}

  @Override
  public boolean takesOpened(String path) {
    return false;
  }

  @Override
  public @Nullable OpenItem openOpened(String path, FileDescriptor opened) {
    return null;
  }

  @Override
  public @Nullable OpenItem openRandomAccess(String path) {
    return null;
  }

  @Override
  public @Nullable OpenItem openForeign(Path path) {
    return null;
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> declaring, String method, Object self, Object[] arguments) {
    Producers.awaitAfterTrip();
    return null;
  }

  @Override
  public void fault(String where, Throwable cause, boolean tripped) {}
}
