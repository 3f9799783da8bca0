package io.coordl.reports.summary;

import io.coordl.reports.text.Text;
import io.coordl.reports.text.Text.Bytes;
import io.coordl.reports.text.Text.Nanos;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One finding about a job and what to do about it. Each looks at the {@link Evidence} on its own
 * and says what it explains; the one that explains most is reported. No finding names an argument
 * that the agent does not have.
 */
sealed interface Advice {
  /** Stable name, for programs. */
  String finding();

  /** Time of the training thread that the finding explains, in the epochs that count. */
  long nanos();

  /** One sentence for the user. */
  String sentence();

  /** All arguments for the agent, as {@code key=value}; empty if no change of them would help. */
  default List<String> arguments() {
    return List.of();
  }

  /** The finding that explains most of the job's time. */
  static Advice on(Evidence evidence) {
    if (evidence.totals().batches() == 0) {
      return new NothingMeasured();
    }
    if (evidence.profiled()) {
      return new OfProfile();
    }
    return all(evidence)
        .filter(advice -> evidence.worthAChange(advice.nanos()))
        .max(Comparator.comparingLong(Advice::nanos))
        .or(() -> CacheFilled.look(evidence).filter(CacheFilled::explainsTheFirstEpoch))
        .orElseGet(() -> new ComputeBound(evidence));
  }

  /** Every finding that applies to the job, however little it explains. */
  static Stream<Advice> all(Evidence evidence) {
    Stream<Function<Evidence, Optional<? extends Advice>>> findings =
        Stream.of(
            FetchBound::look,
            CacheTooSmall::look,
            CacheNotAsked::look,
            CacheFilled::look,
            PrepBound::look,
            GcBound::look,
            QueueBound::look,
            CheckpointBound::look);
    return findings.flatMap(look -> look.apply(evidence).stream());
  }

  /** Nothing to look at. */
  record NothingMeasured() implements Advice {
    @Override
    public String finding() {
      return "nothingMeasured";
    }

    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public String sentence() {
      return "no batch was seen: let the job train at least one epoch with the agent attached.";
    }
  }

  /** What was made of the job, not the job. */
  record OfProfile() implements Advice {
    @Override
    public String finding() {
      return "profiled";
    }

    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public String sentence() {
      return "ask coordl diff and coordl whatif: this is the recording of a profile, and what"
          + " its phases did to the job is in its totals.";
    }
  }

  /** The data keep up with the model. */
  record ComputeBound(Evidence evidence) implements Advice {
    @Override
    public String finding() {
      return "computeBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().computeNanos();
    }

    @Override
    public String sentence() {
      Figures totals = evidence.judged();
      return "nothing: waiting for data is "
          + Text.percent(totals.stallNanos(), totals.wallNanos())
          + " of the time"
          + evidence.ofWhat()
          + ", so compute is the limit and no cache makes this job faster.";
    }
  }

  /** The job waits for storage and nothing is cached. */
  record FetchBound(Evidence evidence) implements Advice {
    static Optional<FetchBound> look(Evidence evidence) {
      return evidence.caching() ? Optional.empty() : Optional.of(new FetchBound(evidence));
    }

    @Override
    public String finding() {
      return "fetchBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().fetchStallNanos();
    }

    @Override
    public String sentence() {
      return "keep the data set in memory with "
          + evidence.agent("cache=minio")
          + ": "
          + new Nanos(nanos())
          + evidence.ofWhat()
          + " went into waiting for storage; from the second epoch on, what fits in the cache"
          + perEpoch()
          + " is not read again.";
    }

    private String perEpoch() {
      long bytes = evidence.epochBytes();
      return bytes == 0 ? "" : " (an epoch reads " + new Bytes(bytes) + ")";
    }

    @Override
    public List<String> arguments() {
      return evidence.with("cache=minio");
    }
  }

  /** The cache is on, full, and later epochs still wait for storage. */
  record CacheTooSmall(Evidence evidence) implements Advice {
    private static final long GIBIBYTE = 1L << 30;

