package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleConsumer;

/**
 * Walks through a recording by the sizes of its events, and counts the events without reading them.
 *
 * <p>The JDK's event stream ends silently if a file is cut off or damaged, and waits forever for
 * the rest of an unfinished chunk of a dead JVM. A report on the readable part would show wrong
 * figures. So this class checks the file first, and its counts show afterwards whether the stream
 * delivered every event.
 */
final class ChunkWalk {
  private static final long METADATA = 0;
  private static final long CONSTANTS = 1;

  /** Types with this number or a higher one are rare, and counted in a map. */
  private static final int USUAL_TYPES = 1 << 14;

  static final Comparator<Chunk> BY_TIME =
      Comparator.comparingLong(chunk -> chunk.header().startNanos());

  private final Path file;
  private final FileBytes bytes;
  private final long length;
  private final DoubleConsumer progress;

  private final long[] counts = new long[USUAL_TYPES];
  private final Map<Long, Long> countsOfHighTypes = new HashMap<>();
  private final Map<List<Long>, Chunk> chunks = new LinkedHashMap<>();
  private boolean endsEarly;
  private long reported;

  private ChunkWalk(Path file, FileBytes bytes, DoubleConsumer progress) {
    this.file = file;
    this.bytes = bytes;
    this.length = bytes.length;
    this.progress = progress;
  }

  /**
   * The result of a walk.
   *
   * @param chunks the chunks to read, in order of their start times, without duplicates
   * @param asIs true if the file consists of exactly these chunks in this order, all finished
   * @param endsEarly true if any chunk is unfinished
   * @param events number of events in these chunks, by type number
   */
  record Shape(List<Chunk> chunks, boolean asIs, boolean endsEarly, Map<Long, Long> events) {
    long total() {
      return events.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /** A chunk and its position in the file. */
  record Chunk(Path file, long position, ChunkHeader header) {}

  /** Walks through the whole file; throws if it is cut off, damaged or not a recording. */
  static Shape walk(Path file, DoubleConsumer progress) throws IOException, RecordingException {
    try (FileBytes bytes = new FileBytes(file)) {
      return new ChunkWalk(file, bytes, progress).walk();
    }
  }

  private Shape walk() throws IOException, RecordingException {
    if (length == 0) {
      throw new RecordingException(
          ExitStatus.NO_RECORDING,
          file
              + " is empty: JFR writes this file when the JVM ends. If the JVM is still running,"
              + " `coordl dump PID` writes the recording so far; if the JVM was killed, the data"
              + " that JFR had flushed is in the temporary directory, in a folder whose name begins"
              + " with the date and ends with the process id.");
    }
    progress.accept(0);
    long position = 0;
    while (position < length) {
      position = walkChunk(position);
      if (endsEarly && !isFlushedChunkAt(position)) {
        // Data that a dead JVM wrote after its last flush belongs to no chunk.
        break;
      }
    }
    Map<Long, Long> events = new HashMap<>(countsOfHighTypes);
    for (int type = 0; type < USUAL_TYPES; type++) {
      if (counts[type] > 0) {
        events.put((long) type, counts[type]);
      }
    }
    List<Chunk> inFile = List.copyOf(chunks.values());
    List<Chunk> byTime = inFile.stream().sorted(BY_TIME).toList();
    boolean asIs =
        !endsEarly
            && byTime.equals(inFile)
            && inFile.stream().mapToLong(chunk -> chunk.header().size()).sum() == length;
    return new Shape(byTime, asIs, endsEarly, Map.copyOf(events));
  }

  private boolean isChunkAt(long position) throws IOException {
    return length - position >= ChunkHeader.LENGTH && ChunkHeader.isAt(headerAt(position));
  }

  private boolean isFlushedChunkAt(long position) throws IOException {
    return isChunkAt(position) && !ChunkHeader.at(headerAt(position)).isBare();
  }

  private ByteBuffer headerAt(long position) throws IOException {
    bytes.seek(position, length);
    return bytes.peek(ChunkHeader.LENGTH);
  }

  /** Walks through one chunk and returns its end position. */
  private long walkChunk(long start) throws IOException, RecordingException {
    if (!isChunkAt(start)) {
      throw notAChunk(start);
    }
    ChunkHeader header = ChunkHeader.at(headerAt(start));
    if (header.isBare()) {
      if (start == 0) {
        throw new RecordingException(
            ExitStatus.NO_RECORDING,
            file + " has no readable data: its JVM has not flushed any, or ended before it did.");
      }
      endsEarly = true;
      return start;
    }
    if (header.size() < ChunkHeader.LENGTH) {
      throw damaged(start);
    }
    if (header.size() > length - start) {
      throw cutOff(start + header.size());
    }
    if (!header.isFinished()) {
      endsEarly = true;
    }
    // A chunk that occurs again, as in two dumps of one recording, must not count twice.
    boolean isNew = chunks.putIfAbsent(header.identity(), new Chunk(file, start, header)) == null;
    long end = start + header.size();
    long position = start + ChunkHeader.LENGTH;
    while (position < end) {
      position = walkEvent(position, end, isNew);
      if (position - reported >= FileBytes.WINDOW) {
        reported = position;
        progress.accept((double) position / length);
      }
    }
    reported = end;
    progress.accept((double) end / length);
    return end;
  }

  private long walkEvent(long position, long end, boolean isCounted)
      throws IOException, RecordingException {
    try {
      bytes.seek(position, end);
      long size = bytes.number();
      long type = bytes.number();
      if (size <= 0 || size > end - position) {
        throw damaged(position);
      }
      if (isCounted && type != METADATA && type != CONSTANTS) {
        count(type);
      }
      return position + size;
    } catch (EOFException e) {
      throw damaged(position);
    }
  }

  private void count(long type) {
    if (type >= 0 && type < USUAL_TYPES) {
      counts[(int) type]++;
    } else {
      countsOfHighTypes.merge(type, 1L, Long::sum);
    }
  }

  private RecordingException notAChunk(long start) throws IOException {
    if (start == 0) {
      int available = (int) Math.min(4, length);
      bytes.seek(0, length);
      ByteBuffer magic = bytes.peek(available);
      boolean isRecording = true;
      for (int i = 0; i < available; i++) {
        isRecording &= magic.get(i) == "FLR\0".charAt(i);
      }
      if (!isRecording) {
        return new RecordingException(
            ExitStatus.NO_RECORDING, file + " is not a Flight Recorder recording.");
      }
      if (length >= ChunkHeader.LENGTH) {
        return new RecordingException(
            ExitStatus.NO_RECORDING,
            file + " is a Flight Recorder recording of a version that coordl cannot read.");
      }
    }
    return length - start < ChunkHeader.LENGTH
        ? cutOff(start + ChunkHeader.LENGTH)
        : damaged(start);
  }

  private RecordingException cutOff(long expected) {
    return new RecordingException(
        ExitStatus.DAMAGED,
        String.format(
            "%s is cut off: it has %s bytes of at least %s; copy it again from where it was"
                + " recorded.",
            file, length, expected));
  }

  private RecordingException damaged(long position) {
    return new RecordingException(
        ExitStatus.DAMAGED,
        file + " is damaged at byte " + position + ": its figures would be wrong.");
  }
}
