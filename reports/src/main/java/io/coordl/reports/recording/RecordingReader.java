package io.coordl.reports.recording;

import io.coordl.reports.recording.RecordingException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import jdk.jfr.EventType;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads recordings of any size in a few megabytes of memory, on the calling thread; read in full, a
 * second thread reads them at the same time, for half of the events. Never writes to the recording;
 * of one that a JVM did not finish it reads a repaired temporary copy.
 */
public final class RecordingReader {
  private static final String OURS = "io.coordl.";
  private static final EnumSet<FrequentType> FETCHES = EnumSet.of(FrequentType.FETCH);

  private RecordingReader() {}

  /**
   * Reads the totals that CoorDL's events say.
   *
   * @throws RecordingException if the file cannot be read, is foreign, empty, cut off or damaged,
   *     has no CoorDL events or those of several JVMs
   */
  public static JobRecording read(Path file, Progress progress) throws RecordingException {
    return read(file, progress, null);
  }

  /**
   * Reads the totals and adds up the events of every batch, item and transform.
   *
   * @throws RecordingException as {@link #read(Path, Progress)}
   */
  public static JobActivity readInFull(Path file, Progress progress) throws RecordingException {
    InFull full = new InFull();
    JobRecording recording = read(file, progress, full);
    return new JobActivity(recording, full.activity.activity());
  }

  /** What is read in passing. */
  private static final class InFull {
    private final Collector totals = new Collector(Progress.NONE, 0);

    /** Begun anew where only the JDK can read the events. */
    private ActivityCollector activity = new ActivityCollector();

    /**
     * Two threads go through the file, each for its types of events: to read an event takes far
     * longer than to step over it.
     */
    ChunkWalk.Shape walk(Path file, Progress progress) throws IOException, RecordingException {
      EventTakers fetches = new EventTakers(FETCHES, activity.fetches(), Map.of());
      EventTakers others =
          new EventTakers(EnumSet.complementOf(FETCHES), activity, totals.takers());
      FutureTask<ChunkWalk.Shape> second =
          new FutureTask<>(() -> ChunkWalk.walk(file, Progress.NONE, fetches));
      Thread thread = new Thread(second, "coordl-fetches");
      thread.setDaemon(true);
      thread.start();
      try {
        ChunkWalk.Shape shape = ChunkWalk.walk(file, progress, others);
        ChunkWalk.Shape again = second.get();
        // A live recording may have grown in between.
        return shape.allReadIf(again.allRead() && again.events().equals(shape.events()));
      } catch (ExecutionException e) {
        throw rethrown(e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while reading a recording", e);
      } finally {
        second.cancel(true); // If the first one failed, nobody wants the rest.
      }
    }

    private static RuntimeException rethrown(@Nullable Throwable cause)
        throws IOException, RecordingException {
      if (cause instanceof RecordingException e) {
        throw e;
      }
      if (cause instanceof IOException e) {
        throw e;
      }
      if (cause instanceof Error e) {
        throw e;
      }
      return cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
    }
  }

  private static JobRecording read(Path file, Progress progress, @Nullable InFull full)
      throws RecordingException {
    checkReadable(file);
    try {
      BasicFileAttributes before = Files.readAttributes(file, BasicFileAttributes.class);
      ChunkWalk.Shape shape;
      JobRecording recording;
      if (full == null) {
        shape = ChunkWalk.walk(file, done -> progress.at(done / 2), null);
        recording = read(file, shape, done -> progress.at(0.5 + done / 2), null);
      } else {
        shape = full.walk(file, progress);
        recording =
            shape.allRead()
                ? recording(file, shape, Expected.of(shape, shape.names()), full.totals, full, null)
                : read(file, shape, progress, full);
      }
      checkUnchanged(file, before, shape);
      return recording;
    } catch (EventReader.MissingFieldException missing) {
      throw ofAnotherVersion(file, missing);
    } catch (ArithmeticException e) {
      throw damaged(file);
    } catch (IOException e) {
      throw new RecordingException(file + " cannot be read: " + reason(e) + ".");
    }
  }

  /**
   * How many events of ours there are.
   *
   * @param ours true if there is any of the agent's events at all
   */
  private record Expected(long rare, long frequent, boolean ours) {
    static Expected of(ChunkWalk.Shape shape, Map<Long, String> names) {
      Set<String> wanted = Collector.wanted();
      long rare = 0;
      long frequent = 0;
      boolean ours = false;
      for (Map.Entry<Long, Long> count : shape.events().entrySet()) {
        String name = names.getOrDefault(count.getKey(), "");
        ours |= name.startsWith(OURS);
        if (wanted.contains(name)) {
          rare += count.getValue();
        }
        if (FrequentType.of(name).isPresent()) {
          frequent += count.getValue();
        }
      }
      return new Expected(rare, frequent, ours);
    }
  }

  private static RecordingException ofAnotherVersion(
      Path file, EventReader.MissingFieldException missing) {
    return new RecordingException(
        Kind.OTHER_VERSION,
        file
            + " was written by another version of the agent ("
            + missing.getMessage()
            + "): use the coordl.jar that came with it.");
  }

  private static RecordingException damaged(Path file) {
    return new RecordingException(
        Kind.DAMAGED,
        file + " is damaged: not all of its events can be read, so no figure would be right.");
  }

  private static JobRecording read(
      Path file, ChunkWalk.Shape shape, Progress progress, @Nullable InFull full)
      throws RecordingException, IOException {
    if (shape.asIs()) {
      return read(file, file, shape, progress, full);
    }
    Path repaired = Files.createTempFile("coordl-", ".jfr");
    try {
      repair(file, repaired, shape);
      return read(file, repaired, shape, progress, full);
    } finally {
      Files.deleteIfExists(repaired);
    }
  }

