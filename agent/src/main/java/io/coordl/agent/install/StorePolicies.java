package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.Origin;
import io.coordl.host.MemoryWatch;
import io.coordl.host.OwnDirectory;
import io.coordl.items.ItemFilter;
import io.coordl.library.catalog.Libraries;
import io.coordl.pipeline.Prepared;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedStore;
import io.coordl.store.ItemStore;
import io.coordl.store.KeptForms;
import io.coordl.store.MinioCache;
import io.coordl.store.Outcome;
import io.coordl.store.PreparedStore;
import io.coordl.store.Rates;
import io.coordl.store.StoreGain;
import io.coordl.store.StoreStatistics;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.TuningEvent;
import io.coordl.telemetry.recording.JobFigures;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.tuning.Tuner;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The stores that a job asks for: raw items, decoded images and prepared samples. Decides which of
 * them share a budget and which jobs share them, and frees a store that does not help.
 */
final class StorePolicies {
  private static final String HOST = "host";
  private static final int MIN_TO_PAY = 3;
  private static final int MAX_TO_PAY = 10;

  /** On trial, images are cached only in a store that uses less ({@link Tuner#triesImages}). */
  private static final long MAX_TRIED_BYTES = 64 << 20;

  /** On trial, images are cached only in a store that is less than {@code 1 / TRIED_PART} full. */
  private static final int TRIED_PART = 8;

  private final Options options;
  private final Libraries libraries;
  private final JobMonitor job;
  private final JobFigures figures;
  private final Requested requested;
  private final ItemFilter filter;
  private final @Nullable Tuner tuner;
  private final String scope;

  /** Options that were switched off because they did not help. */
  private final Set<Option> givenUp = ConcurrentHashMap.newKeySet();

  private @Nullable ArenaStore common;
  private @Nullable MemoryWatch memory;
  private boolean isCommonOpened;
  private @Nullable ArenaStore decodedAlone;
  private @Nullable MinioCache raw;
  private @Nullable StoreStatistics decodedImages;
  private @Nullable StoreStatistics preparedSamples;
  private KeptForms forms = new KeptForms();
  private volatile @Nullable Prepared prepared;

  /**
   * Opens no store yet.
   *
   * @param tuner decides when a store that the agent chose admits items; null if the agent chooses
   *     nothing
   */
  StorePolicies(
      Options options,
      Libraries libraries,
      JobMonitor job,
      Requested requested,
      ItemFilter filter,
      @Nullable Tuner tuner) {
    this.options = options;
    this.libraries = libraries;
    this.job = job;
    this.figures = job.figures();
    this.requested = requested;
    this.filter = filter;
    this.tuner = tuner;
    this.scope = options.get(Option.CACHE_SCOPE);
  }

  /** The source of raw items: observes only, or uses a store, which the monitor closes at exit. */
  ItemSource items() {
    if (!options.keepsRaw()) {
      return new MinioCache(null, filter);
    }
    ArenaStore store = arena(Option.CACHE_SIZE, "");
    if (store != null && options.keepsDecoded() && sharesBudget(Option.DECODED_SIZE)) {
      forms = new KeptForms(store);
    }
    ItemStore engine =
        store == null || !options.hasPeers()
            ? null
            : PeerPolicy.engine(options, group(), store, job);
    MinioCache cache =
        store == null || engine == null
            ? new MinioCache(
                store, filter, forms, keeps(Option.CACHE), gain(Option.CACHE, Option.CACHE_SIZE))
            : new MinioCache(engine, store, filter, gain(Option.CACHE, Option.CACHE_SIZE));
    requested.register(
        Option.CACHE,
        () -> unused(Option.CACHE, store == null ? null : cache.statistics(), "raw item"));
    if (options.hasPeers()) {
      requested.register(Option.PEER, () -> Unused.peers(figures.peerViews()));
    }
    if (store != null) {
      job.addStore(() -> view(StoreStatisticsEvent.RAW, cache.statistics()), store);
      raw = cache;
    }
    return cache;
  }

  /** The store of decoded images; null if it is not requested or cannot be opened. */
  @Nullable DecodedStore decoded() {
    if (!options.keepsDecoded()) {
      return null;
    }
    ArenaStore arena = arena(Option.DECODED_SIZE, ",decoded");
    decodedAlone = sharesBudget(Option.DECODED_SIZE) ? null : arena;
    DecodedStore store =
        arena == null
            ? null
            : new DecodedStore(
                arena,
                filter,
                forms,
                keepsImages(arena),
                gain(Option.DECODED, Option.DECODED_SIZE));
    requested.register(
        Option.DECODED,
        () -> unused(Option.DECODED, store == null ? null : store.statistics(), "decoded image"));
    if (store == null) {
      return null;
    }
    decodedImages = store.statistics();
    job.addStore(() -> view(StoreStatisticsEvent.DECODED, store.statistics()), store);
    return store;
  }

