package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.cache.ArenaStore;
import io.coordl.cache.ByteBudget;
import io.coordl.cache.DecodedStore;
import io.coordl.cache.ItemFilter;
import io.coordl.cache.MinioCache;
import io.coordl.cache.StoreStatistics;
import io.coordl.library.LibraryAnswers;
import io.coordl.library.Services;
import io.coordl.recording.JobMonitor;
import io.coordl.recording.RewriteLog;
import io.coordl.recording.StoreView;
import io.coordl.staging.PrepGroup;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.Hooks;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** From options to what they ask for. A policy that cannot be had is said, and left out. */
final class Policies {
  private static final String HOST = "host";

  /** Part of the free memory that each staging buffer may take: others will be needed. */
  private static final double PREP_SHARE = 0.125;

  private final Options options;
  private final JobMonitor job;
  private final ItemFilter filter;
  private final String scope;

  Policies(Options options, JobMonitor job) {
    this.options = options;
    this.job = job;
    this.filter =
        options.get(Option.DATASET).equals("inferred")
            ? ItemFilter.inferred(job.spans()::loadingSample)
            : ItemFilter.matching(options.list(Option.DATASET));
    this.scope = options.get(Option.CACHE_SCOPE);
  }

  private static boolean keepsRaw(Options options) {
    return options.get(Option.CACHE).equals("minio");
  }

  /** Whether {@code policy}, as {@code key=value}, was asked for. */
  static boolean inForce(Options options, String policy) {
    return switch (policy) {
      case "decoded=share" -> keepsDecoded(options);
      case "prep=coordinate" -> coordinates(options);
      default -> false;
    };
  }

  private static boolean coordinates(Options options) {
    return options.get(Option.PREP).equals("coordinate");
  }

  private static boolean keepsDecoded(Options options) {
    return options.get(Option.DECODED).equals("share");
  }

  /**
   * The source of items: observing only, or from a store, which the monitor closes when the job
   * ends.
   */
  ItemSource items() {
    if (!keepsRaw(options)) {
      return new MinioCache(null, filter);
    }
    ArenaStore store = store(Option.CACHE_SIZE, options.get(Option.GROUP));
    MinioCache cache = new MinioCache(store, filter);
    if (store != null) {
      job.addStore(() -> view("raw", cache.statistics()), store);
    }
    return cache;
  }

  /** What answers library calls: nothing, or a store of decoded items, closed likewise. */
  LibraryHooks hooks(RewriteLog rewrites) {
    DecodedStore decoded = decoded();
    PrepGroup group = group();
    if (decoded == null && group == null) {
      return LibraryHooks.NONE;
    }
    return new LibraryAnswers(
        new Services(decoded, group, threads(), job.log()::say),
        (answer, declaring, reason) -> {
          String policy = policyOf(answer);
          rewrites.add(new RewriteLog.Entry(declaring.getName(), policy, 0, reason, ""));
          job.log()
              .say(
                  policy
                      + " cannot answer for "
                      + declaring.getName()
                      + " ("
                      + reason
                      + "); it runs as it is.");
        });
  }

  private static String policyOf(String answer) {
    for (HookRule rule : Hooks.answers()) {
      HookRule.Answerer answerer = rule.answer();
      if (answerer != null && answerer.name().equals(answer)) {
        return answerer.policy();
      }
    }
    return answer;
  }

  private @Nullable DecodedStore decoded() {
    if (!keepsDecoded(options)) {
      return null;
    }
    // A group's name has no comma, so the decoded items' name is never that of a raw store.
    ArenaStore arena = store(Option.DECODED_SIZE, options.get(Option.GROUP) + ",decoded");
    if (arena == null) {
      return null;
    }
    DecodedStore store = new DecodedStore(arena, filter);
    job.addStore(() -> view("decoded", store.statistics()), store);
    return store;
  }

  private @Nullable PrepGroup group() {
    if (!coordinates(options)) {
      return null;
    }
    PrepGroup group =
        new PrepGroup(
            ArenaStore.SHARED_MEMORY,
            options.get(Option.GROUP),
            ByteBudget.parse(options.get(Option.PREP_SIZE), PREP_SHARE),
            count(Option.PREP_JOBS, 1),
            job.log()::say);
    job.addStaging(group);
    return group;
  }

  /** Threads that prepare ahead. */
  private int threads() {
    return count(Option.PREFETCH, 0);
  }

  private int count(Option option, int otherwise) {
    String given = options.get(option);
    return given.equals(option.byDefault()) ? otherwise : Integer.parseInt(given);
  }

  private @Nullable ArenaStore store(Option size, String name) {
    ByteBudget budget = ByteBudget.parse(size(size));
    try {
      return scope.equals(HOST)
          ? ArenaStore.openHost(ArenaStore.SHARED_MEMORY, name, budget, job.log()::say)
          : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, job.log()::say);
    } catch (IOException | RuntimeException e) {
      job.log().say(e.getMessage() + " The job runs without this cache.");
      return null;
    }
  }

  /** Two stores share what one would take, unless the user says how. */
  private String size(Option size) {
    String given = options.get(size);
    return given.equals("auto") && keepsRaw(options) && keepsDecoded(options) ? "25%" : given;
  }

  private StoreView view(String store, StoreStatistics s) {
    return new StoreView(
        store,
        scope,
        scope.equals(HOST) ? options.get(Option.GROUP) : "",
        s.capacity(),
        s.used(),
        s.items(),
        s.hits(),
        s.misses(),
        s.admitted(),
        s.bypassed(),
        s.hitBytes(),
        s.bypassedFull() > 0,
        s.jobs());
  }
}
