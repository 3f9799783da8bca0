package io.coordl.gpu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A driver of two devices that a test controls. For the load that the test simulates over time, it
 * reports what NVIDIA's driver would: utilization in the last window and in the windows still
 * stored, and the processes that ran in them.
 */
final class FakeDriver implements Natives {
  static final int PID = 4711;

  final List<String> calls = new ArrayList<>();

  /** Error codes of the functions that fail. */
  final Map<String, Integer> failing = new HashMap<>();

  /** Functions that the driver lacks. */
  final Set<String> missing = new HashSet<>();

  /** Devices on which the program has a context. */
  final Set<Integer> active = new HashSet<>();

  /** Called each time memory is to be locked. */
  Runnable onLock = () -> {};

  String version = "580.65.06";
  int processBytes = 24;
  long ownMemory = 2L << 30;
  long lostDevice = -1;

  /** Per-process samples: process, time, percent busy; null to follow the wave. */
  long @Nullable [][] shares = {};

  /** Start time in the last request for per-process samples. */
  long since;

  /** Microseconds since 1970. */
  long now = 1_790_000_000_057_000L;

  /** Microseconds from one kernel start to the next. */
  long period = 50_000;

  /** Microseconds per period in which kernels run. */
  long busy = 12_500;

  /** Microseconds per window. */
  long window = 200_000;

  /** Number of windows stored. */
  int kept = 100;

  private static final int OFFSET = 37_000;

  /** Microseconds in which kernels ran, from 1970 to {@code until}. */
  long ran(long until) {
    return until / period * busy + Math.min(busy, until % period);
  }

  private long last() {
    return (now - OFFSET) / window * window + OFFSET;
  }

  /** Utilization in percent between two times. */
  private int percent(long from, long to) {
    return (int) Math.round(100.0 * (ran(to) - ran(from)) / (to - from));
  }

  /** Start times of the windows that end after {@code since}, oldest first. */
  private List<Long> windows(long since) {
    List<Long> found = new ArrayList<>();
    for (int i = kept; i > 0; i--) {
      if (last() - (i - 1) * window > since) {
        found.add(last() - i * window);
      }
    }
    return found;
  }

  @Override
  public int invoke(String function, Object... arguments) throws UnavailableException {
    calls.add(function);
    if (missing.contains(function)) {
      throw new UnavailableException("the driver has no " + function);
    }
    if (arguments.length > 0 && arguments[0].equals(lostDevice)) {
      return 15;
    }
    Integer error = failing.get(function);
    if (error != null) {
      return error;
    }
    switch (function) {
      case "nvmlSystemGetDriverVersion" ->
          buffer(arguments[0]).put(0, (version + "\0").getBytes(StandardCharsets.UTF_8));
      case "nvmlDeviceGetCount_v2", "cuDeviceGetCount" -> buffer(arguments[0]).putInt(0, 2);
      case "nvmlDeviceGetHandleByIndex_v2" ->
          buffer(arguments[1]).putLong(0, 100 + (Integer) arguments[0]);
      case "nvmlDeviceGetUtilizationRates" ->
          buffer(arguments[1]).putInt(0, percent(last() - window, last()));
      case "nvmlDeviceGetSamples" -> {
        List<Long> found = windows((Long) arguments[2]);
        Collections.reverse(found); // The order is not guaranteed.
        buffer(arguments[4]).putInt(0, found.size());
        for (int i = 0; i < found.size(); i++) {
          long end = found.get(i) + window;
          buffer(arguments[5]).putLong(i * 16, end).putInt(i * 16 + 8, percent(end - window, end));
        }
        return found.isEmpty() ? 6 : 0;
      }
      case "nvmlDeviceGetPowerUsage" -> buffer(arguments[1]).putInt(0, 300);
      case "nvmlDeviceGetMemoryInfo" -> buffer(arguments[1]).putLong(16, 3L << 30);
      case "nvmlDeviceGetMemoryInfo_v2" -> {
        if (buffer(arguments[1]).getInt(0) != (2 << 24 | 40)) {
          return 25; // Another version of the struct.
        }
        buffer(arguments[1]).putLong(8, 80L << 30).putLong(32, (3L << 30) - (615L << 20));
      }
      case "nvmlDeviceGetComputeRunningProcesses_v3" -> {
        buffer(arguments[1]).putInt(0, 3);
        for (int i = 0; i < 3; i++) {
          buffer(arguments[2]).putInt(i * processBytes, i == 2 ? PID : i + 1);
          buffer(arguments[2]).putLong(i * processBytes + 8, i == 2 ? ownMemory : 7);
        }
      }
      case "nvmlDeviceGetProcessUtilization" -> {
        if (shares == null) {
          List<Long> found = windows((Long) arguments[3]);
          if (found.isEmpty() || ran(last()) == ran(found.get(0))) {
            return 6;
          }
          shares = new long[][] {{PID, last(), percent(found.get(0), last())}};
          int result = invoke(function, arguments);
          shares = null;
          return result;
        }
        buffer(arguments[2]).putInt(0, shares.length);
        for (int i = 0; i < shares.length; i++) {
          buffer(arguments[1]).putInt(i * 32, (int) shares[i][0]);
          buffer(arguments[1]).putLong(i * 32 + 8, shares[i][1]);
          buffer(arguments[1]).putInt(i * 32 + 16, (int) shares[i][2]);
        }
        since = (Long) arguments[3];
      }
      case "cuMemHostRegister_v2" -> onLock.run();
      case "cuDevicePrimaryCtxGetState" ->
          buffer(arguments[2]).putInt(0, active.contains(arguments[0]) ? 1 : 0);
      default -> {}
    }
    return 0;
  }

  private static ByteBuffer buffer(Object argument) {
    return ((ByteBuffer) argument).duplicate().order(ByteOrder.nativeOrder());
  }

  long count(String function) {
    return calls.stream().filter(function::equals).count();
  }

  @Override
  public String binding() {
    return "fake";
  }
}
