package io.coordl.reports.jmc;

import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.FILE_IO;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.GARBAGE_COLLECTION;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.JAVA_APPLICATION;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.SOCKET_IO;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import org.openjdk.jmc.flightrecorder.rules.Severity;

/** The rules; the service file in {@code src/main/jmc} lists their classes. */
public final class Rules {
  private Rules() {}

  public static final class DataStall extends JobRule {
    public DataStall() {
      super("data stall", JAVA_APPLICATION, Findings::dataStall, "");
    }
  }

  public static final class FetchBound extends JobRule {
    public FetchBound() {
      super(
          "waiting for storage",
          FILE_IO,
          job -> job.advice("fetchBound", "Training waits for storage"),
          "The MinIO cache is on.");
    }
  }

  public static final class LaterEpochsFetch extends JobRule {
    public LaterEpochsFetch() {
      super(
          "later epochs read from storage",
          FILE_IO,
          Findings::laterEpochsFetch,
          "Later epochs do not wait for storage, or the cache is off.");
    }
  }

  /** A store that was too full to cache items: information, never a warning. */
  public static final class StoreFull extends JobRule {
    public StoreFull() {
      super("cache full", FILE_IO, Findings::storeFull, "No store was full.");
    }

    @Override
    double score(Finding finding) {
      return Severity.INFO.getLimit()
          + finding.share() * (Severity.WARNING.getLimit() - 1 - Severity.INFO.getLimit());
    }
  }

  public static final class PrepBound extends JobRule {
    public PrepBound() {
      super(
          "waiting for preparation",
          JAVA_APPLICATION,
          job -> job.advice("prepBound", "Training waits for preparation"),
          "");
    }
  }

  public static final class CoreBound extends JobRule {
    public CoreBound() {
      super(
          "steps without a core",
          JAVA_APPLICATION,
          job -> job.advice("coreBound", "Steps wait for a core"),
          "");
    }
  }

  public static final class QueueBound extends JobRule {
    public QueueBound() {
      super(
          "batches wait for a worker",
          JAVA_APPLICATION,
          job -> job.advice("queueBound", "Batches wait for a worker or their hand-over"),
          "");
    }
  }

  public static final class GarbageCollection extends JobRule {
    public GarbageCollection() {
      super(
          "GC pauses delay batches",
          GARBAGE_COLLECTION,
          job -> job.advice("gcBound", "GC pauses delay batches"),
          "");
    }
  }

  public static final class Checkpoint extends JobRule {
    public Checkpoint() {
      super(
          "checkpoints block training",
          FILE_IO,
          job -> job.advice("checkpointBound", "Checkpoints block training"),
          "");
    }
  }

  public static final class SlowestJob extends JobRule {
    public SlowestJob() {
      super(
          "waiting for the slowest job",
          JAVA_APPLICATION,
          Findings::slowestJob,
          "This job did not wait for other jobs of its group.");
    }
  }

  public static final class UnansweredPeers extends JobRule {
    public UnansweredPeers() {
      super(
          "hosts that do not answer", SOCKET_IO, Findings::unansweredPeers, "Every host answered.");
    }
  }

  public static final class UnusedPartition extends JobRule {
    public UnusedPartition() {
      super(
          "unused memory of the hosts",
          FILE_IO,
          Findings::unusedPartition,
          "The job has one host, the hosts cannot hold all items, or hardly any items are read from"
              + " storage.");
    }
  }

  /** A failure inside the agent: always information, never a warning. */
  public static final class AgentFault extends JobRule {
    public AgentFault() {
      super("faults of the agent", JAVA_APPLICATION, Findings::faults, "The agent had no fault.");
    }

    @Override
    boolean appliesToProfiles() {
      return true;
    }

    @Override
    double score(Finding finding) {
      return (Severity.INFO.getLimit() + Severity.WARNING.getLimit()) / 2;
    }
  }
}
