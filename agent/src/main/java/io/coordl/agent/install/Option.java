package io.coordl.agent.install;

import io.coordl.library.LibraryArgument;
import io.coordl.library.catalog.Libraries;
import java.util.Locale;

/**
 * The agent's own arguments; the libraries declare theirs. Parsing, the help text, the table in the
 * docs and the recording all use these declarations.
 */
public enum Option {
  ENABLED("true, false", "kill switch: false leaves the program untouched"),
  RECORD(
      "coordl-%p.jfr",
      "FILE, off",
      Values.TEXT,
      "JFR recording to write; %p is the process id. If a name with %p exists, -2, -3, ... is"
          + " appended. By default, joins a recording that is already running"),
  SUMMARY(
      "on, off", "print a summary at exit, and a line about the latest epochs at most every 10 s"),
  STATUS(
      "on, off",
      "publish the running job's figures for coordl top, in a 35 KiB file in /dev/shm that is"
          + " deleted when the job ends"),
  JMX(
      "auto, on, off",
      "publish the current totals as MBeans (io.coordl:type=Job); auto: if the JVM was started with"
          + " remote management (com.sun.management.jmxremote)"),
  METRICS(
      "off, otlp[:URL], prometheus:[ADDRESS:]PORT, kubeflow (may be repeated)",
      Values.METRICS,
      "export the current totals: every 10 s to an OpenTelemetry collector or as the status of a"
          + " Kubeflow TrainJob, or served to Prometheus, by default on this host only"),
  DATASET(
      "inferred, PATH or GLOB (may be repeated)",
      Values.LIST,
      "files that are items of the data set; inferred: files read while a sample is loaded"),
  DATASET_ROOT(
      "none, PATH",
      Values.TEXT,
      "root of the data set on a file system shared with other containers and hosts: items below it"
          + " are identified by relative path, inode, size and times"),
  DATASET_MANIFEST(
      "none, FILE",
      Values.TEXT,
      "output of sha256sum run in dataset.root: files older than the manifest are identified by"
          + " content, so copies count as the same items"),
  DATASET_IDENTITY(
      "file, copy",
      "copy: match files by path, size and modification time, with cache.scope=host or peer; a file"
          + " replaced by one of equal size and time is mistaken for the old one"),
  AUTO(
      "off, on",
      "auto alone means auto=on: cache=minio, decoded=share, prepared=share and prefetch=auto, each"
          + " started once it pays off; other arguments take precedence, and group=NAME implies"
          + " cache.scope=host"),
  CACHE(
      "off, minio",
      "cache raw items in memory: admit until the budget is full, never evict to make room"),
  CACHE_SIZE(
      "byte budget shared by all stores that have no budget of their own; auto: half of free memory"
          + " within the container's limit, a quarter if another store has its own budget; smaller"
          + " until an epoch has shown what the program needs, and reduced when memory is short"),
  CACHE_SCOPE(
      "process, host",
      "private to this job, or shared through /dev/shm by all jobs of the group on this host"),
  CACHE_EXCLUDE(
      "none, TYPE (may be repeated)",
      Values.LIST,
      "do not cache files on file systems of this type, as named in /proc/mounts, such as nfs4;"
          + " fuse includes every fuse.TYPE"),
  DECODED(
      "off, share",
      "cache decoded images, so that each is decoded once; cache.scope sets which jobs share them"),
  DECODED_SIZE(
      "byte budget of decoded images alone; auto: they share cache.size according to measured"
          + " benefit, or with peer get a quarter of free memory"),
  PREPARED(
      "off, share, share:CLASS (may be repeated), check",
      Values.PREPARED,
      "cache each sample in its last form before random numbers are drawn, so that it is prepared"
          + " once; CLASS: a data set or transform that you declare deterministic because this"
          + " cannot be proven; cache.scope sets which jobs share the samples; check: cache"
          + " nothing, but report whether samples are equal when the program makes them again"),
  PREPARED_SIZE(
      "byte budget of prepared samples alone; auto: they share cache.size, and a sample cached"
          + " prepared is not cached in another form; with peer they get a quarter of free memory"),
  PEER(
      "off, HOST[:PORT] (may be repeated), dns:NAME[:PORT], file:DIR, slurm[:PORT],"
          + " redis://HOST[:PORT], rediss://HOST[:PORT]",
      Values.PEERS,
      "hosts or Redis servers that share the cache with this host; implies cache=minio and"
          + " cache.scope=host"),
  PEER_BIND(
      "auto, ADDRESS[:PORT]",
      Values.ADDRESS,
      "address at which this host listens, on this port and the next; auto: the listed peer that is"
          + " this host, else the address of this host's name, port 7800; jobs that listen on"
          + " different addresses act as different hosts"),
  PEER_HOSTS(
      "auto",
      new Range(2, 256),
      "number of hosts to wait for, at most a minute, before the first item is read; auto: do not"
          + " wait"),
  PEER_SECRET(
      "none, FILE",
      Values.TEXT,
      "file with mode 0600 and at least 32 random characters, the same on all hosts, with which"
          + " peers authenticate and encrypt their connections; peer=HOST needs this or peer.tls"),
  PEER_TLS(
      "off, KEYSTORE",
      Values.TEXT,
      "instead of peer.secret, and for rediss://: PKCS12 key store with this host's key and the"
          + " certificates it trusts; peers without a trusted certificate are refused"),
  PEER_TLS_PASSWORD(
      "none, PASSWORD",
      Values.SECRET,
      "password of the key store; pass it in a file, @FILE; the agent neither records nor prints"
          + " it"),
  PREFETCH(
      "off, auto",
      new Range(1, 64),
      "load items of upcoming batches into decoded=share or cache=minio on N agent threads, and"
          + " prepare the next batch on one more unless the library prefetches batches itself;"
          + " auto: finds the best number of threads while the job runs"),
  PREP(
      "off, coordinate",
      "coordinate: the jobs of the group together prepare each batch once; they share order and"
          + " augmentation"),
  PREP_JOBS(
      "auto",
      new Range(1, 16),
      "number of jobs to wait for before the first shared epoch; auto: do not wait"),
  PREP_SIZE(
      "byte budget of each pipeline's staging buffer; auto: an eighth of free memory, at most a"
          + " sixteenth of the container's limit"),
  CHECKPOINT(
      "off, atomic, async",
      "how model files are written; atomic: to a temporary file that is forced to disk and then"
          + " renamed, with length and SHA-256 in a second file that is checked on load; async: the"
          + " same in the background, from a snapshot"),
  CHECKPOINT_SIZE(
      "byte budget of the snapshot of checkpoint=async; auto: a quarter of free memory, at"
          + " most a sixteenth of the container's limit"),
  CHECKPOINT_EVERY(
      "off, auto, continuous",
      new Range(1, 1_000_000),
      "the agent takes its own checkpoints, in checkpoint.dir, every N steps; auto: as often as"
          + " checkpoint.overhead allows; continuous: as soon as the previous one is written;"
          + " implies checkpoint=async"),
  CHECKPOINT_DIR(
      "none, PATH",
      Values.TEXT,
      "directory of the agent's checkpoints, used by one job at a time: PATH/MODEL/latest is the"
          + " newest, PATH/run.2/MODEL/latest the newest of a second run that does not resume the"
          + " first"),
  CHECKPOINT_KEEP(
      "3", "", new Range(1, 1000), "number of checkpoints to keep; older ones are deleted"),
  CHECKPOINT_OVERHEAD(
      "3.5%",
      "SHARE from 0.1% to 50%",
      Values.SHARE,
      "share of the run time that checkpoint.every=auto may take"),
  CHECKPOINT_GRACE(
      "25",
      "",
      new Range(1, 3600),
      "on SIGTERM, with checkpoint.every: how many seconds JVM shutdown waits for the current"
          + " step, to take a last checkpoint"),
  RESUME(
      "none, PATH",
      Values.TEXT,
      "resume from the newest of the agent's checkpoints below PATH, which may be checkpoint.dir;"
          + " without a checkpoint the job starts from the beginning; implies checkpoint=atomic"),
  GPU(
      "auto, on, off",
      "sample NVIDIA GPUs once a second; in a profile, synchronise the device at the end of each"
          + " step; auto: once the program has loaded CUDA; on: always, and report if no GPU can be"
          + " used"),
  GPU_PRESETS(
      "none, DIR",
      Values.TEXT,
      "directory with the jars of the JavaCPP presets for CUDA, through which to call the driver;"
          + " none: call it through java.lang.foreign (JDK 22 or later), through the program's"
          + " JNA, or with gpu=on or gpu.pinned=on through the program's presets"),
  GPU_PINNED(
      "off, on",
      "page-lock the memory from which batches of prepared=share and prep=coordinate, and random"
          + " crops, are copied to a GPU; if the driver refuses, they are copied as usual"),
  GPU_RANGES(
      "off, on",
      "emit NVTX ranges for epochs, batches and data stalls of training threads, shown above the"
          + " kernels in Nsight Systems"),
  PROFILE(
      "off, ingestion, cached, cold, all",
      "measure the job's speed with prepared batches, with every item in memory, and with every"
          + " item in storage; all policies are off, and the run ends after the last phase"),
  PROFILE_STEPS(
      "auto",
      new Range(10, 100_000),
      "steps measured in each phase of a profile; auto: until the rate is known to within 1 %,"
          + " or for a minute"),
  PROFILE_ACCELERATOR(
      "off, MILLISECONDS, MILLISECONDS:INSTANCES:DIR",
      Values.ACCELERATOR,
      "emulate an accelerator: sleep this long per batch instead of training, read items from"
          + " storage, and report the accelerator's utilisation; INSTANCES concurrent jobs"
          + " synchronise through DIR"),
  GROUP(
      "default",
      "NAME (without commas)",
      Values.NAME,
      "name of a group of this user's jobs, which share data through cache.scope=host or"
          + " prep=coordinate");

