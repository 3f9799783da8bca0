package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Origin;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.coordination.PrepGroup;
import io.coordl.gpu.Binding;
import io.coordl.gpu.DeviceSteps;
import io.coordl.gpu.NsightRanges;
import io.coordl.gpu.PinnedMemory;
import io.coordl.host.AgentThread;
import io.coordl.host.Machine;
import io.coordl.host.MemoryWatch;
import io.coordl.host.OwnDirectory;
import io.coordl.items.EarlyMaps;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.library.catalog.Libraries;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.LibraryInterceptors;
import io.coordl.pipeline.PictureBatches;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.profile.Accelerator;
import io.coordl.profile.Profile;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedSizes;
import io.coordl.store.DecodedStore;
import io.coordl.store.ItemStore;
import io.coordl.store.KeptForms;
import io.coordl.store.MinioCache;
import io.coordl.store.Outcome;
import io.coordl.store.PreparedStore;
import io.coordl.store.ProfiledItems;
import io.coordl.store.Rates;
import io.coordl.store.StoreGain;
import io.coordl.store.StoreStatistics;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.TuningEvent;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.RewriteLog;
import io.coordl.telemetry.recording.UserText;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.Policy;
import io.coordl.tuning.Tuner;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Starts the requested policies; one that cannot start is reported and skipped. */
final class Policies {
  private static final String HOST = "host";
  private static final String NONE = "none";

  /** Share of free memory for each staging buffer; small, because more may follow. */
  private static final double PREP_SHARE = 0.125;

  private static final double CHECKPOINT_SHARE = 0.25;

  private static final int FEWEST_TO_PAY = 3;
  private static final int MOST_TO_PAY = 10;

  private final Options options;
  private final Libraries libraries;
  private final EarlyMaps early;
  private final JobMonitor job;
  private final ItemFilter filter;
  private final String scope;
  private @Nullable ArenaStore common;
  private @Nullable MemoryWatch memory;
  private boolean isCommonOpened;
  private @Nullable ArenaStore decodedAlone;
  private @Nullable MinioCache raw;
  private @Nullable StoreStatistics decodedImages;
  private @Nullable StoreStatistics preparedSamples;

  /** Options that were switched off because they did not help. */
  private final Set<Option> givenUp = ConcurrentHashMap.newKeySet();

  private final @Nullable Tuner tuner;
  private KeptForms forms = new KeptForms();
  private volatile @Nullable Prepared prepared;
  private @Nullable Prefetcher prefetcher;
  private @Nullable ProfiledItems profiled;
  private @Nullable DeviceSteps deviceSteps;

  Policies(Options options, Libraries libraries, EarlyMaps early, JobMonitor job) {
    this.early = early;
    this.libraries = libraries;
    this.options = options;
    this.job = job;
    this.filter = files();
    this.scope = options.get(Option.CACHE_SCOPE);
    this.tuner =
        !options.profiles() && (options.isAuto() || options.triesPrefetching()) ? tuner() : null;
    if (options.isGiven(Option.DATASET)) {
      for (String files : options.list(Option.DATASET)) {
        asked(Option.DATASET, files, () -> whyUnread(files));
        sayIfMissing(files);
      }
    }
  }

  /** A misspelt name is best said at once; the program may also be about to make the files. */
  private void sayIfMissing(String files) {
    Runnable look =
        () -> {
          if (filter.isMissing(files)) {
            job.log()
                .say("dataset=%s: there is no such file or directory yet.", UserText.value(files));
          }
        };
    new AgentThread("coordl-look", look).start(); // Storage may hang.
  }

  private String whyUnread(String files) {
    String why = filter.whyUnused(files);
    return why.isEmpty() || !"late".equals(System.getProperty("coordl.attached"))
        ? why
        : why
            + " by a method called since the agent was attached; methods already running then, such"
            + " as main, are not rewritten: start the program with -javaagent";
  }

  /** Registers a requested option, to report at exit if it had no effect, and why. */
  private void asked(Option option, String value, Supplier<String> why) {
    if (options.isChosen(option)) {
      return; // The agent's own choice, which is reported elsewhere.
    }
    String asked = option.key() + "=" + UserText.value(value);
    job.addAsked(asked, option == Option.PREFETCH ? option.key() : asked, why);
  }

  private void asked(Option option, Supplier<String> why) {
    asked(option, options.get(option), why);
  }

