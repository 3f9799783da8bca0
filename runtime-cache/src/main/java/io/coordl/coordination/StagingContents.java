package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.PAGE;

import io.coordl.host.Contents;
import io.coordl.host.Liveness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** The contents of a shared file that is a staging buffer. */
final class StagingContents implements Contents<StagingFile> {
  static final String SUFFIX = ".staging";

  private static final Header HEADER =
      new Header(
          SUFFIX,
          "staging buffer",
          "nothing is shared",
          StagingDescriptor.MAGIC_VALUE,
          StagingDescriptor.VERSION_VALUE,
          StagingDescriptor.LAYOUT_VALUE,
          StagingDescriptor.HEADER_BYTES);

  private final byte[] fingerprint;
  private final long itemRoom;
  private final long batchRoom;
  private final HeartbeatThread heartbeat;

  /**
   * Creates contents for this pipeline; a new file has room for orders at least a quarter longer
   * than this one.
   */
  StagingContents(Fingerprint pipeline, BatchOrder order, HeartbeatThread heartbeat) {
    this.fingerprint = pipeline.text().getBytes(StandardCharsets.UTF_8);
    this.itemRoom = withReserve(order.items.length, 1024);
    this.batchRoom = withReserve(order.batches(), 64);
    this.heartbeat = heartbeat;
  }

  private static long withReserve(long count, long more) {
    return count + count / 4 + more & -8L;
  }

  /** Returns the pipeline of a file with these first bytes. */
  static Fingerprint fingerprint(byte[] head) {
    ByteBuffer words = ByteBuffer.wrap(head).order(ByteOrder.nativeOrder());
    long length = words.getLong((int) StagingDescriptor.TEXT_BYTES);
    int bytes = (int) Math.max(0, Math.min(length, StagingDescriptor.MAX_TEXT_BYTES));
    return Fingerprint.parse(
        new String(head, (int) StagingDescriptor.TEXT, bytes, StandardCharsets.UTF_8));
  }

  /**
   * Returns the process ids of the jobs in a file with these first bytes; empty once a job prepares
   * batches.
   */
  static Set<Long> waiting(byte[] head) {
    ByteBuffer words = ByteBuffer.wrap(head).order(ByteOrder.nativeOrder());
    Set<Long> pids = new HashSet<>();
    boolean isPreparing =
        words.getLong((int) StagingDescriptor.SIZER) != 0
            || words.getLong((int) StagingDescriptor.SLOT_BYTES) != 0;
    for (int participant = 0;
        !isPreparing && participant < StagingDescriptor.MAX_PARTICIPANTS;
        participant++) {
      int at = (int) StagingDescriptor.participant(participant);
      if (words.getLong(at + (int) StagingDescriptor.PARTICIPANT_JOB) != 0) {
        pids.add(words.getLong(at + (int) StagingDescriptor.PARTICIPANT_PID));
      }
    }
    return pids;
  }

  /** Returns the length of a file with {@code budget} bytes of slots. */
  long capacity(long budget) {
    return StagingDescriptor.slotsOffset(itemRoom, batchRoom) + (budget & -PAGE);
  }

  @Override
  public Header header() {
    return HEADER;
  }

  @Override
  public long minimum() {
    return capacity(2 * PAGE);
  }

  @Override
  public StagingFile map(Path path, long bytes) throws IOException {
    return StagingFile.map(path, bytes, itemRoom, batchRoom, heartbeat);
  }

  @Override
  public void format(StagingFile memory) throws IOException {
    if (fingerprint.length > StagingDescriptor.MAX_TEXT_BYTES) {
      throw new IOException("The pipeline's description is too long; nothing is shared.");
    }
    long head = StagingDescriptor.slotsOffset(itemRoom, batchRoom);
    memory.set(StagingDescriptor.ITEM_ROOM, itemRoom);
    memory.set(StagingDescriptor.BATCH_ROOM, batchRoom);
    memory.set(StagingDescriptor.BUDGET, memory.length() - head);
    memory.set(StagingDescriptor.TEXT_BYTES, fingerprint.length);
    memory.putBytes(StagingDescriptor.TEXT, fingerprint);
  }

  @Override
  public void enter(StagingFile memory, long job, Liveness liveness, Path path) throws IOException {
    if (!Participants.enter(memory, job, ProcessHandle.current().pid(), liveness::alive)) {
      throw new IOException(
          String.format(
              "The staging buffer %s is already shared by %s jobs, the maximum.",
              path, StagingDescriptor.MAX_PARTICIPANTS));
    }
  }
}
