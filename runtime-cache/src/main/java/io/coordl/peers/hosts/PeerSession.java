package io.coordl.peers.hosts;

import io.coordl.host.AgentThread;
import io.coordl.items.ItemKey;
import io.coordl.peers.Deadline;
import io.coordl.peers.HostPort;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.WireException.Kind;
import io.coordl.store.Fetched;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The owner's side of one client connection, with its own thread. Ends at the first message that
 * violates {@link Wire} or misses its deadline.
 */
final class PeerSession implements Closeable {
  /** How long a request waits if the item is already claimed; the client then repeats it. */
  private static final Duration HOLD = Duration.ofMillis(100);

  /** An unused connection is closed after this time. */
  private static final Duration IDLE = Duration.ofMinutes(5);

  private static final long STACK_BYTES = 256L << 10;

  private final SocketChannel channel;
  private final PeerChannel stream = new PeerChannel();
  private final PeerServer server;
  private final Deadline deadline;
  final String remote;
  private final byte[] request = new byte[Wire.REQUEST_BYTES];
  private final ByteBuffer answer = ByteBuffer.allocate(Wire.ANSWER_BYTES);

  /** Whether the other side has not authenticated yet. */
  volatile boolean stranger = true;

  volatile boolean busy;

  volatile long lastUse = System.nanoTime();

  PeerSession(SocketChannel channel, PeerServer server) throws IOException {
    this.channel = channel;
    this.server = server;
    this.deadline = new Deadline(server.watch, channel);
    InetSocketAddress from = (InetSocketAddress) channel.getRemoteAddress();
    this.remote = from == null ? "an unknown address" : HostPort.text(from);
  }

  void start() {
    new AgentThread("coordl-peer-serve", this::run, STACK_BYTES).start();
  }

  private void run() {
    try {
      deadline.in(server.timeouts.handshake().toNanos());
      stream.secure(server.tls, channel.socket());
      meet();
      stranger = false;
      while (true) {
        busy = false;
        lastUse = System.nanoTime();
        deadline.in(IDLE.toNanos());
        stream.read(request, 0, request.length);
        busy = true;
        respond();
      }
    } catch (WireException e) {
      server.refused(this, e.kind.name(), String.valueOf(e.getMessage()));
    } catch (SSLException e) {
      if (stranger && !PeerTls.isGone(e) && !deadline.passed()) {
        server.refused(this, "TLS", "it did not authenticate as a peer (" + e.getMessage() + ")");
      }
    } catch (IOException e) {
      // The client disconnected, or was cut off.
    } catch (RuntimeException | OutOfMemoryError e) {
      server.refused(this, "fault", "it could not be served (" + e + ")");
    } finally {
      close();
      server.sessions.remove(this);
    }
  }

  private void meet() throws IOException {
    WireException refusal = null;
    try {
      Wire.checkHello(stream::read, server.group);
    } catch (WireException e) {
      if (e.kind != Kind.INCOMPATIBLE) {
        throw e;
      }
      refusal = e;
    }
    stream.write(ByteBuffer.wrap(Wire.hello(server.group)), null);
    if (refusal != null) {
      channel.shutdownOutput();
      drainInput();
      throw refusal;
    }
  }

  /** Drains the input: closing a socket with unread bytes would discard the answer. */
  private void drainInput() {
    byte[] one = new byte[1];
    try {
      for (int i = 0; i < 2 * Wire.MAX_GROUP_BYTES; i++) {
        stream.read(one, 0, 1);
      }
    } catch (IOException e) {
      // End of input.
    }
  }

  private void respond() throws IOException {
    ByteBuffer fields = ByteBuffer.wrap(request);
    int verb = fields.getInt();
    int length = fields.getInt();
    ItemKey key = new ItemKey(fields.getLong(), fields.getLong());
    if (length < 0 || length > Wire.MAX_ITEM_BYTES) {
      throw new WireException(Kind.MALFORMED, "it asked for an item with an impossible length");
    }
    switch (verb) {
      case Wire.FIND -> {
        ByteBuffer content = server.store.find(key);
        if (content == null || content.remaining() != length) {
          answer(PeerServer.absent(server.store, key, length), null);
        } else {
          answer(Wire.FOUND, content);
        }
      }
      case Wire.CLAIM -> claim(key, length);
      default -> throw new WireException(Kind.MALFORMED, "it sent an unknown request");
    }
  }

  private void claim(ItemKey key, int length) throws IOException {
    if (!server.takeRoom(length)) {
      answer(Wire.BUSY, null);
      return;
    }
    Fetched fetched;
    try {
      fetched =
          server.store.fetch(key, length, (target, offset) -> load(length, target, offset), HOLD);
    } finally {
      server.giveRoom(length);
    }
    ByteBuffer content = fetched.content();
    switch (fetched.outcome()) {
      case HIT -> {
        if (content == null || content.remaining() != length) {
          throw new WireException(Kind.MALFORMED, "it asked for an item with the wrong length");
        }
        answer(Wire.FOUND, content);
      }
      case ADMITTED -> answer(Wire.KEPT, null);
      case FULL -> answer(PeerServer.noRoom(server.store, length), null);
      default -> answer(Wire.BUSY, null);
    }
  }

  /** Called by the store under a claim: lets the client read storage and receives the item. */
  private boolean load(int length, byte[] target, int offset) throws IOException {
    answer(Wire.GRANTED, null);
    byte[] word = new byte[4];
    int message = Wire.STILL;
    while (message == Wire.STILL) {
      deadline.in(server.timeouts.claimant().toNanos());
      stream.read(word, 0, word.length);
      message = ByteBuffer.wrap(word).getInt();
    }
    if (message != Wire.BYTES) {
      throw new WireException(Kind.MALFORMED, "it did not deliver the item it had claimed");
    }
    for (int done = 0; done < length; ) {
      deadline.in(server.timeouts.progress().toNanos());
      int count = Math.min(Timeouts.WINDOW, length - done);
      stream.read(target, offset + done, count);
      done += count;
    }
    return true;
  }

  /** Sends an answer; the item streams directly from the store, in pieces with a deadline each. */
  private void answer(int what, @Nullable ByteBuffer item) throws IOException {
    answer.clear();
    answer.putInt(what).putInt(item == null ? 0 : item.remaining()).flip();
    int end = item == null ? 0 : item.limit();
    do {
      deadline.in(server.timeouts.stalled().toNanos());
      if (item != null) {
        item.limit(Math.min(end, item.position() + Wire.PIECE));
      }
      stream.write(answer, item);
    } while (item != null && item.position() < end);
  }

  @Override
  public void close() {
    deadline.close();
  }
}
