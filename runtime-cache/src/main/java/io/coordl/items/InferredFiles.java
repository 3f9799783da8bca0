package io.coordl.items;

import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/**
 * Infers that files read while a sample is loaded are items. Until the first item, counts other
 * reads per directory, for advice to the user.
 */
final class InferredFiles implements ItemFilter {
  private static final int MAX_DIRECTORIES = 64;

  private final BooleanSupplier loadingSample;
  private final ItemNames names;
  private final Map<String, LongAdder> otherReads = new ConcurrentHashMap<>();
  private volatile boolean used;

  InferredFiles(BooleanSupplier loadingSample, ItemNames names) {
    this.loadingSample = loadingSample;
    this.names = names;
  }

  @Override
  public ItemNames names() {
    return names;
  }

  @Override
  public boolean isItem(String absolutePath) {
    boolean item = loadingSample.getAsBoolean();
    if (item) {
      if (!used) {
        used = true;
        otherReads.clear();
      }
    } else if (!used) {
      count(absolutePath);
    }
    return item;
  }

  private void count(String path) {
    String directory = path.substring(0, Math.max(1, path.lastIndexOf('/')));
    LongAdder reads = otherReads.get(directory);
    if (reads == null && otherReads.size() < MAX_DIRECTORIES) {
      reads = otherReads.computeIfAbsent(directory, unused -> new LongAdder());
    }
    if (reads != null) {
      reads.increment();
    }
  }

  @Override
  public String whyNoItems() {
    if (used) {
      return "";
    }
    String none = "no file was read while a sample was being loaded";
    return otherReads.entrySet().stream()
        .max(Map.Entry.comparingByValue(Comparator.comparingLong(LongAdder::sum)))
        .map(
            top ->
                String.format(
                    "%s, but there %s of files in %s at other times; if they are the data set, set"
                        + " dataset=%s",
                    none,
                    top.getValue().sum() == 1
                        ? "was 1 read"
                        : "were " + top.getValue().sum() + " reads",
                    top.getKey(),
                    top.getKey()))
        .orElse(none);
  }
}
