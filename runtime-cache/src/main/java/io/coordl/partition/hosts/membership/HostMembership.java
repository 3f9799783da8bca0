package io.coordl.partition.hosts.membership;

import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.partition.HostPort;
import io.coordl.partition.hosts.Member;
import io.coordl.partition.hosts.Membership;
import io.coordl.partition.hosts.membership.ViewFile.View;
import io.coordl.shared.Machine;
import io.coordl.shared.SharedFile;
import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * This host as one member, however many of its jobs take part. The job that holds a lock of the
 * host's shared file leads the member: it serves the items, stands in the cluster, and tells all
 * jobs of the host, through that file, who is there. When it ends, or is killed, the kernel gives
 * the lock back, and another job takes over on the same ports and under the same name, within
 * {@link #LOOK} and the time that joining takes; for the other hosts the member never moved.
 *
 * <p>All of it happens on one daemon thread and those of JGroups; a program's thread that asks
 * finds a list, empty as long as nothing is known.
 */
public final class HostMembership implements Membership {
  /** How long a job looks for a new view, and for a lock that was given back, at most. */
  static final Duration LOOK = Duration.ofMillis(200);

  private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();
  private static final Duration LEAVING = Duration.ofSeconds(3);

  private final AtomicBoolean left = new AtomicBoolean();
  private volatile @Nullable SharedFile<ViewFile> shared;
  private final Settings settings;
  private final ItemServer server;
  private final OnceLog log;
  private final Thread thread;

  /** If this job leads the member; of its thread alone. */
  private @Nullable HostLeader leader;

  private long readSequence;
  private volatile boolean closed;
  private volatile View view = View.NONE;

  /** Serves this host's items as long as this job leads the member. */
  @FunctionalInterface
  public interface ItemServer {
    /**
     * Begins to serve.
     *
     * @param address to listen at, and at nothing else
     * @throws IOException with a sentence for the user
     */
    Closeable open(InetSocketAddress address) throws IOException;
  }

  /**
   * What is known from the start.
   *
   * @param directory where the jobs of this host meet
   * @param store name of the store that they share
   * @param group only hosts of the same are members
   * @param peers where other hosts are looked for
   * @param bind where to listen; null to find that out
   * @param tls credentials by which peers prove themselves
   * @param capacity byte budget of the store; 0 as long as that is not there, and so long this job
   *     does not lead: others choose by it what this host keeps, and a member never changes
   */
  public record Settings(
      Path directory,
      String store,
      String group,
      Discovery peers,
      @Nullable HostPort bind,
      SSLContext tls,
      LongSupplier capacity,
      Function<String, @Nullable String> environment) {}

  /** Begins in the background and returns at once. */
  public HostMembership(Settings settings, ItemServer server, UserLog userLog) {
    this.settings = settings;
    this.server = server;
    this.log = new OnceLog(userLog);
    thread = new AgentThread("coordl-membership", this::run);
    thread.setContextClassLoader(HostMembership.class.getClassLoader()); // For JGroups.
    thread.start();
  }

  @Override
  public List<Member> members() {
    return view.members();
  }

  @Override
  public String self() {
    return view.self();
  }

  private void run() {
    SharedFile<ViewFile> file = join();
    while (!closed && file == null) {
      LockSupport.parkNanos(this, RETRY_NANOS);
      file = join();
    }
    shared = file;
    if (file != null) {
      leadAndLook(file);
      stopLeading(file);
    }
  }

  /** The file comes last: who finds it without a job takes the member for gone. */
  private void stopLeading(SharedFile<ViewFile> file) {
    try {
      if (leader != null) {
        leader.close();
      }
    } catch (RuntimeException | Error e) {
      AgentThread.survive(e);
    } finally {
      leave(file);
    }
  }

  private void leave(SharedFile<ViewFile> file) {
    if (!left.getAndSet(true)) {
      file.close();
    }
  }

  /** Null if the file cannot be had, now. */
  private @Nullable SharedFile<ViewFile> join() {
    try {
      long user = Machine.user();
      SharedFile.sweep(settings.directory(), user, ViewFile.CONTENTS, this::say);
      Path path = SharedFile.path(settings.directory(), user, settings.store(), ViewFile.CONTENTS);
      return new SharedFile.Opening<>(
              path, user, ViewFile.CONTENTS, () -> ViewFile.BYTES, this::say)
          .within(SharedFile.PATIENCE);
    } catch (IOException e) {
      say(e.getMessage());
    } catch (RuntimeException | Error e) {
      AgentThread.survive(e);
    }
    return null;
  }

  /** Until the job ends. A round that fails costs the others nothing: the member stays one. */
  private void leadAndLook(SharedFile<ViewFile> file) {
    long triedNanos = System.nanoTime() - RETRY_NANOS;
    while (!closed) {
      try {
        long now = System.nanoTime();
        if (leader == null
            && now - triedNanos >= RETRY_NANOS
            && settings.capacity().getAsLong() > 0
            && file.liveness().tryLead()) {
          triedNanos = now;
          leader = lead(file);
        }
        if (leader != null) {
          View next = leader.view();
          if (!next.equals(view)) {
            file.memory().write(next);
          }
        }
        read(file.memory());
      } catch (IOException e) {
        say(e.getMessage());
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
      LockSupport.parkNanos(this, LOOK.toNanos());
    }
  }

  /** Null if this job cannot; then another may. */
  private @Nullable HostLeader lead(SharedFile<ViewFile> file) throws IOException {
    read(file.memory());
    HostLeader started = null;
    try {
      started = new HostLeader(settings, server, members(), this::wake, log);
    } catch (IOException | IllegalArgumentException e) {
      say(e.getMessage());
    } finally {
      if (started == null) {
        file.liveness().stopLeading();
      }
    }
    return started;
  }

  private void read(ViewFile file) {
    long sequence = file.sequence();
    View now = sequence == readSequence ? null : file.read();
    if (now != null) {
      readSequence = sequence;
      view = now.equals(view) ? view : now; // A new list for each change, and for nothing else.
    }
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void say(@Nullable String sentence) {
    log.once("" + sentence);
  }

  /** Leaves; if this job leads the member, another may. Waits, boundedly, until that is done. */
  @Override
  public void close() {
    closed = true;
    wake();
    try {
      thread.join(LEAVING.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    SharedFile<ViewFile> file = shared;
    if (thread.isAlive() && file != null) {
      leave(file); // It is still joining the others; the job ends, and leaves no file behind.
    }
  }
}