  enum Values {
    CHOICE,
    TEXT,
    /** Text that becomes part of a longer name, in which commas separate the parts. */
    NAME,
    LIST,
    METRICS,
    SIZE,
    COUNT,
    SHARE,
    PREPARED,
    PEERS,
    ADDRESS,
    ACCELERATOR,
    SECRET
  }

  /** A range of whole numbers, both ends inclusive. */
  private record Range(int min, int max) {
    static final Range NONE = new Range(0, 0);
  }

  final String defaultValue;
  final String expected;
  final Values check;

  /** Range of a number option; both 0 if no number is expected. */
  private final int min;

  private final int max;

  final String description;

  /** Declares a byte budget. */
  Option(String description) {
    this("auto, SIZE such as 8g or 512m, SHARE of memory such as 50%", Values.SIZE, description);
  }

  Option(String expected, String description) {
    this(expected, Values.CHOICE, description);
  }

  /** Declares an option whose first expected value is the default. */
  Option(String expected, Values check, String description) {
    this(expected.split(",", 2)[0], expected, check, description);
  }

  Option(String defaultValue, String expected, Values check, String description) {
    this(defaultValue, expected, check, Range.NONE, description);
  }

  /** Declares a number or one of the words, the first of which is the default. */
  Option(String words, Range range, String description) {
    this(words.split(",", 2)[0], words, range, description);
  }

