package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Hosts.Host;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hosts refuse intruders, log no line twice, and continue their jobs. */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IntruderIT {
  private static final int ITEMS = 60;
  private static final int PAUSE_MICROS = 2000;
  private static final long MEMORY = 64L << 20;

  private final Jdk jdk = Workshop.newestJdk();

  private Path keystore(Path directory, String name) throws Exception {
    String keytool = jdk.java().resolveSibling("keytool").toString();
    Path store = directory.resolve(name + ".p12");
    Path certificate = directory.resolve(name + ".pem");
    Shell.run(
        keytool,
        "-genkeypair",
        "-keystore",
        store.toString(),
        "-storetype",
        "PKCS12",
        "-storepass",
        "secret",
        "-alias",
        "own",
        "-dname",
        "CN=" + name,
        "-keyalg",
        "EC",
        "-validity",
        "2");
    Shell.run(
        keytool,
        "-exportcert",
        "-rfc",
        "-keystore",
        store.toString(),
        "-storepass",
        "secret",
        "-alias",
        "own",
        "-file",
        certificate.toString());
    Shell.run(
        keytool,
        "-importcert",
        "-noprompt",
        "-keystore",
        store.toString(),
        "-storepass",
        "secret",
        "-alias",
        "trusted",
        "-file",
        certificate.toString());
    return store;
  }

  private Reader start(Host host, String name, Path data, ItemSet items, String more, Path trace)
      throws Exception {
    return Reader.start(
        host,
        name,
        data,
        items,
        arguments(host.peerArguments(data), more) + ",cache.size=32m" + more,
        new Reader.Plan(jdk, 0, name.hashCode(), PAUSE_MICROS, Reader.PATIENT),
        StorageReads.trace(trace));
  }

  /** A job gets either a key store or a secret, never both. */
  private static String arguments(String all, String more) {
    return more.contains("peer.tls=") ? all.replaceAll(",peer\\.secret=[^,]*", "") : all;
  }

  @Test
  void anIntruderWithoutTheKeyGetsAndGivesNothing() throws Exception {
    Assumptions.assumeTrue(
        Workshop.FULL,
        "runs only with -Pfull; without it, PeerTlsTest checks that strangers are refused");
    Path directory = Workshop.empty("intruder-key");
    ItemSet items = ItemSet.create(directory, ITEMS);
    String ours = ",peer.tls.password=secret,peer.tls=" + keystore(directory, "ours");
    String theirs = ",peer.tls.password=secret,peer.tls=" + keystore(directory, "theirs");
    List<Reader> all = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 3, MEMORY)) {
      Host third = hosts.get(3);
      List<Path> data = new ArrayList<>();
      for (Host host : hosts.all()) {
        data.add(host.copy(items.directory(), true));
      }
      try {
        List<Reader> friends = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          Host host = hosts.get(i + 1);
          Path trace = host.directory().resolve("trace");
          Reader reader =
              start(host, "friend" + i, data.get(i), items, ours + ",peer.hosts=2", trace);
          friends.add(reader);
          all.add(reader);
        }
        for (Reader friend : friends) {
          friend.awaitWholeEpochs(1);
        }
        Map<String, Integer> once = new TreeMap<>();
        items.names().forEach(name -> once.put(name, 1));
        for (String key : List.of(theirs, "")) {
          Path trace = third.directory().resolve("trace" + key.length());
          Reader intruder = start(third, "intruder" + key.length(), data.get(2), items, key, trace);
          all.add(intruder);
          intruder.awaitWholeEpochs(2);
          for (Reader friend : friends) {
            friend.awaitWholeEpochs(1);
          }
          intruder.requestStop();
          intruder.awaitSuccess();
          // It reads everything from its own storage.
          assertThat(StorageReads.of(trace, data.get(2)).differenceFrom(items.directory(), once))
              .isEmpty();
        }
        // Count while both run: the last to end reads the items that the other had cached.
        StorageReads reads = new StorageReads(Map.of(), 0);
        for (int i = 0; i < 2; i++) {
          reads =
              reads.plus(
                  StorageReads.of(hosts.get(i + 1).directory().resolve("trace"), data.get(i)));
        }
        for (Reader friend : friends) {
          friend.requestStop();
        }
        List<String> agentLines = new ArrayList<>();
        for (Reader friend : friends) {
          agentLines.addAll(unaffected(friend));
        }
        // The friends still share: each item was read once.
        assertThat(reads.differenceFrom(items.directory(), once)).isEmpty();
        assertThat(agentLines).anyMatch(line -> line.contains(third.address()));
      } finally {
        all.forEach(Reader::close);
      }
    }
  }

  /** Waits for a job that must succeed; returns the agent's lines, which must not repeat. */
  private static List<String> unaffected(Reader reader) throws InterruptedException {
    ChildResult result = reader.awaitSuccess();
    List<String> agentLines = Reader.agentLines(result);
    assertThat(agentLines).doesNotHaveDuplicates().noneMatch(line -> line.contains("fault"));
    return agentLines;
  }

  @Test
  void noiseIsRefusedAndReportedOncePerPort() throws Exception {
    Path directory = Workshop.empty("intruder-noise");
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Reader> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 2, MEMORY)) {
      try {
        List<Path> data = new ArrayList<>();
        for (Host host : hosts.all()) {
          data.add(host.copy(items.directory(), true));
          Path trace = host.directory().resolve("trace");
          readers.add(
              start(
                  host,
                  "reader" + host.number(),
                  data.get(data.size() - 1),
                  items,
                  ",peer.hosts=2",
                  trace));
        }
        for (Reader reader : readers) {
          reader.awaitWholeEpochs(1);
        }
        Host from = hosts.get(2);
        for (int i = 0; i < 5; i++) {
          from.send("head -c 300000 /dev/urandom", hosts.get(1), Hosts.PORT);
          from.send("head -c 300000 /dev/urandom", hosts.get(1), Hosts.PORT + 1);
        }
        for (Reader reader : readers) {
          reader.awaitWholeEpochs(1);
        }
        // Count while both run: the last to end reads the items that the other had cached.
        StorageReads reads = new StorageReads(Map.of(), 0);
        for (Host host : hosts.all()) {
          Path copy = data.get(host.number() - 1);
          reads = reads.plus(StorageReads.of(host.directory().resolve("trace"), copy));
        }
        for (Reader reader : readers) {
          reader.requestStop();
        }
        List<String> agentLines = unaffected(readers.get(0));
        unaffected(readers.get(1));
        // Once per port.
        assertThat(agentLines)
            .filteredOn(line -> line.contains("did not authenticate as a peer"))
            .hasSize(2);
        Map<String, Integer> once = new TreeMap<>();
        items.names().forEach(name -> once.put(name, 1));
        assertThat(reads.differenceFrom(items.directory(), once)).isEmpty();
      } finally {
        readers.forEach(Reader::close);
      }
    }
  }
}
