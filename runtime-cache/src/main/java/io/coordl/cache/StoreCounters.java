package io.coordl.cache;

import io.coordl.bridge.Origin;
import io.coordl.event.StoreStatisticsEvent;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What one process had of a store. Safe for concurrent use, never blocks. */
final class StoreCounters {
  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final Map<Origin, LongAdder> bytes = new EnumMap<>(Origin.class);

  /** Openings that the program's own call answers. */
  final LongAdder observed = new LongAdder();

  final LongAdder unreadable = new LongAdder();

  /** Openings that were not to be kept, for the sake of items in the other form. */
  final LongAdder spared = new LongAdder();

  StoreCounters() {
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, new LongAdder());
    }
    for (Origin origin : Origin.values()) {
      bytes.put(origin, new LongAdder());
    }
  }

  void count(Outcome outcome) {
    of(outcomes, outcome).increment();
  }

  void bytes(Origin origin, long count) {
    of(bytes, origin).add(count);
  }

  /** State of the raw items of an arena, to which its index is counted. */
  StoreStatisticsEvent ofRaw(@Nullable ArenaStore store) {
    StoreStatisticsEvent event = of(StoreStatisticsEvent.RAW, store);
    if (store != null) {
      event.used =
          store.used()
              - store.word(ArenaDescriptor.DECODED_BYTES)
              - store.word(ArenaDescriptor.PREPARED_BYTES);
      event.items =
          store.items()
              - store.word(ArenaDescriptor.DECODED_ITEMS)
              - store.word(ArenaDescriptor.PREPARED_ITEMS);
    }
    return event;
  }

  StoreStatisticsEvent ofDecoded(ArenaStore store) {
    StoreStatisticsEvent event = of(StoreStatisticsEvent.DECODED, store);
    event.used = store.word(ArenaDescriptor.DECODED_BYTES);
    event.items = store.word(ArenaDescriptor.DECODED_ITEMS);
    return event;
  }

  StoreStatisticsEvent ofPrepared(ArenaStore store) {
    StoreStatisticsEvent event = of(StoreStatisticsEvent.PREPARED, store);
    event.used = store.word(ArenaDescriptor.PREPARED_BYTES);
    event.items = store.word(ArenaDescriptor.PREPARED_ITEMS);
    return event;
  }

  private StoreStatisticsEvent of(String form, @Nullable ArenaStore store) {
    StoreStatisticsEvent event = new StoreStatisticsEvent();
    event.store = form;
    event.capacity = store == null ? 0 : store.capacity();
    event.jobs = store == null ? 0 : store.jobs();
    event.hits = sum(Outcome.HIT);
    event.admitted = sum(Outcome.ADMITTED);
    event.peer = sum(Outcome.PEER);
    event.bypassedFull = sum(Outcome.FULL);
    event.bypassedChanged = sum(Outcome.CHANGED);
    event.bypassedUnreadable = unreadable.sum();
    event.bypassedBusy = sum(Outcome.BUSY);
    event.bypassed =
        event.bypassedFull + event.bypassedChanged + event.bypassedUnreadable + event.bypassedBusy;
    event.full = event.bypassedFull > 0;
    event.spared = spared.sum();
    event.misses = event.admitted + event.peer + event.bypassed + event.spared + observed.sum();
    event.hitBytes = of(bytes, Origin.MEMORY).sum();
    event.missBytes = of(bytes, Origin.STORAGE).sum();
    event.peerBytes = of(bytes, Origin.PEER).sum();
    event.order = "";
    return event;
  }

  private long sum(Outcome outcome) {
    return of(outcomes, outcome).sum();
  }

  private static <K> LongAdder of(Map<K, LongAdder> adders, K key) {
    return Objects.requireNonNull(adders.get(key));
  }
}
