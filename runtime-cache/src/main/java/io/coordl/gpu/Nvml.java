package io.coordl.gpu;

import io.coordl.event.GpuSampleEvent;
import io.coordl.gpu.Natives.UnavailableException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The devices as NVIDIA's management library tells of them; it needs the driver and no more. What a
 * device does not tell is -1. Layouts are those of nvml.h, of a 64-bit system. For one thread.
 */
final class Nvml {
  static final String LIBRARY = "libnvidia-ml.so.1";
  static final int UNKNOWN = -1;

  // Errors of NVML after which nothing more is to be had, of the one device or, the first two, of
  // any; the last if it is about the device's rates. All others are of the one question.
  private static final int UNINITIALIZED = 1;
  private static final int NOT_FOUND = 6;
  private static final int DRIVER_NOT_LOADED = 9;
  private static final int GPU_IS_LOST = 15;
  private static final int UNKNOWN_ERROR = 999;
  private static final String RATES = "nvmlDeviceGetUtilizationRates";

  // Drivers by their lists of processes, 535.43 as 535_043: none yet, nvmlProcessInfo_t of 24 bytes
  // (pid, memory, two instances), of 32 (and protected memory), none, and of 24 again.
  private static final int FIRST_WITH_PROCESSES = 510_000;
  private static final int FIRST_WITH_LONG_ONES = 535_043;
  private static final int FIRST_WITHOUT = 535_098;
  private static final int FIRST_WITH_THEM_AGAIN = 535_104;

  private static final int PROCESSES = 256;
  private static final int PROCESS_BYTES = 24;
  private static final int LONG_PROCESS_BYTES = 32;
  private static final int MEMORY_OF_PROCESS = 8;
  private static final int SAMPLE_BYTES = 32; // nvmlProcessUtilizationSample_t
  private static final int TIME_OF_SAMPLE = 8;
  private static final int SM_OF_SAMPLE = 16;
  private static final int NAME_BYTES = 96;
  private static final int TX = 0;
  private static final int RX = 1;
  private static final int SM_CLOCK = 1;
  private static final int MEMORY_CLOCK = 2;

