package io.coordl.partition.hosts.membership;

import io.coordl.log.OnceLog;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLException;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.Log;
import org.jgroups.logging.LogFactory;
import org.jgroups.logging.NoopLogImpl;
import org.jspecify.annotations.Nullable;

/**
 * The log of the transport: connections that were refused are one sentence for each address, and
 * nothing else is worth one. All other logs of JGroups say nothing.
 */
final class Refusals extends NoopLogImpl {
  private static final int MOST_SENTENCES = 8;

  private final Set<String> said = ConcurrentHashMap.newKeySet();
  private volatile @Nullable OnceLog log;

  /**
   * To be called before any other class of JGroups is initialized. It is a static setting, ours
   * alone in the agent's loader.
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

  void tell(OnceLog listener) {
    log = listener;
  }

  @Override
  public boolean isWarnEnabled() {
    return true;
  }

  @Override
  public void warn(String format, Object... arguments) {
    String from = null;
    Exception cause = null;
    for (Object argument : arguments) {
      if (argument instanceof Socket socket && socket.getInetAddress() != null) {
        from = socket.getInetAddress().getHostAddress();
      } else if (argument instanceof Exception exception) {
        cause = exception;
      }
    }
    OnceLog heard = log;
    if (from != null
        && cause != null
        && heard != null
        && said.size() < MOST_SENTENCES
        && said.add(from)) {
      // JGroups touches the socket once more, so that it is the second failure that is told.
      boolean refused = cause instanceof SSLException || cause instanceof SocketException;
      heard.once(
          "A connection from "
              + from
              + (refused
                  ? " did not prove to be a peer; it was refused."
                  : " did not speak as a peer of this version; it was closed."));
    }
  }
}
