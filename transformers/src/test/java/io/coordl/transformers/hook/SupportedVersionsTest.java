package io.coordl.transformers.hook;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.LibraryHooks;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.ModelFiles;
import io.coordl.checkpoint.Resume;
import io.coordl.coordination.PrepGroup;
import io.coordl.library.catalog.Libraries;
import io.coordl.pipeline.CheckedSamples;
import io.coordl.pipeline.LibraryInterceptors;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.profile.FastProfile;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedStore;
import io.coordl.store.KeptForms;
import io.coordl.store.PreparedStore;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.transformers.DocsBlock;
import io.coordl.transformers.RewriteTable;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.RuleListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests every rule and interceptor against other versions of the libraries, which {@code -Pfull}
 * copies to {@code target/versions}. docs/support.md lists exactly what does not fit; {@code
 * -Dcoordl.docs=write} writes the table in that page.
 */
final class SupportedVersionsTest {
  private static final Path JARS = Path.of("target", "versions");
  private static final boolean FULL = Boolean.getBoolean("coordl.full");
  private static final RuleListener NOBODY =
      new RuleListener() {
        @Override
        public void applied(String library, String rule, String provenOn) {}

        @Override
        public void skipped(String rule, String reason, String provenOn) {}
      };

  private static final Durations UNHEARD =
      new Durations() {
        @Override
        public void record(Kind kind, long nanos) {}

        @Override
        public void epochEnded(long epoch) {}
      };

  /** A version, and those of its jars that rules refer to. */
  private record Version(String library, String name, List<String> jars) {
    static Version djl(String name, String pytorch, String opencv) {
      return new Version(
          "DJL",
          name,
          List.of(
              "api-" + name,
              "basicdataset-" + name,
              "pytorch-engine-" + pytorch,
              "opencv-" + opencv));
    }

    static Version dl4j(String name, String javacpp, String opencv) {
      List<String> jars = new ArrayList<>(List.of("javacpp-" + javacpp, "javacv-" + javacpp));
      jars.add("opencv-" + opencv + "-" + javacpp);
      for (String jar :
          List.of(
              "nd4j-api",
              "nd4j-common",
              "nd4j-native",
              "datavec-api",
              "datavec-data-image",
              "deeplearning4j-nn",
              "deeplearning4j-datavec-iterators",
              "deeplearning4j-parallel-wrapper")) {
        jars.add(jar + "-" + name);
      }
      return new Version("DL4J", name, jars);
    }

    @Override
    public String toString() {
      return library + " " + name;
    }
  }

  /** The classes whose calls an interceptor receives, and the policies that need it. */
  private static final class Intercepted {
    final Set<String> classes = new TreeSet<>();
    final Set<Policy> policies = new TreeSet<>(Comparator.comparing(Policy::toString));
  }

  /**
   * With dependencies; for each DJL version, the newest engine and OpenCV jars up to that version.
   */
  private static final List<Version> VERSIONS =
      List.of(
          Version.djl("0.30.0", "0.30.0", "0.29.0"),
          Version.djl("0.31.1", "0.31.1", "0.31.0"),
          Version.djl("0.32.0", "0.32.0", "0.32.0"),
          Version.djl("0.33.0", "0.33.0", "0.32.0"),
          Version.djl("0.34.0", "0.34.0", "0.32.0"),
          Version.djl("0.35.1", "0.35.1", "0.32.0"),
          Version.djl("0.36.0", "0.36.0", "0.32.0"),
          Version.djl("0.38.0", "0.36.0", "0.32.0"),
          Version.dl4j("1.0.0-beta7", "1.5.3", "4.3.0"),
          Version.dl4j("1.0.0-M1", "1.5.5", "4.5.1"),
          Version.dl4j("1.0.0-M1.1", "1.5.5", "4.5.1"),
          Version.dl4j("1.0.0-M2", "1.5.7", "4.5.5"),
          Version.dl4j("1.0.0-M2.1", "1.5.7", "4.5.5"));

  @TempDir private Path directory;
  private final List<String> said = new ArrayList<>();
  private ArenaStore arena;
  private ProfiledItems items;
  private PrepGroup group;

