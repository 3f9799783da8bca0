package io.coordl.reports.recording;

import io.coordl.reports.recording.RecordingException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Goes through a recording from event to event by their sizes, reads none, and counts them.
 *
 * <p>Why, when the JDK can read recordings: its event stream ends without a word where a file is
 * cut off or damaged, and waits for ever for the rest of a chunk that a dead JVM did not finish. A
 * report on what came before would be a wrong number. So the file is checked first, and the counts
 * tell afterwards whether the stream delivered everything.
 */
final class ChunkWalk {
  private static final int BUFFER = 1 << 20;
  private static final long METADATA = 0;
  private static final long CONSTANTS = 1;

  private final Path file;
  private final FileChannel channel;
  private final long length;
  private final Progress progress;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER).limit(0);
  private long bufferStart;

  private final Map<Long, long[]> events = new HashMap<>();
  private final Map<ChunkHeader, Long> chunks = new LinkedHashMap<>();
  private boolean endsEarly;

  private ChunkWalk(Path file, FileChannel channel, Progress progress) throws IOException {
    this.file = file;
    this.channel = channel;
    this.length = channel.size();
    this.progress = progress;
  }

  /**
   * What a walk found.
   *
   * @param chunks those to read, by their start, each once
   * @param asIs true if the file is just these chunks in this order, all finished
   * @param endsEarly true if something was not finished
   * @param events number of events in these chunks by the number of their type
   */
  record Shape(List<Chunk> chunks, boolean asIs, boolean endsEarly, Map<Long, Long> events) {
    long total() {
      return events.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /**
   * One chunk.
   *
   * @param position where it starts in the file
   */
  record Chunk(long position, ChunkHeader header) {}

  /**
   * Walks through the whole file.
   *
   * @throws RecordingException if the file is foreign, cut off or damaged
   */
  static Shape walk(Path file, Progress progress) throws IOException, RecordingException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return new ChunkWalk(file, channel, progress).walk();
    }
  }

  private Shape walk() throws IOException, RecordingException {
    if (length == 0) {
      throw new RecordingException(
          Kind.NO_RECORDING,
          file
              + " is empty: the JVM that recorded was killed before it wrote it. What JFR had"
              + " flushed by then is in the temporary directory, in a folder that begins with the"
              + " date and ends with the process id.");
    }
    long position = 0;
    while (position < length) {
      position = walkChunk(position);
      if (endsEarly && !flushedChunkAt(position)) {
        // What a dead JVM wrote after its last flush belongs to no chunk.
        break;
      }
    }
    Map<Long, Long> counts = new HashMap<>();
    events.forEach((type, count) -> counts.put(type, count[0]));
    List<Chunk> inFile = new ArrayList<>();
    chunks.forEach((header, start) -> inFile.add(new Chunk(start, header)));
    List<Chunk> byTime =
        inFile.stream()
            .sorted(Comparator.comparingLong((Chunk chunk) -> chunk.header().startNanos()))
            .toList();
    boolean asIs =
        !endsEarly
            && byTime.equals(inFile)
            && chunks.keySet().stream().mapToLong(ChunkHeader::size).sum() == length;
    return new Shape(byTime, asIs, endsEarly, Map.copyOf(counts));
  }

  private boolean chunkAt(long position) throws IOException {
    return length - position >= ChunkHeader.LENGTH
        && ChunkHeader.isAt(load(position, ChunkHeader.LENGTH));
  }

  private boolean flushedChunkAt(long position) throws IOException {
    return chunkAt(position) && !ChunkHeader.at(load(position, ChunkHeader.LENGTH)).isBare();
  }

  /** Returns the end of the chunk. */
  private long walkChunk(long start) throws IOException, RecordingException {
    if (!chunkAt(start)) {
      throw notAChunk(start);
    }
    ChunkHeader header = ChunkHeader.at(load(start, ChunkHeader.LENGTH));
    if (header.isBare()) {
      if (start == 0) {
        throw new RecordingException(
            Kind.NO_RECORDING,
            file + " holds nothing readable: its JVM ended before it first flushed the recording.");
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
    if (!header.finished()) {
      endsEarly = true;
    }
    // The same chunk again, as of two dumps of one recording, must not count twice.
    boolean first = chunks.putIfAbsent(header, start) == null;
    long end = start + header.size();
    long position = start + ChunkHeader.LENGTH;
    while (position < end) {
      position = walkEvent(position, end, first);
    }
    progress.at((double) end / length);
    return end;
  }

  private long walkEvent(long position, long end, boolean counts)
      throws IOException, RecordingException {
    // A number takes at most nine bytes; the event's size and type are two of them.
    ByteBuffer bytes = load(position, (int) Math.min(18, end - position));
    long size;
    long type;
    try {
      size = number(bytes);
      type = number(bytes);
    } catch (EOFException e) {
      throw damaged(position);
    }
    if (size <= 0 || size > end - position) {
      throw damaged(position);
    }
    if (counts && type != METADATA && type != CONSTANTS) {
      events.computeIfAbsent(type, unseen -> new long[1])[0]++;
    }
    return position + size;
  }

  /**
   * Seven bits a byte, least first, the eighth saying that more follow; the ninth byte is whole.
   */
  private static long number(ByteBuffer bytes) throws EOFException {
    long number = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      if (!bytes.hasRemaining()) {
        throw new EOFException();
      }
      byte next = bytes.get();
      number |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return number;
      }
    }
    if (!bytes.hasRemaining()) {
      throw new EOFException();
    }
    return number | (bytes.get() & 0xFFL) << 56;
  }

  /** The buffer, positioned so that at least {@code wanted} bytes from {@code position} follow. */
  private ByteBuffer load(long position, int wanted) throws IOException {
    if (position < bufferStart || position + wanted > bufferStart + buffer.limit()) {
      buffer.clear();
      bufferStart = position;
      while (buffer.hasRemaining() && channel.read(buffer, bufferStart + buffer.position()) >= 0) {}
      buffer.flip();
      if (buffer.limit() < wanted) {
        throw new EOFException("file shrank while it was read");
      }
      progress.at((double) position / length);
    }
    return buffer.position((int) (position - bufferStart));
  }

  private RecordingException notAChunk(long start) throws IOException {
    if (start == 0) {
      int known = (int) Math.min(4, length);
      ByteBuffer bytes = load(0, known);
      boolean ours = true;
      for (int i = 0; i < known; i++) {
        ours &= bytes.get(i) == "FLR\0".charAt(i);
      }
      if (!ours) {
        return new RecordingException(
            Kind.NO_RECORDING, file + " is not a Flight Recorder recording.");
      }
      if (length >= ChunkHeader.LENGTH) {
        return new RecordingException(
            Kind.NO_RECORDING,
            file + " is a Flight Recorder recording of a version that coordl cannot read.");
      }
    }
    return length - start < ChunkHeader.LENGTH
        ? cutOff(start + ChunkHeader.LENGTH)
        : damaged(start);
  }

  private RecordingException cutOff(long expected) {
    return new RecordingException(
        Kind.DAMAGED,
        file
            + " is cut off: it has "
            + length
            + " bytes of at least "
            + expected
            + "; copy it again from where it was recorded.");
  }

  private RecordingException damaged(long position) {
    return new RecordingException(
        Kind.DAMAGED,
        file + " is damaged at byte " + position + ": nothing in it can be relied on.");
  }
}
