package io.coordl.peers.redis;

import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.ItemStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A host in a separate JVM. Arguments: {@code uri directory items epochs seed budget}. Before each
 * epoch, waits for a byte on standard input. In each epoch, fetches all items in a random order,
 * checks each, and prints how many items it has read from storage and how many were wrong.
 */
public final class RedisJob {
  static final int BYTES = 30_000;

  private RedisJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws Exception {
    int items = Integer.parseInt(args[2]);
    int epochs = Integer.parseInt(args[3]);
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[4]));
    ArenaStore arena =
        ArenaStore.openProcess(
            Path.of(args[1]), ByteBudget.parse(args[5]), line -> System.err.println(line));
    ItemStore local = arena == null ? new FullStore() : arena;
    AtomicInteger reads = new AtomicInteger();
    try (RedisEngine engine =
        new RedisEngine(
            List.of(RedisUri.parse(args[0])),
            null,
            local,
            "jobs",
            (peer, start, end, bytes, answer) -> {},
            line -> System.err.println(line),
            RedisServer.patience(Duration.ofMinutes(1)))) {
      while (!engine.servers.up()) {
        LockSupport.parkNanos(1_000_000);
      }
      System.out.println("joined");
      System.in.read();
      int wrong = 0;
      for (int epoch = 0; epoch < epochs; epoch++) {
        int[] order = shuffled(items, random);
        for (int number : order) {
          TestItem item = new TestItem(number, BYTES);
          Fetched fetched = engine.fetch(item.key(), BYTES, item.loader(reads));
          boolean right =
              fetched.content() != null
                  && Arrays.equals(TestItem.bytes(fetched.content()), item.content());
          wrong += right ? 0 : 1;
        }
        System.out.println("reads " + reads + " wrong " + wrong);
        System.out.flush();
        System.in.read();
      }
    }
  }

  private static int[] shuffled(int items, SplittableRandom random) {
    int[] order = new int[items];
    for (int i = 0; i < items; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    return order;
  }
}
