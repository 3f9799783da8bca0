package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.TestSecret;
import io.coordl.peers.hosts.Wiretap;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jgroups.BatchMessage;
import org.jgroups.BytesMessage;
import org.jgroups.CompositeMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.MessageFactory;
import org.jgroups.NioMessage;
import org.jgroups.ObjectMessage;
import org.jgroups.Version;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TpHeader;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.Digest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.SizeStreamable;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A neighbour's bytes never become an object of its choice, even if it has the secret. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HostileNeighbourTest {
  private static final AtomicInteger CREATED = new AtomicInteger();

  @TempDir Path work;
  private final Queue<String> logged = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void forget() {
    CREATED.set(0);
  }

  /** Counts its deserializations. */
  static final class Canary implements Serializable {
    private static final long serialVersionUID = 1;

    private void readObject(ObjectInputStream in) {
      CREATED.incrementAndGet();
    }
  }

  /** Like {@link Canary}, for types that JGroups creates by class name. */
  public static final class Named implements SizeStreamable {
    @Override
    public int serializedSize() {
      return 0;
    }

    @Override
    public void writeTo(DataOutput out) {}

    @Override
    public void readFrom(DataInput in) {
      CREATED.incrementAndGet();
    }
  }

  /** Deserializing this takes practically forever; the canary comes first. */
  private static Serializable bomb() {
    Set<Object> root = new HashSet<>();
    Set<Object> left = root;
    Set<Object> right = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      Set<Object> nextLeft = new HashSet<>(Set.of("one"));
      Set<Object> nextRight = new HashSet<>();
      left.add(nextLeft);
      left.add(nextRight);
      right.add(nextLeft);
      right.add(nextRight);
      left = nextLeft;
      right = nextRight;
    }
    return new Serializable[] {new Canary(), (Serializable) root};
  }

  private static Message of(Message message) {
    short transport = ClassConfigurator.getProtocolId(TCP.class);
    return message
        .putHeader(transport, new TpHeader("coordl".getBytes(StandardCharsets.US_ASCII)))
        .setFlag(Message.Flag.OOB, Message.Flag.NO_RELIABILITY);
  }

  static Stream<Message> hostile() {
    return Stream.of(
            new ObjectMessage(null, bomb()),
            new ObjectMessage(null, new Named()),
            new NioMessage(null).setObject(bomb()),
            new BytesMessage(null, bomb()),
            new CompositeMessage(null, new ObjectMessage(null, bomb())),
            new BatchMessage(null, 1).add(new ObjectMessage(null, bomb())))
        .map(HostileNeighbourTest::of);
  }

  private static byte[] bytes(ByteArrayDataOutputStream out) {
    return Arrays.copyOf(out.buffer(), out.position());
  }

  private static byte[] bytes(Message message) throws IOException {
    ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
    Util.writeMessage(message, out, true);
    return bytes(out);
  }

  /** Returns a host's first bytes, followed by the message in a frame. */
  private static byte[] conversation(Message message, int port) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(all);
    IpAddress own = new IpAddress(InetAddress.getByName("127.0.0.9"), port);
    out.write("bela".getBytes(StandardCharsets.US_ASCII));
    out.writeShort(Version.version);
    out.writeShort(own.serializedSize());
    own.writeTo(out);
    byte[] frame = bytes(message);
    out.writeInt(frame.length);
    out.write(frame);
    return all.toByteArray();
  }

  private HostMembership host(int port) throws IOException {
    HostMembership host =
        new HostMembership(
            new HostMembership.Settings(
                work,
                "store",
                "g",
                Discovery.parse(Hosts.names(1, port)),
                HostPort.parse(Hosts.name(1, port)),
                TestSecret.ours(),
                () -> 1,
                name -> null),
            Hosts.listening(),
            logged::add);
    Hosts.await("it is a member", () -> Hosts.names(host).equals(Hosts.names(1, port)));
    return host;
  }

  /**
   * Sends everything, and waits until the other side has read it and disconnects, or has created an
   * object.
   */
  private static void send(Socket socket, byte[] all) throws Exception {
    FutureTask<Void> talk =
        new FutureTask<>(
            () -> {
              try (socket) {
                socket.getOutputStream().write(all);
                socket.shutdownOutput();
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                // The other side disconnected earlier.
              }
            },
            null);
    Thread thread = new Thread(talk, "neighbour");
    thread.setDaemon(true);
    thread.start();
    Hosts.await("the host has read it", () -> talk.isDone() || CREATED.get() > 0);
  }

  @ParameterizedTest
  @MethodSource("hostile")
  void aNeighbourWithTheSecretCreatesNoObject(Message message) throws Exception {
    int port = Hosts.freePort();
    try (HostMembership host = host(port)) {
      SSLContext ours = TestSecret.ours();
      Socket socket = ours.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
      send(socket, conversation(message, port));
      assertThat(CREATED).as("objects created from a message").hasValue(0);
      assertThat(Hosts.names(host)).isEqualTo(Hosts.names(1, port));
    }
  }

  @ParameterizedTest
  @MethodSource("hostile")
  void aStrangersMessageIsNotEvenRead(Message message) throws Exception {
    int port = Hosts.freePort();
    try (HostMembership host = host(port)) {
      send(new Socket(InetAddress.getLoopbackAddress(), port), conversation(message, port));
      SSLContext theirs = TestSecret.context(TestSecret.THEIRS);
      send(
          theirs.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port),
          conversation(message, port));
      assertThat(CREATED).as("objects created from a message").hasValue(0);
      assertThat(Hosts.names(host)).isEqualTo(Hosts.names(1, port));
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("127.0.0.1"));
    }
  }

  /** Sends single bytes without end, so that no wait for the next byte times out. */
  private static void drip(Socket stranger) {
    try {
      OutputStream out = stranger.getOutputStream();
      out.write(new byte[] {22, 3, 1, 0x3f, (byte) 0xff, 1, 0, 0x3f, (byte) 0xf0});
      while (true) {
        out.write(1);
        LockSupport.parkNanos(50_000_000);
      }
    } catch (IOException e) {
      // Disconnected, or the test has ended.
    }
  }

  /** Opens more connections than are accepted; each sends single bytes. */
  @Test
  void slowStrangersKeepNoHostOut() throws Exception {
    int port = Hosts.freePort();
    Deque<Socket> strangers = new ArrayDeque<>();
    try (HostMembership host = host(port)) {
      for (int i = 0; i < 80; i++) {
        Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
        strangers.push(stranger);
        Thread dripping = new Thread(() -> drip(stranger), "stranger");
        dripping.setDaemon(true);
        dripping.start();
      }
      FutureTask<Void> talk =
          new FutureTask<>(
              () -> {
                Socket friend =
                    TestSecret.ours()
                        .getSocketFactory()
                        .createSocket(InetAddress.getLoopbackAddress(), port);
                send(friend, conversation(of(new EmptyMessage()), port));
                return null;
              });
      new Thread(talk, "friend").start();
      talk.get(1, TimeUnit.MINUTES);
      assertThat(Hosts.names(host)).isEqualTo(Hosts.names(1, port));
    } finally {
      while (!strangers.isEmpty()) {
        strangers.pop().close();
      }
    }
  }

  @Test
  void aReplayedJoinIsRefused() throws Exception {
    int port = Hosts.freePort();
    try (HostMembership host = host(port)) {
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      byte[] recorded;
      try (Wiretap tap = new Wiretap(address, (number, record) -> record)) {
        send(
            TestSecret.ours()
                .getSocketFactory()
                .createSocket(tap.address().getAddress(), tap.address().getPort()),
            conversation(of(new EmptyMessage()), port));
        recorded = tap.clientBytes();
      }
      assertThat(logged).isEmpty();
      send(new Socket(address.getAddress(), port), recorded);
      Hosts.await("the refusal is logged", () -> logged.size() == 1);
      assertThat(logged)
          .containsExactly(
              "A connection from 127.0.0.1 did not authenticate as a peer; it was refused.");
      assertThat(Hosts.names(host)).isEqualTo(Hosts.names(1, port));
    }
  }

  /** Reads hostile messages as JGroups' protocols do. */
  @ParameterizedTest
  @MethodSource("hostile")
  void noProtocolCreatesAnObjectFromAMessage(Message message) throws Exception {
    Messages.restrict();
    ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
    message.writeTo(out);
    assertThatThrownBy(
            () -> {
              Message read = MessageFactory.create(message.getType());
              read.readFrom(new ByteArrayDataInputStream(bytes(out)));
              Object deserialized = read.getObject();
              throw new AssertionError("created " + deserialized);
            })
        .isInstanceOfAny(IllegalArgumentException.class, java.io.InvalidObjectException.class);
    assertThat(CREATED).hasValue(0);
  }

  @Test
  void theProtocolsOwnMessagesArrive() throws Exception {
    Messages.restrict();
    SeqnoList missing = new SeqnoList(10, 7).add(8, 9);
    UUID member = UUID.randomUUID();
    Digest digest = new Digest(member, 3, 5);
    for (Object sent : List.of(missing, digest, new byte[] {1, 2})) {
      Supplier<Message> deserialized =
          () ->
              sent instanceof byte[] array
                  ? new BytesMessage(null, array)
                  : new ObjectMessage(null, (SizeStreamable) sent);
      ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
      Message message = deserialized.get();
      message.writeTo(out);
      Message read = MessageFactory.create(message.getType());
      read.readFrom(new ByteArrayDataInputStream(bytes(out)));
      Object arrived = read.getObject();
      if (sent instanceof byte[]) {
        assertThat(arrived).isEqualTo(sent);
      } else {
        assertThat(arrived).hasToString(sent.toString());
      }
      assertThat(read.copy(true, true)).hasSameClassAs(read);
    }
  }
}
