package io.coordl.peers.hosts;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Listens in place of a peer and treats each connection as the test wants. */
final class FakePeer implements Closeable {
  /** Handles a connection, which is closed afterwards. */
  interface Behaviour {
    void serve(DataInputStream in, DataOutputStream out) throws IOException;
  }

  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  final AtomicInteger connections = new AtomicInteger();
  private volatile Behaviour behaviour;

  FakePeer(String host, Behaviour behaviour) throws IOException {
    this.behaviour = behaviour;
    listening = new ServerSocket(0, 50, InetAddress.getByName(host));
    Thread thread = new Thread(this::accept, "fake-peer");
    thread.setDaemon(true);
    thread.start();
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listening.getLocalSocketAddress();
  }

  void behave(Behaviour other) {
    behaviour = other;
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listening.accept();
        connections.incrementAndGet();
        open.add(socket);
        Thread thread = new Thread(() -> serve(socket), "fake-peer");
        thread.setDaemon(true);
        thread.start();
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Socket secured = PeerTls.over(TestSecret.ours(), socket, false);
      behaviour.serve(
          new DataInputStream(secured.getInputStream()),
          new DataOutputStream(secured.getOutputStream()));
    } catch (IOException e) {
      // The other side disconnected.
    } finally {
      open.remove(socket);
    }
  }

  /** Exchanges correct hellos. */
  static void exchangeHellos(DataInputStream in, DataOutputStream out) throws IOException {
    in.readNBytes(Wire.hello(PeerItems.GROUP).length);
    out.write(Wire.hello(PeerItems.GROUP));
  }

  static byte[] hello(long magic, int version, String group) throws IOException {
    byte[] name = group.getBytes(StandardCharsets.UTF_8);
    var bytes = new java.io.ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      out.writeLong(magic);
      out.writeInt(version);
      out.writeInt(name.length);
      out.write(name);
    }
    return bytes.toByteArray();
  }

  /** Sends nothing until the other side disconnects. */
  static void hang(DataInputStream in) throws IOException {
    in.transferTo(java.io.OutputStream.nullOutputStream());
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
