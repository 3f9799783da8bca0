package io.coordl.pipeline;

import io.coordl.telemetry.advice.CheckedUnits;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=check}: remembers a checksum of each unit (a sample or a batch) that the program
 * makes, and compares it with the checksum of the same unit when the program makes it again. The
 * agent changes no unit, and makes none itself, because unproven code may draw random numbers or
 * change state. The result is a line in the summary for each class of data sets.
 *
 * <p>Each unit is compared at most once, and costs 8 bytes or more until its data set is
 * garbage-collected. Thread-safe.
 */
public final class CheckedSamples {
  /** Maximum number of units whose checksums are remembered. */
  static final int MAX_UNITS = 1 << 20;

  /** Maximum number of classes of data sets that are reported. */
  private static final int MAX_CLASSES = 8;

  private static final int MIN_LENGTH = 64;

  private final Function<Object, @Nullable SampleVerdict> proofs;
  private final List<Units> known = new ArrayList<>();

  /** By class of the data set. */
  private final Map<String, Result> results = new LinkedHashMap<>();

  /** Set while the program makes a unit on this thread. */
  private final ThreadLocal<Boolean> making = new ThreadLocal<>();

  private int remembered;

  /**
   * Creates the policy.
   *
   * @param proofs decides whether the samples of a library's object could be cached
   */
  public CheckedSamples(Function<Object, @Nullable SampleVerdict> proofs) {
    this.proofs = proofs;
  }

  private static final class Result {
    private final String units;

    /** Null if unknown, or not known yet. */
    private volatile @Nullable SampleVerdict verdict;

    /** Number of data sets. */
    private int sets;

    /** Number of data sets of which at least one unit was compared. */
    private int comparedSets;

    private long compared;
    private long differed;
    private String whyNotCompared = "";

    Result(String units) {
      this.units = units;
    }

    private CheckedUnits of(String source) {
      SampleVerdict known = verdict;
      return new CheckedUnits(
          source,
          units,
          compared,
          differed,
          whyNotCompared,
          whyNotCompared.isEmpty() && comparedSets == sets,
          known != null && known.isKept(),
          known == null ? "" : known.reason(),
          known == null ? "" : known.remedy());
    }
  }

  /**
   * Returns the units of a data set; null if there are too many classes.
   *
   * @param batches the library's object that returns the data set's batches, for the proof
   * @param units what the units are: {@code samples} or {@code batches}
   */
  public @Nullable Units of(Object dataset, Object batches, String units) {
    Result added = null;
    Units found;
    synchronized (this) {
      found = find(dataset);
      if (found == null) {
        String name = dataset.getClass().getName();
        Result result = results.get(name);
        if (result == null && results.size() < MAX_CLASSES) {
          added = new Result(units);
          result = added;
          results.put(name, result);
        }
        if (result != null) {
          found = new Units(dataset, result);
          result.sets++;
          known.add(found);
        }
      }
    }
    if (added != null) {
      added.verdict = proofs.apply(batches); // Without the lock, because it loads class files.
    }
    return found;
  }

  /** Returns the units of a data set if {@link #of} has returned them before, otherwise null. */
  public synchronized @Nullable Units find(Object dataset) {
    for (int i = known.size() - 1; i >= 0; i--) {
      Units one = known.get(i);
      if (one.refersTo(dataset)) {
        return one;
      }
      if (one.refersTo(null)) {
        remembered -= one.firstChecksums.length;
        known.remove(i);
      }
    }
    return null;
  }

  /**
   * Called when the program begins to make a unit; returns false if the unit is part of another one
   * on this thread.
   */
  public boolean tryBegin() {
    boolean begins = making.get() == null;
    if (begins) {
      making.set(true);
    }
    return begins;
  }

  /** Called when the unit for which {@link #tryBegin} returned true is made or has failed. */
  public void end() {
    making.remove();
  }

  /** Returns the lines of the summary; empty if no data set was seen. */
  public synchronized String summary() {
    return results.entrySet().stream()
        .map(result -> result.getValue().of(result.getKey()).summary())
        .collect(Collectors.joining("\n"));
  }

  /** Returns why nothing was compared; empty if a data set was seen. */
  public synchronized String whyUnused() {
    return results.isEmpty() ? "no data set was seen whose samples it could compare" : "";
  }

  /** The units of one data set. */
  public final class Units extends WeakReference<Object> {
    private final Result result;
    private final BitSet made = new BitSet();
    private final BitSet compared = new BitSet();
    private long[] firstChecksums = {};
    private long next;

    private Units(Object dataset, Result result) {
      super(dataset);
      this.result = result;
    }

    /** Whether the checksum of this unit is needed, because the unit has not been compared yet. */
    public boolean wants(long number) {
      synchronized (CheckedSamples.this) {
        return number >= 0 && number < MAX_UNITS && !compared.get((int) number);
      }
    }

    /** Called when the program has made the unit with this number. */
    public void made(long number, long checksum) {
      synchronized (CheckedSamples.this) {
        if (number < 0 || !makeRoom(number)) {
          return;
        }
        int unit = (int) number;
        if (!made.get(unit)) {
          made.set(unit);
          firstChecksums[unit] = checksum;
        } else if (!compared.get(unit)) {
          result.comparedSets += compared.isEmpty() ? 1 : 0;
          compared.set(unit);
          result.compared++;
          result.differed += firstChecksums[unit] == checksum ? 0 : 1;
        }
      }
    }

    /**
     * Called when the program has made the next unit, if units have an order; returns its number.
     */
    public long next() {
      synchronized (CheckedSamples.this) {
        return next++;
      }
    }

    /** Called when the program begins with the first unit again. */
    public void reset() {
      synchronized (CheckedSamples.this) {
        next = 0;
      }
    }

    /** Records why units are not compared. */
    public void leave(String reason) {
      synchronized (CheckedSamples.this) {
        result.whyNotCompared = reason;
      }
    }

    /** Grows {@link #firstChecksums} for this unit; returns false at the limit. */
    private boolean makeRoom(long number) {
      if (number < firstChecksums.length) {
        return true;
      }
      long length = Math.max(Math.max(MIN_LENGTH, number + 1), 2L * firstChecksums.length);
      long grown = Math.min(length, (long) firstChecksums.length + MAX_UNITS - remembered);
      if (number >= grown) {
        return false;
      }
      remembered += (int) grown - firstChecksums.length;
      firstChecksums = Arrays.copyOf(firstChecksums, (int) grown);
      return true;
    }
  }
}