  Option(String defaultValue, String words, Range range, String description) {
    this(
        defaultValue,
        (words.isEmpty() ? "" : words + ", ") + "N from " + range.min + " to " + range.max,
        Values.COUNT,
        range,
        description);
  }

  Option(String defaultValue, String expected, Values check, Range range, String description) {
    this.defaultValue = defaultValue;
    this.expected = expected;
    this.check = check;
    this.min = range.min;
    this.max = range.max;
    this.description = description;
  }

  /** Whether the value is a number within the range. */
  boolean isInRange(String value) {
    if (!value.matches("[1-9][0-9]{0,8}")) {
      return false;
    }
    int number = Integer.parseInt(value);
    return number >= min && number <= max;
  }

  /** Returns the key in arguments, such as {@code cache.size}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  /**
   * Returns the text that {@code coordl-agent.jar=help} prints; the entry class also calls this by
   * reflection.
   */
  public static String help() {
    StringBuilder text =
        new StringBuilder(
            """
            Usage: java -javaagent:coordl-agent.jar[=key=value,...] ... your program
            @FILE reads arguments from a properties file; COORDL_OPTS adds to them.

            """);
    for (Option option : values()) {
      text.append(String.format("  %-12s %s%n", option.key(), option.description));
      text.append(
          String.format("  %-12s %s (default %s)%n", "", option.expected, option.defaultValue));
    }
    for (LibraryArgument argument : Libraries.known().arguments()) {
      text.append(String.format("  %-12s %s%n", argument.key(), argument.description()));
      text.append(
          String.format(
              "  %-12s %s (may be repeated; default %s)%n",
              "", argument.expected(), LibraryArgument.NONE));
    }
    return text.toString();
  }
}