  private ItemFilter files() {
    ItemNames names = names();
    return options.get(Option.DATASET).equals("inferred")
        ? ItemFilter.inferred(job.spans()::loadingSample, names)
        : ItemFilter.matching(options.list(Option.DATASET), names);
  }

  /** How items are identified; irrelevant if nothing is kept. */
  private ItemNames names() {
    if (!(options.keepsRaw() || options.keepsDecoded() || options.keepsPrepared())) {
      return ItemNames.HERE;
    }
    String root = options.get(Option.DATASET_ROOT);
    String manifest = options.get(Option.DATASET_MANIFEST);
    ItemNames names =
        root.equals(NONE)
            ? ItemNames.here(job.log())
            : ItemNames.below(root, manifest.equals(NONE) ? null : manifest, job.log());
    names = names.leaving(early);
    if (options.hasPeers()) {
      names = names.amongHosts();
    }
    if (options.get(Option.DATASET_IDENTITY).equals("copy")
        && options.get(Option.CACHE_SCOPE).equals(HOST)) {
      names = names.copies();
      job.log()
          .say(
              "dataset.identity=copy: files are identified by path, size and modification time; a"
                  + " file replaced with equal size and time is mistaken for the old one.");
    }
    Set<String> excluded = new HashSet<>(options.list(Option.CACHE_EXCLUDE));
    excluded.remove(NONE);
    return excluded.isEmpty() ? names : names.without(excluded);
  }

  /** The source of items: observes only, or uses a store, which the monitor closes at exit. */
  ItemSource items() {
    if (options.profiles()) {
      ProfiledItems items = new ProfiledItems(filter, job.log());
      profiled = items;
      return items;
    }
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
    asked(
        Option.CACHE,
        () -> unused(Option.CACHE, store == null ? null : cache.statistics(), "raw item"));
    if (options.hasPeers()) {
      asked(Option.PEER, () -> Unused.peers(job.peerViews()));
    }
    if (store != null) {
      job.addStore(() -> view(StoreStatisticsEvent.RAW, cache.statistics()), store);
      raw = cache;
    }
    return cache;
  }

  /** The interceptors of library calls, for all requested policies. Call after {@link #items}. */
  LibraryHooks hooks(RewriteLog rewrites) {
    sampleGpus();
    showRanges();
    ProfiledItems items = profiled;
    if (items != null) {
      DecodedSizes sizes = options.learnsSizes() ? new DecodedSizes(filter) : null;
      return interceptors(
          Services.builder(job.log())
              .profile(profile(items, sizes))
              .decoded(sizes == null ? null : sizes.store())
              .build(),
          rewrites);
    }
    DecodedStore decoded = options.keepsDecoded() ? decoded() : null;
    prefetcher = options.prefetches() ? prefetcher(decoded) : null;
    PinnedMemory pinned = options.get(Option.GPU_PINNED).equals("on") ? pinned() : null;
    PrepGroup group = options.coordinates() ? prepGroup() : null;
    if (group != null && pinned != null) {
      group.whenRead(pinned::reading);
    }
    Prepared samples = options.keepsPrepared() ? prepared() : null;
    ModelFiles models = options.writesModels() ? models() : null;
    if (decoded == null
        && samples == null
        && prefetcher == null
        && group == null
        && models == null) {
      return LibraryHooks.NONE;
    }
    Resume resume = models != null && options.resumes() ? resume(models) : null;
    AgentCheckpoints checkpoints =
        models != null && options.takesCheckpoints() ? checkpoints(models, resume) : null;
    int threads = options.count(Option.PREFETCH);
    PictureBatches pictures = new PictureBatches();
    job.addPolicy(pictures::said, () -> {});
    return interceptors(
        Services.builder(job.log())
            .decoded(decoded)
            .prepared(samples)
            .group(group)
            .prefetcher(prefetcher, threads)
            .models(models)
            .checkpoints(checkpoints)
            .resume(resume)
            .pinned(pinned)
            .pictures(pictures)
            .build(),
        rewrites);
  }

  private ModelFiles models() {
    ByteBudget size = ByteBudget.parse(options.get(Option.CHECKPOINT_SIZE), CHECKPOINT_SHARE);
    MemoryWatch watch = memory();
    ModelFiles made =
        new ModelFiles(
            options.writesInBackground(),
            () -> bounded(size, watch),
            job.spans().events()::write,
            job.log());
    if (!size.isNamed()) {
      watch.add(made.memory());
    }
    job.addEnding(made::ends);
    job.addPolicy(made::said, made);
    asked(Option.CHECKPOINT, made::whyUnused);
    return made;
  }

