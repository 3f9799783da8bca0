package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.hosts.Hosts.Host;
import io.coordl.store.Outcome;
import io.coordl.testing.Full;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Garbage from the other side costs one connection and never yields a wrong byte. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerFuzzTest {
  private static final int ROUNDS = Full.ON ? 4000 : 1000;
  private static final int ITEMS = 20;

  @TempDir Path directory;

  /** Bytes that a client might send: hello, requests, a delivery. */
  private static byte[] clientBytes(SplittableRandom random) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(Wire.hello(PeerItems.GROUP));
    int[] verbs = {Wire.FIND, Wire.CLAIM};
    for (int i = random.nextInt(4); i >= 0; i--) {
      int number = random.nextInt(2 * ITEMS);
      int verb = verbs[random.nextInt(verbs.length)];
      byte[] request = new byte[Wire.REQUEST_BYTES];
      Wire.putRequest(request, verb, PeerItems.key(number), PeerItems.length(number));
      out.write(request);
      if (verb == Wire.CLAIM && random.nextBoolean()) {
        // Never complete: complete items would rightly be cached.
        out.writeInt(random.nextBoolean() ? Wire.STILL : Wire.BYTES);
        out.write(new byte[random.nextInt(PeerItems.length(number))]);
        break;
      }
    }
    return bytes.toByteArray();
  }

  /** Changes or drops some bytes, or all of them. */
  private static byte[] spoiled(byte[] bytes, SplittableRandom random) {
    byte[] spoiled = bytes.clone();
    if (random.nextInt(4) == 0) {
      random.nextBytes(spoiled);
      return spoiled;
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      spoiled[random.nextInt(Math.min(spoiled.length, 120))] = (byte) random.nextInt();
    }
    return java.util.Arrays.copyOf(spoiled, random.nextInt(spoiled.length + 1));
  }

  @Test
  void theServerSurvivesAnyInput() throws Exception {
    SplittableRandom random = new SplittableRandom(11);
    try (Hosts hosts = Hosts.of(2, directory, "64m")) {
      for (int i = 0; i < ITEMS; i++) {
        hosts.host(1).fetch(i);
      }
      InetSocketAddress address = hosts.host(1).server().address();
      for (int round = 0; round < ROUNDS; round++) {
        // Every second round lacks TLS, and gets no further than the handshake.
        try (Socket plain = new Socket(address.getAddress(), address.getPort());
            Socket socket = round % 2 == 0 ? plain : PeerTls.over(TestSecret.ours(), plain, true)) {
          socket.getOutputStream().write(spoiled(clientBytes(random), random));
          socket.shutdownOutput();
          socket.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
          // The server disconnected during the write or read.
        }
        if (round % 100 == 0) {
          int number = random.nextInt(ITEMS);
          assertThat(hosts.host(0).fetch(number).outcome()).isIn(Outcome.PEER, Outcome.HIT);
        }
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
      assertThat(hosts.logged).isNotEmpty().hasSizeLessThanOrEqualTo(4);
      assertThat(hosts.logged).allMatch(line -> line.contains("Logged once"));
      assertThat(hosts.logged).noneMatch(line -> line.contains("could not be served"));
      for (int i = ITEMS; i < 2 * ITEMS; i++) {
        assertThat(hosts.host(1).store.isAwaited(PeerItems.key(i))).as("a claim is left").isFalse();
      }
      long end = System.nanoTime() + Waits.LONG.toNanos();
      while (serving() > 4) {
        assertThat(System.nanoTime() - end).isNegative();
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  private static long serving() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("coordl-peer-serve"))
        .count();
  }

  @Test
  void theClientSurvivesAnyAnswer() throws Exception {
    SplittableRandom random = new SplittableRandom(12);
    FakePeer.Behaviour behaviour =
        (in, out) -> {
          SplittableRandom own;
          synchronized (random) {
            own = random.split();
          }
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          DataOutputStream say = new DataOutputStream(bytes);
          int[] answers = {
            Wire.FOUND,
            Wire.ROOM,
            Wire.FULL,
            Wire.LATER,
            Wire.BUSY,
            Wire.GRANTED,
            Wire.KEPT,
            own.nextInt()
          };
          for (int i = own.nextInt(6); i >= 0; i--) {
            int answer = answers[own.nextInt(answers.length)];
            say.writeInt(answer);
            // If the length were right, any bytes would be accepted, because peers are trusted.
            boolean empty = own.nextBoolean() && answer != Wire.FOUND;
            say.writeInt(empty ? 0 : -own.nextInt(1 << 16) - 1);
          }
          byte[] hello = Wire.hello(PeerItems.GROUP);
          out.write(own.nextInt(3) == 0 ? spoiled(hello, own) : hello);
          out.write(bytes.toByteArray());
          if (own.nextInt(4) > 0) {
            in.read();
            in.skipNBytes(Math.min(own.nextInt(200), in.available()));
          }
        };
    try (FakePeer fake = new FakePeer("127.0.0.9", behaviour);
        Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours())) {
      hosts.add("64m");
      hosts.addFake(fake.address(), 1L << 60);
      hosts.publishMembers();
      Host host = hosts.host(0);
      for (int round = 0; round < ROUNDS; round++) {
        hosts.renewFakes(); // Otherwise the fake would get no more requests.
        host.fetch(round);
      }
      System.out.printf(
          "%d fetches, %d connections, %s%n", ROUNDS, fake.connections.get(), host.faults());
      assertThat(host.answers(Answer.FAILED)).isGreaterThan(ROUNDS / 2);
      assertThat(host.answers(Answer.FOUND)).isZero();
      assertThat(hosts.reads()).isEqualTo(ROUNDS);
    }
  }
}
