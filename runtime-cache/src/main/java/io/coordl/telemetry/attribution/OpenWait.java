package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.OpenWaitEvent;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An unfinished wait for a batch.
 *
 * @param since when it began, by the recorder's clock
 * @param nanos how long it has lasted
 * @param longest longest earlier wait of any training thread
 * @param file file opened last, by any thread; null if none was
 * @param reader thread that opened that file; null if it no longer exists
 */
public record OpenWait(
    Thread thread,
    long since,
    long nanos,
    long longest,
    @Nullable String file,
    @Nullable Thread reader) {

  private static final int MAX_FRAMES = 64;

  /** Describes the wait, with the stacks as they are now. */
  public OpenWaitEvent event() {
    Thread other = reader == thread ? null : reader;
    OpenWaitEvent event = new OpenWaitEvent();
    event.thread = thread.getName();
    event.waited = nanos;
    event.longest = longest;
    event.stack = stack(thread);
    event.file = file == null ? "" : file;
    event.reader = reader == null ? "" : reader.getName();
    event.readerStack = other == null ? "" : stack(other);
    return event;
  }

  private static String stack(Thread of) {
    return Arrays.stream(of.getStackTrace())
        .limit(MAX_FRAMES)
        .map(StackTraceElement::toString)
        .collect(Collectors.joining("\n"));
  }
}