    static Optional<CacheTooSmall> look(Evidence evidence) {
      return evidence.caching() && evidence.cacheFull() && evidence.laterEpochsWaitForFetches()
          ? Optional.of(new CacheTooSmall(evidence))
          : Optional.empty();
    }

    @Override
    public String finding() {
      return "cacheTooSmall";
    }

    @Override
    public long nanos() {
      return evidence.judged().fetchStallNanos();
    }

    @Override
    public String sentence() {
      return "give the cache more memory, if the host has it, with "
          + evidence.agent(size())
          + (evidence.hosts() > 1
              ? " on each of " + evidence.hosts() + " hosts, or add a host"
              : "")
          + ": an epoch asks for "
          + new Bytes(evidence.epochBytes())
          + " and the cache is full.";
    }

    @Override
    public List<String> arguments() {
      return evidence.with(size());
    }

    /** A tenth more than the items, for the index and what is lost between them. */
    private String size() {
      long held = evidence.epochBytes() / evidence.hosts();
      long wanted = held + held / 10;
      return "cache.size=" + Math.max(1, (wanted + GIBIBYTE - 1) / GIBIBYTE) + "g";
    }
  }

  /** The cache has room, and later epochs still wait for storage. */
  record CacheNotAsked(Evidence evidence) implements Advice {
    static Optional<CacheNotAsked> look(Evidence evidence) {
      return evidence.caching() && !evidence.cacheFull() && evidence.laterEpochsWaitForFetches()
          ? Optional.of(new CacheNotAsked(evidence))
          : Optional.empty();
    }

    @Override
    public String finding() {
      return "cacheNotAsked";
    }

    @Override
    public long nanos() {
      return evidence.judged().fetchStallNanos();
    }

    @Override
    public String sentence() {
      return "say which files are the data set with "
          + evidence.agent("dataset=PATH")
          + ": the cache has room, yet later"
          + " epochs wait for storage, so some files are not taken for items.";
    }

    @Override
    public List<String> arguments() {
      return evidence.with("dataset=PATH");
    }
  }

  /** The cache is on, and what waiting for storage there was, was for filling it. */
  record CacheFilled(Evidence evidence) implements Advice {
    static Optional<CacheFilled> look(Evidence evidence) {
      return evidence.caching() && !evidence.laterEpochsWaitForFetches()
          ? Optional.of(new CacheFilled(evidence))
          : Optional.empty();
    }

    /** Filling it is what the job waited for. */
    boolean explainsTheFirstEpoch() {
      Figures totals = evidence.totals();
      return totals.share(totals.fetchStallNanos()) >= Evidence.WORTH_A_CHANGE;
    }

    @Override
    public String finding() {
      return "cacheFilled";
    }

    @Override
    public long nanos() {
      return evidence.judged().fetchStallNanos();
    }

    @Override
    public String sentence() {
      Figures later = evidence.laterEpochs();
      return later.batches() == 0
          ? "let the job run on: its only epoch filled the cache, and the next will use it."
          : "nothing: the first epoch filled the cache, and waiting for data is "
              + Text.percent(evidence.judged().stallNanos(), evidence.judged().wallNanos())
              + " of the time"
              + evidence.ofWhat()
              + ".";
    }
  }

  /** The job waits for decoding, transforms and assembly. */
  record PrepBound(Evidence evidence) implements Advice {
    /** Decoding is worth keeping its result if it is this share of all preparation. */
    private static final double WORTH_KEEPING = 0.25;

    static Optional<PrepBound> look(Evidence evidence) {
      return Optional.of(new PrepBound(evidence));
    }

    @Override
    public String finding() {
      return "prepBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().prepStallNanos();
    }