  /** The user's budget, or a small default, because this memory cannot be given back. */
  private long bounded(ByteBudget size, MemoryWatch watch) {
    long budget = size.resolve(Machine.freeMemory(), job.log());
    return size.isNamed() ? budget : watch.bounded(budget);
  }

  private AgentCheckpoints checkpoints(ModelFiles models, @Nullable Resume resume) {
    AgentCheckpoints made =
        new AgentCheckpoints(
            options.get(Option.CHECKPOINT_DIR),
            options.get(Option.CHECKPOINT_EVERY),
            options.share(Option.CHECKPOINT_OVERHEAD),
            options.count(Option.CHECKPOINT_KEEP),
            options.count(Option.CHECKPOINT_GRACE),
            () -> resume == null ? null : resume.continued(),
            models,
            job.log());
    job.addEnding(made::end);
    job.addPolicy(made::said, () -> {});
    asked(Option.CHECKPOINT_EVERY, made::whyUnused);
    return made;
  }

  private Resume resume(ModelFiles models) {
    Resume made = new Resume(options.get(Option.RESUME), models, job.log());
    job.addPolicy(made::said, () -> {});
    asked(Option.RESUME, made::whyUnused);
    return made;
  }

  private LibraryHooks interceptors(Services services, RewriteLog rewrites) {
    return new LibraryInterceptors(
        libraries.anchors(),
        services,
        (interceptor, declaring, reason) -> {
          List<Policy> policies = policiesOf(interceptor);
          if (!policies.isEmpty() && isWithoutStore(policies, services)) {
            return; // Already logged, with the reason.
          }
          String policy =
              policies.stream().map(Policy::toString).collect(Collectors.joining(" or "));
          rewrites.add(declaring.getName(), policy, 0, reason, "");
          job.log()
              .say(
                  "%s cannot intercept %s (%s); it runs as it is.",
                  policy, declaring.getName(), reason);
        });
  }

  private static boolean isWithoutStore(List<Policy> policies, Services services) {
    return (policies.equals(List.of(Policy.SHARE)) && services.decoded() == null)
        || (policies.equals(List.of(Policy.PREPARED)) && services.prepared() == null);
  }

  /** Starts sampling GPUs; without a driver, loads no GPU classes. */
  private void sampleGpus() {
    boolean asked = options.get(Option.GPU).equals("on");
    if (asked
        || (options.get(Option.GPU).equals("auto")
            && Binding.isDriverThere(System.getenv("LD_LIBRARY_PATH")))) {
      Binding binding = binding(options.get(Option.GPU_PRESETS), asked);
      deviceSteps = new DeviceSteps(binding, job.sample(binding, asked), job.log());
    }
  }

  private static Binding binding(String presets, boolean asked) {
    return new Binding(presets, ClassLoader.getSystemClassLoader(), asked);
  }

  private void showRanges() {
    if (options.get(Option.GPU_RANGES).equals("on")) {
      NsightRanges ranges = new NsightRanges(binding(NONE, true), job.log());
      job.spans().onWait(ranges);
      asked(Option.GPU_RANGES, ranges::whyUnused);
    }
  }

  private PinnedMemory pinned() {
    PinnedMemory made = new PinnedMemory(binding(options.get(Option.GPU_PRESETS), true), job.log());
    job.addPolicy(made::said, () -> {});
    asked(Option.GPU_PINNED, made::whyUnused);
    return made;
  }

  private Profile profile(ProfiledItems items, @Nullable DecodedSizes sizes) {
    String phases = options.get(Option.PROFILE);
    int steps = options.count(Option.PROFILE_STEPS);
    Profile profile =
        phases.equals("accelerator")
            ? new Profile(
                Accelerator.parse(options.get(Option.PROFILE_ACCELERATOR)),
                steps,
                job.spans(),
                items,
                job.log(),
                this::end)
            : new Profile(
                phases.equals("all") ? Set.of("cold", "cached", "ingestion") : Set.of(phases),
                steps,
                job.spans(),
                items,
                sizes,
                job.log(),
                this::end,
                System::nanoTime);
    DeviceSteps devices = deviceSteps;
    if (devices != null) {
      profile.endSteps(devices::end);
    }
    job.profile(profile, items);
    return profile;
  }

