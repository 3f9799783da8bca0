package io.coordl.library.dl4j;

import io.coordl.pipeline.LibraryEpoch;
import java.util.List;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.profiler.OpProfiler;

/** Everything outside readers and iterators that affects their batches. */
final class Surroundings {
  private Surroundings() {}

  /** Returns global properties that never change in this process. */
  static String process() {
    return String.join(
        "\n",
        "JDK " + System.getProperty("java.runtime.version"),
        "threads " + System.getenv("OMP_NUM_THREADS"),
        Nd4j.getBackend().buildInfo());
  }

  /**
   * Returns global settings that the library reads, and that the program can change at any time.
   */
  @SuppressWarnings("deprecation") // Programs still use the older of the two.
  static List<Object> settings() {
    return List.of(
        Nd4j.dataType(),
        Nd4j.defaultFloatingPointType(),
        Nd4j.order(),
        Nd4j.EPS_THRESHOLD,
        // In some modes, operations throw on NaN.
        String.valueOf(Nd4j.getExecutioner().getProfilingMode()),
        String.valueOf(OpProfiler.getInstance().getConfig()),
        Nd4j.getEnvironment().maxThreads(), // The order of summation may depend on it.
        LibraryEpoch.defaults());
  }

  /**
   * Whether the current thread creates arrays in a workspace; cached batches record whether their
   * arrays belong to one.
   */
  static boolean areInWorkspace() {
    return Nd4j.getMemoryManager().getCurrentWorkspace() != null;
  }
}