  @Test
  void pageListsWhatDoesNotFitEachVersion() throws IOException {
    String reason = "other versions of the libraries are present only with -Pfull";
    if (!FULL) {
      System.out.println("skipped: " + reason);
    }
    Assumptions.assumeTrue(FULL, reason);

    StringBuilder table = new StringBuilder();
    table.append("| version | matching rules | not working |\n|---|---|---|\n");
    Set<String> needed = new TreeSet<>();
    for (Version version : VERSIONS) {
      version.jars.forEach(jar -> needed.add(jar + ".jar"));
      table.append(row(version));
    }
    try (Stream<Path> jars = Files.list(JARS)) {
      assertThat(jars.map(jar -> jar.getFileName().toString())).hasSameElementsAs(needed);
    }

    DocsBlock.check(
        "support.md",
        "support",
        table.toString(),
        "if the new table is correct, `mvn -Pfull -pl transformers -am test "
            + "-Dtest=SupportedVersionsTest -Dcoordl.docs=write "
            + "-Dsurefire.failIfNoSpecifiedTests=false` writes it");
  }

  private String row(Version version) {
    Library library =
        Library.of(version.jars.stream().map(jar -> JARS.resolve(jar + ".jar")).toList());
    Map<HookRule, Set<String>> found = find(version, library);
    Map<String, Set<String>> missing = new LinkedHashMap<>();
    Map<String, Intercepted> interceptors = new TreeMap<>();
    found.forEach(
        (rule, classes) -> {
          HookRule.Interceptor interceptor = rule.interceptor();
          if (classes.isEmpty()) {
            missing
                .computeIfAbsent(RewriteTable.effect(rule), effect -> new LinkedHashSet<>())
                .add(
                    "`" + RewriteTable.method(rule) + "` (no such " + lacking(rule, library) + ")");
          } else if (interceptor != null) {
            Intercepted of =
                interceptors.computeIfAbsent(interceptor.name(), name -> new Intercepted());
            of.classes.addAll(classes);
            of.policies.addAll(interceptor.policies());
          }
        });
    List<String> gaps = new ArrayList<>();
    missing.forEach((effect, methods) -> gaps.add(effect + ": " + String.join(", ", methods)));
    Map<String, Set<Policy>> off = new LinkedHashMap<>();
    References references = new References(library);
    ClassLoader loader = library.loader(woven(library));
    interceptors.forEach(
        (name, of) -> {
          Map<String, Set<Policy>> refusals = refusals(name, of, loader);
          refusals.forEach(
              (reason, policies) ->
                  off.computeIfAbsent(reason, unused -> new LinkedHashSet<>()).addAll(policies));
          if (refusals.values().stream().mapToInt(Set::size).sum() < of.policies.size()) {
            // A reference that would be found missing only during training is an error, not a row.
            Set<String> unchecked = references.missing(name.replace('.', '/'));
            unchecked.removeIf(
                symbol ->
                    refusals.keySet().stream()
                        .anyMatch(reason -> reason.contains(symbol.replaceFirst("\\(.*", ""))));
            assertThat(unchecked)
                .as("references of %s that %s lacks, unnoticed before training", name, version)
                .isEmpty();
          }
        });
    off.forEach(
        (reason, policies) ->
            gaps.add(
                "`"
                    + policies.stream().map(Policy::toString).collect(Collectors.joining("` and `"))
                    + (policies.size() > 1 ? "` are off: " : "` is off: ")
                    + reason));
    for (String counts : Libraries.known().named(version.library).counters().values()) {
      assertThat(references.missing(counts.replace('.', '/')))
          .as("%s on %s", counts, version)
          .isEmpty();
    }
    long fitting = found.values().stream().filter(classes -> !classes.isEmpty()).count();
    return String.format(
        "| %s | %d of %d | %s |%n",
        version, fitting, found.size(), gaps.isEmpty() ? "nothing" : String.join("; ", gaps));
  }

  private static String lacking(HookRule rule, Library library) {
    return rule.owner() == null || library.classes.containsKey(rule.owner()) ? "method" : "class";
  }

  /**
   * Returns the classes in which each rule finds its method. Each rule is tried alone, because
   * rules can hide each other.
   */
  private static Map<HookRule, Set<String>> find(Version version, Library library) {
    Map<HookRule, Set<String>> found = new LinkedHashMap<>();
    Map<HookRule, HookWeaver> weavers = new LinkedHashMap<>();
    for (HookRule rule : Libraries.known().hooks()) {
      if (rule.library().equals(version.library)) {
        found.put(rule, new TreeSet<>());
        weavers.put(rule, new HookWeaver(List.of(rule), name -> false));
      }
    }
    library.classes.forEach(
        (name, bytes) -> {
          ClassFile classFile = ClassFile.read(bytes);
          weavers.forEach(
              (rule, weaver) -> {
                if (!weaver.plan(classFile).chosen.isEmpty()) {
                  found.get(rule).add(name);
                }
              });
        });
    return found;
  }