  /** The prepared samples; null if not requested or no store can be opened. */
  @Nullable Prepared prepared() {
    if (!options.keepsPrepared()) {
      return null;
    }
    ArenaStore arena = arena(Option.PREPARED_SIZE, ",prepared");
    PreparedStore store = arena == null ? null : new PreparedStore(arena, forms, filter.names());
    requested.register(
        Option.PREPARED,
        "share",
        () -> Unused.prepared(store == null ? null : store.statistics(), libraries));
    if (store == null) {
      return null;
    }
    preparedSamples = store.statistics();
    job.addStore(() -> view(StoreStatisticsEvent.PREPARED, store.statistics()), store);
    Prepared made =
        new Prepared(
            store,
            store.ofItems(filter, keeps(Option.PREPARED)),
            options.trusted(),
            keeps(Option.PREPARED),
            this::epochsToPay,
            this::chosen);
    for (String name : options.trusted()) {
      requested.register(Option.PREPARED, Options.SHARE_CLASS + name, () -> made.whyUnused(name));
    }
    prepared = made;
    return made;
  }

  /** Whether data sets were seen, but no samples are cached. */
  boolean cachesNoSamples() {
    Prepared made = prepared;
    return made != null && made.cachesNone();
  }

  /** The store of raw items; null before {@link #items}, or if there is none. */
  @Nullable MinioCache raw() {
    return raw;
  }

  /** The watch of free memory, created on first use. */
  MemoryWatch memory() {
    MemoryWatch made = memory;
    if (made == null) {
      made = new MemoryWatch(figures.log());
      memory = made;
      figures.spans().totals().onEpochEnd(made::ended);
      job.addPolicy(made::summary, made);
    }
    return made;
  }

  /** Whether a policy should keep items now; always true if the user requested it. */
  private BooleanSupplier keeps(Option policy) {
    Tuner decides = tuner;
    if (decides == null || !options.isChosen(policy)) {
      return () -> true;
    }
    return policy == Option.PREPARED ? decides::keeps : decides::keepsItems;
  }

  /**
   * Whether decoded images should be cached now: if {@link #keeps} says so, or on trial, while the
   * store uses little memory.
   */
  private BooleanSupplier keepsImages(ArenaStore arena) {
    BooleanSupplier keeps = keeps(Option.DECODED);
    Tuner decides = tuner;
    return decides == null
        ? keeps
        : () ->
            keeps.getAsBoolean()
                || (decides.triesImages()
                    && arena.used() < Math.min(MAX_TRIED_BYTES, arena.capacity() / TRIED_PART));
  }

  /**
   * Returns the detector that frees the memory of a store that does not help, unless other forms
   * still use that store.
   */
  private StoreGain gain(Option policy, Option size) {
    return new StoreGain(
        policy.key() + "=" + options.get(policy), figures.log(), () -> giveBack(policy, size));
  }

  private void giveBack(Option policy, Option size) {
    givenUp.add(policy);
    boolean isCommon = sharesBudget(size);
    if (isCommon
        && ((options.keepsRaw() && !givenUp.contains(Option.CACHE))
            || (options.keepsDecoded()
                && sharesBudget(Option.DECODED_SIZE)
                && !givenUp.contains(Option.DECODED))
            || (options.keepsPrepared() && sharesBudget(Option.PREPARED_SIZE)))) {
      return;
    }
    ArenaStore store = isCommon ? common : decodedAlone;
    if (store != null) {
      store.giveBack();
    }
  }

  private String unused(Option policy, @Nullable StoreStatistics store, String what) {
    Map<String, StoreStatistics> before = new LinkedHashMap<>();
    StoreStatistics samples = preparedSamples;
    if (samples != null) {
      before.put("sample", samples);
    }
    StoreStatistics images = policy == Option.CACHE ? decodedImages : null;
    if (images != null) {
      before.put("decoded image", images);
    }
    return Unused.store(store, filter, what, before);
  }

  /**
   * Number of epochs within which caching samples must pay off. If the number of remaining epochs
   * is known, that number, but at most {@value #MAX_TO_PAY}. Otherwise {@value #MAX_TO_PAY} or, if
   * the agent chose the policy, as many as the job has had so far (at least {@value #MIN_TO_PAY}),
   * because it may well run as long again.
   */
  private int epochsToPay() {
    JobStatisticsEvent now = figures.spans().totals().snapshot();
    long toGo = now.plannedEpochs - now.epochs;
    if (toGo <= 0) {
      return options.isChosen(Option.PREPARED)
          ? (int) Math.max(MIN_TO_PAY, now.epochs)
          : MAX_TO_PAY;
    }
    return (int) Math.min(toGo, MAX_TO_PAY);
  }

