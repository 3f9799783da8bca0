package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
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
import io.coordl.library.catalog.Libraries;
import io.coordl.pipeline.CheckedSamples;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.KeptPictures;
import io.coordl.pipeline.LibraryInterceptors;
import io.coordl.pipeline.LibraryVerdicts;
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
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.recording.JobFigures;
import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.RewriteLog;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.Policy;
import io.coordl.tuning.Tuner;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Starts the requested policies; one that cannot start is reported and skipped. */
final class Policies {
  private static final String NONE = "none";

  /** Share of free memory for each staging buffer; small, because each pipeline has one. */
  private static final double PREP_SHARE = 0.125;

  private static final double CHECKPOINT_SHARE = 0.25;

  private final Options options;
  private final Libraries libraries;
  private final JobMonitor job;
  private final JobFigures figures;
  private final Requested requested;
  private final ItemFilter filter;
  private final @Nullable Tuner tuner;
  private final StorePolicies stores;
  private @Nullable Prefetcher prefetcher;
  private @Nullable ProfiledItems profiled;
  private @Nullable DeviceSteps deviceSteps;

  Policies(Options options, Libraries libraries, EarlyMaps early, JobMonitor job) {
    this.libraries = libraries;
    this.options = options;
    this.job = job;
    this.figures = job.figures();
    this.requested = new Requested(options, job);
    this.filter = DataSetFiles.of(options, early, figures, requested);
    this.tuner =
        !options.profiles() && (options.isAuto() || options.triesPrefetching()) ? tuner() : null;
    this.stores = new StorePolicies(options, libraries, job, requested, filter, tuner);
  }

  /** The source of items: the profile's, or that of the stores. */
  ItemSource items() {
    if (!options.profiles()) {
      return stores.items();
    }
    ProfiledItems items = new ProfiledItems(filter, figures.log());
    profiled = items;
    return items;
  }

  /** The interceptors of library calls, for all requested policies. Call after {@link #items}. */
  LibraryHooks hooks(RewriteLog rewrites) {
    sampleGpus();
    showRanges();
    ProfiledItems items = profiled;
    if (items != null) {
      DecodedSizes sizes = options.learnsSizes() ? new DecodedSizes(filter) : null;
      return interceptors(
          Services.builder(figures.log())
              .profile(profile(items, sizes))
              .decoded(sizes == null ? null : sizes.store())
              .build(),
          rewrites);
    }
    DecodedStore decoded = stores.decoded();
    prefetcher = options.prefetches() ? prefetcher(decoded) : null;
    PinnedMemory pinned = options.get(Option.GPU_PINNED).equals("on") ? pinned() : null;
    PrepGroup group = options.coordinates() ? prepGroup() : null;
    if (group != null && pinned != null) {
      group.whenRead(pinned::reading);
    }
    Prepared samples = stores.prepared();
    CheckedSamples checked = options.checksPrepared() ? checked() : null;
    ModelFiles models = options.writesModels() ? models() : null;
    if (decoded == null
        && samples == null
        && checked == null
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
    job.addPolicy(pictures::summary, () -> {});
    Services services =
        Services.builder(figures.log())
            .decoded(decoded)
            .prepared(samples)
            .checked(checked)
            .group(group)
            .prefetcher(prefetcher, threads)
            .models(models)
            .checkpoints(checkpoints)
            .resume(resume)
            .pinned(pinned)
            .pictures(pictures)
            .holders(holder -> stores.memory().add(holder))
            .build();
    KeptItems kept = KeptItems.of(services);
    if (kept != null && ModuleLayer.boot().findModule("java.desktop").isPresent()) {
      List<String> packages =
          libraries.all().stream().flatMap(library -> library.packages().stream()).toList();
      Bridge.install(new KeptPictures(kept, packages));
    }
    return interceptors(services, rewrites);
  }

  private CheckedSamples checked() {
    CheckedSamples made = new CheckedSamples(new LibraryVerdicts(libraries.verdicts()));
    job.addPolicy(made::summary, () -> {});
    requested.register(Option.PREPARED, made::whyUnused);
    return made;
  }

  private ModelFiles models() {
    ByteBudget size = ByteBudget.parse(options.get(Option.CHECKPOINT_SIZE), CHECKPOINT_SHARE);
    MemoryWatch watch = stores.memory();
    ModelFiles made =
        new ModelFiles(
            options.writesInBackground(),
            () -> bounded(size, watch),
            figures.spans().events()::write,
            figures.log());
    if (!size.isNamed()) {
      watch.add(made.memory());
    }
    job.addEnding(made::ends);
    job.addPolicy(made::summary, made);
    requested.register(Option.CHECKPOINT, made::whyUnused);
    return made;
  }

  /** The user's budget; a default is bounded, because snapshots in use cannot be given back. */
  private long bounded(ByteBudget size, MemoryWatch watch) {
    long budget = size.resolve(Machine.freeMemory(), figures.log());
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
            figures.log());
    job.addEnding(made::end);
    job.addPolicy(made::summary, () -> {});
    requested.register(Option.CHECKPOINT_EVERY, made::whyUnused);
    return made;
  }

