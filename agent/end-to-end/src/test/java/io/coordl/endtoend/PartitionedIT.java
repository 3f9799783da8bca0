package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.endtoend.Hosts.Host;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.OpenedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Together, hosts cache the data set once. Reads are counted outside the JVMs; each host has its
 * own copy of the data set.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PartitionedIT {
  private static final int ITEMS = 160;
  private static final int EPOCHS = 3;
  private static final long MEMORY = 64L << 20;
  private static final Pattern STORE =
      Pattern.compile("raw cache \\(host\\): (\\d+) items, .* of .*; (\\d+) hits, .*");

  private final Jdk jdk = Workshop.newestJdk();

  @BeforeAll
  static void straceWorks() throws InterruptedException {
    assertThat(OpenedFiles.canTrace()).as("strace works").isTrue();
  }

  /** A reader and its trace. */
  private record Traced(Reader reader, Host host, Path data, Path trace) {
    StorageReads reads() throws IOException {
      return StorageReads.of(trace, data);
    }
  }

  /** Ends concurrent readers once all have finished their epochs. */
  private List<ChildResult> runAll(List<Traced> readers) throws Exception {
    List<ChildResult> results = new ArrayList<>();
    for (Traced traced : readers) {
      traced.reader().awaitEpochs(EPOCHS);
    }
    for (Traced traced : readers) {
      traced.reader().requestStop();
    }
    for (Traced traced : readers) {
      ChildResult result = traced.reader().awaitSuccess();
      assertThat(Reader.agentLines(result)).noneMatch(line -> line.contains("fault"));
      // Explains repeated reads: a late host receives no requests for a while.
      Reader.agentLines(result)
          .forEach(line -> System.out.println("  " + traced.reader().name() + ": " + line));
      results.add(result);
    }
    return results;
  }

  private Traced start(Host host, String name, Path data, ItemSet items, String arguments)
      throws IOException {
    Path trace = host.directory().resolve(name + ".trace");
    Reader reader =
        Reader.start(
            host,
            name,
            data,
            items,
            arguments,
            new Reader.Plan(jdk, EPOCHS, name.hashCode(), 0, Reader.PATIENT),
            StorageReads.trace(trace));
    return new Traced(reader, host, data, trace);
  }

  /** Starts a reader on each host, on its own copy of the data set with the original times. */
  private void startEach(
      Hosts hosts, ItemSet items, BiFunction<Host, Path, String> arguments, List<Traced> readers)
      throws IOException, InterruptedException {
    for (Host host : hosts.all()) {
      Path data = host.copy(items.directory(), true);
      String name = "reader" + host.number();
      readers.add(start(host, name, data, items, arguments.apply(host, data)));
    }
  }

  private static void assertListensOnlyAt(Host host, String address)
      throws IOException, InterruptedException {
    assertThat(host.listening())
        .extracting(Sockets.Listening::at)
        .containsExactlyInAnyOrder(address + ":" + Hosts.PORT, address + ":" + (Hosts.PORT + 1));
  }

  private static StorageReads sum(List<Traced> readers) throws IOException {
    StorageReads sum = new StorageReads(Map.of(), 0);
    for (Traced traced : readers) {
      sum = sum.plus(traced.reads());
    }
    return sum;
  }

  private static Map<String, Integer> each(ItemSet items, int times) throws IOException {
    Map<String, Integer> opens = new TreeMap<>();
    items.names().forEach(name -> opens.put(name, times));
    return opens;
  }

  private static void closeAll(List<Traced> readers) {
    readers.forEach(traced -> traced.reader().close());
  }

  /** Shows that the count of reads works. */
  @Test
  void withoutPeersEachHostReadsTheDataSetOnceAndNoPortIsOpen() throws Exception {
    Path directory = Workshop.empty("partition-none");
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Traced> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 2, MEMORY)) {
      try {
        startEach(hosts, items, Host::arguments, readers);
        for (Traced traced : readers) {
          traced.reader().awaitEpochs(EPOCHS);
          assertThat(traced.host().listening()).isEmpty();
        }
        runAll(readers);
      } finally {
        closeAll(readers);
      }
      assertThat(sum(readers).differenceFrom(items.directory(), each(items, 2))).isEmpty();
    }
  }

  static List<Integer> counts() {
    return Workshop.first(1, List.of(3, 2, 4));
  }

  @ParameterizedTest(name = "{0} hosts")
  @MethodSource("counts")
  void eachByteIsReadOncePerClusterAndNoneInLaterEpochs(int count) throws Exception {
    Path directory = Workshop.empty("partition-" + count);
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Traced> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, count, MEMORY)) {
      try {
        startEach(
            hosts,
            items,
            (host, data) -> host.peerArguments(data) + ",cache.size=32m,peer.hosts=" + count,
            readers);
        runAll(readers);
      } finally {
        closeAll(readers);
      }
      assertThat(sum(readers).differenceFrom(items.directory(), each(items, 1))).isEmpty();
    }
  }

  private static String peers(String way, Hosts hosts, Host host, Path meeting) {
    return switch (way) {
      case "dns" -> "peer=dns:" + Hosts.ALL;
      case "file" -> "peer=file:" + meeting + ",peer.bind=" + host.address();
      case "slurm" -> "peer=slurm";
      default ->
          hosts.all().stream()
              .map(each -> "peer=[" + each.ipv6() + "]")
              .collect(Collectors.joining(","));
    };
  }

  /**
   * Returns the ways to find other hosts, besides a list of IPv4 addresses. Without -Pfull,
   * HostMembershipTest covers a common directory, and DiscoveryTest all ways.
   */
  static List<String> ways() {
    return Workshop.first(2, List.of("slurm", "IPv6", "dns", "file"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ways")
  void hostsFindEachOther(String way) throws Exception {
    assumeTrue(
        way.equals("file") || Hosts.areNamespaces(),
        "host names need network namespaces, which cannot be created here");
    assumeTrue(!way.equals("IPv6") || Hosts.haveIpv6(), "this machine has no IPv6");
    Path directory = Workshop.empty("partition-" + way);
    Path meeting = Files.createDirectories(directory.resolve("meeting"));
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Traced> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 3, MEMORY)) {
      try {
        startEach(
            hosts,
            items,
            (host, data) ->
                host.peerArguments(data, peers(way, hosts, host, meeting))
                    + ",cache.size=32m,peer.hosts=3",
            readers);
        for (Traced traced : readers) {
          traced.reader().awaitEpochs(EPOCHS);
        }
        for (Host host : hosts.all()) {
          assertListensOnlyAt(host, way.equals("IPv6") ? "[" + host.ipv6() + "]" : host.address());
        }
        runAll(readers);
      } finally {
        closeAll(readers);
      }
      assertThat(sum(readers).differenceFrom(items.directory(), each(items, 1))).isEmpty();
    }
  }

  @Test
  void withAManifestCopiesWithOtherTimesAreTheSameItems() throws Exception {
    Path directory = Workshop.empty("partition-manifest");
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Traced> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 2, MEMORY)) {
      try {
        for (Host host : hosts.all()) {
          Path data = host.copy(items.directory(), false);
          Path sums = host.directory().resolve("SUMS");
          Shell.run(
              "sh",
              "-c",
              "cd \"$0\" && find . -type f -exec sha256sum {} + >\"$1\"",
              data.toString(),
              sums.toString());
          readers.add(
              start(
                  host,
                  "reader" + host.number(),
                  data,
                  items,
                  host.peerArguments(data)
                      + ",cache.size=32m,peer.hosts=2,dataset.manifest="
                      + sums));
        }
        for (String name : items.names()) {
          assertThat(Files.getLastModifiedTime(readers.get(0).data().resolve(name)))
              .isNotEqualTo(Files.getLastModifiedTime(readers.get(1).data().resolve(name)));
        }
        runAll(readers);
      } finally {
        closeAll(readers);
      }
      assertThat(sum(readers).differenceFrom(items.directory(), each(items, 1))).isEmpty();
    }
  }

  static List<Integer> countsOfSmallStores() {
    return Workshop.first(1, List.of(2, 3));
  }

  /** Items in any store are read once; each host reads the other items in each epoch. */
  @ParameterizedTest(name = "{0} hosts")
  @MethodSource("countsOfSmallStores")
  void smallStoresSaveExactlyTheReadsOfTheirItems(int count) throws Exception {
    Path directory = Workshop.empty("partition-small-" + count);
    ItemSet items = ItemSet.create(directory, ITEMS);
    long each = 2 * items.bytes() / (3L * count);
    List<Traced> readers = new ArrayList<>();
    List<ChildResult> results;
    try (Hosts hosts = new Hosts(directory, count, MEMORY)) {
      try {
        startEach(
            hosts,
            items,
            (host, data) ->
                host.peerArguments(data) + ",cache.size=" + each + ",peer.hosts=" + count,
            readers);
        results = runAll(readers);
      } finally {
        closeAll(readers);
      }
      StorageReads reads = sum(readers);
      long held = results.stream().mapToLong(PartitionedIT::held).sum();
      assertThat(held).isBetween(ITEMS / 3L, ITEMS - 20L);
      Map<Integer, Long> times = new TreeMap<>();
      reads.opens().values().forEach(opens -> times.merge(opens, 1L, Long::sum));
      assertThat(times).isEqualTo(Map.of(1, held, count * EPOCHS, ITEMS - held));
      // Each read is complete; the stores themselves report how many items were read once.
      Map<String, Integer> expected = each(items, count * EPOCHS);
      expected.replaceAll((name, all) -> reads.opens().getOrDefault(name, 0) == 1 ? 1 : all);
      assertThat(reads.differenceFrom(items.directory(), expected)).isEmpty();
    }
  }

  /** Returns the number of items in the host's store when the job ended. */
  private static long held(ChildResult result) {
    for (String line : Reader.agentLines(result)) {
      Matcher store = STORE.matcher(line);
      if (store.matches()) {
        return Long.parseLong(store.group(1));
      }
    }
    throw new AssertionError("no line reports the store:\n" + result.err());
  }

  @Test
  void twoJobsOnAHostFormOneMember() throws Exception {
    Path directory = Workshop.empty("partition-two-jobs");
    ItemSet items = ItemSet.create(directory, ITEMS);
    List<Traced> readers = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, 2, MEMORY)) {
      try {
        for (Host host : hosts.all()) {
          Path data = host.copy(items.directory(), true);
          for (String job : List.of("a", "b")) {
            readers.add(
                start(
                    host,
                    "reader" + host.number() + job,
                    data,
                    items,
                    host.peerArguments(data) + ",cache.size=32m,peer.hosts=2"));
          }
        }
        for (Traced traced : readers) {
          traced.reader().awaitEpochs(EPOCHS);
        }
        for (Host host : hosts.all()) {
          assertListensOnlyAt(host, host.address());
        }
        runAll(readers);
      } finally {
        closeAll(readers);
      }
      assertThat(sum(readers).differenceFrom(items.directory(), each(items, 1))).isEmpty();
    }
  }
}