  /**
   * Ends the job after the profile, by {@link System#exit} on an agent thread. The training thread
   * waits here for a bounded time, because a shutdown hook of the program may wait for it.
   */
  @SuppressWarnings("SystemExitOutsideMain") // Documented behaviour of profile=.
  private void end() {
    job.log().say("profile: the last phase is over, the run ends here");
    Thread exit = new AgentThread("coordl-profile-end", () -> System.exit(0));
    exit.start();
    try {
      exit.join(TimeUnit.SECONDS.toMillis(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Tuner tuner() {
    int cores = Runtime.getRuntime().availableProcessors();
    Tuner made =
        new Tuner(
            job.spans().totals()::snapshot,
            job.spans().totals()::loading,
            System::nanoTime,
            !options.isAuto(),
            this::leavesSamples,
            options.triesPrefetching() && cores > 1 ? this::prefetched : null,
            cores - 1, // One core remains for preparing or training.
            job.spans().events()::write);
    job.addPolicy(made::said, () -> {});
    return made;
  }

  private boolean leavesSamples() {
    Prepared made = prepared;
    return made != null && made.leavesAll();
  }

  private long prefetched() {
    Prefetcher made = prefetcher;
    return made == null ? 0 : made.count();
  }

  /** Whether a policy should keep items now; always true if the user requested it. */
  private BooleanSupplier keeps(Option policy) {
    Tuner decides = tuner;
    if (decides == null || !options.isChosen(policy)) {
      return () -> true;
    }
    return policy == Option.PREPARED ? decides::keeps : decides::keepsItems;
  }

  /** Frees the memory of a store that does not help, unless other forms still use it. */
  private StoreGain gain(Option policy, Option size) {
    return new StoreGain(
        policy.key() + "=" + options.get(policy), job.log(), () -> giveBack(policy, size));
  }

  private void giveBack(Option policy, Option size) {
    givenUp.add(policy);
    boolean lieTogether = sharesBudget(size);
    if (lieTogether
        && ((options.keepsRaw() && !givenUp.contains(Option.CACHE))
            || (options.keepsDecoded()
                && sharesBudget(Option.DECODED_SIZE)
                && !givenUp.contains(Option.DECODED))
            || (options.keepsPrepared() && sharesBudget(Option.PREPARED_SIZE)))) {
      return;
    }
    ArenaStore store = lieTogether ? common : decodedAlone;
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

  private @Nullable DecodedStore decoded() {
    ArenaStore arena = arena(Option.DECODED_SIZE, ",decoded");
    decodedAlone = sharesBudget(Option.DECODED_SIZE) ? null : arena;
    DecodedStore store =
        arena == null
            ? null
            : new DecodedStore(
                arena,
                filter,
                forms,
                keeps(Option.DECODED),
                gain(Option.DECODED, Option.DECODED_SIZE));
    asked(
        Option.DECODED,
        () -> unused(Option.DECODED, store == null ? null : store.statistics(), "decoded image"));
    if (store == null) {
      return null;
    }
    decodedImages = store.statistics();
    job.addStore(() -> view(StoreStatisticsEvent.DECODED, store.statistics()), store);
    return store;
  }

  private @Nullable Prepared prepared() {
    ArenaStore arena = arena(Option.PREPARED_SIZE, ",prepared");
    PreparedStore store = arena == null ? null : new PreparedStore(arena, forms, filter.names());
    asked(
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
            store, options.trusted(), keeps(Option.PREPARED), this::epochsToPay, this::chosen);
    for (String name : options.trusted()) {
      asked(Option.PREPARED, Options.SHARE_CLASS + name, () -> made.whyUnused(name));
    }
    prepared = made;
    return made;
  }

  /**
   * Number of epochs within which keeping must pay off: at most the remaining ones, if known. If
   * unknown and the agent chooses, as many as the job has had so far, because it may well run as
   * long again.
   */
  private int epochsToPay() {
    JobStatisticsEvent now = job.spans().totals().snapshot();
    long toGo = now.plannedEpochs - now.epochs;
    if (toGo <= 0) {
      return options.isChosen(Option.PREPARED)
          ? (int) Math.max(FEWEST_TO_PAY, now.epochs)
          : MOST_TO_PAY;
    }
    return (int) Math.min(toGo, MOST_TO_PAY);
  }

  /**
   * Group name, extended by the listening address: jobs with another address count as another host,
   * even on the same machine.
   */
  private String group() {
    String bind = options.get(Option.PEER_BIND);
    return options.hasPeers() && !bind.equals(Option.PEER_BIND.byDefault)
        ? options.get(Option.GROUP) + "," + bind // A group name contains no comma.
        : options.get(Option.GROUP);
  }

  private PrepGroup prepGroup() {
    ByteBudget size = ByteBudget.parse(options.get(Option.PREP_SIZE), PREP_SHARE);
    PrepGroup group =
        new PrepGroup(
            OwnDirectory.in(ArenaStore.SHARED_MEMORY),
            options.get(Option.GROUP),
            size,
            Math.max(1, options.count(Option.PREP_JOBS)),
            job.log());
    if (!size.isNamed()) {
      group.bounded(memory()::bounded);
    }
    group.updates(job.spans()::updates);
    job.addStaging(group::statistics, group);
    asked(Option.PREP, () -> Unused.prep(group.statistics(), options.get(Option.GROUP)));
    return group;
  }

  private void chosen(String what, String why) {
    JobStatisticsEvent now = job.spans().totals().snapshot();
    TuningEvent event = new TuningEvent();
    event.change = what;
    event.reason = why;
    event.waiting = now.share(now.dataStall());
    event.samplesPerSecond = now.samplesPerSecond();
    job.spans().events().write(event);
    if (tuner != null) {
      job.log().say("auto: " + what + ", since " + why + ".");
    }
  }

  /** The store that all forms share, unless this form has its own budget. */
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

  private Prefetcher prefetcher(@Nullable DecodedStore decoded) {
    Tuner tries = options.triesPrefetching() ? tuner : null;
    int fixed = options.count(Option.PREFETCH);
    IntSupplier threads = tries == null ? () -> fixed : tries::threads;
    Prefetcher made =
        new Prefetcher(
            decoded == null && raw == null
                ? null
                : new ItemPrefetcher(threads, raw, () -> decoded != null && decoded.mayKeepMore()),
            threads);
    job.addPolicy(made::said, made);
    asked(Option.PREFETCH, () -> Unused.prefetch(made.said(), made.items() != null));
    return made;
  }

  private List<Policy> policiesOf(String interceptor) {
    return libraries.hooks().stream()
        .map(HookRule::interceptor)
        .filter(rule -> rule != null && rule.name().equals(interceptor))
        .map(HookRule.Interceptor::policies)
        .findFirst()
        .orElse(List.of());
  }

  private @Nullable ArenaStore store(Option size, String name) {
    ByteBudget budget = ByteBudget.parse(options.get(size), autoShare());
    try {
      ArenaStore store =
          scope.equals(HOST)
              ? ArenaStore.openHost(
                  OwnDirectory.in(ArenaStore.SHARED_MEMORY), name, budget, job.log())
              : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, job.log());
      if (store != null) {
        store.yieldTo(memory());
      }
      return store;
    } catch (IOException | RuntimeException e) {
      job.log().say(e.getMessage() + " The job runs without this cache.");
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
            .filter(is -> is)
            .count();
    return arenas > 1 ? ByteBudget.AUTO_SHARE / 2 : ByteBudget.AUTO_SHARE;
  }

  /** Created on first use. */
  private MemoryWatch memory() {
    MemoryWatch made = memory;
    if (made == null) {
      made = new MemoryWatch(job.log());
      memory = made;
      job.spans().totals().onEpochEnd(made::ended);
      job.addPolicy(made::said, made);
    }
    return made;
  }

  private StoreStatisticsEvent view(String store, StoreStatistics s) {
    StoreStatisticsEvent view = new StoreStatisticsEvent();
    view.store = store;
    view.scope = scope;
    view.group = scope.equals(HOST) ? options.get(Option.GROUP) : "";
    view.capacity = s.capacity();
    view.used = s.used();
    view.items = s.items();
    view.hits = s.of(Outcome.HIT);
    view.misses = s.misses();
    view.admitted = s.of(Outcome.ADMITTED);
    view.peer = s.of(Outcome.PEER);
    view.bypassed = s.bypassed();
    view.full = s.of(Outcome.FULL) > 0;
    view.hitBytes = s.of(Origin.MEMORY);
    view.peerBytes = s.of(Origin.PEER);
    view.order = "";
    view.givenBack = s.givenBack();
    view.jobs = s.jobs();
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