  private Resume resume(ModelFiles models) {
    Resume made = new Resume(options.get(Option.RESUME), models, figures.log());
    job.addPolicy(made::summary, () -> {});
    requested.register(Option.RESUME, made::whyUnused);
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
          figures
              .log()
              .say(
                  "%s cannot intercept %s (%s); this class runs unchanged.",
                  policy, declaring.getName(), reason);
        });
  }

  private static boolean isWithoutStore(List<Policy> policies, Services services) {
    return policies.stream()
        .allMatch(
            policy ->
                (policy == Policy.SHARE && services.decoded() == null)
                    || (policy == Policy.PREPARED && services.prepared() == null));
  }

  /** Samples GPUs if {@code gpu=on}, or if {@code gpu=auto} and a driver is installed. */
  private void sampleGpus() {
    boolean asked = options.get(Option.GPU).equals("on");
    if (asked
        || (options.get(Option.GPU).equals("auto")
            && Binding.isDriverInstalled(System.getenv("LD_LIBRARY_PATH")))) {
      Binding binding = binding(options.get(Option.GPU_PRESETS), asked);
      deviceSteps = new DeviceSteps(binding, job.sample(binding, asked), figures.log());
    }
  }

  private static Binding binding(String presets, boolean asked) {
    return new Binding(presets, ClassLoader.getSystemClassLoader(), asked);
  }

  private void showRanges() {
    if (options.get(Option.GPU_RANGES).equals("on")) {
      NsightRanges ranges = new NsightRanges(binding(NONE, true), figures.log());
      figures.spans().onWait(ranges);
      requested.register(Option.GPU_RANGES, ranges::whyUnused);
    }
  }

  private PinnedMemory pinned() {
    PinnedMemory made =
        new PinnedMemory(binding(options.get(Option.GPU_PRESETS), true), figures.log());
    job.addPolicy(made::summary, () -> {});
    requested.register(Option.GPU_PINNED, made::whyUnused);
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
                figures.spans(),
                items,
                figures.log(),
                this::end)
            : new Profile(
                phases.equals("all") ? Set.of("cold", "cached", "ingestion") : Set.of(phases),
                steps,
                figures.spans(),
                items,
                sizes,
                figures.log(),
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
   * waits here for a bounded time, because a shutdown hook of the program may wait for that thread.
   */
  @SuppressWarnings("SystemExitOutsideMain") // Documented behaviour of profile=.
  private void end() {
    figures.log().say("profile: the last phase is over; the run ends here");
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
            figures.spans().totals()::snapshot,
            figures.spans().totals()::loading,
            System::nanoTime,
            !options.isAuto(),
            this::cachesNoSamples,
            figures::hits,
            options.triesPrefetching() && cores > 1 ? this::prefetched : null,
            cores,
            figures.spans().events()::write);
    job.addPolicy(made::summary, () -> {});
    return made;
  }

  private long prefetched() {
    Prefetcher made = prefetcher;
    return made == null ? 0 : made.count();
  }

  private PrepGroup prepGroup() {
    ByteBudget size = ByteBudget.parse(options.get(Option.PREP_SIZE), PREP_SHARE);
    PrepGroup group =
        new PrepGroup(
            OwnDirectory.in(ArenaStore.SHARED_MEMORY),
            options.get(Option.GROUP),
            size,
            Math.max(1, options.count(Option.PREP_JOBS)),
            figures.log());
    if (!size.isNamed()) {
      group.bounded(stores.memory()::bounded);
    }
    group.updates(figures.spans()::updates);
    job.addStaging(group::statistics, group);
    requested.register(
        Option.PREP, () -> Unused.prep(group.statistics(), options.get(Option.GROUP)));
    return group;
  }

  private Prefetcher prefetcher(@Nullable DecodedStore decoded) {
    Tuner threadTuner = options.triesPrefetching() ? tuner : null;
    int fixed = options.count(Option.PREFETCH);
    IntSupplier threads = threadTuner == null ? () -> fixed : threadTuner::threads;
    Prefetcher made =
        new Prefetcher(
            decoded == null && stores.raw() == null
                ? null
                : new ItemPrefetcher(
                    threads, stores.raw(), () -> decoded != null && decoded.mayKeepMore()),
            threads,
            filter.names()::mayChangeUnnoticed);
    job.addPolicy(made::summary, made);
    requested.register(
        Option.PREFETCH, () -> Unused.prefetch(made.summary(), made.items() != null));
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

  private boolean cachesNoSamples() {
    return stores.cachesNoSamples();
  }
}
