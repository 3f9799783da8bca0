package io.coordl.peers.hosts.membership;

import io.coordl.host.AgentThread;
import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.Membership;
import io.coordl.peers.hosts.membership.ViewFile.View;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
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
 * Represents this host as one member, however many of its jobs participate. The job that holds a
 * lock on the host's shared file is the leader: it serves the items, joins the cluster, and
 * publishes the members to all jobs of the host through that file. When the leader ends or is
 * killed, the kernel releases the lock, and another job takes over on the same ports and under the
 * same name, within {@link #CHECK_INTERVAL} plus the time to join. The other hosts observe the same
 * member throughout.
 *
 * <p>All work happens on one daemon thread and on JGroups' threads. The program's threads only read
 * a list, which is empty until the members are known.
 */
public final class HostMembership implements Membership {
  /** Maximum interval between checks for a new view or a released lock. */
  static final Duration CHECK_INTERVAL = Duration.ofMillis(200);

  private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();
  private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(3);

  private final AtomicBoolean hasLeft = new AtomicBoolean();
  private volatile @Nullable SharedFile<ViewFile> shared;
  private final Settings settings;
  private final ItemServer server;
  private final OnceLog log;
  private final Thread thread;

  /** Set if this job is the leader; used only by {@link #thread}. */
  private @Nullable HostLeader leader;

  private long readSequence;
  private volatile boolean closed;
  private volatile View view = View.NONE;

  /** Serves this host's items while this job is the leader. */
  @FunctionalInterface
  public interface ItemServer {
    /**
     * Starts serving.
     *
     * @param address the only address to listen on
     * @throws IOException with a sentence for the user
     */
    Closeable open(InetSocketAddress address) throws IOException;
  }

  /**
   * Settings that are known from the start.
   *
   * @param directory directory of this host's shared file
   * @param store name of the store that the host's jobs share
   * @param group only hosts of the same group are members
   * @param peers where to find other hosts
   * @param bind address to listen on; null to determine it automatically
   * @param tls credentials with which peers authenticate each other
   * @param capacity byte budget of the store; 0 until the store is open. This job does not lead
   *     before that, because other hosts choose by the budget which items this host caches, and a
   *     published member never changes
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

  /** Starts in the background and returns immediately. */
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
      leadOrFollow(file);
      stopLeading(file);
    }
  }

  /** Closes the file last: a job that finds it unused assumes that the member is gone. */
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
    if (!hasLeft.getAndSet(true)) {
      file.close();
    }
  }

  /** Opens the host's shared file; null if that is impossible now. */
  private @Nullable SharedFile<ViewFile> join() {
    try {
      long user = Machine.user();
      SharedFile.sweep(settings.directory(), user, ViewFile.CONTENTS, this::log);
      Path path = SharedFile.path(settings.directory(), user, settings.store(), ViewFile.CONTENTS);
      return new SharedFile.Opening<>(
              path, user, ViewFile.CONTENTS, () -> ViewFile.BYTES, this::log)
          .within(SharedFile.PATIENCE);
    } catch (IOException e) {
      log(e.getMessage());
    } catch (RuntimeException | Error e) {
      AgentThread.survive(e);
    }
    return null;
  }

  /** Leads or follows until the job ends. A failed round does not affect the other jobs. */
  private void leadOrFollow(SharedFile<ViewFile> file) {
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
        log(e.getMessage());
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
      LockSupport.parkNanos(this, CHECK_INTERVAL.toNanos());
    }
  }

  /** Starts leading; null if this job cannot lead, in which case another may. */
  private @Nullable HostLeader lead(SharedFile<ViewFile> file) throws IOException {
    read(file.memory());
    HostLeader started = null;
    try {
      started = new HostLeader(settings, server, members(), this::wake, log);
    } catch (IOException | IllegalArgumentException e) {
      log(e.getMessage());
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
      view = now.equals(view) ? view : now; // A new list only for a real change.
    }
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void log(@Nullable String sentence) {
    log.once("" + sentence);
  }

  /**
   * Leaves, and waits for a bounded time until that is done. If this job is the leader, another may
   * take over.
   */
  @Override
  public void close() {
    closed = true;
    wake();
    try {
      thread.join(LEAVE_TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    SharedFile<ViewFile> file = shared;
    if (thread.isAlive() && file != null) {
      leave(file); // Still joining: leave no file behind when the job ends.
    }
  }
}
