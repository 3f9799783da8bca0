package io.coordl.gpu;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.event.GpuSampleEvent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the GPUs through NVIDIA's management library, which needs only the driver. A figure of -1
 * means that the device does not report it. Struct layouts are those of nvml.h on a 64-bit system.
 * Not thread-safe.
 */
final class Nvml {
  static final String LIBRARY = "libnvidia-ml.so.1";
  static final int UNKNOWN = -1;

  // Errors after which NVML reports nothing more about the device or, for UNINITIALIZED and
  // DRIVER_NOT_LOADED, about any device. UNKNOWN_ERROR means this only for the device's rates. All
  // other errors, such as NOT_FOUND, affect a single call.
  private static final int UNINITIALIZED = 1;
  private static final int NOT_FOUND = 6;
  private static final int DRIVER_NOT_LOADED = 9;
  private static final int GPU_IS_LOST = 15;
  private static final int UNKNOWN_ERROR = 999;
  private static final String RATES = "nvmlDeviceGetUtilizationRates";
  private static final String WINDOWS = "nvmlDeviceGetSamples";

  // Driver versions (535.43 as 535_043) at which the lists of processes changed: at first none,
  // then nvmlProcessInfo_t of 24 bytes (pid, memory, two instances), then 32 bytes (plus
  // protected memory), then none, then 24 bytes again.
  private static final int FIRST_WITH_PROCESSES = 510_000;
  private static final int FIRST_WITH_LONG_PROCESSES = 535_043;
  private static final int FIRST_WITHOUT_PROCESSES = 535_098;
  private static final int FIRST_WITH_PROCESSES_AGAIN = 535_104;

  private static final int PROCESSES = 256;
  private static final int PROCESS_BYTES = 24;
  private static final int LONG_PROCESS_BYTES = 32;
  private static final int PROCESS_MEMORY = 8;
  private static final int SHARE_BYTES = 32; // nvmlProcessUtilizationSample_t
  private static final int SHARE_TIME = 8;
  private static final int SHARE_SM = 16;
  private static final int UTILIZATION = 1; // NVML_GPU_UTILIZATION_SAMPLES
  private static final int WINDOW_BYTES = 16; // nvmlSample_t
  private static final int WINDOW_VALUE = 8;
  private static final int MAX_WINDOWS = 1024;
  private static final long MAX_WINDOW_MICROS = 1_000_000;

  // nvmlMemory_v2_t, whose "used" excludes the driver's reserved memory. Available since the first
  // drivers with lists of processes.
  private static final int MEMORY_BYTES = 40;
  private static final int MEMORY_VERSION = 2 << 24 | MEMORY_BYTES;
  private static final int TOTAL = 8;
  private static final int USED = 32;
  private static final int NAME_BYTES = 96;
  private static final int TX = 0;
  private static final int RX = 1;
  private static final int SM_CLOCK = 1;
  private static final int MEMORY_CLOCK = 2;

