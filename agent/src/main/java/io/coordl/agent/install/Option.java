package io.coordl.agent.install;

import java.util.Locale;

/**
 * Every argument of the agent: the one declaration that parsing, the help text, the table in docs
 * and the recording share.
 */
public enum Option {
  ENABLED("true, false", "kill switch: false leaves the program untouched"),
  RECORD(
      "coordl-%p.jfr",
      "FILE, off",
      Values.TEXT,
      "JFR recording to write, %p is the process id; a name with %p that is taken gets -2, -3, ...;"
          + " by default joins a recording that runs already"),
  SUMMARY("on, off", "the text at exit, and a line for each epoch"),
  STATUS(
      "on, off",
      "what coordl top shows of the running job: a file of 27 KiB in /dev/shm, which goes when the"
          + " job ends"),
  JMX(
      "auto, on, off",
      "the totals so far as MBeans, io.coordl:type=Job; auto: if the JVM was started to be managed"
          + " from outside, with com.sun.management.jmxremote"),
  METRICS(
      "off, otlp[:URL], prometheus:[ADDRESS:]PORT, kubeflow (may be repeated)",
      Values.METRICS,
      "the totals so far, each 10 s to a collector of OpenTelemetry or as the status of a Kubeflow"
          + " TrainJob, or served to Prometheus, by default to this host alone"),
  DATASET(
      "inferred, PATH or GLOB (may be repeated)",
      Values.LIST,
      "which files are items of the data set; inferred: those read while a sample is loaded"),
  DATASET_ROOT(
      "none, PATH",
      Values.TEXT,
      "items below it are known to other containers and hosts by their path relative to it, inode,"
          + " size and times, as on a file system that all see"),
  DATASET_MANIFEST(
      "none, FILE",
      Values.TEXT,
      "what sha256sum prints when run in dataset.root: files older than it are known by content,"
          + " so that copies are the same items"),
  DATASET_IDENTITY(
      "file, copy",
      "copy: with cache.scope=host or peer, copies of one path, size and modification time are the"
          + " same item; a file replaced at the same size and time is then taken for the old one"),
  AUTO(
      "off, on",
      "auto alone means auto=on: cache=minio, decoded=share, prepared=share and prefetch=auto, each"
          + " from when it is worth it; other arguments take precedence, and group=NAME brings"
          + " cache.scope=host"),
  CACHE("off, minio", "keep raw items in memory: admitted until the budget is full, never evicted"),
  CACHE_SIZE(
      "byte budget of all that is kept, raw, decoded and prepared, but for what has a budget of its"
          + " own; auto: half of what is free, within the container's limit, a quarter beside such,"
          + " less until an epoch has shown what the program needs, and given back when memory is"
          + " short"),
  CACHE_SCOPE(
      "process, host",
      "private to this job, or shared through /dev/shm by all jobs of the group on this host"),
  CACHE_EXCLUDE(
      "none, TYPE (may be repeated)",
      Values.LIST,
      "files on file systems of this type are not kept in any form: as /proc/mounts names it, such"
          + " as nfs4; fuse stands for all of fuse.TYPE"),
  DECODED(
      "off, share",
      "keep decoded images too, so that each is decoded once; cache.scope says for whom"),
  DECODED_SIZE(
      "byte budget of the decoded images alone; auto: they share cache.size, as measured, or with"
          + " peer have a quarter of what is free"),
  PREPARED(
      "off, share, share:CLASS (may be repeated)",
      Values.PREPARED,
      "keep what data set and transforms make of each sample before any random number is drawn, so"
          + " that it is made once; CLASS: a data set or transform of yours that gives the same"
          + " each time, where that cannot be proven; cache.scope says for whom"),
  PREPARED_SIZE(
      "byte budget of the prepared samples alone; auto: they share cache.size, and what is kept"
          + " prepared is not kept in another form, or with peer have a quarter of what is free"),
  PEER(
      "off, HOST[:PORT] (may be repeated), dns:NAME[:PORT], file:DIR, slurm[:PORT],"
          + " redis://HOST[:PORT], rediss://HOST[:PORT]",
      Values.PEERS,
      "other hosts that keep the data set together with this one, in their memory or in Redis;"
          + " brings cache=minio and cache.scope=host with it"),
  PEER_BIND(
      "auto, ADDRESS[:PORT]",
      Values.ADDRESS,
      "where this host listens, at the port and the one after it; auto: the peer that is this host,"
          + " else the address of this host's name, port 7800; jobs that give another one count as"
          + " another host"),
  PEER_HOSTS(
      "auto, N from 2 to 256",
      Values.COUNT,
      "how many hosts to wait for before the first item is read, a minute at most; auto: those that"
          + " are there"),
  PEER_SECRET(
      "none, FILE",
      Values.TEXT,
      "a file of mode 0600 with at least 32 random characters, the same on all hosts: peers prove"
          + " that they have it and encrypt what they say; this or peer.tls is needed for"
          + " peer=HOST"),
  PEER_TLS(
      "off, KEYSTORE",
      Values.TEXT,
      "in place of peer.secret, and for rediss://: PKCS12 key store of this host's key and the"
          + " certificates it trusts; a peer without such a certificate is refused"),
  PEER_TLS_PASSWORD(
      "none, PASSWORD",
      Values.SECRET,
      "password of the key store; give it in a file, @FILE: neither recorded nor printed by the"
          + " agent"),
  PREFETCH(
      "off, auto, N from 1 to 64",
      Values.COUNT,
      "bring items of upcoming batches into decoded=share or cache=minio on N threads of the agent,"
          + " and prepare the next batch on another, for DJL and for DL4J where next() is called by"
          + " hand; auto: as many threads as make the job faster, which is tried while it runs"),
  PREP(
      "off, coordinate",
      "coordinate: the jobs of the group prepare each batch once between them, and share order and"
          + " augmentation"),
  PREP_JOBS(
      "auto, N from 1 to 16",
      Values.COUNT,
      "how many jobs to wait for before the first shared epoch; auto: those that are there"),
  PREP_SIZE(
      "byte budget of the staging buffer of each pipeline; auto: an eighth of what is free, at most"
          + " a sixteenth of a container's limit"),
  CHECKPOINT(
      "off, atomic, async",
      "how model files are written; atomic: beside their place, forced to disk and then moved, with"
          + " length and SHA-256 in a file beside them that is checked on load; async: that, in the"
          + " background, from a snapshot"),
  CHECKPOINT_SIZE(
      "byte budget of the snapshot of checkpoint=async; auto: a quarter of what is free, at"
          + " most a sixteenth of a container's limit"),
  CHECKPOINT_EVERY(
      "off, auto, continuous, N from 1 to 1000000",
      Values.COUNT,
      "the agent takes checkpoints of its own, in checkpoint.dir, every N steps; auto: as often as"
          + " checkpoint.overhead allows; continuous: the next as soon as the last is written;"
          + " brings checkpoint=async with it"),
  CHECKPOINT_DIR(
      "none, PATH",
      Values.TEXT,
      "where they go: PATH/MODEL/latest is the newest, PATH/run.2/MODEL/latest that of a second"
          + " run, which does not go on from the first; PATH is of one job at a time"),
  CHECKPOINT_KEEP(
      "3", "N from 1 to 1000", Values.COUNT, "how many of them stay; others are deleted"),
  CHECKPOINT_OVERHEAD(
      "3.5%",
      "SHARE from 0.1% to 50%",
      Values.SHARE,
      "part of the time that checkpoint.every=auto may take"),
  CHECKPOINT_GRACE(
      "25",
      "seconds, N from 1 to 3600",
      Values.COUNT,
      "on SIGTERM: how long the end of the JVM waits for the end of a step, for a last checkpoint"
          + " with checkpoint.every"),
  RESUME(
      "none, PATH",
      Values.TEXT,
      "go on where the newest checkpoint of the agent's own below PATH was taken; PATH may be"
          + " checkpoint.dir, and without a checkpoint the job begins at its start; brings"
          + " checkpoint=atomic with it"),
  GPU(
      "auto, on, off",
      "what NVIDIA's GPUs do, once a second, and in a profile steps that end when the device is"
          + " done; auto: if a driver is there; on: and say so if none can be asked"),
  GPU_PRESETS(
      "none, DIR",
      Values.TEXT,
      "directory with the jars of the JavaCPP presets for CUDA, by which the driver is then called;"
          + " none: by java.lang.foreign from JDK 22 on, by the program's JNA,"
          + " or with gpu=on by its presets"),
  GPU_PINNED(
      "off, on",
      "page-lock the memory from which DJL copies batches of prepared=share and prep=coordinate to"
          + " a GPU; where the driver refuses, they are copied as without"),
  GPU_RANGES(
      "off, on",
      "epochs, batches and data stalls of training threads as ranges of NVTX, which Nsight Systems"
          + " shows over the kernels"),
  PROFILE(
      "off, ingestion, cached, cold, all",
      "measure what the job could do: with prepared batches, with every item from memory, with"
          + " every item from storage; all policies are off, and the run ends after the last"
          + " phase"),
  PROFILE_STEPS(
      "auto, N from 10 to 100000",
      Values.COUNT,
      "steps that each phase of a profile counts; auto: as many as tell its rate within 1 %"),
  PROFILE_ACCELERATOR(
      "off, MILLISECONDS, MILLISECONDS:INSTANCES:DIR",
      Values.ACCELERATOR,
      "in place of its training steps, the job sleeps so long with each batch, items come from"
          + " storage, and the profile says how busy an accelerator with such steps would be;"
          + " several instances that measure at the same time meet in the directory"),
  GROUP(
      "default",
      "NAME",
      Values.TEXT,
      "which jobs of this user share with cache.scope=host or prep=coordinate");

  enum Values {
    CHOICE,
    TEXT,
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

  final String byDefault;
  final String expected;
  final Values check;
  final String description;

  /** A byte budget. */
  Option(String description) {
    this("auto, SIZE such as 8g or 512m, SHARE of memory such as 50%", Values.SIZE, description);
  }

  Option(String expected, String description) {
    this(expected, Values.CHOICE, description);
  }

  /** The first of what is expected is the default. */
  Option(String expected, Values check, String description) {
    this(expected.split(",", 2)[0], expected, check, description);
  }

  Option(String byDefault, String expected, Values check, String description) {
    this.byDefault = byDefault;
    this.expected = expected;
    this.check = check;
    this.description = description;
  }

  /** As written in arguments: {@code cache.size}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  /** What {@code coordl-agent.jar=help} prints; called by reflection from the entry class too. */
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
          String.format("  %-12s %s (default %s)%n", "", option.expected, option.byDefault));
    }
    return text.toString();
  }
}
