package io.coordl.store;

import io.coordl.host.MemoryWatch;
import io.coordl.telemetry.event.EpochEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A job in a container. Arguments: {@code BUDGET trained|untrained NATIVE-MIB SECONDS VIEWS}.
 * Offers a store 138 MiB of items, retains views of some items across the store, and allocates
 * native memory over the given seconds while two threads read items and check them. Prints its
 * results.
 */
public final class ContainerJob {
  private static final int LENGTH = 100 << 10;
  private static final int ITEMS = 1410;
  private static final int PIECE = 1 << 20;

  private ContainerJob() {}

  /** Runs the job. */
  public static void main(String[] args) throws Exception {
    int mebibytes = Integer.parseInt(args[2]);
    double seconds = Double.parseDouble(args[3]);
    ArenaStore store =
        ArenaStore.openProcess(
            ArenaStore.SHARED_MEMORY, ByteBudget.parse(args[0]), ContainerJob::print);
    try (MemoryWatch watch = new MemoryWatch(ContainerJob::print)) {
      store.yieldTo(watch, "cache.size");
      if (args[1].equals("trained")) {
        EpochEvent epoch = new EpochEvent();
        epoch.batches = 1;
        epoch.updates = 1;
        epoch.complete = true;
        watch.ended(epoch);
      }
      for (int item = 0; item < ITEMS; item++) {
        store.fetch(Items.key(item), LENGTH, ContainerJob::load);
      }
      List<ByteBuffer> views = new ArrayList<>();
      for (int view = 0; view < Integer.parseInt(args[4]); view++) {
        views.add(store.find(Items.key(view * ITEMS / Integer.parseInt(args[4]))));
      }
      System.out.println("held " + (store.held() >> 20));
      AtomicLong hits = new AtomicLong();
      AtomicLong wrong = new AtomicLong();
      List<Thread> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Random random = new Random(i);
        Thread reader = new Thread(() -> read(store, random, hits, wrong));
        reader.start();
        readers.add(reader);
      }
      List<ByteBuffer> taken = take(mebibytes, seconds);
      for (Thread reader : readers) {
        reader.interrupt();
        reader.join();
      }
      System.out.println("given back " + (store.givenBack() >> 20));
      for (ByteBuffer view : views) {
        wrong.addAndGet(view.equals(ByteBuffer.wrap(right())) ? 0 : 1);
      }
      System.out.println("taken " + taken.size() + " hits " + hits + " wrong " + wrong);
    }
  }

  private static void print(String sentence) {
    System.out.println(sentence);
  }

  private static boolean load(byte[] target, int offset) {
    Arrays.fill(target, offset, offset + LENGTH, (byte) 7);
    return true;
  }

  private static byte[] right() {
    byte[] right = new byte[LENGTH];
    load(right, 0);
    return right;
  }

  private static void read(ArenaStore store, Random random, AtomicLong hits, AtomicLong wrong) {
    byte[] right = right();
    while (!Thread.currentThread().isInterrupted()) {
      ByteBuffer view = store.find(Items.key(random.nextInt(ITEMS)));
      if (view == null) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      } else {
        hits.incrementAndGet();
        wrong.addAndGet(view.equals(ByteBuffer.wrap(right)) ? 0 : 1);
      }
    }
  }

  private static List<ByteBuffer> take(int mebibytes, double seconds) throws IOException {
    List<ByteBuffer> taken = new ArrayList<>();
    long pause = (long) (1e9 * seconds / mebibytes); // Takes longer only if the machine is busy.
    for (int i = 0; i < mebibytes; i++) {
      taken.add(ByteBuffer.allocateDirect(PIECE)); // The JVM fills it with zeros.
      long due = System.nanoTime() + pause;
      for (long left = pause; left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
    return taken;
  }
}
