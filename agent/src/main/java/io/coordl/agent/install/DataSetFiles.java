package io.coordl.agent.install;

import io.coordl.host.AgentThread;
import io.coordl.items.EarlyMaps;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.telemetry.recording.JobFigures;
import io.coordl.telemetry.recording.UserText;
import java.util.HashSet;
import java.util.Set;

/** The files of the data set: which files count as items, and what identifies them. */
final class DataSetFiles {
  private static final String NONE = "none";

  private final Options options;
  private final EarlyMaps early;
  private final JobFigures figures;

  private DataSetFiles(Options options, EarlyMaps early, JobFigures figures) {
    this.options = options;
    this.early = early;
    this.figures = figures;
  }

  /**
   * Returns a filter of the files that the options name, or of those read while a sample is loaded.
   */
  static ItemFilter of(Options options, EarlyMaps early, JobFigures figures, Requested requested) {
    DataSetFiles files = new DataSetFiles(options, early, figures);
    ItemFilter filter = files.filter();
    if (options.isGiven(Option.DATASET)) {
      for (String named : options.list(Option.DATASET)) {
        requested.register(Option.DATASET, named, () -> whyUnread(filter, named));
        files.sayIfMissing(filter, named);
      }
    }
    return filter;
  }

  private ItemFilter filter() {
    ItemNames names = names();
    return options.get(Option.DATASET).equals("inferred")
        ? ItemFilter.inferred(figures.spans()::loadingSample, names)
        : ItemFilter.matching(options.list(Option.DATASET), names);
  }

  /** How items are identified; irrelevant if nothing is cached. */
  private ItemNames names() {
    if (!(options.keepsRaw() || options.keepsDecoded() || options.keepsPrepared())) {
      return ItemNames.HERE;
    }
    String root = options.get(Option.DATASET_ROOT);
    String manifest = options.get(Option.DATASET_MANIFEST);
    ItemNames names =
        root.equals(NONE)
            ? ItemNames.here(figures.log())
            : ItemNames.below(root, manifest.equals(NONE) ? null : manifest, figures.log());
    names = names.skipping(early);
    if (options.hasPeers()) {
      names = names.amongHosts();
    }
    if (options.get(Option.DATASET_IDENTITY).equals("copy")
        && options.get(Option.CACHE_SCOPE).equals("host")) {
      names = names.copies();
      figures
          .log()
          .say(
              "dataset.identity=copy: files are identified by path, size and modification time; a"
                  + " file replaced by one of equal size and time is mistaken for the old one.");
    }
    Set<String> excluded = new HashSet<>(options.list(Option.CACHE_EXCLUDE));
    excluded.remove(NONE);
    return excluded.isEmpty() ? names : names.without(excluded);
  }

  /**
   * Reports files that do not exist: the name may be misspelt, or the program may create them
   * later.
   */
  private void sayIfMissing(ItemFilter filter, String files) {
    Runnable look =
        () -> {
          if (filter.isMissing(files)) {
            figures
                .log()
                .say("dataset=%s: there is no such file or directory yet.", UserText.value(files));
          }
        };
    new AgentThread("coordl-look", look).start(); // Storage may hang.
  }

  private static String whyUnread(ItemFilter filter, String files) {
    String why = filter.whyUnused(files);
    return why.isEmpty() || !"late".equals(System.getProperty("coordl.attached"))
        ? why
        : why
            + " by a method called since the agent was attached; methods already running then, such"
            + " as main, are not rewritten: start the program with -javaagent";
  }
}
