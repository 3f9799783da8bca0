package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Outcome;
import io.coordl.store.StoreStatistics;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** A policy with an effect reports nothing; one without effect reports the reason. */
final class UnusedTest {
  private static final ItemFilter FILES = ItemFilter.inferred(() -> false, ItemNames.HERE);

  private static final ArenaStore ARENA =
      ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, ByteBudget.parse("1m"), sentence -> {});

  private static StoreStatistics store(long hits, long admitted, long full, long peer, long other) {
    StoreStatistics store = new StoreStatistics(ARENA);
    store.count(Outcome.HIT, hits);
    store.count(Outcome.ADMITTED, admitted);
    store.count(Outcome.FULL, full);
    store.count(Outcome.PEER, peer);
    store.count(Outcome.CHANGED, other);
    return store;
  }

  private static StagingStatisticsEvent staging(long epochs, long shared) {
    StagingStatisticsEvent staging = new StagingStatisticsEvent();
    staging.epochs = epochs;
    staging.sharedEpochs = shared;
    return staging;
  }

  private static PeerStatisticsEvent peer(long found, long kept) {
    PeerStatisticsEvent peer = new PeerStatisticsEvent();
    peer.found = found;
    peer.kept = kept;
    return peer;
  }

  @AfterAll
  static void close() {
    ARENA.close();
  }

  @Test
  void aUsefulPolicyIsSilent() {
    assertThat(Unused.store(store(1, 0, 0, 0, 0), FILES, "raw item", Map.of())).isEmpty();
    assertThat(Unused.store(store(0, 0, 0, 1, 0), FILES, "raw item", Map.of())).isEmpty();
    assertThat(Unused.prefetch("prefetch: 1 item prefetched", false)).isEmpty();
    assertThat(Unused.prep(List.of(staging(2, 0), staging(2, 1)), "g")).isEmpty();
    assertThat(Unused.peers(List.of(peer(0, 0), peer(1, 0)))).isEmpty();
    assertThat(Unused.peers(List.of(peer(0, 1)))).isEmpty();
  }

  @Test
  void aStoreReportsWhyNoItemWasUsed() {
    assertThat(Unused.store(null, FILES, "raw item", Map.of()))
        .startsWith("its cache has no memory");
    assertThat(Unused.store(store(0, 64, 9, 0, 0), FILES, "decoded image", Map.of()))
        .isEqualTo("this job did not reuse any of the 64 decoded images that it cached");
    assertThat(Unused.store(store(0, 0, 9, 0, 0), FILES, "raw item", Map.of()))
        .isEqualTo("no raw item fits into its cache of 1.0 MiB");
    assertThat(Unused.store(store(0, 0, 0, 0, 3), FILES, "raw item", Map.of()))
        .startsWith("no raw item could be cached: of 3 requested, 3 changed while being read");
    assertThat(
            Unused.store(
                store(0, 0, 0, 0, 0),
                ItemFilter.inferred(() -> false, ItemNames.HERE),
                "raw item",
                Map.of()))
        .isEqualTo("no file was read while a sample was being loaded");
    ItemFilter read = ItemFilter.inferred(() -> true, ItemNames.HERE);
    read.isItem("/data/a.csv");
    assertThat(Unused.store(store(0, 0, 0, 0, 0), read, "decoded image", Map.of()))
        .isEqualTo("no decoded image came from a call that the agent intercepts");
  }

  /** No raw item is needed if, for example, another job has decoded all images. */
  @Test
  void aStoreNamesTheStoreThatServedItsItems() {
    Map<String, StoreStatistics> before = Map.of("decoded image", store(96, 0, 0, 0, 0));
    assertThat(Unused.store(store(0, 0, 0, 0, 0), FILES, "raw item", before))
        .isEqualTo("no raw item was needed: 96 decoded images came from their cache");
    assertThat(Unused.store(store(0, 0, 0, 0, 3), FILES, "raw item", before))
        .startsWith("no raw item could be cached: of 3 requested");
    assertThat(
            Unused.store(
                store(0, 0, 0, 0, 0),
                FILES,
                "raw item",
                Map.of("decoded image", store(0, 0, 9, 0, 0))))
        .isEqualTo("no file was read while a sample was being loaded");
  }

  @Test
  void otherPoliciesReportWhatWasMissing() {
    assertThat(Unused.prefetch("", true))
        .isEqualTo("the order of samples or files was not known in advance");
    assertThat(Unused.prefetch("", false))
        .endsWith("only prefetched with cache=minio or decoded=share");
    assertThat(Unused.prep(List.of(), "g")).startsWith("the program has no pipeline");
    assertThat(Unused.prep(List.of(staging(2, 0)), "g")).startsWith("no other job of group g ");
    assertThat(Unused.peers(List.of())).isEqualTo("no item was requested from another host");
    assertThat(Unused.peers(List.of(peer(0, 0))))
        .isEqualTo("none of the queried hosts had or cached a requested item");
  }
}
