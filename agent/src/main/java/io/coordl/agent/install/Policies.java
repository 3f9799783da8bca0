package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.Origin;
import io.coordl.cache.ArenaStore;
import io.coordl.cache.ByteBudget;
import io.coordl.cache.DecodedSizes;
import io.coordl.cache.DecodedStore;
import io.coordl.cache.ItemFilter;
import io.coordl.cache.ItemNames;
import io.coordl.cache.ItemStore;
import io.coordl.cache.KeptForms;
import io.coordl.cache.MinioCache;
import io.coordl.cache.Outcome;
import io.coordl.cache.PreparedStore;
import io.coordl.cache.ProfiledItems;
import io.coordl.cache.Rates;
import io.coordl.cache.StoreStatistics;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.event.TuningEvent;
import io.coordl.gpu.Binding;
import io.coordl.gpu.DeviceSteps;
import io.coordl.gpu.NsightRanges;
import io.coordl.gpu.PinnedMemory;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.LibraryInterceptors;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.profile.Profile;
import io.coordl.recording.JobMonitor;
import io.coordl.recording.RewriteLog;
import io.coordl.recording.UserText;
import io.coordl.shared.Machine;
import io.coordl.staging.PrepGroup;
import io.coordl.thread.AgentThread;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.Hooks;
import io.coordl.tuning.Tuner;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** From options to what they ask for. A policy that cannot be had is said, and left out. */
final class Policies {
  private static final String HOST = "host";
  private static final String NONE = "none";

  /** Part of the free memory that each staging buffer may take: others will be needed. */
  private static final double PREP_SHARE = 0.125;

  private static final double CHECKPOINT_SHARE = 0.25;

  private final Options options;
  private final JobMonitor job;
  private final ItemFilter filter;
  private final String scope;
  private @Nullable ArenaStore common;
  private boolean isCommonOpened;
  private @Nullable MinioCache raw;
  private final @Nullable Tuner tuner;
  private KeptForms forms = new KeptForms();
  private @Nullable Prefetcher prefetcher;
  private @Nullable ProfiledItems profiled;
  private @Nullable DeviceSteps deviceSteps;

  Policies(Options options, JobMonitor job) {
    this.options = options;
    this.job = job;
    this.filter = files();
    this.scope = options.get(Option.CACHE_SCOPE);
    this.tuner =
        !options.profiles() && (options.isAuto() || options.triesPrefetching()) ? tuner() : null;
    if (options.isGiven(Option.DATASET)) {
      for (String files : options.list(Option.DATASET)) {
        asked(Option.DATASET, files, () -> whyUnread(files));
      }
    }
  }

  private String whyUnread(String files) {
    String why = filter.whyUnused(files);
    return why.isEmpty() || !"late".equals(System.getProperty("coordl.attached"))
        ? why
        : why
            + " by a method called since the agent was attached: one that ran by then, such as"
            + " main, stays as it was; start the program with -javaagent";
  }

