package io.coordl.peers.hosts;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Sits between a client and a server, records the client's bytes, and may change the answers. */
public final class Wiretap implements Closeable {
  private static final int HEADER = 5;

  private final InetSocketAddress server;
  private final Change answers;
  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger connections = new AtomicInteger();
  private final ByteArrayOutputStream recorded = new ByteArrayOutputStream();

  /** Transforms one TLS record, header included, that passes through in one direction. */
  @FunctionalInterface
  public interface Change {
    byte[] of(int number, byte[] record);
  }

  public Wiretap(InetSocketAddress server, Change answers) throws IOException {
    this.server = server;
    this.answers = answers;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) listening.getLocalSocketAddress();
  }

  int connections() {
    return connections.get();
  }

  /** Returns all bytes that clients have sent so far. */
  public byte[] clientBytes() {
    synchronized (recorded) {
      return recorded.toByteArray();
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // The client, the server or the test disconnected.
              }
            },
            "wiretap");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listening.accept();
      connections.incrementAndGet();
      Socket backend = new Socket(server.getAddress(), server.getPort());
      open.add(client);
      open.add(backend);
      start(() -> pass(client, backend, (number, record) -> keep(record)));
      start(() -> pass(backend, client, answers));
    }
  }

  private byte[] keep(byte[] record) {
    synchronized (recorded) {
      recorded.writeBytes(record);
    }
    return record;
  }

  private static void pass(Socket from, Socket to, Change change) throws IOException {
    try (from;
        to) {
      DataInputStream in = new DataInputStream(from.getInputStream());
      OutputStream out = to.getOutputStream();
      for (int number = 0; ; number++) {
        byte[] header = new byte[HEADER];
        in.readFully(header);
        byte[] rest = new byte[ByteBuffer.wrap(header).getShort(3) & 0xffff];
        in.readFully(rest);
        out.write(
            change.of(
                number, ByteBuffer.allocate(HEADER + rest.length).put(header).put(rest).array()));
      }
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
