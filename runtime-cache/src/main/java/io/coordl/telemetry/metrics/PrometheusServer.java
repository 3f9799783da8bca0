package io.coordl.telemetry.metrics;

import io.coordl.host.AgentThread;
import io.coordl.peers.HostPort;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Answers {@code GET /metrics} in Prometheus' text format, one request at a time. A client has two
 * seconds to send its request. Uses plain sockets, because the JDK's HTTP server would start
 * threads that are not the agent's, and its module may be missing.
 */
final class PrometheusServer implements Closeable {
  private static final String LOOPBACK = "127.0.0.1";
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final int MAX_REQUEST = 8 << 10;

  private final ServerSocket server = new ServerSocket();

  /** Listens at {@code [HOST:]PORT}. */
  PrometheusServer(String where) throws IOException {
    HostPort at = address(where);
    try {
      server.bind(new InetSocketAddress(InetAddress.getByName(at.host()), at.port()));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Parses an address; throws IllegalArgumentException if it is invalid. */
  static HostPort address(String where) {
    HostPort at = HostPort.parse(where.matches("\\d+") ? LOOPBACK + ":" + where : where, 65_535);
    if (at.port() == 0) {
      throw new IllegalArgumentException(where + " names no port");
    }
    return at;
  }

  /** Serves requests until the server is closed. */
  void serve(Supplier<MetricSnapshots> metrics) {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        answer(client, metrics);
      } catch (IOException e) {
        // This client failed, or no file descriptor is free.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
      } catch (RuntimeException | OutOfMemoryError e) {
        AgentThread.survive(e);
      }
    }
  }

  private static void answer(Socket client, Supplier<MetricSnapshots> metrics) throws IOException {
    String request = request(client);
    boolean head = request.startsWith("HEAD ");
    boolean found = request.matches("(?s)(GET|HEAD) /metrics[ ?].*");
    String text = found ? text(metrics.get()) : "See /metrics\n";
    String answer =
        "HTTP/1.1 "
            + (found ? "200 OK" : "404 Not Found")
            + "\r\nContent-Type: "
            + PrometheusTextFormatWriter.CONTENT_TYPE
            + "\r\nContent-Length: "
            + text.getBytes(StandardCharsets.UTF_8).length
            + "\r\nConnection: close\r\n\r\n"
            + (head ? "" : text);
    client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
  }

  /** Reads the whole request: otherwise the client would see its connection reset. */
  private static String request(Socket client) throws IOException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    StringBuilder request = new StringBuilder();
    InputStream in = client.getInputStream();
    byte[] chunk = new byte[MAX_REQUEST];
    while (request.indexOf("\r\n\r\n") < 0 && request.length() < MAX_REQUEST) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      client.setSoTimeout((int) Math.max(1, left));
      int count = left <= 0 ? -1 : in.read(chunk);
      if (count < 0) {
        throw new IOException("incomplete request");
      }
      request.append(new String(chunk, 0, count, StandardCharsets.ISO_8859_1));
    }
    return request.toString();
  }

  static String text(MetricSnapshots families) {
    return PrometheusTextFormatWriter.create().toDebugString(families);
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // It is closed anyway.
    }
  }
}
