package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.Timeouts;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.Loader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Several hosts in this JVM at 127.0.0.x, each with its own store, server and engine. */
final class Hosts implements AutoCloseable {
  /** No host is late even on a busy machine; unreachable hosts are retried soon. */
  static final Timeouts PATIENT =
      new Timeouts(
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofMillis(40),
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          Duration.ofSeconds(60));

  /** The same, but a host that does not answer soon counts as late. */
  static final Timeouts SHARP =
      new Timeouts(
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(500),
          Duration.ofMillis(40),
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(100));

  final List<Host> hosts = new ArrayList<>();
  final List<String> logged = new CopyOnWriteArrayList<>();

  /** Storage reads per item number. */
  final AtomicIntegerArray reads = new AtomicIntegerArray(100_000);

  private final List<Member> fakes = new ArrayList<>();
  private final Path directory;
  private final Timeouts timing;
  private final SSLContext tls;

  Hosts(Path directory, Timeouts timing, SSLContext tls) {
    this.directory = directory;
    this.timing = timing;
    this.tls = tls;
  }

  static Hosts of(int count, Path directory, String budget) throws IOException {
    return of(count, directory, budget, PATIENT);
  }

  static Hosts of(int count, Path directory, String budget, Timeouts timing) throws IOException {
    Hosts hosts = new Hosts(directory, timing, TestSecret.ours());
    for (int i = 0; i < count; i++) {
      hosts.add(budget);
    }
    hosts.publishMembers();
    return hosts;
  }

  /** Adds a host that the others do not know before {@link #publishMembers}. */
  Host add(String budget) throws IOException {
    Host host = new Host(hosts.size() + 1, budget);
    hosts.add(host);
    return host;
  }

  /** Adds a member that is not one of these hosts. */
  void addFake(InetSocketAddress address, long capacity) {
    fakes.add(new Member("fake" + fakes.size(), address, capacity));
  }

  /** Replaces the fakes by new members, about which the hosts know nothing. */
  void renewFakes() {
    fakes.replaceAll(fake -> new Member(fake.name(), fake.data(), fake.capacity() + 1));
    publishMembers();
  }

  /** Sets the current members on every host. */
  void publishMembers() {
    List<Member> members = new ArrayList<>();
    hosts.forEach(host -> members.add(host.member()));
    members.addAll(fakes);
    hosts.forEach(host -> host.membership.members = List.copyOf(members));
  }

  Host host(int number) {
    return hosts.get(number);
  }

  long kept() {
    return hosts.stream().mapToLong(host -> host.store.items()).sum();
  }

  long reads() {
    long sum = 0;
    for (int i = 0; i < reads.length(); i++) {
      sum += reads.get(i);
    }
    return sum;
  }

  @Override
  public void close() {
    hosts.forEach(Host::close);
  }

  // ---- items

  Loader loader(int number) {
    return (target, offset) -> {
      reads.incrementAndGet(number);
      byte[] bytes = PeerItems.content(number);
      System.arraycopy(bytes, 0, target, offset, bytes.length);
      return true;
    };
  }

  static void check(int number, @Nullable ByteBuffer content) {
    assertThat(content).isNotNull();
    assertThat(content.isReadOnly()).isTrue();
    assertThat(content.position()).isZero();
    byte[] bytes = new byte[content.remaining()];
    content.duplicate().get(bytes);
    assertThat(bytes).isEqualTo(PeerItems.content(number));
  }

  /** One host. */
  final class Host implements AutoCloseable {
    final KnownMembers membership;
    final ArenaStore store;
    final HostsEngine engine;
    private final Map<Answer, LongAdder> answers = new EnumMap<>(Answer.class);
    private final Map<Answer, LongAdder> crossed = new EnumMap<>(Answer.class);
    private InetSocketAddress address;
    private PeerServer server;

    /** Weight in the choice of owners; 0 for the store's capacity. */
    long weight;

    Host(int number, String budget) throws IOException {
      for (Answer answer : Answer.values()) {
        answers.put(answer, new LongAdder());
        crossed.put(answer, new LongAdder());
      }
      membership = new KnownMembers("host" + number);
      store = ArenaStore.openProcess(directory, ByteBudget.parse(budget), logged::add);
      address = new InetSocketAddress("127.0.0." + number, 0);
      serve();
      address = server.address();
      engine =
          new HostsEngine(
              store,
              membership,
              tls,
              0,
              PeerItems.GROUP,
              (peer, start, end, bytes, answer) -> {
                answers.get(answer).increment();
                crossed.get(answer).add(bytes);
              },
              logged::add,
              timing);
    }

    /** Serves, at the same address as before. */
    void serve() throws IOException {
      server = new PeerServer(address, store, tls, PeerItems.GROUP, logged::add, timing);
    }

    void stopServing() {
      server.close();
    }

    PeerServer server() {
      return server;
    }

    Member member() {
      return new Member(membership.self(), address, weight == 0 ? store.capacity() : weight);
    }

    long answers(Answer answer) {
      return answers.get(answer).sum();
    }

    long bytes(Answer answer) {
      return crossed.get(answer).sum();
    }

    /**
     * Requests that were late or failed. After each, the peer gets no request until a probe
     * succeeds.
     */
    long faults() {
      return answers(Answer.LATE) + answers(Answer.FAILED);
    }

    long requests() {
      return answers.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** Fetches as the program would, reading storage itself if the engine does not. */
    Fetched fetch(int number) throws IOException {
      Fetched fetched =
          engine.fetch(PeerItems.key(number), PeerItems.length(number), loader(number));
      if (fetched.content() == null) {
        reads.incrementAndGet(number);
      } else {
        check(number, fetched.content());
      }
      return fetched;
    }

    @Override
    public void close() {
      engine.close();
      server.close();
      store.close();
    }
  }
}
