package io.coordl.peers.hosts.membership;

import io.coordl.telemetry.log.OnceLog;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.Log;
import org.jgroups.logging.LogFactory;
import org.jgroups.logging.NoopLogImpl;
import org.jspecify.annotations.Nullable;

/**
 * The log of JGroups' transport: reports each of the first {@value #MAX_SENTENCES} refused
 * addresses once, and nothing else. All other JGroups logs are silent.
 */
final class Refusals extends NoopLogImpl {
  private static final int MAX_SENTENCES = 8;

  private final Set<String> logged = ConcurrentHashMap.newKeySet();
  private volatile @Nullable OnceLog log;

  /**
   * Must be called before any other JGroups class is initialized. The setting is static, but only
   * the agent's loader sees it.
   */
  static void replaceLogs() {
    LogFactory.setCustomLogFactory(
        new CustomLogFactory() {
          @Override
          public Log getLog(Class<?> type) {
            return type == Transport.class ? new Refusals() : new NoopLogImpl();
          }

          @Override
          public Log getLog(String category) {
            return new NoopLogImpl();
          }
        });
  }

  /** Sets the log; until then, nothing is reported. */
  void logTo(OnceLog listener) {
    log = listener;
  }

  @Override
  public boolean isWarnEnabled() {
    return true;
  }

  @Override
  public void warn(String format, Object... arguments) {
    InetAddress from = null;
    boolean failed = false;
    for (Object argument : arguments) {
      if (argument instanceof Socket socket) {
        from = socket.getInetAddress();
      }
      failed |= argument instanceof Exception;
    }
    if (from != null && failed) {
      logOnce(from, " did not speak this version of the peers' protocol; it was closed.");
    }
  }

  /** Reports a connection from this address that did not authenticate as a peer. */
  void refuse(InetAddress from) {
    logOnce(from, " did not authenticate as a peer; it was refused.");
  }

  private void logOnce(InetAddress from, String what) {
    OnceLog current = log;
    String address = from.getHostAddress();
    if (current != null && logged.size() < MAX_SENTENCES && logged.add(address)) {
      current.once("A connection from " + address + what);
    }
  }
}