    @Override
    public String sentence() {
      return how()
          + ": "
          + new Nanos(nanos())
          + evidence.ofWhat()
          + " went into waiting for preparation (decode "
          + new Nanos(evidence.judged().decodeTimeNanos())
          + ", transforms "
          + new Nanos(evidence.judged().transformTimeNanos())
          + ", other "
          + new Nanos(evidence.judged().otherTimeNanos())
          + "); a cache of raw bytes will not help here.";
    }

    @Override
    public List<String> arguments() {
      return keepDecoded()
          ? evidence.with("decoded=share")
          : keepMoreDecoded()
              ? evidence.with("decoded.size=SIZE")
              : prepareAhead()
                  ? evidence.with("prefetch=2")
                  : share() ? evidence.with("prep=coordinate") : List.of();
    }

    private String how() {
      if (keepDecoded()) {
        return "decode each image once with " + evidence.agent("decoded=share");
      }
      if (keepMoreDecoded()) {
        return "keep more decoded images, if the host has the memory, with "
            + evidence.agent("decoded.size=SIZE");
      }
      if (prepareAhead()) {
        return "prepare ahead with "
            + evidence.agent("prefetch=2")
            + ", or, where several jobs of this host use the same data, once for all of them with "
            + evidence.agent("prep=coordinate");
      }
      return share()
          ? "where several jobs of this host use the same data, prepare each batch once for all of"
              + " them with "
              + evidence.agent("prep=coordinate")
              + " in each"
          : "prepare on more threads" + (evidence.uses("djl") ? ", with prefetch=N" : "");
    }

    /** DL4J prepares ahead by itself; what can be brought ahead for it is in the stores already. */
    private boolean prepareAhead() {
      return evidence.uses("djl") && !evidence.prefetches() && !evidence.coordinates();
    }

    private boolean share() {
      return !evidence.coordinates();
    }

    private boolean keepDecoded() {
      return !evidence.keepsDecoded() && decodes();
    }

    private boolean keepMoreDecoded() {
      return evidence.decodedFull() && decodes();
    }

    private boolean decodes() {
      Figures totals = evidence.judged();
      long prep = totals.decodeTimeNanos() + totals.transformTimeNanos() + totals.otherTimeNanos();
      return totals.decodeTimeNanos() > prep * WORTH_KEEPING;
    }
  }

  /** The job waits for garbage collections. */
  record GcBound(Evidence evidence) implements Advice {
    static Optional<GcBound> look(Evidence evidence) {
      return Optional.of(new GcBound(evidence));
    }

    @Override
    public String finding() {
      return "gcBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().gcStallNanos();
    }

    @Override
    public String sentence() {
      return "give the program a larger heap (-Xmx) or a collector with shorter pauses: garbage"
          + " collection held batches up for "
          + new Nanos(nanos())
          + evidence.ofWhat()
          + ".";
    }
  }

  /** The job waits for batches that nobody prepares yet, or that are ready and not handed over. */
  record QueueBound(Evidence evidence) implements Advice {
    static Optional<QueueBound> look(Evidence evidence) {
      return Optional.of(new QueueBound(evidence));
    }

    @Override
    public String finding() {
      return "queueBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().queueStallNanos();
    }

    @Override
    public String sentence() {
      return "let the program prepare further ahead"
          + (evidence.uses("djl") ? ", in DJL with optPrefetchNumber(..) of the data set" : "")
          + ": "
          + new Nanos(nanos())
          + evidence.ofWhat()
          + " went into batches waiting for a free worker or for their hand-over.";
    }
  }

  /** The job waits for its own models to be written. */
  record CheckpointBound(Evidence evidence) implements Advice {
    static Optional<CheckpointBound> look(Evidence evidence) {
      return Optional.of(new CheckpointBound(evidence));
    }

    @Override
    public String finding() {
      return "checkpointBound";
    }

    @Override
    public long nanos() {
      return evidence.judged().checkpointNanos();
    }

    @Override
    public String sentence() {
      return "write models less often or to faster storage: writing them took "
          + new Nanos(nanos())
          + evidence.ofWhat()
          + ".";
    }
  }
}