  /** The file is gone through twice: both must have seen the same. Only a live one may grow. */
  private static void checkUnchanged(Path file, BasicFileAttributes before, ChunkWalk.Shape shape)
      throws RecordingException, IOException {
    BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
    boolean same = Objects.equals(now.fileKey(), before.fileKey());
    boolean still =
        now.size() == before.size() && now.lastModifiedTime().equals(before.lastModifiedTime());
    if (!same || !(still || shape.endsEarly())) {
      throw new RecordingException(
          file + " changed while it was read: try again once nobody writes to it.");
    }
  }

  private static void checkReadable(Path file) throws RecordingException {
    if (Files.notExists(file)) {
      throw new RecordingException(file + " does not exist.");
    }
    if (Files.isDirectory(file)) {
      throw new RecordingException(file + " is a directory: name one recording in it.");
    }
    if (!Files.isRegularFile(file)) {
      throw new RecordingException(file + " is not a file.");
    }
    if (!Files.isReadable(file)) {
      throw new RecordingException(file + " may not be read by this user.");
    }
  }

  /**
   * Copies what was flushed, by time and each chunk once, and marks unfinished chunks as finished,
   * which they will not be otherwise. By time, as the JDK reads times wrongly else: it goes on with
   * the clock of the chunk before.
   */
  private static void repair(Path file, Path repaired, ChunkWalk.Shape shape) throws IOException {
    try (FileChannel from = FileChannel.open(file, StandardOpenOption.READ);
        FileChannel to = FileChannel.open(repaired, StandardOpenOption.WRITE)) {
      for (ChunkWalk.Chunk chunk : shape.chunks()) {
        long start = to.position();
        copy(from, chunk, to);
        to.write(
            ByteBuffer.wrap(new byte[] {ChunkHeader.FINISHED}), start + ChunkHeader.STATE_OFFSET);
      }
    }
  }

  private static void copy(FileChannel from, ChunkWalk.Chunk chunk, FileChannel to)
      throws IOException {
    for (long done = 0; done < chunk.header().size(); ) {
      long copied = from.transferTo(chunk.position() + done, chunk.header().size() - done, to);
      if (copied <= 0) {
        throw new EOFException("file shrank while it was read");
      }
      done += copied;
    }
  }

  /**
   * @param file what the user named
   * @param readable the same, or its repaired copy
   */
  private static JobRecording read(
      Path file, Path readable, ChunkWalk.Shape shape, Progress progress, @Nullable InFull full)
      throws RecordingException, IOException {
    Expected expected = Expected.of(shape, typeNames(file, readable));
    Collector collector = new Collector(progress, expected.rare());
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (EventStream stream = EventStream.openFile(readable)) {
      stream.setReuse(true);
      stream.setOrdered(false);
      stream.onError(error -> failure.compareAndSet(null, error));
      collector.subscribe(stream);
      if (full != null) {
        full.activity = new ActivityCollector();
        full.activity.subscribe(stream);
      }
      stream.start();
    } catch (RuntimeException | InternalError | StackOverflowError damage) {
      failure.compareAndSet(null, damage);
    }
    return recording(file, shape, expected, collector, full, failure.get());
  }

  /** What was collected, if that is all there is. */
  private static JobRecording recording(
      Path file,
      ChunkWalk.Shape shape,
      Expected expected,
      Collector collector,
      @Nullable InFull full,
      @Nullable Throwable failure)
      throws RecordingException, IOException {
    if (failure instanceof EventReader.MissingFieldException missing) {
      throw ofAnotherVersion(file, missing);
    }
    checkOneJob(file, collector);
    if (!expected.ours()) {
      throw new RecordingException(
          Kind.WITHOUT_OUR_EVENTS,
          file + " has no CoorDL events: was the agent attached to the program?");
    }
    if (failure != null
        || collector.delivered() != expected.rare()
        || (full != null && full.activity.accepted() != expected.frequent())) {
      throw damaged(file);
    }
    return collector.recording(file, Files.size(file), shape.total(), shape.endsEarly());
  }

  private static Map<Long, String> typeNames(Path file, Path readable) throws RecordingException {
    try (RecordingFile recording = new RecordingFile(readable)) {
      return recording.readEventTypes().stream()
          .collect(Collectors.toMap(EventType::getId, EventType::getName, (first, same) -> first));
    } catch (IOException | RuntimeException | InternalError | StackOverflowError e) {
      // The JDK's parser has no exception of its own for damage; any of these means it.
      throw new RecordingException(
          Kind.DAMAGED, file + " is damaged: its description of the events cannot be read.");
    }
  }

  private static void checkOneJob(Path file, Collector collector) throws RecordingException {
    if (collector.jvms().size() > 1) {
      Set<Long> pids = new TreeSet<>();
      collector.jvms().forEach(jvm -> pids.add(jvm.pid()));
      throw new RecordingException(
          Kind.SEVERAL_RUNS,
          file
              + " holds recordings of "
              + collector.jvms().size()
              + " JVMs (pid "
              + pids.stream().map(String::valueOf).collect(Collectors.joining(", "))
              + "): summarise each one's own file.");
    }
    if (collector.severalJobs()) {
      throw new RecordingException(
          Kind.SEVERAL_RUNS,
          file + " holds recordings of more than one run: summarise each one's own file.");
    }
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
