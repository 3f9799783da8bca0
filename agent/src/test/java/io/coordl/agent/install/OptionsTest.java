package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.library.Library;
import io.coordl.library.LibraryArgument;
import io.coordl.library.catalog.Libraries;
import io.coordl.telemetry.recording.Setting;
import io.coordl.transformers.hook.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parsing of arguments; each mistake is reported in one sentence. */
final class OptionsTest {
  @TempDir Path directory;

  private static Options parse(String arguments) {
    return Options.parse(arguments, null);
  }

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("coordl.properties"), text);
  }

  private static Setting setting(Options options, Option option) {
    return options.settings().stream()
        .filter(setting -> setting.key().equals(option.key()))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(Option.class)
  void withoutArgumentsEveryOptionHasItsDefault(Option option) {
    Options options = parse("");

    assertThat(options.problems()).isEmpty();
    assertThat(options.get(option)).isEqualTo(option.defaultValue);
    assertThat(options.list(option)).containsExactly(option.defaultValue);
    assertThat(options.isGiven(option)).isFalse();
    assertThat(setting(options, option))
        .isEqualTo(new Setting(option.key(), option.defaultValue, "default"));
  }

  @ParameterizedTest
  @EnumSource(Option.class)
  void everyDefaultMayBeGiven(Option option) {
    Options options = parse(option.key() + "=" + option.defaultValue);

    assertThat(options.problems()).isEmpty();
    assertThat(options.isGiven(option)).isTrue();
  }

  @Test
  void defaultsOfLibraryArgumentsMayBeGiven() {
    for (LibraryArgument argument : Libraries.known().arguments()) {
      Options options = parse(argument.key() + "=" + LibraryArgument.NONE);
      assertThat(options.problems()).isEmpty();
      assertThat(options.settings()).noneMatch(setting -> setting.key().equals(argument.key()));
    }
  }

  @Test
  void givenValuesTakeEffect() {
    Options options = parse("cache=minio, cache.size = 50% ,cache.scope=host,,group=vision");

    assertThat(options.problems()).isEmpty();
    assertThat(options.get(Option.CACHE)).isEqualTo("minio");
    assertThat(options.get(Option.CACHE_SIZE)).isEqualTo("50%");
    assertThat(options.get(Option.CACHE_SCOPE)).isEqualTo("host");
    assertThat(options.get(Option.GROUP)).isEqualTo("vision");
    assertThat(setting(options, Option.CACHE)).isEqualTo(new Setting("cache", "minio", "argument"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "auto", "8g", "8G", "512m", "2t", "4096", "8gb", "50%", "12.5%"})
  void sizesAreAccepted(String size) {
    assertThat(parse("cache.size=" + size).problems()).isEmpty();
  }

  @Test
  void aRepeatedWordIsNotTheFirstOne() {
    assertThat(parse("xyzzyxyzzy,xyzzyxyzzy").problems())
        .satisfiesExactly(
            first -> assertThat(first).doesNotContain("put a value with a comma"),
            second -> assertThat(second).contains("put a value with a comma"));
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of("cach=minio", "unknown key 'cach' (did you mean 'cache'?)"),
        Arguments.of("Cache=minio", "unknown key 'Cache' (did you mean 'cache'?)"),
        Arguments.of("cachesize=1g", "unknown key 'cachesize' (did you mean 'cache.size'?)"),
        Arguments.of("cache.scop=host", "unknown key 'cache.scop' (did you mean 'cache.scope'?)"),
        Arguments.of("=minio", "unknown key '', see coordl-agent.jar=help"),
        Arguments.of("qqqqqqqqqq=1", "unknown key 'qqqqqqqqqq', see coordl-agent.jar=help"),
        Arguments.of(
            "cache",
            "'cache' is not of the form key=value: expected cache=... (jcmd PID JVMTI.agent_load"
                + " cuts off what follows =, unless both the shell and jcmd see quotes:"
                + " '\"key=value\"')"),
        Arguments.of("cach", "'cach' is not of the form key=value (did you mean 'cache'?)"),
        Arguments.of("xyzzyxyzzy", "'xyzzyxyzzy' is not of the form key=value"),
        Arguments.of(
            "record=a,much-longer.jfr",
            "'much-longer.jfr' is not of the form key=value, see coordl-agent.jar=help (put a value"
                + " with a comma into a file, @FILE)"),
        Arguments.of("cache=lru", "cache=lru is not valid: expected off, minio"),
        Arguments.of("metrics=statsd", "metrics=statsd is not valid: expected off, otlp[:URL], "),
        Arguments.of("cache=", "cache= is not valid: expected off, minio"),
        Arguments.of("prepared=check:foo", "prepared=check:foo is not valid: expected off, share"),
        Arguments.of(
            "prepared=check,prepared=share:my.Data",
            "prepared=check cannot be combined with prepared=share"),
        Arguments.of("cache.size=lots", "cache.size=lots is not valid: expected auto, SIZE"),
        Arguments.of("cache.size=-1g", "cache.size=-1g is not valid: expected auto, SIZE"),
        Arguments.of("cache.size=1.5g", "cache.size=1.5g is not valid: expected auto, SIZE"),
        Arguments.of("cache.size=1x", "cache.size=1x is not valid: expected auto, SIZE"),
        Arguments.of("cache.size=101%", "cache.size=101% is not valid: expected auto, SIZE"),
        Arguments.of("cache.scope=lan", "cache.scope=lan is not valid: expected process, host"),
        Arguments.of("summary=yes", "summary=yes is not valid: expected on, off"),
        Arguments.of("enabled=no", "enabled=no is not valid: expected true, false"),
        Arguments.of("record=", "record= is not valid: expected FILE, off"),
        Arguments.of("dataset=", "dataset= is not valid: expected inferred, PATH or GLOB"),
        Arguments.of("dataset.root=", "dataset.root= is not valid: expected none, PATH"),
        Arguments.of("dataset.manifest=", "dataset.manifest= is not valid: expected none, FILE"),
        Arguments.of("group=", "group= is not valid: expected NAME"),
        Arguments.of("dataset=/data/[a", "dataset=/data/[a is not valid: expected inferred"),
        Arguments.of("peer=", "peer= is not valid: expected off, HOST[:PORT]"),
        Arguments.of("peer=a b", "peer=a b is not valid: expected off, HOST[:PORT]"),
        Arguments.of("peer=a:0", "peer=a:0 is not valid: expected off, HOST[:PORT]"),
        Arguments.of("peer=file:", "peer=file: is not valid: expected off, HOST[:PORT]"),
        Arguments.of("peer=redis://", "peer=redis:// is not valid: expected off, HOST[:PORT]"),
        Arguments.of("peer=a,peer=dns:b", "peer: dns:b cannot be combined with others"),
        Arguments.of("peer=a,peer=redis://b", "peer: Redis servers and hosts cannot be combined"),
        Arguments.of("peer.bind=:1", "peer.bind=:1 is not valid: expected auto, ADDRESS[:PORT]"),
        Arguments.of("peer.hosts=1", "peer.hosts=1 is not valid: expected auto, N from 2 to 256"),
        Arguments.of("peer.hosts=257", "peer.hosts=257 is not valid: expected auto, N from 2"),
        Arguments.of("peer.tls=", "peer.tls= is not valid: expected off, KEYSTORE"),
        Arguments.of("@/no/such/file", "@/no/such/file cannot be read"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneSentenceWithTheValueAndTheExpectedOnes(String argument, String sentence) {
    Options options = parse(argument);

    assertThat(options.problems()).hasSize(1);
    assertThat(options.problems().get(0))
        .startsWith(sentence)
        .endsWith("; all policies are off, and the agent only observes")
        .doesNotContain("\n");
  }

  @Test
  void everyMistakeIsReported() {
    assertThat(parse("cach=minio,summary=yes,cache=lru").problems()).hasSize(3);
  }

  @Test
  void aMistakeSwitchesPoliciesOffButKeepsTheRecordingsPath() {
    Options options =
        parse("cache=minio,cache.size=1g,dataset=/data,record=here.jfr,summary=off,cach=x");

    assertThat(options.get(Option.CACHE)).isEqualTo("off");
    assertThat(options.get(Option.CACHE_SIZE)).isEqualTo("auto");
    assertThat(options.get(Option.DATASET)).isEqualTo("inferred");
    assertThat(options.get(Option.RECORD)).isEqualTo("here.jfr");
    assertThat(options.get(Option.SUMMARY)).isEqualTo("off");
  }

  @Test
  void aMistakeDoesNotUndoTheKillSwitch() {
    assertThat(parse("enabled=false,cach=minio").get(Option.ENABLED)).isEqualTo("false");
  }

  @Test
  void repeatedDataSetsAddUp() {
    Options options = parse("dataset=/a,dataset=/b/*.jpg");

    assertThat(options.list(Option.DATASET)).containsExactly("/a", "/b/*.jpg");
    assertThat(setting(options, Option.DATASET).value()).isEqualTo("/a, /b/*.jpg");
  }

  @Test
  void theLastOfOtherRepeatedOptionsCounts() {
    assertThat(parse("group=a,group=b").list(Option.GROUP)).containsExactly("b");
  }

  @Test
  void aValueMayContainAnEqualsSign() {
    assertThat(parse("dataset=/data/split=train").get(Option.DATASET))
        .isEqualTo("/data/split=train");
  }

  @Test
  void theEnvironmentAddsToTheArguments() {
    Options options = Options.parse("cache=minio", "group=nightly,dataset=/a");

    assertThat(options.get(Option.CACHE)).isEqualTo("minio");
    assertThat(options.get(Option.GROUP)).isEqualTo("nightly");
    assertThat(setting(options, Option.GROUP).origin()).isEqualTo("environment");
  }

  @Test
  void anArgumentOverridesTheEnvironment() {
    Options options = Options.parse("group=mine", "group=nightly");

    assertThat(options.get(Option.GROUP)).isEqualTo("mine");
    assertThat(setting(options, Option.GROUP).origin()).isEqualTo("argument");
  }

  @Test
  void dataSetsOfEnvironmentAndArgumentsAddUp() {
    assertThat(Options.parse("dataset=/b", "dataset=/a").list(Option.DATASET))
        .containsExactly("/a", "/b");
  }

  @Test
  void aMistakeInTheEnvironmentCountsToo() {
    Options options = Options.parse("cache=minio", "cach=minio");

    assertThat(options.problems()).hasSize(1);
    assertThat(options.get(Option.CACHE)).isEqualTo("off");
  }

  @Test
  void aFileGivesArgumentsAndMayContainCommas() throws IOException {
    Path file = file("# nightly\ncache = minio\ndataset = /data/{a,b}/*.jpg\n");

    Options options = parse("@" + file + ",cache.size=2g");

    assertThat(options.problems()).isEmpty();
    assertThat(options.get(Option.CACHE)).isEqualTo("minio");
    assertThat(options.get(Option.CACHE_SIZE)).isEqualTo("2g");
    assertThat(options.get(Option.DATASET)).isEqualTo("/data/{a,b}/*.jpg");
    assertThat(setting(options, Option.CACHE).origin()).isEqualTo("file");
  }

  @Test
  void argumentsAfterAFileOverrideIt() throws IOException {
    assertThat(parse("@" + file("group=file\n") + ",group=mine").get(Option.GROUP))
        .isEqualTo("mine");
  }

  @Test
  void theEnvironmentMayNameAFile() throws IOException {
    assertThat(Options.parse("", "@" + file("group=file\n")).get(Option.GROUP)).isEqualTo("file");
  }

  @Test
  void aMalformedFileIsReportedInOneSentence() throws IOException {
    Path file = file("cache=\\u12\n");

    assertThat(parse("@" + file).problems())
        .singleElement()
        .asString()
        .startsWith("@" + file + " cannot be read (Malformed");
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void onlyARegularFileIsOpened() throws Exception {
    Path fifo = directory.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    for (Path file : List.of(fifo, Path.of("/dev/zero"), directory)) {
      assertThat(parse("@" + file).problems())
          .singleElement()
          .asString()
          .startsWith("@" + file + " cannot be read (it is not a regular file); ");
    }
  }

  @Test
  void aMistakeInAFileIsReportedInOneSentence() throws IOException {
    assertThat(parse("@" + file("cach=minio\n")).problems())
        .singleElement()
        .asString()
        .startsWith("unknown key 'cach' (did you mean 'cache'?)");
  }

  @Test
  void helpMayBeGivenWithOtherArguments() {
    Options options = parse("help,cache=minio");

    assertThat(options.help()).isTrue();
    assertThat(options.problems()).isEmpty();
    assertThat(parse("").help()).isFalse();
    assertThat(Options.parse("", "help").help()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Option.class)
  void helpAndDocsNameEveryOption(Option option) {
    assertThat(Option.help())
        .contains("  " + option.key() + " ", option.description, option.expected)
        .contains("(default " + option.defaultValue + ")");
    assertThat(DocsTest.markdown())
        .contains("| `" + option.key() + "` | " + option.expected + " | `")
        .contains("| " + option.description + " |");
  }

  @Test
  void theTableHasOneRowOfFourCellsPerOption() {
    List<String> lines = DocsTest.markdown().lines().toList();

    assertThat(lines)
        .hasSize(Option.values().length + Libraries.known().arguments().size() + 2)
        .allMatch(line -> line.chars().filter(c -> c == '|').count() == 5);
  }

  @Test
  void aFileMayRepeatAListLikeTheArguments(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("coordl.properties");
    Files.writeString(file, "dataset=/a\ndataset=/b\ncache=minio\n");
    Options options = Options.parse("@" + file, null);
    assertThat(options.list(Option.DATASET)).containsExactly("/a", "/b");
    assertThat(options.problems()).isEmpty();
  }

  @Test
  void optionsWithoutEffectAreReported() {
    assertThat(Options.parse("cache.size=1g", null).remarks())
        .containsExactly(
            "cache.size=1g has no effect without cache=minio, decoded=share or prepared=share");
    assertThat(Options.parse("cache=minio,group=a", null).remarks())
        .containsExactly("group=a has no effect without cache.scope=host or prep=coordinate");
    assertThat(Options.parse("cache=minio,cache.scope=host,group=a", null).remarks()).isEmpty();
  }

  @Test
  void aRootNeedsASharedCacheAndAManifestNeedsARoot() {
    assertThat(parse("cache=minio,cache.scope=host,dataset.manifest=SUMS").remarks())
        .containsExactly("dataset.manifest=SUMS has no effect without dataset.root");
    assertThat(parse("cache=minio,dataset.root=/data").remarks())
        .containsExactly("dataset.root=/data has no effect without cache.scope=host or peer=");
    assertThat(parse("peer=h1,dataset.root=/data,dataset.manifest=SUMS").remarks()).isEmpty();
  }

  private static Library library(String name) {
    return Libraries.known().named(name);
  }

  @Test
  void prefetchRemarksConcernOnlyTheLibraryInUse() {
    Options alone = Options.parse("prefetch=2", null);
    assertThat(alone.remarks()).isEmpty();
    assertThat(alone.remarkOn(library("DJL"))).isEmpty();
    assertThat(alone.remarkOn(library("DL4J")))
        .isEqualTo(
            "prefetch=2 without decoded=share or cache=minio has no effect in DL4J's fit:"
                + " prefetch= applies only to batches that the program takes itself");
    assertThat(alone.count(Option.PREFETCH)).isEqualTo(2);
    assertThat(Options.parse("prefetch=2,decoded=share", null).remarkOn(library("DL4J"))).isEmpty();
    assertThat(Options.parse("prefetch=2,cache=minio", null).remarkOn(library("DL4J"))).isEmpty();
    Options coordinated = Options.parse("prefetch=2,prep=coordinate", null);
    assertThat(coordinated.remarks()).isEmpty();
    assertThat(coordinated.remarkOn(library("DJL")))
        .contains("prefetches no items")
        .doesNotContain("DL4J");
    assertThat(coordinated.remarkOn(library("DL4J"))).doesNotContain("DJL");
    assertThat(Options.parse("", null).count(Option.PREFETCH)).isZero();
    assertThat(Options.parse("prefetch=off", null).remarks()).isEmpty();
    assertThat(Options.parse("prefetch=65", null).problems()).hasSize(1);
  }

  @Test
  void aProfileSwitchesPoliciesOff() {
    Options options = parse("profile=all,cache=minio,cache.size=1g,prefetch=2,group=x,record=off");

    assertThat(options.profiles()).isTrue();
    assertThat(options.get(Option.CACHE)).isEqualTo("off");
    assertThat(options.count(Option.PREFETCH)).isZero();
    assertThat(options.get(Option.RECORD)).isEqualTo("off");
    assertThat(options.remarks())
        .contains("cache=minio, prefetch=2 are off: profile=all measures the job without policies");
  }

  @Test
  void autoChoosesOnlyPoliciesThatTheUserHasNotSet() {
    Options options = parse("auto,decoded=off,cache.size=1g");
    assertThat(options.problems()).isEmpty();
    assertThat(options.isAuto()).isTrue();
    assertThat(options.keepsPrepared()).isTrue();
    assertThat(options.isChosen(Option.PREPARED)).isTrue();
    assertThat(options.isChosen(Option.CACHE)).isTrue();
    assertThat(parse("auto,peer=a").isChosen(Option.CACHE)).isFalse();
    assertThat(options.triesPrefetching()).isTrue();
    assertThat(options.keepsDecoded()).isFalse();
    assertThat(options.isChosen(Option.DECODED)).isFalse();
    assertThat(options.get(Option.CACHE_SCOPE)).isEqualTo("process");
    assertThat(parse("auto,group=x").get(Option.CACHE_SCOPE)).isEqualTo("host");
    assertThat(parse("auto,prefetch=3").count(Option.PREFETCH)).isEqualTo(3);
    assertThat(parse("auto,prep=coordinate").prefetches()).isFalse();
    assertThat(parse("auto=off").keepsPrepared()).isFalse();
  }

  @Test
  void aMistakeSwitchesAutoOff() {
    Options options = parse("auto,cache=minioo");
    assertThat(options.problems()).hasSize(1);
    assertThat(options.isAuto()).isFalse();
    assertThat(options.keepsPrepared()).isFalse();
  }

  @Test
  void aProfileSwitchesAutoOff() {
    Options options = parse("auto,profile=all");
    assertThat(options.isAuto()).isFalse();
    assertThat(options.keepsPrepared()).isFalse();
    assertThat(options.remarks())
        .containsExactly("auto=on is off: profile=all measures the job without policies");
  }

  @Test
  void agentCheckpointsImplyAsyncWriting() {
    Options options = parse("checkpoint.every=auto,checkpoint.dir=/data/c");
    assertThat(options.problems()).isEmpty();
    assertThat(options.remarks()).isEmpty();
    assertThat(options.takesCheckpoints()).isTrue();
    assertThat(options.writesInBackground()).isTrue();
    assertThat(options.share(Option.CHECKPOINT_OVERHEAD)).isEqualTo(0.035);
    assertThat(options.count(Option.CHECKPOINT_KEEP)).isEqualTo(3);
    Options atomic = parse("checkpoint=atomic,checkpoint.every=50,checkpoint.dir=c");
    assertThat(atomic.takesCheckpoints()).isTrue();
    assertThat(atomic.writesInBackground()).isFalse();
    assertThat(parse("checkpoint.every=auto,checkpoint.dir=c,profile=all").takesCheckpoints())
        .isFalse();
  }

  @Test
  void missingOptionsOfAgentCheckpointsAreReported() {
    assertThat(parse("checkpoint.every=auto").remarks())
        .containsExactly("checkpoint.every=auto has no effect without checkpoint.dir");
    assertThat(parse("checkpoint.every=auto").writesModels()).isFalse();
    assertThat(parse("checkpoint.every=auto,checkpoint.dir=c,profile=all").remarks())
        .contains("checkpoint.every=auto is off: profile=all measures the job without policies");
    assertThat(parse("resume=c").remarks()).isEmpty();
    assertThat(parse("resume=c").resumes()).isTrue();
    assertThat(parse("resume=c").writesInBackground()).isFalse();
    assertThat(parse("resume=c,checkpoint=off").resumes()).isFalse();
    assertThat(parse("resume=c,checkpoint=off").remarks())
        .containsExactly("resume=c has no effect without checkpoint=atomic or async");
    assertThat(parse("resume=c,prep=coordinate").remarks())
        .containsExactly(
            "resume has no effect with prep=coordinate, whose epochs several jobs share");
    assertThat(parse("resume=c,profile=all").resumes()).isFalse();
    assertThat(parse("resume=c,profile=all").remarks())
        .containsExactly("resume=c is off: profile=all measures the job without policies");
    assertThat(parse("checkpoint=off,checkpoint.every=9,checkpoint.dir=c").remarks())
        .containsExactly("checkpoint.every=9 has no effect without checkpoint=atomic or async");
    assertThat(parse("checkpoint=async,checkpoint.dir=c,checkpoint.grace=9").remarks())
        .containsExactly(
            "checkpoint.dir=c has no effect without checkpoint.every",
            "checkpoint.grace=9 has no effect without checkpoint.every");
    assertThat(parse("checkpoint.every=9,checkpoint.dir=c,checkpoint.overhead=1%").remarks())
        .containsExactly("checkpoint.overhead=1% has no effect without checkpoint.every=auto");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.09%", "51%", "3.5", "0.035", "%", "1e1%", "-1%"})
  void aShareOutOfRangeIsAMistake(String value) {
    Options options = parse("checkpoint.overhead=" + value);
    assertThat(options.problems())
        .containsExactly(
            "checkpoint.overhead="
                + value
                + " is not valid: expected SHARE from 0.1% to 50%; all policies are off, and"
                + " the agent only observes");
  }

  @Test
  void anUnknownPhaseIsReportedAndNothingIsProfiled() {
    Options options = parse("profile=warm");

    assertThat(options.profiles()).isFalse();
    assertThat(options.problems())
        .containsExactly(
            "profile=warm is not valid: expected off, ingestion, cached, cold, all; all policies"
                + " are off, and the agent only observes");
  }

  @Test
  void profileStepsHaveBounds() {
    assertThat(parse("profile=cold,profile.steps=10").count(Option.PROFILE_STEPS)).isEqualTo(10);
    assertThat(parse("profile=cold,profile.steps=9").problems()).hasSize(1);
    assertThat(parse("profile=cold,profile.steps=100001").problems()).hasSize(1);
    assertThat(parse("profile.steps=10").remarks())
        .containsExactly("profile.steps=10 has no effect without profile=");
  }

  // Peers.

  @ParameterizedTest
  @ValueSource(
      strings = {
        "peer=a,peer=b:7900",
        "peer=10.0.0.1:7800",
        "peer=[::1]:7800",
        "peer=dns:peers.example:7900",
        "peer=file:/shared/dir",
        "peer=slurm",
        "peer=slurm:7900",
        "peer=redis://host:6379",
        "peer=rediss://host",
        "peer=redis://host:6379,peer=redis://other",
        "peer=a,peer.bind=10.0.0.1,peer.hosts=2",
        "peer=a,peer.bind=10.0.0.1:7900"
      })
  void peersImplyTheHostsStore(String arguments) {
    Options options = parse(arguments);

    assertThat(options.problems()).isEmpty();
    assertThat(options.remarks()).isEmpty();
    assertThat(options.get(Option.CACHE)).isEqualTo("minio");
    assertThat(options.get(Option.CACHE_SCOPE)).isEqualTo("host");
    assertThat(setting(options, Option.CACHE)).isEqualTo(new Setting("cache", "minio", "peer"));
  }

  @Test
  void aCheckCachesNothingEvenWithAuto() {
    for (String given : List.of("prepared=check", "auto,prepared=check")) {
      Options options = parse(given);
      assertThat(options.problems()).isEmpty();
      assertThat(options.checksPrepared()).isTrue();
      assertThat(options.keepsPrepared()).isFalse();
      assertThat(options.inForce(List.of(Policy.CHECK))).isTrue();
      assertThat(options.inForce(List.of(Policy.PREPARED))).isFalse();
    }
    assertThat(parse("auto").checksPrepared()).isFalse();
  }

  @Test
  void peerOffMeansNoPeers() {
    assertThat(parse("peer=off").hasPeers()).isFalse();
    assertThat(parse("peer=off").get(Option.CACHE)).isEqualTo("off");
    assertThat(parse("peer=off,peer=a").list(Option.PEER)).containsExactly("a");
  }

  /** A cluster may set a list for all users; one user can clear it. */
  @ParameterizedTest
  @ValueSource(strings = {"peer=a", "metrics=prometheus:9100", "dataset=/a", "prepared=share"})
  void theDefaultOfAListClearsTheEnvironmentsValues(String given) {
    String key = given.substring(0, given.indexOf('='));
    Option option = Option.valueOf(key.toUpperCase(Locale.ROOT));

    Options options = Options.parse(key + "=" + option.defaultValue, given);

    assertThat(options.problems()).isEmpty();
    assertThat(options.list(option)).containsExactly(option.defaultValue);
    assertThat(options.get(Option.CACHE)).isEqualTo("off");
    assertThat(Options.parse(given, key + "=" + option.defaultValue).list(option))
        .containsExactly(given.substring(key.length() + 1));
  }

  @Test
  void optionsThatPeersRequireAreCorrectedAndReported() {
    Options options = parse("peer=a,cache=off,cache.scope=process,group=g");

    assertThat(options.problems()).isEmpty();
    assertThat(options.get(Option.CACHE)).isEqualTo("minio");
    assertThat(options.get(Option.CACHE_SCOPE)).isEqualTo("host");
    assertThat(options.remarks())
        .containsExactly(
            "cache=off is ignored and minio is used: peer= shares the raw items of this host",
            "cache.scope=process is ignored and host is used: peer= shares the raw items of this"
                + " host");
    assertThat(parse("peer=a,cache=minio,cache.scope=host").remarks()).isEmpty();
  }

  @Test
  void peerOptionsWithoutPeersAreReported() {
    assertThat(parse("peer.hosts=2").remarks())
        .containsExactly("peer.hosts=2 has no effect without peer=HOST");
    assertThat(parse("peer=redis://a,peer.bind=b").remarks())
        .containsExactly("peer.bind=b has no effect without peer=HOST");
    assertThat(parse("peer=redis://a,peer.secret=b").remarks())
        .containsExactly("peer.secret=b has no effect without peer=HOST");
    assertThat(parse("peer.tls=a.p12").remarks())
        .containsExactly("peer.tls=a.p12 has no effect without peer=");
  }

  @Test
  void aProfileSwitchesPeersOff() {
    Options options = parse("profile=all,peer=a");

    assertThat(options.hasPeers()).isFalse();
    assertThat(options.get(Option.CACHE)).isEqualTo("off");
    assertThat(options.remarks())
        .containsExactly("peer=a is off: profile=all measures the job without policies");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "peer=a,peer.tls=a.p12,peer.tls.password=geheim",
        "peer.tls.password=geheim",
        "peer=a,peer.tls.password=geheim",
        "peer=a,peer.tls=a.p12,peer.tls.password=ge,heim",
        "peer=a,peer.tls=a.p12,peer.tls.password=ge,he=im",
        "peer=redis://me:geheim@host:6379",
        "peer=redis://me:geheim@host:6379,peer=a",
        "peer=redis://me:geheim@host:6379,profile=all",
        "peer=redis://me:ge@heim@host:6379",
        "peer=redis://me:ge,heim@host:6379",
        "peer=redis://me:ge,he=im@host:6379",
        "peer=redis://me:ge@a,heim@host:6379",
        "peer=me:geheim@host",
        "prep.size=redis://me:geheim@host",
        "prep=redis://me:geheim@host",
        "peer.hosts=redis://me:geheim@host",
        "record=redis://me:geheim@host",
        "dataset=s3://me:geheim@host/data",
        "dataset=s3://me:geheim@host/[data",
        "dataset=/a,dataset=s3://me:geheim@host/data,dataset=/b",
        "group=redis://me:geheim@host",
        "pear=redis://me:geheim@host",
        "redis://me:geheim@host",
        "redis://me:ge=heim@host",
        "redis://me:geheim=@host",
        "me:geheim@host",
        "@redis://me:geheim@host",
        "peer.tls.password geheim",
        "peer.tls.passwort=geheim"
      })
  void aPasswordIsNeitherPrintedNorRecorded(String arguments) {
    Options options = parse(arguments);

    List<String> seen = new ArrayList<>(options.problems());
    seen.addAll(options.remarks());
    options.settings().forEach(one -> seen.add(one.value()));
    assertThat(seen)
        .isNotEmpty()
        .noneMatch(text -> text.contains("heim") || text.contains("he=im"));
  }

  @Test
  void aPasswordInAnAddressMayContainCommas() {
    Options options = parse("peer=redis://me:ge,he=im@host:6379,group=g");

    assertThat(options.problems()).isEmpty();
    assertThat(options.list(Option.PEER)).containsExactly("redis://me:ge,he=im@host:6379");
    assertThat(options.get(Option.GROUP)).isEqualTo("g");
  }

  static Stream<String> echoes() {
    return Stream.concat(
        Arrays.stream(Option.values())
            .flatMap(option -> Stream.of(option.key() + "=%s", option.key() + "%s=1")),
        Stream.of("%s", "%s=%s", "@%s", "cach=%s", "peer=a%s,peer=dns:b", "peer=a,peer=dns:%s"));
  }

  @ParameterizedTest
  @MethodSource("echoes")
  void controlCharactersDoNotReachTheTerminal(String argument) {
    for (String raw : List.of("\u001b[2J", "x\r\ny", "\u0007", "\u009b1m", "\u202ex", "\u2028x")) {
      Options options = parse(argument.replace("%s", raw));

      List<String> seen = new ArrayList<>(options.problems());
      seen.addAll(options.remarks());
      options.settings().forEach(one -> seen.add(one.value()));
      assertThat(seen).allMatch(text -> text.chars().allMatch(c -> c >= ' ' && c < 0x7f));
    }
  }

  /** Commas separate the parts of longer names, but values in a file may contain commas. */
  @Test
  void aGroupNameHasNoComma() throws IOException {
    Options options = parse("cache=minio,cache.scope=host,@" + file("group=x,decoded\n"));

    assertThat(options.problems())
        .singleElement()
        .asString()
        .startsWith("group=x,decoded is not valid: expected NAME (without commas)");
    assertThat(options.get(Option.GROUP)).isEqualTo("default");
  }

  @Test
  void aPasswordTakesEffectAndBelongsInAFile() throws IOException {
    Path file = file("peer.tls.password=ge,heim=1\n");
    Options options = parse("peer=a,peer.tls=a.p12,@" + file);

    assertThat(options.problems()).isEmpty();
    assertThat(options.remarks()).isEmpty();
    assertThat(options.get(Option.PEER_TLS_PASSWORD)).isEqualTo("ge,heim=1");
    assertThat(parse("peer=a,peer.tls=a.p12,peer.tls.password=x").remarks())
        .singleElement()
        .asString()
        .contains("put it into a file, @FILE");
  }
}