  private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,3})\\b");

  private final Natives natives;
  private final long pid;
  private final int driver;
  private final List<Device> devices = new ArrayList<>();
  private final ByteBuffer word = buffer(Long.BYTES);
  private final ByteBuffer struct = buffer(3 * Long.BYTES);
  private final ByteBuffer processes = buffer(PROCESSES * LONG_PROCESS_BYTES);

  private static final class Device {
    final String name;
    long handle;
    long lastSeen;

    Device(long handle, String name) {
      this.handle = handle;
      this.name = name;
    }
  }

  /** Finds the devices, or throws with a sentence for the user. */
  Nvml(Natives natives, long pid) throws UnavailableException {
    this.natives = natives;
    this.pid = pid;
    check("nvmlInit_v2", natives.call("nvmlInit_v2"));
    ByteBuffer text = buffer(NAME_BYTES);
    int told = natives.call("nvmlSystemGetDriverVersion", text, NAME_BYTES);
    driver = told == 0 ? driver(text(text)) : 0;
    check("nvmlDeviceGetCount_v2", natives.call("nvmlDeviceGetCount_v2", word));
    int count = word.getInt(0);
    for (int i = 0; i < count; i++) {
      // One that this user may not open is left out, and keeps its number.
      boolean open = natives.call("nvmlDeviceGetHandleByIndex_v2", i, word) == 0;
      long handle = open ? word.getLong(0) : 0;
      boolean named = open && natives.call("nvmlDeviceGetName", handle, text, NAME_BYTES) == 0;
      devices.add(new Device(handle, named ? text(text) : "GPU"));
    }
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** 535_043 of {@code 535.43.02}; 0 of what is no version. */
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
      throw new UnavailableException(function + " failed with error " + result + " of NVML");
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
   * What a device does now; null if this user may not ask, or it is lost; throws if it has just
   * been lost, or all are.
   */
  @Nullable GpuSampleEvent read(int number) throws UnavailableException {
    Device device = devices.get(number);
    if (device.handle == 0) {
      return null;
    }
    GpuSampleEvent sample = new GpuSampleEvent();
    sample.device = number;
    sample.name = device.name;
    boolean rates = ask(device, RATES, device.handle, struct);
    sample.utilization = rates ? struct.getInt(0) / 100.0 : UNKNOWN;
    boolean memory = ask(device, "nvmlDeviceGetMemoryInfo", device.handle, struct);
    sample.memory = memory ? struct.getLong(0) : UNKNOWN;
    sample.usedMemory = memory ? struct.getLong(2 * Long.BYTES) : UNKNOWN;
    sample.milliwatts = number(device, "nvmlDeviceGetPowerUsage", device.handle, word);
    sample.pcieSent = kilobytes(device, TX);
    sample.pcieReceived = kilobytes(device, RX);
    sample.clock = number(device, "nvmlDeviceGetClockInfo", device.handle, SM_CLOCK, word);
    sample.memoryClock =
        number(device, "nvmlDeviceGetClockInfo", device.handle, MEMORY_CLOCK, word);
    sample.ownMemory = ownMemory(device);
    sample.ownUtilization = ownUtilization(device, sample.ownMemory > 0);
    return sample;
  }

  private long kilobytes(Device device, int direction) throws UnavailableException {
    long kilobytes = number(device, "nvmlDeviceGetPcieThroughput", device.handle, direction, word);
    return kilobytes < 0 ? UNKNOWN : kilobytes * 1024;
  }

  private long number(Device device, String function, Object... arguments)
      throws UnavailableException {
    return ask(device, function, arguments) ? Integer.toUnsignedLong(word.getInt(0)) : UNKNOWN;
  }

  /** False if the device does not tell that. */
  private boolean ask(Device device, String function, Object... arguments)
      throws UnavailableException {
    int result = callIfThere(function, arguments);
    boolean all = result == UNINITIALIZED || result == DRIVER_NOT_LOADED;
    if (all || result == GPU_IS_LOST || (result == UNKNOWN_ERROR && function.equals(RATES))) {
      device.handle = 0;
      if (all) {
        devices.forEach(each -> each.handle = 0);
      }
      check(function, result);
    }
    return result == 0;
  }

  /** Of a function that this driver, or these presets, may not have. */
  private int callIfThere(String function, Object... arguments) {
    try {
      return natives.call(function, arguments);
    } catch (UnavailableException e) {
      return UNKNOWN;
    }
  }

  /** Memory of this process; 0 if it is not among the device's, -1 if that is not known. */
  private long ownMemory(Device device) {
    if (driver < FIRST_WITH_PROCESSES
        || (driver >= FIRST_WITHOUT && driver < FIRST_WITH_THEM_AGAIN)) {
      return UNKNOWN;
    }
    boolean isLong = driver >= FIRST_WITH_LONG_ONES && driver < FIRST_WITHOUT;
    int bytes = isLong ? LONG_PROCESS_BYTES : PROCESS_BYTES;
    word.putInt(0, PROCESSES);
    if (callIfThere("nvmlDeviceGetComputeRunningProcesses_v3", device.handle, word, processes)
        != 0) {
      return UNKNOWN;
    }
    long own = 0;
    for (int i = 0; i < Math.min(PROCESSES, word.getInt(0)); i++) {
      if (processes.getInt(i * bytes) == pid) {
        long memory = processes.getLong(i * bytes + MEMORY_OF_PROCESS);
        if (memory < 0) {
          return UNKNOWN; // It is there, and the driver does not know more.
        }
        own += memory;
      }
    }
    return own;
  }

  /**
   * Part of the time that kernels of this process, {@code seen} on the device, ran, as last
   * sampled; -1 if not known. The driver leaves out processes that ran none; what some drivers add
   * at random is more than 100 %.
   */
  private double ownUtilization(Device device, boolean seen) {
    word.putInt(0, PROCESSES);
    int result =
        callIfThere(
            "nvmlDeviceGetProcessUtilization", device.handle, processes, word, device.lastSeen);
    if (result == NOT_FOUND) { // None ran any since.
      return seen ? 0 : UNKNOWN;
    }
    if (result != 0) {
      return UNKNOWN;
    }
    double own = seen ? 0 : UNKNOWN;
    long newest = device.lastSeen;
    for (int i = 0; i < Math.min(PROCESSES, word.getInt(0)); i++) {
      int at = i * SAMPLE_BYTES;
      int percent = processes.getInt(at + SM_OF_SAMPLE);
      if (percent >= 0 && percent <= 100) {
        newest = Math.max(newest, processes.getLong(at + TIME_OF_SAMPLE));
        if (processes.getInt(at) == pid) {
          own = percent / 100.0;
        }
      }
    }
    device.lastSeen = newest;
    return own;
  }

  void close() {
    try {
      natives.call("nvmlShutdown");
    } catch (UnavailableException e) {
      // It was never there, or is gone already.
    }
  }
}
