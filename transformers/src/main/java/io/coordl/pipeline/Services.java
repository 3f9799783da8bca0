package io.coordl.pipeline;

import io.coordl.cache.DecodedStore;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.gpu.PinnedMemory;
import io.coordl.log.UserLog;
import io.coordl.profile.Profile;
import io.coordl.staging.PrepGroup;
import org.jspecify.annotations.Nullable;

/**
 * What the code that knows a library may use: what the policies in force need, null for the others.
 *
 * @param decoded for {@code decoded=share} and {@code profile=all}
 * @param prepared for {@code prepared=share}
 * @param group for {@code prep=coordinate}
 * @param prefetcher for {@code prefetch=N}
 * @param threads of the agent that prefetch, from 1 on; 0 if none was asked for
 * @param models for {@code checkpoint=}
 * @param checkpoints for {@code checkpoint.every=}
 * @param resume for {@code resume=}
 * @param profile for {@code profile=}
 * @param pinned for {@code gpu.pinned=on}
 * @param log takes sentences for the user
 */
public record Services(
    @Nullable DecodedStore decoded,
    @Nullable Prepared prepared,
    @Nullable PrepGroup group,
    @Nullable Prefetcher prefetcher,
    int threads,
    @Nullable ModelFiles models,
    @Nullable AgentCheckpoints checkpoints,
    @Nullable Resume resume,
    @Nullable Profile profile,
    @Nullable PinnedMemory pinned,
    UserLog log) {

  /** For a profile, with no policy in force; through {@code decoded} it learns what items take. */
  public static Services of(Profile profile, @Nullable DecodedStore decoded, UserLog log) {
    return new Services(decoded, null, null, null, 0, null, null, null, profile, null, log);
  }

  public @Nullable ItemPrefetcher items() {
    return prefetcher == null ? null : prefetcher.items();
  }
}
