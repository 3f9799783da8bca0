package io.coordl.agent.install;

import static java.util.Comparator.comparingInt;

import io.coordl.agent.install.Option.Values;
import io.coordl.host.UserFile;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.library.Library;
import io.coordl.library.LibraryArgument;
import io.coordl.library.catalog.Libraries;
import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.membership.Discovery;
import io.coordl.peers.redis.RedisUri;
import io.coordl.profile.Accelerator;
import io.coordl.store.ByteBudget;
import io.coordl.telemetry.metrics.MetricsExport;
import io.coordl.telemetry.recording.Setting;
import io.coordl.telemetry.recording.UserText;
import io.coordl.transformers.hook.Policy;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The parsed arguments of the agent. Parsing never throws: each error is one sentence in {@link
 * #problems}. With any error, all policies are off, so a job never runs with only half of the
 * requested policies.
 */
public final class Options {
  /** Options that stay in force after an error. */
  private static final Set<Option> NO_POLICIES =
      EnumSet.of(Option.ENABLED, Option.RECORD, Option.SUMMARY);

  private static final Set<Option> POLICIES = EnumSet.range(Option.AUTO, Option.RESUME);

  /**
   * Kinds of options where a later value is added to the earlier ones, unless it is the default.
   */
  private static final Set<Values> REPEATED =
      EnumSet.of(Values.LIST, Values.METRICS, Values.PEERS, Values.PREPARED);

  static final String SHARE_CLASS = "share:";

  private static final String AUTO = "auto";
  private static final String CHECK = "check";
  private static final String CLASS_NAME = "[\\p{javaJavaIdentifierPart}.]+";

  private record Given(List<String> values, String origin) {}

  private final Map<Option, Given> given = new EnumMap<>(Option.class);
  private final Map<LibraryArgument, Given> libraryArguments = new LinkedHashMap<>();
  private final Libraries libraries = Libraries.known();
  private final List<String> problems = new ArrayList<>();
  private final List<String> corrections = new ArrayList<>();
  private boolean help;

  private Options() {}

  /**
   * Parses arguments.
   *
   * @param arguments the text after {@code =} of {@code -javaagent}; {@code @FILE} names a
   *     properties file
   * @param environment value of {@code COORDL_OPTS}; the arguments override it or, if an option may
   *     be repeated, add to it
   */
  public static Options parse(String arguments, @Nullable String environment) {
    Options options = new Options();
    options.readAll(environment == null ? "" : environment, "environment");
    options.readAll(arguments, "argument");
    options.checkPeers();
    if (options.checksPrepared() && options.list(Option.PREPARED).size() > 1) {
      options.problem("prepared=check cannot be combined with prepared=share");
    }
    if (!options.problems.isEmpty()) {
      options.given.keySet().retainAll(NO_POLICIES);
    }
    options.emulateAccelerator();
    if (options.profiles()) {
      options.onlyProfile();
      return options;
    }
    if (options.isAuto()) {
      if (!options.hasPeers()) {
        options.choose(Option.CACHE, "minio");
      }
      options.choose(Option.DECODED, "share");
      options.choose(Option.PREPARED, "share");
      options.choose(Option.PREFETCH, AUTO);
      if (options.isGiven(Option.GROUP)) {
        options.choose(Option.CACHE_SCOPE, "host");
      }
    }
    if (!options.get(Option.CHECKPOINT_EVERY).equals("off")
        && options.isGiven(Option.CHECKPOINT_DIR)) {
      options.choose(Option.CHECKPOINT, "async");
    }
    if (options.isGiven(Option.RESUME)) {
      options.choose(Option.CHECKPOINT, "atomic");
    }
    if (options.hasPeers()) {
      options.require(Option.CACHE, "minio");
      options.require(Option.CACHE_SCOPE, "host");
    }
    return options;
  }

  /** The training libraries, with their own arguments. */
  Libraries libraries() {
    return libraries;
  }

  /** Whether any library argument was given. */
  boolean hasArgumentsOfLibraries() {
    return !libraryArguments.isEmpty();
  }

  /** The value in force; for lists, the last one given. */
  public String get(Option option) {
    List<String> values = list(option);
    return values.get(values.size() - 1);
  }

  /** The number in force; 0 for a word such as {@code off}. */
  public int count(Option option) {
    String value = get(option);
    return value.matches("\\d+") ? Integer.parseInt(value) : 0;
  }

  /** All values in force; the default if none was given. */
  public List<String> list(Option option) {
    Given values = given.get(option);
    return values == null ? List.of(option.defaultValue) : values.values();
  }

  public boolean isGiven(Option option) {
    return given.containsKey(option);
  }

  /** Whether other hosts or Redis servers share the cache with this host. */
  boolean hasPeers() {
    return !get(Option.PEER).equals("off");
  }

  boolean keepsRaw() {
    return get(Option.CACHE).equals("minio");
  }

  boolean keepsDecoded() {
    return get(Option.DECODED).equals("share");
  }

  boolean keepsPrepared() {
    return !get(Option.PREPARED).equals("off") && !checksPrepared();
  }

  boolean checksPrepared() {
    return list(Option.PREPARED).contains(CHECK);
  }

  /** The classes that the user declared deterministic. */
  Set<String> trusted() {
    return list(Option.PREPARED).stream()
        .filter(value -> value.startsWith(SHARE_CLASS))
        .map(value -> value.substring(SHARE_CLASS.length()))
        .collect(Collectors.toSet());
  }

  /** Whether the agent chooses policies. */
  boolean isAuto() {
    return get(Option.AUTO).equals("on");
  }

  boolean triesPrefetching() {
    return get(Option.PREFETCH).equals(AUTO) && !coordinates();
  }

  boolean writesModels() {
    return !get(Option.CHECKPOINT).equals("off");
  }

  boolean writesInBackground() {
    return get(Option.CHECKPOINT).equals("async");
  }

  boolean takesCheckpoints() {
    return writesModels()
        && !get(Option.CHECKPOINT_EVERY).equals("off")
        && !get(Option.CHECKPOINT_DIR).equals("none");
  }

  /** Whether the job resumes an earlier one. */
  boolean resumes() {
    return writesModels() && !get(Option.RESUME).equals("none") && !coordinates();
  }

  /** The share in force: 0.035 for {@code 3.5%}. */
  double share(Option option) {
    return share(get(option));
  }

  private static double share(String percent) {
    return Double.parseDouble(percent.substring(0, percent.length() - 1)) / 100;
  }

  boolean coordinates() {
    return get(Option.PREP).equals("coordinate");
  }

  /**
   * Whether to prefetch. Coordinated prep excludes that: it has its own threads, and an order that
   * this job's sampler does not know.
   */
  boolean prefetches() {
    return triesPrefetching() || (count(Option.PREFETCH) > 0 && !coordinates());
  }

  /** Whether to measure the sizes of decoded items, as a profile of all phases does. */
  boolean learnsSizes() {
    return get(Option.PROFILE).equals("all");
  }

  /** Whether one of these policies was requested. */
  boolean inForce(List<Policy> policies) {
    for (Policy policy : policies) { // No stream: every program pays for this at start-up.
      if (inForce(policy)) {
        return true;
      }
    }
    return false;
  }

  private boolean inForce(Policy policy) {
    return switch (policy) {
      case SHARE -> keepsDecoded() || learnsSizes();
      case PREPARED -> keepsPrepared();
      case CHECK -> checksPrepared();
      case PREFETCH -> prefetches();
      case COORDINATE -> coordinates();
      case ATOMIC -> writesModels();
      case ASYNC -> writesInBackground();
      case CHECKPOINTS -> takesCheckpoints();
      case RESUME -> resumes();
      case PROFILE -> profiles();
    };
  }

  /** Rejects mixing hosts with Redis, or two ways to find hosts. */
  private void checkPeers() {
    List<String> peers = list(Option.PEER);
    if (peers.size() > 1) {
      try {
        long servers = peers.stream().filter(RedisUri::is).count();
        if (servers == 0) {
          Discovery.parse(peers);
        } else if (servers < peers.size()) {
          throw new IllegalArgumentException("Redis servers and hosts cannot be combined");
        }
      } catch (IllegalArgumentException e) {
        problem("peer: " + UserText.line(String.valueOf(e.getMessage())));
      }
    }
  }

  /** Sets an option unless the user has set it. */
  private void choose(Option option, String value) {
    given.putIfAbsent(option, new Given(List.of(value), AUTO));
  }

  boolean isChosen(Option option) {
    Given values = given.get(option);
    return values != null && values.origin().equals(AUTO);
  }

  /** Sets an option that peers require; if the user set another value, overrides and reports it. */
  private void require(Option option, String value) {
    if (isGiven(option) && !get(option).equals(value)) {
      corrections.add(
          String.format(
              "%s=%s is ignored and %s is used: peer= shares the raw items of this host",
              option.key(), shown(option), value));
    }
    if (!get(option).equals(value)) {
      given.put(option, new Given(List.of(value), "peer"));
    }
  }

  /** Whether the user asked for the table of arguments. */
  public boolean help() {
    return help;
  }

  /** The errors, one sentence each. */
  public List<String> problems() {
    return Collections.unmodifiableList(problems);
  }

  /** Remarks on valid options, most of them on options without effect, one sentence each. */
  public List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    boolean keeps = keepsRaw() || keepsDecoded() || keepsPrepared();
    String anyStore = "cache=minio, decoded=share or prepared=share";
    remarkUnless(remarks, keeps, Option.CACHE_SIZE, anyStore);
    remarkUnless(remarks, keepsDecoded(), Option.DECODED_SIZE, "decoded=share");
    remarkUnless(remarks, keepsPrepared(), Option.PREPARED_SIZE, "prepared=share");
    remarkUnless(remarks, keeps, Option.CACHE_SCOPE, anyStore);
    boolean shared = get(Option.CACHE_SCOPE).equals("host");
    remarkUnless(remarks, shared, Option.DATASET_ROOT, "cache.scope=host or peer=");
    remarkUnless(remarks, isGiven(Option.DATASET_ROOT), Option.DATASET_MANIFEST, "dataset.root");
    remarkUnless(remarks, shared, Option.DATASET_IDENTITY, "cache.scope=host or peer=");
    remarkUnless(remarks, keeps, Option.CACHE_EXCLUDE, anyStore);
    remarkUnless(remarks, coordinates(), Option.PREP_JOBS, "prep=coordinate");
    remarkUnless(remarks, coordinates(), Option.PREP_SIZE, "prep=coordinate");
    remarkUnless(remarks, writesInBackground(), Option.CHECKPOINT_SIZE, "checkpoint=async");
    remarkUnless(
        remarks, isGiven(Option.CHECKPOINT_DIR), Option.CHECKPOINT_EVERY, "checkpoint.dir");
    if (isGiven(Option.CHECKPOINT_DIR)) {
      remarkUnless(remarks, writesModels(), Option.CHECKPOINT_EVERY, "checkpoint=atomic or async");
    }
    for (Option dependent :
        List.of(Option.CHECKPOINT_DIR, Option.CHECKPOINT_KEEP, Option.CHECKPOINT_GRACE)) {
      remarkUnless(remarks, isGiven(Option.CHECKPOINT_EVERY), dependent, "checkpoint.every");
    }
    remarkUnless(remarks, writesModels(), Option.RESUME, "checkpoint=atomic or async");
    if (coordinates() && isGiven(Option.RESUME)) {
      remarks.add("resume has no effect with prep=coordinate, whose epochs several jobs share");
    }
    boolean chooses = get(Option.CHECKPOINT_EVERY).equals(AUTO);
    remarkUnless(remarks, chooses, Option.CHECKPOINT_OVERHEAD, "checkpoint.every=auto");
    boolean hasHosts = hasPeers() && !RedisUri.is(get(Option.PEER));
    remarkUnless(remarks, hasHosts, Option.PEER_BIND, "peer=HOST");
    remarkUnless(remarks, hasHosts, Option.PEER_HOSTS, "peer=HOST");
    remarkUnless(remarks, hasHosts, Option.PEER_SECRET, "peer=HOST");
    remarkUnless(remarks, hasPeers(), Option.PEER_TLS, "peer=");
    boolean usesTls = hasPeers() && !get(Option.PEER_TLS).equals("off");
    remarkUnless(remarks, usesTls, Option.PEER_TLS_PASSWORD, "peer.tls=");
    Given password = given.get(Option.PEER_TLS_PASSWORD);
    if (usesTls && password != null && password.origin().equals("argument")) {
      remarks.add(
          "peer.tls.password is on the command line, where every user of this host can see it; put"
              + " it into a file, @FILE");
    }
    remarks.addAll(corrections);
    libraries.all().forEach(library -> remarks.addAll(library.remarks()));
    remarkUnless(remarks, profiles(), Option.PROFILE_STEPS, "profile=");
    remarkUnless(
        remarks, coordinates() || shared, Option.GROUP, "cache.scope=host or prep=coordinate");
    return remarks;
  }

  /**
   * A sentence about {@code prefetch} if it has no effect, or only a limited one, on a program that
   * uses this library; otherwise empty.
   */
  String remarkOn(Library library) {
    boolean coordinate = coordinates();
    if (count(Option.PREFETCH) == 0 || ((keepsRaw() || keepsDecoded()) && !coordinate)) {
      return "";
    }
    String prefetch = "prefetch=" + get(Option.PREFETCH);
    if (library.preparesAhead()) {
      return coordinate
          ? prefetch + " has no effect on " + library.name() + " with prep=coordinate"
          : prefetch
              + " without decoded=share or cache=minio has no effect in "
              + library.name()
              + "'s fit: prefetch= applies only to batches that the program takes itself";
    }
    return coordinate
        ? prefetch
            + " with prep=coordinate prefetches no items: it sets the number of preparing threads"
            + " if the program has an executor"
        : "";
  }

  /** Lets profile.accelerator, if it is set, replace the phases of profile=. */
  private void emulateAccelerator() {
    if (get(Option.PROFILE_ACCELERATOR).equals(Option.PROFILE_ACCELERATOR.defaultValue)) {
      return;
    }
    if (profiles()) {
      corrections.add(
          "profile=" + get(Option.PROFILE) + " is off: profile.accelerator replaces it");
    }
    given.put(Option.PROFILE, new Given(List.of("accelerator"), AUTO));
  }

  /**
   * Switches all policies off, because a profile measures the job without them, and names those
   * that were requested.
   */
  private void onlyProfile() {
    List<String> off = new ArrayList<>();
    for (Option policy :
        List.of(
            Option.AUTO,
            Option.CACHE,
            Option.DECODED,
            Option.PREPARED,
            Option.PEER,
            Option.PREFETCH,
            Option.PREP,
            Option.CHECKPOINT,
            Option.CHECKPOINT_EVERY,
            Option.GPU_PINNED,
            Option.RESUME)) {
      if (!get(policy).equals(policy.defaultValue)) {
        off.add(policy.key() + "=" + shown(policy));
      }
    }
    given.keySet().removeAll(POLICIES);
    given.remove(Option.GPU_PINNED);
    if (!off.isEmpty()) {
      corrections.add(
          String.join(", ", off)
              + (off.size() == 1 ? " is" : " are")
              + " off: profile="
              + get(Option.PROFILE)
              + " measures the job without policies");
    }
  }

  /** Whether to profile the job, which switches all policies off. */
  boolean profiles() {
    return !get(Option.PROFILE).equals("off");
  }

  private void remarkUnless(
      List<String> remarks, boolean isMet, Option option, String prerequisite) {
    if (isGiven(option) && !isMet) {
      remarks.add(option.key() + "=" + shown(option) + " has no effect without " + prerequisite);
    }
  }

  /** The values in a form that may be shown and recorded; hides secrets. */
  private String shown(Option option) {
    return list(option).stream()
        .map(value -> isGiven(option) ? shown(option, value) : value)
        .collect(Collectors.joining(", "));
  }

  private static String shown(Option option, String value) {
    return option.check == Values.SECRET ? UserText.HIDDEN : UserText.value(value);
  }

  public List<Setting> settings() {
    List<Setting> settings = new ArrayList<>();
    for (Option option : Option.values()) {
      Given values = given.get(option);
      settings.add(
          new Setting(option.key(), shown(option), values == null ? "default" : values.origin()));
    }
    libraryArguments.forEach(
        (argument, values) -> {
          String shown = UserText.value(String.join(", ", values.values()));
          settings.add(new Setting(argument.key(), shown, values.origin()));
        });
    return settings;
  }

  private void readAll(String arguments, String origin) {
    boolean afterSecret = false;
    List<String> all = split(arguments);
    for (int i = 0; i < all.size(); i++) {
      String argument = all.get(i);
      if (afterSecret && !known(argument)) {
        problem(
            "the text after a comma in "
                + Option.PEER_TLS_PASSWORD.key()
                + " is not an argument (put a value with a comma into a file, @FILE)");
        continue;
      }
      afterSecret = argument.startsWith(Option.PEER_TLS_PASSWORD.key());
      if (argument.equals("help")) {
        help = true;
      } else if (argument.equals(AUTO)) {
        put(AUTO, "on", origin);
      } else if (argument.startsWith("@")) {
        readFile(argument.substring(1));
      } else {
        int equals = argument.indexOf('=');
        if (equals < 0) {
          String word = afterSecret ? Option.PEER_TLS_PASSWORD.key() : argument;
          problem(
              "'"
                  + UserText.value(word)
                  + "' is not of the form key=value"
                  + (isKey(argument)
                      ? ": expected "
                          + argument
                          + "=... (jcmd PID JVMTI.agent_load cuts off what follows =, unless both"
                          + " the shell and jcmd see quotes: '\"key=value\"')"
                      : i == 0
                          ? nearest(argument)
                          : nearest(argument) + " (put a value with a comma into a file, @FILE)"));
        } else {
          put(argument.substring(0, equals).trim(), argument.substring(equals + 1).trim(), origin);
        }
      }
    }
  }

  /**
   * Splits at commas, except those before the last {@code @} of an address, which belong to its
   * password.
   */
  private List<String> split(String arguments) {
    List<String> parts = List.of(arguments.split(",", -1));
    List<String> all = new ArrayList<>();
    for (int start = 0, end = 1; start < parts.size(); start = end++) {
      if (parts.get(start).contains("://")) {
        for (int i = end; i < parts.size() && !known(parts.get(i).trim()); i++) {
          end = parts.get(i).contains("@") ? i + 1 : end;
        }
      }
      String argument = String.join(",", parts.subList(start, end)).trim();
      if (!argument.isEmpty()) {
        all.add(argument);
      }
    }
    return all;
  }

  /**
   * Whether this is an argument, valid or not, rather than the rest of one that was cut at a comma.
   */
  private boolean known(String argument) {
    int equals = argument.indexOf('=');
    String key = equals > 0 ? argument.substring(0, equals).trim() : "";
    return argument.startsWith("@")
        || argument.equals("help")
        || argument.equals(AUTO)
        || option(key) != null
        || libraries.argument(key) != null;
  }

  private static @Nullable Option option(String key) {
    for (Option option : Option.values()) { // No stream: every program pays for this at start-up.
      if (option.key().equals(key)) {
        return option;
      }
    }
    return null;
  }

  private void readFile(String name) {
    List<Map.Entry<String, String>> lines = new ArrayList<>();
    Properties properties =
        new Properties() {
          @Override
          public synchronized @Nullable Object put(Object key, Object value) {
            lines.add(Map.entry((String) key, ((String) value).trim())); // A key may repeat.
            return null;
          }
        };
    try {
      byte[] bytes = UserFile.read(Path.of(name));
      properties.load(new StringReader(new String(bytes, StandardCharsets.UTF_8)));
    } catch (IOException | IllegalArgumentException e) {
      String shown = UserText.value(name);
      String reason = reason(e).replace(name, shown);
      problem("@" + shown + " cannot be read (" + UserText.line(reason) + ")");
      return;
    }
    for (Map.Entry<String, String> line : lines) {
      put(line.getKey(), line.getValue(), "file");
    }
  }

  private static String reason(Exception failure) {
    if (failure instanceof NoSuchFileException) {
      return "no such file";
    }
    return failure instanceof AccessDeniedException
        ? "permission denied"
        : String.valueOf(failure.getMessage());
  }

  private void put(String key, String value, String origin) {
    Option option = option(key);
    LibraryArgument libraryArgument = libraries.argument(key);
    if (libraryArgument != null) {
      put(libraryArgument, value, origin);
    } else if (option == null) {
      String name = UserText.line(key);
      String whole = UserText.value(key + "=" + value); // The = may belong to a password.
      problem("unknown key '" + (whole.startsWith(name + "=") ? name : whole) + "'" + nearest(key));
    } else if (accepts(option, value)) {
      List<String> values = new ArrayList<>();
      if (REPEATED.contains(option.check) && !value.equals(option.defaultValue)) {
        values.addAll(list(option));
        values.remove(option.defaultValue); // The default means that there are none.
      }
      values.add(value);
      given.put(option, new Given(values, origin));
    }
  }

  private void put(LibraryArgument argument, String value, String origin) {
    if (value.equals(LibraryArgument.NONE)) {
      return;
    }
    try {
      libraries.accept(argument, value);
      List<String> values = new ArrayList<>();
      Given before = libraryArguments.get(argument);
      if (before != null) {
        values.addAll(before.values());
      }
      values.add(value);
      libraryArguments.put(argument, new Given(values, origin));
    } catch (IllegalArgumentException e) {
      problem(
          String.format(
              "%s=%s is not valid: expected %s",
              argument.key(), UserText.value(value), argument.expected()));
    }
  }

  private boolean accepts(Option option, String value) {
    boolean accepted = value.equals(option.defaultValue) || isValid(option, value);
    if (!accepted) {
      String comma =
          value.indexOf('{') > value.indexOf('}')
              ? " (commas separate arguments; put a value with a comma into a file, @FILE)"
              : "";
      problem(
          String.format(
              "%s=%s is not valid: expected %s%s",
              option.key(), shown(option, value), option.expected, comma));
    }
    return accepted;
  }

  private static boolean isValid(Option option, String value) {
    return switch (option.check) {
      case CHOICE -> Arrays.asList(option.expected.split(", ")).contains(value);
      case TEXT, SECRET -> !value.isEmpty();
      case NAME -> !value.isEmpty() && value.indexOf(',') < 0;
      case LIST ->
          !value.isEmpty()
              && isUnderstood(value, v -> ItemFilter.matching(List.of(v), ItemNames.HERE));
      case METRICS -> isUnderstood(value, MetricsExport::check);
      case SIZE -> isUnderstood(value, ByteBudget::parse);
      case PREPARED ->
          value.equals("share") || value.equals(CHECK) || value.matches(SHARE_CLASS + CLASS_NAME);
      case PEERS -> isUnderstood(value, Options::readPeer);
      case ADDRESS -> isUnderstood(value, HostPort::parse);
      case ACCELERATOR -> isUnderstood(value, Accelerator::parse);
      case SHARE ->
          value.matches("\\d{1,2}(\\.\\d{1,3})?%") && share(value) >= 0.001 && share(value) <= 0.5;
      case COUNT ->
          option.isInRange(value)
              || (!value.startsWith("N ")
                  && Arrays.asList(option.expected.split(", ")).contains(value));
    };
  }

  /** Throws if the value is neither a valid way to find hosts nor a Redis address. */
  private static void readPeer(String value) {
    if (RedisUri.is(value)) {
      RedisUri.parse(value);
    } else {
      Discovery.parse(List.of(value));
    }
  }

  /** Whether the parser of such values accepts this one. */
  private static boolean isUnderstood(String value, Consumer<String> reader) {
    try {
      reader.accept(value);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private void problem(String what) {
    problems.add(what + "; all policies are off, and the agent only observes");
  }

  private Stream<String> keys() {
    return Stream.concat(
        Arrays.stream(Option.values()).map(Option::key),
        libraries.arguments().stream().map(LibraryArgument::key));
  }

  private boolean isKey(String word) {
    return keys().anyMatch(word::equals);
  }

  private String nearest(String key) {
    ToIntFunction<String> distance = option -> distance(key, option);
    String best = keys().min(comparingInt(distance)).orElseThrow();
    return distance.applyAsInt(best) <= Math.max(2, key.length() / 2)
        ? " (did you mean '" + best + "'?)"
        : ", see coordl-agent.jar=help";
  }

  /** Levenshtein distance. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
