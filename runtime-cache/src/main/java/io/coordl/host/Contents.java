package io.coordl.host;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Contents of a {@link SharedFile}: how to recognise, create and join them. {@link #map}, {@link
 * #format}, {@link #enter} and {@link #nextJob} are called under the file's setup lock.
 *
 * @param <M> memory of the file, closed with it
 */
public interface Contents<M extends Contents.Memory> {
  /** The 64-bit words of a file, by byte offset. */
  interface Memory extends Closeable {
    long get(long at);

    void set(long at, long value);
  }

  /** Returns the header, which distinguishes the agent's files. */
  Header header();

  /** Returns the size in bytes below which a file is not worth creating. */
  long minimum();

  /** Maps {@code bytes} bytes of the file, extending it if it is shorter. */
  M map(Path path, long bytes) throws IOException;

  /** Creates the contents of a new file; the header is written afterwards. */
  default void format(M memory) throws IOException {}

  /**
   * Admits a job, and registers it if the contents list their jobs; throws with a message for the
   * user if the job cannot join.
   */
  default void enter(M memory, long job, Liveness liveness, Path path) throws IOException {}

  /** Returns an unused number for a joining job; 0 if none is left. */
  static long nextJob(Memory memory) {
    long job = memory.get(Header.JOBS) + 1;
    if (job > Liveness.MAX_JOB) {
      return 0;
    }
    memory.set(Header.JOBS, job);
    return job;
  }

  /**
   * A kind of shared file, and its header: words of 64 bits at the beginning of the file, in the
   * machine's byte order.
   *
   * @param suffix end of the file's name, with its dot
   * @param noun name shown to the user: "store"
   * @param without what the user loses if the file cannot be used: "nothing is cached"
   * @param magic type of the file, written last
   * @param version layout version
   * @param layout number that differs between builds that lay out the file differently
   * @param bytes size of the header
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

    /** Number of the last job that joined; numbers are never reused. */
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
