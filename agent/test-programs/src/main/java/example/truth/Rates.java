package example.truth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.Locale;

/**
 * Arguments of a program with known rates: {@code PROGRAM [STEP PREP FETCH]}, the last three in
 * milliseconds per sample. Loads and trains in the given times, and prints the rates that follow
 * from them. Thread-safe.
 *
 * @param program name of the loop to run
 * @param stepMillis time to train on one sample
 * @param prepMillis time to prepare one sample, on one thread
 * @param fetchMillis time to read one sample from {@link SlowStorage}, which serves one read at a
 *     time
 */
record Rates(String program, int stepMillis, int prepMillis, int fetchMillis) {
  /** Samples per batch. */
  static final int EXAMPLES = 4;

  /** Batches per epoch. */
  static final int BATCHES = 60;

  /** Far more than a profile needs. */
  static final int EPOCHS = 1_000;

  static Rates of(String... args) {
    if (args.length != 1 && args.length != 4) {
      throw new IllegalArgumentException("Expected PROGRAM [STEP PREP FETCH].");
    }
    return args.length == 1
        ? new Rates(args[0], 10, 15, 20)
        : new Rates(
            args[0],
            Integer.parseInt(args[1]),
            Integer.parseInt(args[2]),
            Integer.parseInt(args[3]));
  }

  SlowStorage storage() {
    return new SlowStorage(BATCHES * EXAMPLES, fetchMillis);
  }

  /**
   * Loads one sample, whose value is its number as a byte, and converts it with {@code make}. This
   * takes the preparation time plus the time of the storage.
   */
  <T> T load(SlowStorage storage, int number, FloatFunction<T> make) {
    long begin = Pause.now() - storage.waited();
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(storage.file(number));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    T sample = make.of(bytes[bytes.length - 1]);
    Pause.until(begin + storage.waited() + prepMillis * 1_000_000L);
    return sample;
  }

  /** Converts a sample. */
  interface FloatFunction<T> {
    T of(float value);
  }

  /** Returns the label of a sample with this value, to check that both belong together. */
  static float label(float value) {
    return 2 * value + 1;
  }

  /** Checks the values and labels of a batch, and ends its step at {@code end}. */
  void endStep(float[] values, float[] labels, long end) {
    for (int i = 0; i < values.length; i++) {
      if (labels[i] != label(values[i])) {
        throw new IllegalStateException("A sample of " + values[i] + " has label " + labels[i]);
      }
    }
    Pause.until(end);
  }

  /** Prints this program's true rates as one line of JSON, in nanoseconds per sample. */
  void print(int workers) {
    double prep = (double) prepMillis / Math.max(1, workers);
    double cached = workers == 0 ? stepMillis + prep : Math.max(stepMillis, prep);
    double cold =
        workers == 0
            ? stepMillis + prep + fetchMillis
            : Math.max(
                Math.max(stepMillis, fetchMillis), (double) (prepMillis + fetchMillis) / workers);
    System.out.printf(
        Locale.ROOT,
        "{\"program\":\"%s\",\"workers\":%d,\"ingestion\":%.0f,\"cached\":%.0f,\"cold\":%.0f,"
            + "\"prep\":%.0f,\"fetch\":%.0f}%n",
        program,
        workers,
        stepMillis * 1e6,
        cached * 1e6,
        cold * 1e6,
        prep * 1e6,
        fetchMillis * 1e6);
  }
}
