package io.coordl.reports.recording;

import io.coordl.reports.recording.ChunkWalk.Chunk;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.DoubleConsumer;
import java.util.stream.Collectors;
import jdk.jfr.EventType;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads recordings of any size; only {@link #readCopy} loads a whole file into memory. Never
 * changes a recording; if its chunks are unfinished, repeated or out of order, reads a repaired
 * temporary copy.
 */
public final class RecordingReader {
  private static final String OURS = "io.coordl.";
  private static final int ATTEMPTS = 3;

  /** Temporary copy of the file that {@link #readCopy} read last. */
  static @Nullable Path copy;

  /**
   * The events to read besides the totals.
   *
   * @param takers consumers of other events, by type name; all events of one map are delivered on
   *     one thread
   */
  private record Selection(boolean steps, List<Map<String, Consumer<JobEvent>>> takers) {
    static final Selection TOTALS = new Selection(false, List.of());
  }

  private RecordingReader() {}

  /**
   * Reads the totals of CoorDL's events.
   *
   * @throws RecordingException if the file cannot be read, is not a recording, is empty, cut off or
   *     damaged, contains no CoorDL events or those of several runs, or was written by another
   *     version of the agent
   */
  public static JobRecording read(Path file, DoubleConsumer progress) throws RecordingException {
    return read(file, progress, Selection.TOTALS);
  }

  /** Reads the totals and {@link JobRecording#steps}. */
  public static JobRecording readSteps(Path file, DoubleConsumer progress)
      throws RecordingException {
    return read(file, progress, new Selection(true, List.of()));
  }

  /** Reads the totals and the steps, and adds up the events of every batch, item and transform. */
  public static JobActivity readInFull(Path file, DoubleConsumer progress)
      throws RecordingException {
    ActivityCollector activity = new ActivityCollector();
    JobRecording recording = read(file, progress, new Selection(true, activity.takers()));
    return new JobActivity(recording, activity.activity());
  }

  /** Reads the totals and passes on the spans of all threads, in any order, on one thread. */
  public static JobRecording readSpans(Path file, Consumer<Span> taker) throws RecordingException {
    return read(file, done -> {}, new Selection(false, List.of(Span.takers(taker))));
  }

  /** Reads the totals of a file that may be replaced at any time; throws if it no longer exists. */
  public static synchronized JobRecording readCopy(Path file)
      throws RecordingException, IOException {
    Path to = copy;
    if (to == null || Files.notExists(to)) { // The system may delete old temporary files.
      to = Files.createTempFile("coordl-", ".jfr");
      to.toFile().deleteOnExit(); // One file for all calls: coordl top repeats them.
      copy = to;
    }
    Files.write(to, Files.readAllBytes(file), StandardOpenOption.TRUNCATE_EXISTING);
    try {
      return read(file, to, ChunkWalk.walk(to, done -> {}), done -> {}, Selection.TOTALS);
    } catch (RecordingException e) {
      throw new RecordingException(
          e.status(), String.valueOf(e.getMessage()).replace(to.toString(), file.toString()));
    }
  }

  /**
   * Writes the readable data of several files of one run as one finished recording.
   *
   * @param files files that may grow during the call, but are not replaced
   * @throws RecordingException if a file cannot be read, is not a recording, is empty, cut off or
   *     damaged
   * @throws IOException if the recording cannot be written
   */
  public static void join(List<Path> files, Path to) throws RecordingException, IOException {
    List<Chunk> chunks = new ArrayList<>();
    for (Path file : files) {
      checkReadable(file);
      chunks.addAll(ChunkWalk.walk(file, done -> {}).chunks());
    }
    chunks.sort(ChunkWalk.BY_TIME);
    write(chunks, to);
  }

  private static JobRecording read(Path file, DoubleConsumer progress, Selection selection)
      throws RecordingException {
    checkReadable(file);
    for (int attempt = 1; ; attempt++) {
      FileTime modified = modified(file);
      try {
        return readOnce(file, progress, selection);
      } catch (RecordingException e) {
        // While a JVM writes to the file, it may briefly appear cut off or damaged.
        if (attempt == ATTEMPTS
            || e.status() != ExitStatus.DAMAGED
            || Objects.equals(modified, modified(file))) {
          throw e;
        }
      }
    }
  }

  private static @Nullable FileTime modified(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      return null;
    }
  }

  private static JobRecording readOnce(Path file, DoubleConsumer progress, Selection selection)
      throws RecordingException {
    try {
      BasicFileAttributes before = Files.readAttributes(file, BasicFileAttributes.class);
      ChunkWalk.Shape shape = ChunkWalk.walk(file, done -> progress.accept(done / 2));
      JobRecording recording =
          read(file, shape, done -> progress.accept(0.5 + done / 2), selection);
      checkUnchanged(file, before, shape);
      return recording;
    } catch (ArithmeticException e) {
      throw damaged(file);
    } catch (IOException e) {
      throw new RecordingException(file + " cannot be read: " + reason(e) + ".");
    }
  }

  private static RecordingException damaged(Path file) {
    return new RecordingException(
        ExitStatus.DAMAGED,
        file + " is damaged: not all of its events can be read, so its figures would be wrong.");
  }

  private static JobRecording read(
      Path file, ChunkWalk.Shape shape, DoubleConsumer progress, Selection selection)
      throws RecordingException, IOException {
    if (shape.asIs()) {
      return read(file, file, shape, progress, selection);
    }
    Path repaired = Files.createTempFile("coordl-", ".jfr");
    try {
      write(shape.chunks(), repaired);
      return read(file, repaired, shape, progress, selection);
    } finally {
      Files.deleteIfExists(repaired);
    }
  }

  /** Checks that both passes read the same file; only a live recording may have grown. */
  private static void checkUnchanged(Path file, BasicFileAttributes before, ChunkWalk.Shape shape)
      throws RecordingException, IOException {
    BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
    boolean same = Objects.equals(now.fileKey(), before.fileKey());
    boolean unchanged =
        now.size() == before.size() && now.lastModifiedTime().equals(before.lastModifiedTime());
    if (!same || !(unchanged || shape.endsEarly())) {
      throw new RecordingException(
          file + " changed while being read: try again when no process is writing to it.");
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
      throw new RecordingException(file + " cannot be read by this user.");
    }
  }

  /**
   * Copies the flushed chunks, each once, and marks unfinished ones as finished, because the JDK
   * would wait for the rest of them. {@code chunks} must be sorted by time: the JDK continues with
   * the clock of the previous chunk.
   */
  private static void write(List<Chunk> chunks, Path file) throws IOException {
    try (FileChannel to =
        FileChannel.open(
            file,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      for (Chunk chunk : chunks) {
        long start = to.position();
        try (FileChannel from = FileChannel.open(chunk.file(), StandardOpenOption.READ)) {
          copy(from, chunk, to);
        }
        // The header in the file may have changed since the walk.
        chunk.header().writeFinished(to, start);
      }
    }
  }

  private static void copy(FileChannel from, Chunk chunk, FileChannel to) throws IOException {
    for (long done = 0; done < chunk.header().size(); ) {
      long copied = from.transferTo(chunk.position() + done, chunk.header().size() - done, to);
      if (copied <= 0) {
        throw new EOFException("file shrank while being read");
      }
      done += copied;
    }
  }

  /**
   * Reads the events that the walk found; fails if any is missing.
   *
   * @param file the file named by the user
   * @param readable the same, or its repaired copy
   */
  private static JobRecording read(
      Path file, Path readable, ChunkWalk.Shape shape, DoubleConsumer progress, Selection selection)
      throws RecordingException, IOException {
    Collector collector = new Collector();
    if (selection.steps) {
      collector.takeSteps();
    }
    List<Map<String, Consumer<JobEvent>>> takers = new ArrayList<>(selection.takers);
    takers.add(collector.takers);
    Map<Long, String> names = typeNames(file, readable);
    long expected = 0;
    boolean ours = false;
    for (Map.Entry<Long, Long> count : shape.events().entrySet()) {
      String name = names.getOrDefault(count.getKey(), "");
      ours |= name.startsWith(OURS);
      expected += count.getValue() * takers.stream().filter(some -> some.containsKey(name)).count();
    }
    Delivery delivery = new Delivery(readable, expected, progress);
    takers.parallelStream().forEach(delivery::to);
    Throwable failure = delivery.failure.get();
    if (failure instanceof IOException e) {
      throw e;
    }
    if (failure instanceof EventReader.MissingFieldException missing) {
      throw new RecordingException(
          ExitStatus.OTHER_VERSION,
          file
              + " was written by another version of the agent ("
              + missing.getMessage()
              + "): use the coordl.jar that came with it.");
    }
    checkOneJob(file, collector);
    if (!ours) {
      boolean described = names.values().stream().anyMatch(name -> name.startsWith(OURS));
      throw new RecordingException(
          ExitStatus.WITHOUT_OUR_EVENTS,
          shape.endsEarly() && described
              ? file
                  + " has no events yet: its JVM has just started, or was killed during start-up."
              : file + " has no CoorDL events: was the agent attached to the program?");
    }
    if (failure != null || delivery.events != expected) {
      throw damaged(file);
    }
    JobRecording recording =
        collector.recording(file, Files.size(file), shape.total(), shape.endsEarly());
    if (shape.endsEarly() && hasNoTotals(recording)) {
      throw new RecordingException(
          ExitStatus.WITHOUT_OUR_EVENTS,
          file + " has no figures yet: the agent writes the first when an epoch ends.");
    }
    return recording;
  }

  /** Reads the events with the JDK, on several threads in parallel. */
  private static final class Delivery {
    private static final long PROGRESS_STEP = 1 << 16;

    private final Path recording;
    private final long expected;
    private final DoubleConsumer progress;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private long events;

    Delivery(Path recording, long expected, DoubleConsumer progress) {
      this.recording = recording;
      this.expected = expected;
      this.progress = progress;
    }

    void to(Map<String, Consumer<JobEvent>> takers) {
      long[] delivered = new long[1];
      try (EventStream stream = EventStream.openFile(recording)) {
        stream.setReuse(true);
        stream.setOrdered(false);
        stream.onError(error -> failure.compareAndSet(null, error));
        takers.forEach(
            (name, taker) ->
                stream.onEvent(
                    name,
                    event -> {
                      taker.accept(new RecordedJobEvent(event));
                      if (++delivered[0] % PROGRESS_STEP == 0) {
                        add(PROGRESS_STEP);
                      }
                    }));
        stream.start();
      } catch (IOException | RuntimeException | InternalError | StackOverflowError damage) {
        failure.compareAndSet(null, damage);
      }
      add(delivered[0] % PROGRESS_STEP);
    }

    private synchronized void add(long more) {
      events += more;
      progress.accept(expected == 0 ? 1 : Math.min(1, (double) events / expected));
    }
  }

  private static Map<Long, String> typeNames(Path file, Path readable) throws RecordingException {
    try (RecordingFile recording = new RecordingFile(readable)) {
      return recording.readEventTypes().stream()
          .collect(Collectors.toMap(EventType::getId, EventType::getName, (first, same) -> first));
    } catch (IOException | RuntimeException | InternalError | StackOverflowError e) {
      // The JDK's parser has no specific exception for damage; any of these means damage.
      throw new RecordingException(
          ExitStatus.DAMAGED, file + " is damaged: its description of the events cannot be read.");
    }
  }

  private static boolean hasNoTotals(JobRecording recording) {
    return recording.job() == null
        && recording.epochs().isEmpty()
        && recording.phases().isEmpty()
        && recording.faults() == 0;
  }

  private static void checkOneJob(Path file, Collector collector) throws RecordingException {
    if (collector.jvms.size() > 1) {
      Set<Long> pids = new TreeSet<>();
      collector.jvms.values().forEach(jvm -> pids.add(jvm.pid()));
      throw new RecordingException(
          ExitStatus.SEVERAL_RUNS,
          String.format(
              "%s holds recordings of %s JVMs (pid %s): summarise the file of each JVM.",
              file,
              collector.jvms.size(),
              pids.stream().map(String::valueOf).collect(Collectors.joining(", "))));
    }
    if (collector.severalJobs) {
      throw new RecordingException(
          ExitStatus.SEVERAL_RUNS,
          file + " holds recordings of more than one run: summarise the file of each run.");
    }
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
