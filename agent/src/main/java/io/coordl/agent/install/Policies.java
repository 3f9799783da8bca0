package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.recording.JobMonitor;
import org.jspecify.annotations.Nullable;

/** From options to what they ask for. */
final class Policies {
  private Policies() {}

  /** The source of items: observing only, or from a store. */
  static ItemSource items(Options options, JobMonitor job) {
    return new ItemSource() {
      @Override
      public @Nullable OpenItem open(String path) {
        return null;
      }

      @Override
      public @Nullable OpenItem openRandomAccess(String path) {
        return null;
      }
    };
  }
}
