package io.coordl.peers.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.coordl.Waits;
import io.coordl.peers.Timeouts;
import io.coordl.store.Fetched;
import io.coordl.store.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that is not Redis, or sends wrong answers, costs a read of storage per item and nothing
 * else. The test's server greets correctly, so that it receives requests, and then answers as the
 * test wants.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RedisFuzzTest {
  private static final TestItem ITEM = new TestItem(1, 50_000);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Bytes that a fetch may allocate: a few times the item, plus classes loaded on first use. */
  private static final long MAX_ALLOCATED = 8L << 20;

  private static final int LONG_ANSWER = 64 << 20;

  private final List<String> logged = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger reads = new AtomicInteger();
  private Liar liar;
  private RedisEngine engine;

  @BeforeEach
  void start() throws IOException {
    liar = new Liar();
    engine = open(Timeouts.USUAL);
  }

  private RedisEngine open(Timeouts timeouts) {
    return new RedisEngine(
        List.of(RedisUri.parse("redis://user:secret@127.0.0.1:" + liar.socket.getLocalPort())),
        null,
        new FullStore(),
        "fuzz",
        (peer, begun, ended, bytes, answer) -> {},
        logged::add,
        timeouts);
  }

  @AfterEach
  void stop() throws IOException {
    engine.close();
    liar.close();
  }

  /**
   * Fetches twice with the given answers; returns how often the right item came from the server.
   */
  private int fetch(Supplier<byte[]> answers) throws IOException {
    return fetch(engine, answers);
  }

  private int fetch(RedisEngine asking, Supplier<byte[]> answers) throws IOException {
    int right = 0;
    awaitUp(asking);
    liar.answers.set(answers);
    try {
      for (int i = 0; i < 2; i++) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        Fetched fetched = asking.fetch(ITEM.key(), ITEM.length(), ITEM.loader(reads));
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
            .as("bytes allocated for an item of %d", ITEM.length())
            .isLessThan(MAX_ALLOCATED);
        if (fetched.content() != null) {
          assertThat(TestItem.bytes(fetched.content())).isEqualTo(ITEM.content());
          right += fetched.outcome() == Outcome.PEER ? 1 : 0;
        } else {
          assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
        }
      }
    } finally {
      liar.answers.set(null);
    }
    assertThat(logged).noneMatch(line -> line.contains("secret"));
    return right;
  }

  private static void awaitUp(RedisEngine engine) {
    long end = System.nanoTime() + Waits.LONG.toNanos();
    while (!engine.servers.up()) {
      assertThat(System.nanoTime() - end).as("time left for the engine to connect").isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\r\n",
        "$",
        "$-1\r\n$-1\r\n$-1\r\n",
        "$-2\r\n",
        "$2147483647\r\n",
        "$50012\r\nshort",
        "$5000000000000\r\n",
        "$x\r\n",
        "*2147483647\r\n",
        "*-7\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        "*1\r\n$2000000000\r\n",
        ":\r\n",
        ":12x\r\n",
        "+OK\r\n",
        "+OK",
        "-\r\n",
        "-MOVED\r\n",
        "-MOVED x y\r\n",
        "-MOVED 1 nowhere\r\n",
        "-MOVED 99999 127.0.0.1:1\r\n",
        "-ASK 1 127.0.0.1:1\r\n",
        "-ERR unknown command `AUTH`, with args beginning with: `user` `secret`\r\n",
        "-secret\r\n",
        "%1\r\n+a\r\n+b\r\n",
        ">2\r\n$7\r\nmessage\r\n",
        "=15\r\ntxt:Some string\r\n",
        "(3492890328409238509324850943850943825024385\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
      })
  void anInvalidAnswerIsNotUsed(String answer) throws IOException {
    assertThat(fetch(() -> answer.getBytes(StandardCharsets.ISO_8859_1))).isZero();
  }

  @Test
  void anEndlessLineIsNotBuffered() throws IOException {
    for (char kind : new char[] {'-', '+', ':', '$', '*'}) {
      byte[] endless = new byte[LONG_ANSWER];
      Arrays.fill(endless, (byte) '1');
      endless[0] = (byte) kind;
      assertThat(fetch(() -> endless)).isZero();
    }
  }

  @Test
  void anUnexpectedListIsNotBuffered() throws IOException {
    byte[] value = ("$60000\r\n" + "x".repeat(60_000) + "\r\n").getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream list = new ByteArrayOutputStream();
    list.writeBytes("*60000\r\n".getBytes(StandardCharsets.UTF_8));
    while (list.size() < LONG_ANSWER) {
      list.writeBytes(value);
    }
    assertThat(fetch(list::toByteArray)).isZero();
  }

  @Test
  void anEchoedRequestIsNotUsed() throws IOException {
    assertThat(fetch(() -> liar.heard)).isZero();
  }

  @Test
  void randomAndDamagedAnswersNeverYieldWrongBytes() throws IOException {
    SplittableRandom random = new SplittableRandom(5);
    byte[] value = new byte[RedisItem.HEADER_BYTES + ITEM.length()];
    System.arraycopy(ITEM.content(), 0, value, RedisItem.HEADER_BYTES, ITEM.length());
    RedisItem.seal(value, ITEM.key());
    ByteArrayOutputStream right = new ByteArrayOutputStream();
    right.writeBytes(("$" + value.length + "\r\n").getBytes(StandardCharsets.UTF_8));
    right.writeBytes(value);
    right.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
    try (RedisEngine patient = open(RedisServer.patience(Duration.ofMinutes(1)))) {
      assertThat(fetch(patient, right::toByteArray)).as("the right answer is used").isEqualTo(2);
    }
    assertThat(reads).hasValue(0);
    for (int round = 0; round < 20; round++) {
      byte[] damaged = right.toByteArray();
      boolean noise = random.nextInt(4) == 0;
      if (noise) {
        random.nextBytes(damaged);
      }
      for (int i = random.nextInt(4); i >= 0; i--) {
        int most = random.nextBoolean() ? 30 : damaged.length;
        damaged[random.nextInt(most)] = (byte) random.nextInt(256);
      }
      fetch(() -> damaged);
    }
  }

  /** Greets correctly, and then answers each request as the test wants. */
  private static final class Liar implements Closeable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicReference<Supplier<byte[]>> answers = new AtomicReference<>();
    private volatile byte[] heard = {};

    Liar() throws IOException {
      Thread thread = new Thread(this::accept, "liar");
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      while (!socket.isClosed()) {
        try {
          Socket peer = socket.accept();
          Thread thread = new Thread(() -> serve(peer), "liar-connection");
          thread.setDaemon(true);
          thread.start();
        } catch (IOException e) {
          return;
        }
      }
    }

    private void serve(Socket peer) {
      try (peer) {
        InputStream in = peer.getInputStream();
        OutputStream out = peer.getOutputStream();
        byte[] buffer = new byte[1 << 16];
        for (int count = in.read(buffer); count > 0; count = in.read(buffer)) {
          byte[] piece = Arrays.copyOf(buffer, count);
          String text = new String(piece, StandardCharsets.ISO_8859_1);
          Supplier<byte[]> lie = answers.get();
          if (text.contains("AUTH")) {
            out.write("+OK\r\n".getBytes(StandardCharsets.UTF_8));
          } else if (text.contains("PING")) {
            out.write("+PONG\r\n".getBytes(StandardCharsets.UTF_8));
          } else if (lie == null) {
            out.write("-ERR no\r\n".getBytes(StandardCharsets.UTF_8));
          } else {
            heard = piece;
            out.write(lie.get());
          }
          out.flush();
        }
      } catch (IOException e) {
        // The engine disconnected.
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