  private void chosen(String what, String why) {
    JobStatisticsEvent now = figures.spans().totals().snapshot();
    TuningEvent event = new TuningEvent();
    event.change = what;
    event.reason = why;
    event.waiting = now.share(now.dataStall());
    event.samplesPerSecond = now.samplesPerSecond();
    figures.spans().events().write(event);
    if (tuner != null) {
      figures.log().say("auto: " + what + ", since " + why + ".");
    }
  }

  /**
   * Group name; with peers, extended by the listening address if the user set one: jobs with
   * different addresses act as different hosts, even on the same machine.
   */
  private String group() {
    String bind = options.get(Option.PEER_BIND);
    return options.hasPeers() && !bind.equals(Option.PEER_BIND.defaultValue)
        ? options.get(Option.GROUP) + "," + bind // A group name contains no comma.
        : options.get(Option.GROUP);
  }

  /** The store of a form: its own if it has its own budget, else the one that forms share. */
  private @Nullable ArenaStore arena(Option size, String name) {
    if (!sharesBudget(size)) {
      return store(size, group() + name); // Unique: group names contain no comma.
    }
    if (!isCommonOpened) {
      isCommonOpened = true;
      common = store(Option.CACHE_SIZE, group());
    }
    return common;
  }

  /**
   * Whether the form shares cache.size. Not with peers: all hosts use this host's raw items, so no
   * other form may take their space.
   */
  private boolean sharesBudget(Option size) {
    return size == Option.CACHE_SIZE || (options.get(size).equals("auto") && !options.hasPeers());
  }

  private @Nullable ArenaStore store(Option size, String name) {
    ByteBudget budget = ByteBudget.parse(options.get(size), autoShare());
    try {
      ArenaStore store =
          scope.equals(HOST)
              ? ArenaStore.openHost(
                  OwnDirectory.in(ArenaStore.SHARED_MEMORY), name, budget, figures.log())
              : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, figures.log());
      if (store != null) {
        store.yieldTo(memory(), size.key());
      }
      return store;
    } catch (IOException | RuntimeException e) {
      figures.log().say(e.getMessage() + " The job runs without this cache.");
      return null;
    }
  }

  /** Share of free memory per arena: halved if there are several. */
  private double autoShare() {
    boolean decoded = options.keepsDecoded();
    boolean prepared = options.keepsPrepared();
    long arenas =
        Stream.of(
                options.keepsRaw()
                    || (decoded && sharesBudget(Option.DECODED_SIZE))
                    || (prepared && sharesBudget(Option.PREPARED_SIZE)),
                decoded && !sharesBudget(Option.DECODED_SIZE),
                prepared && !sharesBudget(Option.PREPARED_SIZE))
            .filter(exists -> exists)
            .count();
    return arenas > 1 ? ByteBudget.AUTO_SHARE / 2 : ByteBudget.AUTO_SHARE;
  }

  private StoreStatisticsEvent view(String store, StoreStatistics statistics) {
    StoreStatisticsEvent view = new StoreStatisticsEvent();
    view.store = store;
    view.scope = scope;
    view.group = scope.equals(HOST) ? options.get(Option.GROUP) : "";
    view.capacity = statistics.capacity();
    view.used = statistics.used();
    view.items = statistics.items();
    view.hits = statistics.of(Outcome.HIT);
    view.misses = statistics.misses();
    view.admitted = statistics.of(Outcome.ADMITTED);
    view.peer = statistics.of(Outcome.PEER);
    view.bypassed = statistics.bypassed();
    view.full = statistics.of(Outcome.FULL) > 0;
    view.hitBytes = statistics.of(Origin.MEMORY);
    view.peerBytes = statistics.of(Origin.PEER);
    view.order = "";
    view.givenBack = statistics.givenBack();
    view.jobs = statistics.jobs();
    Rates rates = forms.rates();
    if (rates != null && !view.keeps(StoreStatisticsEvent.PREPARED)) {
      boolean raw = view.keeps(StoreStatisticsEvent.RAW);
      view.order = rates.rawFirst() == raw ? "first" : "second";
      view.itemBytes = raw ? rates.rawBytes() : rates.decodedBytes();
      view.itemSaves = raw ? rates.readNanos() : rates.savedByDecoded();
    }
    return view;
  }
}