  /** Returns all woven classes, after checking that they link if they did before. */
  private static Map<String, byte[]> woven(Library library) {
    HookWeaver weaver = Libraries.known().weaver(Libraries.known().hooks());
    Map<String, byte[]> woven = new TreeMap<>();
    library.classes.forEach(
        (name, bytes) -> {
          byte[] changed = weaver.weave(weaver.plan(ClassFile.read(bytes)), bytes, NOBODY);
          if (changed != null) {
            woven.put(name, changed);
          }
        });
    ClassLoader plain = library.loader(Map.of());
    ClassLoader after = library.loader(woven);
    for (String name : woven.keySet()) {
      if (EveryRuleFitsTest.link(plain, name).isEmpty()) {
        assertThat(EveryRuleFitsTest.link(after, name)).as(name).isEmpty();
      }
    }
    return woven;
  }

  /** Returns why an interceptor intercepts no calls, and the policies that are then off. */
  private Map<String, Set<Policy>> refusals(String name, Intercepted of, ClassLoader loader) {
    Map<String, Set<Policy>> refusals = new LinkedHashMap<>();
    for (Policy policy : of.policies) {
      said.clear();
      List<String> reasons = new ArrayList<>();
      LibraryInterceptors interceptors =
          new LibraryInterceptors(
              Libraries.known().anchors(),
              services(policy),
              (interceptor, type, reason) -> reasons.add(reason));
      int examined = 0;
      for (String type : of.classes) {
        Class<?> declaring = load(type, loader);
        if (declaring != null) {
          boolean none = interceptors.of(name, declaring) == LibraryHooks.NONE;
          assertThat(none).isEqualTo(!reasons.isEmpty());
          examined++;
        }
      }
      assertThat(examined).as("classes for %s", name).isPositive();
      reasons.addAll(said);
      if (!reasons.isEmpty()) {
        String reason =
            reasons
                .get(0)
                .replaceFirst(
                    "java\\.lang\\.NoSuch(Method|Field)(Exception|Error): (.*)",
                    "`$3` does not exist");
        refusals.computeIfAbsent(reason, unused -> new LinkedHashSet<>()).add(policy);
      }
    }
    return refusals;
  }

  /** Returns a class without initialising it; null if it needs an absent library. */
  private static Class<?> load(String name, ClassLoader loader) {
    try {
      return Class.forName(name.replace('/', '.'), false, loader);
    } catch (ClassNotFoundException | NoClassDefFoundError e) {
      return null;
    }
  }

  @BeforeEach
  void open() {
    arena = ArenaStore.openProcess(directory, ByteBudget.parse("2m"), said::add);
    items = new ProfiledItems(path -> true, said::add);
    group = new PrepGroup(directory, "g", ByteBudget.parse("64k"), 1, said::add);
  }

  /** Returns the services of one policy, as the agent provides them. */
  private Services services(Policy policy) {
    ModelFiles models = new ModelFiles(true, () -> 0, (event, start, end) -> {}, said::add);
    return switch (policy) {
      case PROFILE -> {
        SpanRecorder spans = new SpanRecorder(new EventLog(), UNHEARD, () -> 0);
        yield Services.builder(said::add)
            .profile(FastProfile.of(1, spans, items, said::add))
            .build();
      }
      case SHARE -> services(new DecodedStore(arena, path -> true), null, null, null);
      case PREPARED -> {
        Prepared prepared =
            new Prepared(
                new PreparedStore(arena, new KeptForms()),
                new DecodedStore(arena, path -> true),
                Set.of(),
                () -> true,
                () -> 10,
                (what, why) -> {});
        yield services(null, prepared, null, null);
      }
      case CHECK ->
          Services.builder(said::add).checked(new CheckedSamples(batches -> null)).build();
      case COORDINATE -> services(null, null, group, null);
      case PREFETCH -> services(null, null, null, new Prefetcher(null, () -> 1));
      case ATOMIC, ASYNC -> training(models, null, null);
      case CHECKPOINTS -> {
        String root = directory.toString();
        yield training(
            models,
            new AgentCheckpoints(root, "auto", 0.01, 1, 1, () -> null, models, said::add),
            null);
      }
      case RESUME -> training(models, null, new Resume(directory.toString(), models, word -> {}));
    };
  }

  private Services services(
      DecodedStore decoded, Prepared prepared, PrepGroup shared, Prefetcher prefetcher) {
    return Services.builder(said::add)
        .decoded(decoded)
        .prepared(prepared)
        .group(shared)
        .prefetcher(prefetcher, 1)
        .build();
  }

  private Services training(ModelFiles models, AgentCheckpoints checkpoints, Resume resume) {
    return Services.builder(said::add)
        .models(models)
        .checkpoints(checkpoints)
        .resume(resume)
        .build();
  }

  @AfterEach
  void close() {
    group.close();
    items.close();
    arena.close();
  }
}
