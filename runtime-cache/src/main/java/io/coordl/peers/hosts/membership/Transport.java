package io.coordl.peers.hosts.membership;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jgroups.protocols.TCP;
import org.jgroups.util.DefaultSocketFactory;
import org.jgroups.util.DefaultThreadFactory;

/** JGroups' transport, on daemon threads, bound to exactly one address and port. */
final class Transport extends TCP {
  private static final int CONNECT_MILLIS = 300;

  /** In bytes. A typical frame has a few hundred, a view of 256 hosts about ten thousand. */
  private static final int MAX_FRAME_BYTES = 1 << 20;

  private static final int MAX_THREADS = 32;

  private final InetSocketAddress bind;

  Transport(InetSocketAddress bind, SSLContext tls, OnceLog listener) {
    this.bind = bind;
    Refusals refusals = log instanceof Refusals ours ? ours : new Refusals();
    refusals.logTo(listener);
    setThreadFactory(new Threads());
    useVirtualThreads(false);
    setBundlerType("no-bundler");
    getThreadPool().setMinThreads(0).setMaxThreads(MAX_THREADS);
    enableSuspectEvents(true);
    setSockConnTimeout(CONNECT_MILLIS);
    setPeerAddrReadTimeout(CONNECT_MILLIS);
    tcpNodelay(true);
    setMaxLength(MAX_FRAME_BYTES);
    bind();
    setSocketFactory(new Sockets(tls, refusals::refuse));
  }

  /** Makes JGroups' threads agent threads. */
  private static final class Threads extends DefaultThreadFactory {
    Threads() {
      super("coordl-peers", true, true);
    }

    @Override
    protected Thread newThread(Runnable work, String name, String address, String cluster) {
      Thread thread = new AgentThread(getThreadName(name, address, cluster), work);
      thread.setContextClassLoader(Transport.class.getClassLoader());
      return thread;
    }
  }

  /**
   * Binds to the address. Must be called again once the channel exists, because its creation reads
   * JGroups' system properties.
   */
  void bind() {
    setBindAddr(bind.getAddress());
    setBindPort(bind.getPort());
    setPortRange(0);
    setExternalAddr(null);
    setExternalPort(0);
    setClientBindAddr(bind.getAddress());
    setClientBindPort(0);
  }

  /** Routes every incoming connection through the {@link Door}. */
  private static final class Sockets extends DefaultSocketFactory {
    private final SSLContext tls;
    private final Consumer<InetAddress> refused;

    Sockets(SSLContext tls, Consumer<InetAddress> refused) {
      super(tls);
      this.tls = tls;
      this.refused = refused;
      setSocketConfigurator(Transport::boundHandshake);
    }

    @Override
    public ServerSocket createServerSocket(String name) throws IOException {
      return new Door(tls, refused);
    }
  }

  /** Bounds the handshake: a suspended host accepts connections but never answers. */
  private static void boundHandshake(Socket socket) {
    try {
      socket.setSoTimeout(4 * Cluster.HEARTBEAT_MILLIS);
      ((SSLSocket) socket)
          .addHandshakeCompletedListener(
              done -> {
                try {
                  done.getSocket().setSoTimeout(0);
                } catch (SocketException e) {
                  // Already closed.
                }
              });
    } catch (SocketException e) {
      // Already closed; its user gets the failure.
    }
  }
}
