package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Hosts.Host;
import io.coordl.endtoend.Reader.Fetch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every surviving job continues with the right bytes after faults of hosts, links and jobs. Prints
 * a table of the longest fetches before, during and after each fault. {@code -Dcoordl.rounds=100}
 * gives a meaningful table; {@code -Dcoordl.seed} repeats a run.
 */
@Timeout(value = 120, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerFaultsIT {
  private static final int ITEMS = 120;
  private static final long MEMORY = 96L << 20;
  private static final int PAUSE_MICROS = 500;
  private static final int SIGKILL_STATUS = 128 + 9;
  private static final long LATE_MICROS = 100_000;

  private final List<Reader> started = new ArrayList<>();
  private final Map<Integer, List<Reader>> running = new HashMap<>();
  private final List<Round> rounds = new ArrayList<>();
  private Hosts hosts;
  private ItemSet items;
  private int number;

  /** The fault of a round. */
  private enum Fault {
    /** All jobs of a host are killed; later, a new job starts there. */
    KILL_HOST("kill -9 of a host's only job"),
    /** The job that represents its host to the others is killed; another one takes over. */
    KILL_CARRIER("kill -9 of the carrier of two jobs"),
    /** A job is stopped and later continued. */
    STOP("SIGSTOP, later SIGCONT"),
    /** The link of a host is cut and healed. */
    CUT("link cut, later healed"),
    /** A job ends normally; another joins later, during the others' epoch. */
    LEAVE("a host leaves, later joins");

    private final String words;

    Fault(String words) {
      this.words = words;
    }
  }

  /** A round; times are in microseconds since 1970. Fetches of {@code out} are not counted. */
  private record Round(
      Fault fault, long before, long from, long healed, long to, List<Reader> out) {}

  @Test
  void everySurvivingJobContinuesWithTheRightBytes() throws Exception {
    Assumptions.assumeTrue(
        Workshop.FULL, "runs only with -Pfull; without it, PeerHostsIT kills and stops hosts");
    int roundCount = Integer.getInteger("coordl.rounds", Fault.values().length);
    long seed = Long.getLong("coordl.seed", System.nanoTime());
    System.out.println("faults of hosts: " + roundCount + " rounds, -Dcoordl.seed=" + seed);
    Random random = new Random(seed);
    Path directory = Workshop.empty("peer-faults");
    items = ItemSet.create(directory, ITEMS);
    try (Hosts created = new Hosts(directory, 3, MEMORY)) {
      hosts = created;
      try {
        for (Host host : hosts.all()) {
          host.copy(items.directory(), true);
          start(host);
        }
        start(hosts.get(1));
        allFinishAnEpoch(List.of());
        List<Fault> bag = new ArrayList<>();
        for (int i = 0; i < roundCount; i++) {
          if (bag.isEmpty()) {
            bag.addAll(Arrays.asList(Fault.values()));
            if (!Hosts.areNamespaces()) {
              bag.remove(Fault.CUT);
              System.out.println("  without network namespaces: no link is cut");
            }
            Collections.shuffle(bag, random);
          }
          round(i, bag.remove(0), random);
        }
        for (List<Reader> readers : running.values()) {
          for (Reader reader : readers) {
            reader.requestStop();
          }
        }
        for (List<Reader> readers : running.values()) {
          for (Reader reader : readers) {
            assertThat(Reader.agentLines(reader.awaitSuccess()))
                .noneMatch(line -> line.contains("fault"));
          }
        }
        print();
      } finally {
        started.forEach(Reader::close);
      }
    }
  }

  private Reader start(Host host) throws IOException {
    Path data = host.directory().resolve("items");
    Reader reader =
        Reader.start(
            host,
            "host" + host.number() + "-" + ++number,
            data,
            items,
            host.peerArguments(data) + ",cache.size=48m",
            new Reader.Plan(Workshop.newestJdk(), 0, number, PAUSE_MICROS, 1),
            List.of());
    started.add(reader);
    running.computeIfAbsent(host.number(), unused -> new ArrayList<>()).add(reader);
    return reader;
  }

  private void round(int index, Fault fault, Random random) throws Exception {
    if (random.nextBoolean()) {
      // New items, so that the fault happens while they are read for the first time.
      for (Host host : hosts.all()) {
        for (String name : items.names()) {
          Files.setLastModifiedTime(
              host.directory().resolve("items").resolve(name),
              FileTime.from(Instant.ofEpochSecond(1_000_000_000L + index)));
        }
      }
    }
    long before = micros();
    // Not for synchronisation: picks a random moment for the fault.
    LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(400)));
    Host host = hosts.get(fault == Fault.KILL_CARRIER ? 1 : 2 + random.nextInt(2));
    List<Reader> there = running.get(host.number());
    List<Reader> out = new ArrayList<>();
    long from = micros();
    switch (fault) {
      case KILL_HOST -> {
        for (Reader reader : there) {
          out.add(reader);
          kill(reader);
        }
        there.clear();
      }
      case KILL_CARRIER -> {
        // If neither is the carrier now, one is just taking over from an earlier victim.
        Reader victim = host.isCarrier(there.get(0)) ? there.get(0) : there.get(1);
        out.add(victim);
        kill(victim);
        there.remove(victim);
      }
      case STOP -> {
        Host any = hosts.get(1 + random.nextInt(3));
        List<Reader> theirs = running.get(any.number());
        Reader victim = theirs.get(random.nextInt(theirs.size()));
        out.add(victim);
        victim.signal("STOP");
      }
      case CUT -> host.cut();
      case LEAVE -> {
        Reader leaving = there.get(0);
        out.add(leaving);
        leaving.requestStop();
        leaving.awaitSuccess();
        there.remove(leaving);
      }
    }
    allFinishAnEpoch(out);
    allFinishAnEpoch(out);
    long healed = micros();
    switch (fault) {
      case KILL_HOST, KILL_CARRIER, LEAVE -> start(host).awaitEpochs(1);
      case STOP -> out.get(0).signal("CONT");
      case CUT -> host.heal();
    }
    allFinishAnEpoch(List.of());
    allFinishAnEpoch(List.of());
    rounds.add(new Round(fault, before, from, healed, micros(), out));
  }

  private static long micros() {
    return System.currentTimeMillis() * 1000;
  }

  private static void kill(Reader reader) throws IOException, InterruptedException {
    reader.signal("KILL");
    var end = reader.await();
    assertThat(end.exit()).isEqualTo(SIGKILL_STATUS);
    assertThat(end.out()).doesNotContain("WRONG");
  }

  /** Waits until all running jobs except {@code but} have begun and finished an epoch. */
  private void allFinishAnEpoch(List<Reader> but) throws InterruptedException {
    for (List<Reader> readers : running.values()) {
      for (Reader reader : readers) {
        if (!but.contains(reader)) {
          reader.awaitWholeEpochs(1);
        }
      }
    }
  }

  // ---- latency of fetches

  /** Longest fetch in milliseconds, and the largest number of late items of one reader. */
  private record Late(double worst, int late) {}

  private static Late late(
      Map<Reader, List<Fetch>> all, List<Reader> but, long fromMicros, long toMicros) {
    long worst = 0;
    int most = 0;
    for (Map.Entry<Reader, List<Fetch>> reader : all.entrySet()) {
      if (but.contains(reader.getKey())) {
        continue;
      }
      int late = 0;
      for (Fetch fetch : reader.getValue()) {
        if (fetch.endMicros() >= fromMicros && fetch.startMicros() < toMicros) {
          worst = Math.max(worst, fetch.micros());
          late += fetch.micros() >= LATE_MICROS ? 1 : 0;
        }
      }
      most = Math.max(most, late);
    }
    return new Late(worst / 1e3, most);
  }

  private void print() throws IOException {
    Map<Reader, List<Fetch>> all = new HashMap<>();
    for (Reader reader : started) {
      all.put(reader, reader.fetches());
    }
    System.out.println(
        "longest fetch in ms (median of the rounds' longest; longest of all), and the largest"
            + " number of items that took 100 ms or more in one job and one round");
    String row = "  %-36s %6s  %18s  %24s  %24s%n";
    System.out.printf(
        Locale.ROOT, row, "fault", "rounds", "just before", "during the fault", "after it");
    for (Fault fault : Fault.values()) {
      List<Round> of = rounds.stream().filter(round -> round.fault == fault).toList();
      List<Late> before = new ArrayList<>();
      List<Late> during = new ArrayList<>();
      List<Late> after = new ArrayList<>();
      for (Round round : of) {
        before.add(late(all, round.out, round.before, round.from));
        during.add(late(all, round.out, round.from, round.healed));
        after.add(late(all, round.out, round.healed, round.to));
      }
      System.out.printf(
          Locale.ROOT, row, fault.words, of.size(), words(before), words(during), words(after));
    }
  }

  private static String words(List<Late> lates) {
    if (lates.isEmpty()) {
      return "-";
    }
    double[] worst = lates.stream().mapToDouble(Late::worst).sorted().toArray();
    int most = lates.stream().mapToInt(Late::late).max().orElse(0);
    return String.format(
        Locale.ROOT,
        "%.0f; %.0f, %d items",
        worst[worst.length / 2],
        worst[worst.length - 1],
        most);
  }
}
