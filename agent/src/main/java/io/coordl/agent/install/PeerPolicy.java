package io.coordl.agent.install;

import io.coordl.host.OwnDirectory;
import io.coordl.peers.HostPort;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.HostsEngine;
import io.coordl.peers.hosts.PeerServer;
import io.coordl.peers.hosts.PeerTls;
import io.coordl.peers.hosts.membership.Discovery;
import io.coordl.peers.hosts.membership.HostMembership;
import io.coordl.peers.redis.RedisEngine;
import io.coordl.peers.redis.RedisUri;
import io.coordl.store.ArenaStore;
import io.coordl.store.ItemStore;
import io.coordl.telemetry.log.UserLog;
import io.coordl.telemetry.recording.JobMonitor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Creates the engine for {@code peer=}; not loaded without that option. */
final class PeerPolicy {
  private PeerPolicy() {}

  /**
   * Opens the engine, which the monitor closes before the store. On failure, logs the reason and
   * returns null. Never falls back to an engine without the requested TLS, or to unauthenticated
   * hosts.
   *
   * @param store name of the store, the same for all jobs that share it
   */
  static @Nullable ItemStore engine(
      Options options, String store, ArenaStore arena, JobMonitor job) {
    try {
      return RedisUri.is(options.get(Option.PEER))
          ? redis(options, arena, tls(options), job)
          : hosts(options, store, arena, credentials(options), job);
    } catch (IOException e) {
      job.figures().log().say(e.getMessage() + " No other host is used.");
    } catch (RuntimeException | LinkageError e) {
      job.figures().log().say("peer= cannot be used (" + e + "); no other host is used.");
    }
    return null;
  }

  private static ItemStore redis(
      Options options, ArenaStore arena, @Nullable SSLContext tls, JobMonitor job) {
    List<RedisUri> servers = options.list(Option.PEER).stream().map(RedisUri::parse).toList();
    servers.stream()
        .map(RedisUri::exposure)
        .filter(Objects::nonNull)
        .limit(1)
        .forEach(job.figures().log()::say);
    RedisEngine engine =
        new RedisEngine(
            servers,
            tls,
            arena,
            options.get(Option.GROUP),
            job.figures().peers(),
            job.figures().log(),
            Timeouts.USUAL);
    job.addPolicy(() -> "", engine);
    return engine;
  }

  private static ItemStore hosts(
      Options options, String store, ArenaStore arena, SSLContext tls, JobMonitor job) {
    UserLog log = job.figures().log();
    String group = options.get(Option.GROUP);
    String bind = options.get(Option.PEER_BIND);
    HostMembership membership =
        new HostMembership(
            new HostMembership.Settings(
                OwnDirectory.in(ArenaStore.SHARED_MEMORY),
                store,
                group,
                Discovery.parse(options.list(Option.PEER)),
                bind.equals(Option.PEER_BIND.defaultValue) ? null : HostPort.parse(bind),
                tls,
                arena::capacity,
                System::getenv),
            address -> new PeerServer(address, arena, tls, group, log, Timeouts.USUAL),
            log);
    int awaited = options.count(Option.PEER_HOSTS);
    HostsEngine engine =
        new HostsEngine(
            arena, membership, tls, awaited, group, job.figures().peers(), log, Timeouts.USUAL);
    job.addPolicy(() -> "", engine);
    return engine;
  }

  /** The credentials with which this group's hosts authenticate each other. */
  private static SSLContext credentials(Options options) throws IOException {
    String secret = options.get(Option.PEER_SECRET);
    boolean hasSecret = !secret.equals(Option.PEER_SECRET.defaultValue);
    if (hasSecret && !options.get(Option.PEER_TLS).equals(Option.PEER_TLS.defaultValue)) {
      throw new IOException(
          "peer.secret and peer.tls were both given, but only one can authenticate peers: remove"
              + " one.");
    }
    SSLContext tls = tls(options);
    if (tls != null) {
      return tls;
    }
    if (!hasSecret) {
      throw new IOException(
          "peer= needs peer.secret=FILE or peer.tls=KEYSTORE, so that no stranger who reaches its"
              + " ports can read or change this job's training data: run openssl rand -base64 32,"
              + " and put its output into a file with mode 0600 on all hosts.");
    }
    return PeerTls.ofSecret(Path.of(secret));
  }

  private static @Nullable SSLContext tls(Options options) throws IOException {
    String keystore = options.get(Option.PEER_TLS);
    if (keystore.equals("off")) {
      return null;
    }
    String given = options.get(Option.PEER_TLS_PASSWORD);
    boolean hasNone = given.equals(Option.PEER_TLS_PASSWORD.defaultValue);
    char[] password = hasNone ? new char[0] : given.toCharArray();
    try {
      return PeerTls.load(Path.of(keystore), password);
    } finally {
      Arrays.fill(password, ' ');
    }
  }
}
