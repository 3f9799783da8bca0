package io.coordl.gpu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A driver of two devices that does what a test says. */
final class FakeDriver implements Natives {
  static final int PID = 4711;

  final List<String> calls = new ArrayList<>();

  /** What functions return instead of success, and those that the driver lacks. */
  final Map<String, Integer> failing = new HashMap<>();

  final Set<String> missing = new HashSet<>();

  /** Devices with a context of the program. */
  final Set<Integer> active = new HashSet<>();

  String version = "580.65.06";
  int processBytes = 24;
  long ownMemory = 2L << 30;
  long lostDevice = -1;

  /** Of which process the driver has a sample, when and how busy. */
  long[][] shares = {};

  /** For samples after which it was asked last. */
  long since;

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
      case "nvmlDeviceGetUtilizationRates" -> buffer(arguments[1]).putInt(0, 25);
      case "nvmlDeviceGetPowerUsage" -> buffer(arguments[1]).putInt(0, 300);
      case "nvmlDeviceGetMemoryInfo" -> buffer(arguments[1]).putLong(16, 3L << 30);
      case "nvmlDeviceGetComputeRunningProcesses_v3" -> {
        buffer(arguments[1]).putInt(0, 3);
        for (int i = 0; i < 3; i++) {
          buffer(arguments[2]).putInt(i * processBytes, i == 2 ? PID : i + 1);
          buffer(arguments[2]).putLong(i * processBytes + 8, i == 2 ? ownMemory : 7);
        }
      }
      case "nvmlDeviceGetProcessUtilization" -> {
        buffer(arguments[2]).putInt(0, shares.length);
        for (int i = 0; i < shares.length; i++) {
          buffer(arguments[1]).putInt(i * 32, (int) shares[i][0]);
          buffer(arguments[1]).putLong(i * 32 + 8, shares[i][1]);
          buffer(arguments[1]).putInt(i * 32 + 16, (int) shares[i][2]);
        }
        since = (Long) arguments[3];
      }
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
