package io.coordl.peers.hosts.membership;

import io.coordl.host.AgentThread;
import io.coordl.peers.Deadline;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
import io.coordl.peers.hosts.PeerTls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/**
 * The server socket of JGroups. JGroups itself performs one handshake at a time, so a silent client
 * would block every host that joins. Here each client authenticates as a peer on its own thread and
 * within a time limit, and JGroups receives only peers. If too many clients have not authenticated
 * yet, the oldest one is disconnected.
 */
final class Door extends ServerSocket {
  private static final int MAX_STRANGERS = 64;
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SSLContext tls;
  private final Consumer<InetAddress> refused;
  private final Watch watch = new Watch("coordl-peers-watch");
  private final Deque<Deadline> strangers = new ConcurrentLinkedDeque<>();
  private final BlockingQueue<Socket> peers = new LinkedBlockingQueue<>();
  private boolean opened;

  /**
   * Creates an unbound server socket.
   *
   * @param refused called for each connection that did not authenticate as a peer
   */
  Door(SSLContext tls, Consumer<InetAddress> refused) throws IOException {
    this.tls = tls;
    this.refused = refused;
  }

  /** Waits for the next peer; called by JGroups' single accepting thread. */
  @Override
  public Socket accept() throws IOException {
    if (!opened) {
      opened = true;
      new AgentThread("coordl-peers-door", this::acceptClients).start();
    }
    while (!isClosed()) {
      try {
        Socket peer = peers.poll(1, TimeUnit.SECONDS);
        if (peer != null) {
          return peer;
        }
      } catch (InterruptedException e) {
        // JGroups interrupts once this is closed; any other interrupt comes from the program and is
        // meant for its own threads.
      }
    }
    throw new SocketException("closed");
  }

  private void acceptClients() {
    while (!isClosed()) {
      try {
        Socket newcomer = super.accept();
        while (strangers.size() >= MAX_STRANGERS) {
          strangers.removeFirst().close();
        }
        Deadline deadline = new Deadline(watch, newcomer);
        strangers.addLast(deadline);
        new AgentThread("coordl-peers-newcomer", () -> authenticate(newcomer, deadline)).start();
      } catch (IOException | OutOfMemoryError e) {
        // No descriptor or thread is left; the program may free some.
        LockSupport.parkNanos(this, RETRY_NANOS);
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
    }
  }

  private void authenticate(Socket newcomer, Deadline deadline) {
    boolean trusted = false;
    try {
      deadline.in(Timeouts.USUAL.handshake().toNanos());
      Socket peer = PeerTls.over(tls, newcomer, false);
      trusted = deadline.end() && peers.add(peer);
    } catch (SSLException e) {
      if (!deadline.passed() && !PeerTls.isGone(e)) {
        refused.accept(newcomer.getInetAddress());
      }
    } catch (IOException e) {
      // The client disconnected, or was disconnected.
    } catch (RuntimeException | Error e) {
      AgentThread.survive(e);
    } finally {
      strangers.remove(deadline);
      if (trusted) {
        watch.remove(deadline);
      } else {
        deadline.close();
      }
    }
  }

  @Override
  public void close() throws IOException {
    super.close();
    watch.close();
  }
}
