package io.coordl.pipeline;

import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.coordination.PrepGroup;
import io.coordl.gpu.PinnedMemory;
import io.coordl.host.MemoryWatch;
import io.coordl.profile.Profile;
import io.coordl.store.DecodedStore;
import io.coordl.telemetry.log.UserLog;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Services of the policies, for code that knows a library. A nullable one is null if its policy is
 * not in force.
 *
 * @param decoded for {@code decoded=share} and {@code profile=all}
 * @param prepared for {@code prepared=share}
 * @param checked for {@code prepared=check}
 * @param group for {@code prep=coordinate}
 * @param prefetcher for {@code prefetch=N}
 * @param threads value of {@code prefetch=N}; 0 if not given
 * @param models for {@code checkpoint=}
 * @param checkpoints for {@code checkpoint.every=}
 * @param resume for {@code resume=}
 * @param profile for {@code profile=}
 * @param pinned for {@code gpu.pinned=on}
 * @param pictures counts batches whose pictures the agent crops and resizes; null if it must not,
 *     as in a profile
 * @param holders receives components whose memory is freed when memory is short
 * @param log receives messages for the user
 */
public record Services(
    @Nullable DecodedStore decoded,
    @Nullable Prepared prepared,
    @Nullable CheckedSamples checked,
    @Nullable PrepGroup group,
    @Nullable Prefetcher prefetcher,
    int threads,
    @Nullable ModelFiles models,
    @Nullable AgentCheckpoints checkpoints,
    @Nullable Resume resume,
    @Nullable Profile profile,
    @Nullable PinnedMemory pinned,
    @Nullable PictureBatches pictures,
    Consumer<MemoryWatch.Holder> holders,
    UserLog log) {

  /** Returns a builder without any service. */
  public static Builder builder(UserLog log) {
    return new Builder(log);
  }

  public @Nullable ItemPrefetcher items() {
    return prefetcher == null ? null : prefetcher.items();
  }

  /** Collects the services; null stands for none. */
  public static final class Builder {
    private final UserLog log;
    private @Nullable DecodedStore decoded;
    private @Nullable Prepared prepared;
    private @Nullable CheckedSamples checked;
    private @Nullable PrepGroup group;
    private @Nullable Prefetcher prefetcher;
    private int threads;
    private @Nullable ModelFiles models;
    private @Nullable AgentCheckpoints checkpoints;
    private @Nullable Resume resume;
    private @Nullable Profile profile;
    private @Nullable PinnedMemory pinned;
    private @Nullable PictureBatches pictures;
    private Consumer<MemoryWatch.Holder> holders = holder -> {};

    private Builder(UserLog log) {
      this.log = log;
    }

    public Builder decoded(@Nullable DecodedStore store) {
      decoded = store;
      return this;
    }

    public Builder prepared(@Nullable Prepared samples) {
      prepared = samples;
      return this;
    }

    public Builder checked(@Nullable CheckedSamples samples) {
      checked = samples;
      return this;
    }

    public Builder group(@Nullable PrepGroup jobs) {
      group = jobs;
      return this;
    }

    /** {@code number} is the value of {@code prefetch=N}; 0 if not given. */
    public Builder prefetcher(@Nullable Prefetcher with, int number) {
      prefetcher = with;
      threads = number;
      return this;
    }

    public Builder models(@Nullable ModelFiles files) {
      models = files;
      return this;
    }

    public Builder checkpoints(@Nullable AgentCheckpoints own) {
      checkpoints = own;
      return this;
    }

    public Builder resume(@Nullable Resume from) {
      resume = from;
      return this;
    }

    public Builder profile(@Nullable Profile phases) {
      profile = phases;
      return this;
    }

    public Builder pinned(@Nullable PinnedMemory memory) {
      pinned = memory;
      return this;
    }

    public Builder pictures(PictureBatches counts) {
      pictures = counts;
      return this;
    }

    public Builder holders(Consumer<MemoryWatch.Holder> watch) {
      holders = watch;
      return this;
    }

    public Services build() {
      return new Services(
          decoded,
          prepared,
          checked,
          group,
          prefetcher,
          threads,
          models,
          checkpoints,
          resume,
          profile,
          pinned,
          pictures,
          holders,
          log);
    }
  }
}
