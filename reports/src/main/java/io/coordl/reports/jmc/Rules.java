package io.coordl.reports.jmc;

import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.FILE_IO;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.GARBAGE_COLLECTION;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.JAVA_APPLICATION;
import static org.openjdk.jmc.flightrecorder.rules.util.JfrRuleTopics.SOCKET_IO;

import io.coordl.reports.summary.Findings;
import io.coordl.reports.summary.Findings.Finding;
import org.openjdk.jmc.flightrecorder.rules.Severity;

/** The rules; the service file in {@code src/main/jmc} names the class of each. */
public final class Rules {
  private Rules() {}

  /** The share of the training time that is waiting for data. */
  public static final class DataStall extends JobRule {
    public DataStall() {
      super("data stall", JAVA_APPLICATION, Findings::dataStall);
    }
  }

  /** A job that waits for storage, and the cache is off. */
  public static final class FetchBound extends JobRule {
    public FetchBound() {
      super("waiting for storage", FILE_IO, Findings::fetchBound, "The MinIO cache is on.");
    }
  }

  /** A cache that is on and does not hold what later epochs ask for. */
  public static final class LaterEpochsFetch extends JobRule {
    public LaterEpochsFetch() {
      super(
          "later epochs read from storage",
          FILE_IO,
          Findings::laterEpochsFetch,
          "Later epochs do not wait for storage, or the cache is off.");
    }
  }

  /** A store that had to turn items away: worth a look, never a warning of its own. */
  public static final class StoreFull extends JobRule {
    public StoreFull() {
      super("cache full", FILE_IO, Findings::storeFull, "No store turned an item away.");
    }

    @Override
    double score(Finding finding) {
      return Severity.INFO.getLimit()
          + finding.share() * (Severity.WARNING.getLimit() - 1 - Severity.INFO.getLimit());
    }
  }

  /** A job that waits for decoding, transforms and assembly. */
  public static final class PrepBound extends JobRule {
    public PrepBound() {
      super("waiting for preparation", JAVA_APPLICATION, Findings::prepBound);
    }
  }

  /** A job whose batches wait for a worker or for their hand-over. */
  public static final class QueueBound extends JobRule {
    public QueueBound() {
      super("batches queue", JAVA_APPLICATION, Findings::queueBound);
    }
  }

  /** A job that waits for batches while a collector works. */
  public static final class GarbageCollection extends JobRule {
    public GarbageCollection() {
      super("batches held up by garbage collection", GARBAGE_COLLECTION, Findings::gcBound);
    }
  }

  /** A job that waits for its own models to be written. */
  public static final class Checkpoint extends JobRule {
    public Checkpoint() {
      super("training stands still for checkpoints", FILE_IO, Findings::checkpointBound);
    }
  }

  /** Coordinated prep that runs at the pace of one slow job. */
  public static final class SlowestJob extends JobRule {
    public SlowestJob() {
      super(
          "waiting for the slowest job",
          JAVA_APPLICATION,
          Findings::slowestJob,
          "No job of a group was waited for.");
    }
  }

  /** Hosts of the partitioned cache that answer late or not at all. */
  public static final class UnansweredPeers extends JobRule {
    public UnansweredPeers() {
      super(
          "hosts that do not answer",
          SOCKET_IO,
          Findings::unansweredPeers,
          "Every host that was asked answered.");
    }
  }

  /** A partitioned cache that could hold the data set, and does not. */
  public static final class UnusedPartition extends JobRule {
    public UnusedPartition() {
      super(
          "memory of the hosts not used",
          FILE_IO,
          Findings::unusedPartition,
          "What the hosts' memory would hold together is not read from storage.");
    }
  }

  /** Something inside the agent failed: always worth a look, never a warning. */
  public static final class AgentFault extends JobRule {
    public AgentFault() {
      super("faults of the agent", JAVA_APPLICATION, Findings::faults, "The agent had no fault.");
    }

    @Override
    boolean looksAtProfiles() {
      return true;
    }

    @Override
    double score(Finding finding) {
      return (Severity.INFO.getLimit() + Severity.WARNING.getLimit()) / 2;
    }
  }
}