  /** What did nothing is said when the job ends, with the reason. */
  private void asked(Option option, String value, Supplier<String> why) {
    if (options.isChosen(option)) {
      return; // The agent's own choice, which it says itself.
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

  /** Where nothing is kept it does not matter what items are known by. */
  private ItemNames names() {
    String root = options.get(Option.DATASET_ROOT);
    String manifest = options.get(Option.DATASET_MANIFEST);
    return root.equals(NONE) || !(options.keepsRaw() || options.keepsDecoded())
        ? ItemNames.PATHS
        : ItemNames.below(root, manifest.equals(NONE) ? null : manifest, job.log());
  }

  /**
   * The source of items: observing only, or from a store, which the monitor closes when the job
   * ends.
   */
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
            ? new MinioCache(store, filter, forms, keeps(Option.CACHE))
            : new MinioCache(engine, store, filter);
    asked(
        Option.CACHE,
        () -> Unused.store(store == null ? null : cache.statistics(), filter, "raw item"));
    if (options.hasPeers()) {
      asked(Option.PEER, () -> Unused.peers(job.peerViews()));
    }
    if (store != null) {
      job.addStore(() -> view(StoreStatisticsEvent.RAW, cache.statistics()), store);
      raw = cache;
    }
    return cache;
  }

  /**
   * What intercepts library calls: nothing, or a store of decoded items, closed likewise, and what
   * prefetches. After {@link #items}.
   */
  LibraryHooks hooks(RewriteLog rewrites) {
    sampleGpus();
    showRanges();
    ProfiledItems items = profiled;
    if (items != null) {
      DecodedSizes sizes = options.learnsSizes() ? new DecodedSizes(filter) : null;
      return interceptors(
          Services.of(profile(items, sizes), sizes == null ? null : sizes.store(), job.log()),
          rewrites);
    }
    DecodedStore decoded = options.keepsDecoded() ? decoded() : null;
    prefetcher = options.prefetches() ? prefetcher(decoded) : null;
    PinnedMemory pinned = options.get(Option.GPU_PINNED).equals("on") ? pinned() : null;
    PrepGroup group = options.coordinates() ? prepGroup() : null;
    if (group != null && pinned != null) {
      group.whenRead(pinned::reading);
    }
    Prepared prepared = options.keepsPrepared() ? prepared() : null;
    ModelFiles models = options.writesModels() ? models() : null;
    if (decoded == null
        && prepared == null
        && prefetcher == null
        && group == null
        && models == null) {
      return LibraryHooks.NONE;
    }
    AgentCheckpoints checkpoints =
        models != null && options.takesCheckpoints() ? checkpoints(models) : null;
    Resume resume = models != null && options.resumes() ? resume() : null;
    int threads = options.count(Option.PREFETCH);
    return interceptors(
        new Services(
            decoded,
            prepared,
            group,
            prefetcher,
            threads,
            models,
            checkpoints,
            resume,
            null,
            pinned,
            job.log()),
        rewrites);
  }

  private ModelFiles models() {
    ByteBudget size = ByteBudget.parse(options.get(Option.CHECKPOINT_SIZE), CHECKPOINT_SHARE);
    ModelFiles made =
        new ModelFiles(
            options.writesInBackground(),
            () -> size.resolve(Machine.freeMemory(), job.log()),
            job.spans().events()::write,
            job.log());
    job.addEnding(made::ends);
    job.addPolicy(made::said, made);
    asked(Option.CHECKPOINT, made::whyUnused);
    return made;
  }

  private AgentCheckpoints checkpoints(ModelFiles models) {
    AgentCheckpoints made =
        new AgentCheckpoints(
            options.get(Option.CHECKPOINT_DIR),
            options.get(Option.CHECKPOINT_EVERY),
            options.share(Option.CHECKPOINT_OVERHEAD),
            options.count(Option.CHECKPOINT_KEEP),
            options.count(Option.CHECKPOINT_GRACE),
            models,
            job.log());
    job.addEnding(made::end);
    job.addPolicy(made::said, () -> {});
    asked(Option.CHECKPOINT_EVERY, made::whyUnused);
    return made;
  }

  private Resume resume() {
    Resume made = new Resume(options.get(Option.RESUME), job.log());
    job.addPolicy(made::said, () -> {});
    asked(Option.RESUME, made::whyUnused);
    return made;
  }

  private LibraryHooks interceptors(Services services, RewriteLog rewrites) {
    return new LibraryInterceptors(
        services,
        (interceptor, declaring, reason) -> {
          String policy = policyOf(interceptor);
          rewrites.add(declaring.getName(), policy, 0, reason, "");
          job.log()
              .say(
                  "%s cannot intercept %s (%s); it runs as it is.",
                  policy, declaring.getName(), reason);
        });
  }

  /** Where no driver is there, nothing of the GPUs is loaded. */
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
    Profile profile =
        new Profile(
            phases.equals("all") ? Set.of("cold", "cached", "ingestion") : Set.of(phases),
            options.count(Option.PROFILE_STEPS),
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
   * The profile is made: the job ends as by {@link System#exit}, from a thread of the agent. The
   * training thread stays where it is, boundedly: a hook of the program may wait for it.
   */
  @SuppressWarnings("SystemExitOutsideMain") // What profile= promises.
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
            System::nanoTime,
            !options.isAuto(),
            options.triesPrefetching() && cores > 1 ? this::prefetched : null,
            cores - 1, // One more prepares, or trains.
            job.spans().events()::write);
    job.addPolicy(made::said, () -> {});
    return made;
  }

  private long prefetched() {
    Prefetcher made = prefetcher;
    return made == null ? 0 : made.count();
  }

  /** Whether what a policy keeps is to be kept now: always if the user asked for it. */
  private BooleanSupplier keeps(Option policy) {
    Tuner decides = tuner;
    if (decides == null || !options.isChosen(policy)) {
      return () -> true;
    }
    return policy == Option.PREPARED ? decides::keeps : decides::keepsItems;
  }

  private @Nullable DecodedStore decoded() {
    ArenaStore arena = arena(Option.DECODED_SIZE, ",decoded");
    DecodedStore store =
        arena == null ? null : new DecodedStore(arena, filter, forms, keeps(Option.DECODED));
    asked(
        Option.DECODED,
        () -> Unused.store(store == null ? null : store.statistics(), filter, "decoded image"));
    if (store == null) {
      return null;
    }
    job.addStore(() -> view(StoreStatisticsEvent.DECODED, store.statistics()), store);
    return store;
  }

  private @Nullable Prepared prepared() {
    ArenaStore arena = arena(Option.PREPARED_SIZE, ",prepared");
    PreparedStore store = arena == null ? null : new PreparedStore(arena, forms);
    asked(
        Option.PREPARED, "share", () -> Unused.prepared(store == null ? null : store.statistics()));
    if (store == null) {
      return null;
    }
    job.addStore(() -> view(StoreStatisticsEvent.PREPARED, store.statistics()), store);
    Prepared prepared =
        new Prepared(store, options.trusted(), keeps(Option.PREPARED), this::chosen);
    for (String name : options.trusted()) {
      asked(Option.PREPARED, Options.SHARE_CLASS + name, () -> prepared.whyUnused(name));
    }
    return prepared;
  }

  /** Jobs that listen elsewhere are another host, on this one machine too. */
  private String group() {
    String bind = options.get(Option.PEER_BIND);
    return options.hasPeers() && !bind.equals(Option.PEER_BIND.byDefault)
        ? options.get(Option.GROUP) + "," + bind // A group's name has no comma.
        : options.get(Option.GROUP);
  }

  private PrepGroup prepGroup() {
    PrepGroup group =
        new PrepGroup(
            ArenaStore.SHARED_MEMORY,
            options.get(Option.GROUP),
            ByteBudget.parse(options.get(Option.PREP_SIZE), PREP_SHARE),
            Math.max(1, options.count(Option.PREP_JOBS)),
            job.log());
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

  /** That of all forms, unless the user says how large its own is to be. */
  private @Nullable ArenaStore arena(Option size, String name) {
    if (!sharesBudget(size)) {
      return store(size, group() + name); // A group's name has no comma: it is no other group's.
    }
    if (!isCommonOpened) {
      isCommonOpened = true;
      common = store(Option.CACHE_SIZE, group());
    }
    return common;
  }

  /** With peers the raw items of this host are those of all: no other form takes their room. */
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
            () -> threads.getAsInt() > 0);
    job.addPolicy(made::said, made);
    asked(Option.PREFETCH, () -> Unused.prefetch(made.said(), made.items() != null));
    return made;
  }

  private static String policyOf(String name) {
    return Hooks.all().stream()
        .map(HookRule::interceptor)
        .filter(interceptor -> interceptor != null && interceptor.name().equals(name))
        .map(interceptor -> String.join(" or ", interceptor.policies()))
        .findFirst()
        .orElse(name);
  }

  private @Nullable ArenaStore store(Option size, String name) {
    ByteBudget budget = ByteBudget.parse(size(size));
    try {
      return scope.equals(HOST)
          ? ArenaStore.openHost(ArenaStore.SHARED_MEMORY, name, budget, job.log())
          : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, job.log());
    } catch (IOException | RuntimeException e) {
      job.log().say(e.getMessage() + " The job runs without this cache.");
      return null;
    }
  }

  /** Beside an arena of a size of the user's, another takes half of what it would take alone. */
  private String size(Option size) {
    String given = options.get(size);
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
    return given.equals("auto") && arenas > 1 ? "25%" : given;
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
