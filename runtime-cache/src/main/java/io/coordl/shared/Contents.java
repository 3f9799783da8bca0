package io.coordl.shared;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What a {@link SharedFile} holds: how it is known again, made and joined. Everything here but
 * {@link #map} is called under the file's setup lock.
 *
 * @param <M> its memory, closed with the file
 */
public interface Contents<M extends Contents.Memory> {
  /** The words of a file. */
  interface Memory extends Closeable {
    long get(long at);

    void set(long at, long value);
  }

  /** What tells one file of ours from another. */
  Header header();

  /** Bytes below which a file is not worth being made. */
  long minimum();

  /** Maps a file of this length, or one to be given it. */
  M map(Path path, long bytes) throws IOException;

  /** Makes the contents of a new file; the header comes after that. */
  default void format(M memory) throws IOException {}

  /**
   * Enters a job that is alive from now on; throws with a sentence for the user if there is no
   * room.
   */
  default void enter(M memory, long job, Liveness liveness, Path path) throws IOException {}

  /** The number of a job that joins: one that no job had before; 0 if there is none. */
  static long nextJob(Memory memory) {
    long job = memory.get(Header.JOBS) + 1;
    if (job > Liveness.MAX_JOB) {
      return 0;
    }
    memory.set(Header.JOBS, job);
    return job;
  }

  /**
   * Words at the beginning of every file of ours, each of 64 bits, in the machine's byte order.
   *
   * @param suffix end of the file's name, with its dot
   * @param noun what the user calls it: "store"
   * @param without what it costs the user if the file is not to be used: "nothing is cached"
   * @param magic what the file is, written last
   * @param version of the layout
   * @param layout that differs between builds which count differently
   * @param bytes of the whole header
   */
  record Header(
      String suffix,
      String noun,
      String without,
      long magic,
      long version,
      long layout,
      int bytes) {
    public static final long MAGIC = 0;
    public static final long VERSION = 8;
    public static final long LAYOUT = 16;

    public static final long UID = 24;

    public static final long CAPACITY = 32;

    /** Number of the last job that joined; numbers are never given twice. */
    public static final long JOBS = 40;

    public void write(Memory memory, long user, long capacity) {
      memory.set(VERSION, version);
      memory.set(LAYOUT, layout);
      memory.set(UID, user);
      memory.set(CAPACITY, capacity);
      memory.set(MAGIC, magic);
    }
  }
}