  private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,3})\\b");

  private final Natives natives;
  private final long pid;
  private final LongSupplier micros;
  private final int driver;
  private final List<Device> devices = new ArrayList<>();
  private final ByteBuffer word = buffer(Long.BYTES);
  private final ByteBuffer type = buffer(Integer.BYTES);
  private final ByteBuffer struct = buffer(MEMORY_BYTES);
  private final ByteBuffer processes = buffer(PROCESSES * LONG_PROCESS_BYTES);
  private final ByteBuffer samples = buffer(MAX_WINDOWS * WINDOW_BYTES);

  private static final class Device {
    final String name;
    long handle;

    /**
     * Time up to which the device's utilization is known, in microseconds of the driver's clock.
     */
    long seen;

    /** Utilization over the windows seen last. */
    double utilization = UNKNOWN;

    Device(long handle, String name) {
      this.handle = handle;
      this.name = name;
    }
  }

  /**
   * One reading of a device.
   *
   * @param nanos time that its utilization covers; 0 if the driver has measured none since the
   *     previous reading
   */
  record Reading(GpuSampleEvent sample, long nanos) {}

  /** Finds the devices, or throws with a sentence for the user. */
  Nvml(Natives natives, long pid) throws UnavailableException {
    this(natives, pid, () -> System.currentTimeMillis() * 1000);
  }

  /** Uses a clock in microseconds since 1970, like that of the driver's samples. */
  Nvml(Natives natives, long pid, LongSupplier micros) throws UnavailableException {
    this.natives = natives;
    this.pid = pid;
    this.micros = micros;
    check("nvmlInit_v2", natives.call("nvmlInit_v2"));
    ByteBuffer text = buffer(NAME_BYTES);
    int status = natives.call("nvmlSystemGetDriverVersion", text, NAME_BYTES);
    driver = status == 0 ? driver(text(text)) : 0;
    check("nvmlDeviceGetCount_v2", natives.call("nvmlDeviceGetCount_v2", word));
    int count = word.getInt(0);
    for (int i = 0; i < count; i++) {
      // A device that this user cannot open is skipped, but keeps its number.
      boolean open = natives.call("nvmlDeviceGetHandleByIndex_v2", i, word) == 0;
      long handle = open ? word.getLong(0) : 0;
      boolean named = open && natives.call("nvmlDeviceGetName", handle, text, NAME_BYTES) == 0;
      Device device = new Device(handle, named ? text(text) : "GPU");
      device.seen = open ? newest(device) : 0;
      devices.add(device);
    }
  }

  /** Returns when the newest window of a device ended; the current time if it reports none. */
  private long newest(Device device) {
    NavigableMap<Long, Integer> windows = new TreeMap<>();
    boolean reported = callIfPresent(WINDOWS, windowsSince(device, 0)) == 0;
    if (reported) {
      readWindows(0, windows);
    }
    return windows.isEmpty() ? micros.getAsLong() : windows.lastKey();
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Returns 535_043 for {@code 535.43.02}; 0 if the text is not a version. */
  private static int driver(String version) {
    Matcher numbers = VERSION.matcher(version);
    return numbers.lookingAt()
        ? Integer.parseInt(numbers.group(1)) * 1000 + Integer.parseInt(numbers.group(2))
        : 0;
  }

  private static String text(ByteBuffer bytes) {
    byte[] all = new byte[bytes.capacity()];
    bytes.get(0, all);
    return new String(all, StandardCharsets.UTF_8).split("\0", 2)[0];
  }

  private static void check(String function, int result) throws UnavailableException {
    if (result != 0) {
      throw new UnavailableException(function + " failed with NVML error " + result);
    }
  }

  int count() {
    return devices.size();
  }

  String binding() {
    return natives.binding();
  }

  boolean isAlive() {
    return devices.stream().anyMatch(device -> device.handle != 0);
  }

  /**
   * Reads a device's activity in the {@code nanos} since its last reading. Returns null if this
   * user cannot read it, or if the device is lost; throws if this reading finds that it, or every
   * device, is lost.
   */
  @Nullable Reading read(int number, long nanos) throws UnavailableException {
    Device device = devices.get(number);
    if (device.handle == 0) {
      return null;
    }
    GpuSampleEvent sample = new GpuSampleEvent();
    sample.device = number;
    sample.name = device.name;
    boolean hasRates = query(device, RATES, device.handle, struct);
    double lastRate = hasRates ? struct.getInt(0) / 100.0 : UNKNOWN;
    readMemory(device, sample);
    sample.milliwatts = number(device, "nvmlDeviceGetPowerUsage", device.handle, word);
    sample.pcieSent = kilobytes(device, TX);
    sample.pcieReceived = kilobytes(device, RX);
    sample.clock = number(device, "nvmlDeviceGetClockInfo", device.handle, SM_CLOCK, word);
    sample.memoryClock =
        number(device, "nvmlDeviceGetClockInfo", device.handle, MEMORY_CLOCK, word);
    sample.ownMemory = ownMemory(device);
    return new Reading(sample, readUtilization(device, sample, lastRate, nanos));
  }

  private void readMemory(Device device, GpuSampleEvent sample) throws UnavailableException {
    boolean reported = false;
    if (driver >= FIRST_WITH_PROCESSES) {
      struct.putInt(0, MEMORY_VERSION);
      reported = query(device, "nvmlDeviceGetMemoryInfo_v2", device.handle, struct);
    }
    if (reported) {
      sample.memory = struct.getLong(TOTAL);
      sample.usedMemory = struct.getLong(USED);
    } else {
      reported = query(device, "nvmlDeviceGetMemoryInfo", device.handle, struct);
      sample.memory = reported ? struct.getLong(0) : UNKNOWN;
      sample.usedMemory = reported ? struct.getLong(2 * Long.BYTES) : UNKNOWN;
    }
  }

  /**
   * Reads how busy a device was since the previous reading. The driver measures consecutive windows
   * of a sixth of a second to a second, and keeps them for some seconds; the result is their mean,
   * weighted by length. The driver's rates cover only the last window, which is arbitrary for a
   * load that comes and goes once a second. So if the driver keeps no windows, the share of this
   * process since the previous reading is preferred.
   *
   * @param lastRate utilization according to the device's rates
   * @return nanoseconds that the utilization covers
   */
  private long readUtilization(Device device, GpuSampleEvent sample, double lastRate, long nanos)
      throws UnavailableException {
    long since = device.seen;
    NavigableMap<Long, Integer> windows = new TreeMap<>();
    int result = result(device, WINDOWS, windowsSince(device, since));
    if (result == 0) {
      readWindows(since, windows);
    }
    sample.ownUtilization = readOwnUtilization(device, sample.ownMemory > 0, since);
    if (!windows.isEmpty()) {
      long covered = mean(device, since, windows);
      sample.utilization = device.utilization;
      device.seen = windows.lastKey();
      return covered * 1000;
    }
    if (result == 0 || result == NOT_FOUND) {
      device.seen = Math.min(since, newest(device)); // The clock may have been set back.
      sample.utilization = device.utilization;
      return 0;
    }
    sample.utilization = sample.ownUtilization < 0 ? lastRate : sample.ownUtilization;
    return nanos;
  }

  private Object[] windowsSince(Device device, long since) {
    word.putInt(0, MAX_WINDOWS);
    return new Object[] {device.handle, UTILIZATION, since, type, word, samples};
  }

  /** Reads percentages, keyed by the end of the window. */
  private void readWindows(long since, Map<Long, Integer> to) {
    for (int i = 0; i < Math.min(MAX_WINDOWS, word.getInt(0)); i++) {
      long end = samples.getLong(i * WINDOW_BYTES);
      int percent = samples.getInt(i * WINDOW_BYTES + WINDOW_VALUE);
      if (end > since && percent >= 0 && percent <= 100) {
        to.put(end, percent);
      }
    }
  }

  /**
   * Sets the device's utilization to the mean of windows, each of which begins where the previous
   * one ended; returns the microseconds that they cover.
   */
  private static long mean(Device device, long since, Map<Long, Integer> windows) {
    long before = since;
    long covered = 0;
    double busy = 0;
    for (Map.Entry<Long, Integer> window : windows.entrySet()) {
      // Windows may be missing: the driver keeps a limited number.
      long time = Math.min(MAX_WINDOW_MICROS, window.getKey() - before);
      covered += time;
      busy += time * window.getValue() / 100.0;
      before = window.getKey();
    }
    device.utilization = busy / covered;
    return covered;
  }

  private long kilobytes(Device device, int direction) throws UnavailableException {
    long kilobytes = number(device, "nvmlDeviceGetPcieThroughput", device.handle, direction, word);
    return kilobytes < 0 ? UNKNOWN : kilobytes * 1024;
  }

  private long number(Device device, String function, Object... arguments)
      throws UnavailableException {
    return query(device, function, arguments) ? Integer.toUnsignedLong(word.getInt(0)) : UNKNOWN;
  }

  /** Calls a function; returns false if the device does not report the figure. */
  private boolean query(Device device, String function, Object... arguments)
      throws UnavailableException {
    return result(device, function, arguments) == 0;
  }

  private int result(Device device, String function, Object... arguments)
      throws UnavailableException {
    int result = callIfPresent(function, arguments);
    boolean allLost = result == UNINITIALIZED || result == DRIVER_NOT_LOADED;
    if (allLost || result == GPU_IS_LOST || (result == UNKNOWN_ERROR && function.equals(RATES))) {
      device.handle = 0;
      if (allLost) {
        devices.forEach(each -> each.handle = 0);
      }
      check(function, result);
    }
    return result;
  }

  /**
   * Calls a function that may be missing from this driver or from the JavaCPP presets; returns
   * {@link #UNKNOWN} if it is reported missing. With the presets, a function that the driver itself
   * lacks aborts the process: check the version first.
   */
  private int callIfPresent(String function, Object... arguments) {
    try {
      return natives.call(function, arguments);
    } catch (UnavailableException e) {
      return UNKNOWN;
    }
  }

  /**
   * Returns the memory of this process; 0 if the device does not list the process, -1 if that is
   * unknown.
   */
  private long ownMemory(Device device) {
    if (driver < FIRST_WITH_PROCESSES
        || (driver >= FIRST_WITHOUT_PROCESSES && driver < FIRST_WITH_PROCESSES_AGAIN)) {
      return UNKNOWN;
    }
    boolean isLong = driver >= FIRST_WITH_LONG_PROCESSES && driver < FIRST_WITHOUT_PROCESSES;
    int bytes = isLong ? LONG_PROCESS_BYTES : PROCESS_BYTES;
    word.putInt(0, PROCESSES);
    if (callIfPresent("nvmlDeviceGetComputeRunningProcesses_v3", device.handle, word, processes)
        != 0) {
      return UNKNOWN;
    }
    long own = 0;
    for (int i = 0; i < Math.min(PROCESSES, word.getInt(0)); i++) {
      if (processes.getInt(i * bytes) == pid) {
        long memory = processes.getLong(i * bytes + PROCESS_MEMORY);
        if (memory < 0) {
          return UNKNOWN; // The process is listed, but its memory is unknown.
        }
        own += memory;
      }
    }
    return own;
  }

  /**
   * Reads the share of the time since {@code since} during which kernels of this process ran; -1 if
   * unknown. The driver omits processes that ran no kernels; some drivers add random entries of
   * more than 100 %.
   *
   * @param isListed whether the device lists this process
   */
  private double readOwnUtilization(Device device, boolean isListed, long since) {
    word.putInt(0, PROCESSES);
    int result =
        callIfPresent("nvmlDeviceGetProcessUtilization", device.handle, processes, word, since);
    if (result != 0 && result != NOT_FOUND) {
      return UNKNOWN;
    }
    double own = isListed ? 0 : UNKNOWN;
    int count =
        result == NOT_FOUND ? 0 : Math.min(PROCESSES, word.getInt(0)); // No process ran kernels.
    long newest = since;
    for (int i = 0; i < count; i++) {
      int at = i * SHARE_BYTES;
      int percent = processes.getInt(at + SHARE_SM);
      if (percent >= 0 && percent <= 100) {
        newest = Math.max(newest, processes.getLong(at + SHARE_TIME));
        if (processes.getInt(at) == pid) {
          own = percent / 100.0;
        }
      }
    }
    // If no entry is newer, use the current time; the next share would otherwise also cover the
    // time in which no kernels ran.
    device.seen = newest > since ? newest : micros.getAsLong();
    return own;
  }

  void close() {
    try {
      natives.call("nvmlShutdown");
    } catch (UnavailableException e) {
      // The library was never loaded, or is gone already.
    }
  }
}
