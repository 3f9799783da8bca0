package io.coordl.reports.jmc;

import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultProvider;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.TypedResult;

/** The rules' findings on real recordings, read by Mission Control. */
class RulesTest {
  @TempDir Path folder;

  private final Map<String, IResult> results = new HashMap<>();

  private void evaluate(Runnable job) throws Exception {
    evaluate(Recordings.record(folder.resolve("job.jfr"), job));
  }

  private void evaluate(Path file) throws Exception {
    IItemCollection items = JfrLoaderToolkit.loadEvents(file.toFile());
    for (IRule rule :
        new IRule[] {
          new Rules.DataStall(),
          new Rules.FetchBound(),
          new Rules.LaterEpochsFetch(),
          new Rules.StoreFull(),
          new Rules.PrepBound(),
          new Rules.CoreBound(),
          new Rules.QueueBound(),
          new Rules.GarbageCollection(),
          new Rules.Checkpoint(),
          new Rules.SlowestJob(),
          new Rules.UnansweredPeers(),
          new Rules.UnusedPartition(),
          new Rules.AgentFault()
        }) {
      var evaluation =
          rule.createEvaluation(
              items, IPreferenceValueProvider.DEFAULT_VALUES, new ResultProvider());
      evaluation.run();
      results.put(rule.getId(), evaluation.get());
    }
  }

  private IResult result(String id) {
    return results.get("io.coordl." + id);
  }

  private double score(String id) {
    return result(id).getResult(TypedResult.SCORE).doubleValue();
  }

  /** Finds units and fields that Mission Control reads differently. */
  @Test
  void missionControlReadsTheSameFiguresAsTheJdk() throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("all.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitPeer("node1:7801", 500, 2);
              Recordings.emitFault("here", "it");
              Recordings.emitPhase();
              Recordings.emitHost();
            });

    JobRecording jdk = RecordingReader.read(file, done -> {});
    JobRecording jmc = JobRule.recording(JfrLoaderToolkit.loadEvents(file.toFile()));

    assertThat(jmc)
        .usingRecursiveComparison()
        .ignoringFields("file", "bytes", "events")
        .isEqualTo(jdk);
    assertThat(jdk.phases()).hasSize(1);
    assertThat(jdk.host()).isNotNull();
    assertThat(jdk.peers()).hasSize(1);
  }

  @Test
  void aWaitForDataIsJudgedWithoutTheFirstEpoch() throws Exception {
    evaluate(Recordings::emitJob);

    // 51 s of 130 s, but only 8 s of the 60 s of the second and third epochs.
    assertThat(result("DataStall").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("DataStall").getSummary())
        .isEqualTo("Training waits for data 13.3 % of its time from the second epoch on.");
    assertThat(result("DataStall").getExplanation())
        .isEqualTo(
            "Of the whole job's 130.00 s, waits took: fetch 42.00 s, prep 6.00 s, GC 750.0 ms,"
                + " queueing 2.25 s.");
    assertThat(result("FetchBound").getSeverity()).isEqualTo(Severity.OK);
    assertThat(result("FetchBound").getSummary()).isEqualTo("The MinIO cache is on.");
    assertThat(result("LaterEpochsFetch").getSeverity()).isEqualTo(Severity.OK);
    assertThat(result("PrepBound").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("PrepBound").getSolution()).contains("=cache=minio,decoded=share: 4.00 s");
    assertThat(result("Checkpoint").getSeverity()).isEqualTo(Severity.OK);
    assertThat(result("Checkpoint").getSolution()).isNull();
    assertThat(result("GarbageCollection").getSeverity()).isEqualTo(Severity.OK);
    assertThat(result("SlowestJob").getSummary()).contains("job 4711").contains("group search");
    assertThat(result("AgentFault").getSummary()).isEqualTo("The agent had no fault.");
  }

  @Test
  void aJobThatWaitsForStorageIsAdvisedToCache() throws Exception {
    evaluate(
        () -> {
          Recordings.emitConfiguration("cache", "off");
          Recordings.emitEpoch(1, 70 * SECOND, 40 * SECOND);
          Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
        });

    assertThat(result("FetchBound").getSeverity()).isEqualTo(Severity.WARNING);
    assertThat(result("FetchBound").getSolution())
        .startsWith(
            "Keep the data set in memory with -javaagent:coordl-agent.jar=cache=minio: 40.00 s"
                + " in the only epoch were spent waiting for storage");
  }

  @Test
  void aFullCacheThatLaterEpochsMissIsAdvisedToGrow() throws Exception {
    evaluate(
        () -> {
          Recordings.emitConfiguration("cache", "minio");
          for (int epoch = 1; epoch <= 2; epoch++) {
            Recordings.emitColdEpoch(epoch, 70 * SECOND, 40 * SECOND);
          }
          Recordings.emitTotals(2, 200, 140 * SECOND, 80 * SECOND);
          Recordings.emitFullStore(250, 750);
        });

    assertThat(result("DataStall").getSeverity()).isEqualTo(Severity.WARNING);
    assertThat(score("DataStall")).isBetween(75.0, 100.0);
    assertThat(result("LaterEpochsFetch").getSeverity()).isEqualTo(Severity.WARNING);
    assertThat(result("LaterEpochsFetch").getSummary())
        .isEqualTo("Later epochs still wait for storage 57.1 % of their time.");
    assertThat(result("LaterEpochsFetch").getSolution()).contains("cache.size=2g");
    assertThat(result("StoreFull").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("StoreFull").getSummary())
        .isEqualTo("The cache is full: it could not cache 75.0 % of the items it was offered.");
    assertThat(score("StoreFull")).isEqualTo(25 + 0.75 * 49);
  }

  @Test
  void aStoreWithRoomIsNotFullAfterOneRefusal() throws Exception {
    evaluate(
        () -> {
          Recordings.emitJob();
          var store = new StoreStatisticsEvent();
          store.store = "prepared";
          store.capacity = 1L << 30;
          store.admitted = 8;
          store.bypassed = 1; // The item changed while it was read.
          store.commit();
        });

    assertThat(result("StoreFull").getSeverity()).isEqualTo(Severity.OK);
  }

  @Test
  void unansweredRequestsAndUnusedMemoryOfHostsAreFound() throws Exception {
    evaluate(Recordings::emitPartitionedJob);

    // 5 and 3 requests of 0.4 s each, in 130 s.
    assertThat(result("UnansweredPeers").getSeverity()).isEqualTo(Severity.OK);
    assertThat(result("UnansweredPeers").getSummary())
        .isEqualTo("Host node1:7801 did not answer 5 requests of this job in time.");
    assertThat(result("UnansweredPeers").getExplanation())
        .isEqualTo(
            "2 requests timed out and 3 failed; all hosts together cost the job's threads 3.20 s.");
    // 6 s of 60 s; three stores of 1 GiB for 95 MiB.
    assertThat(result("UnusedPartition").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("UnusedPartition").getSummary())
        .isEqualTo(
            "Later epochs read 10.0 % of the items from storage, though the memory of 3 hosts could"
                + " hold them.");
    assertThat(result("UnusedPartition").getSolution()).contains("dataset.root");
    assertThat(result("LaterEpochsFetch").getSolution())
        .contains("the cache on each of the 3 hosts", "or add a host", "cache.size=2g:");
  }

  @Test
  void jobsOfOneHostHaveNoFindingAboutHosts() throws Exception {
    evaluate(Recordings::emitJob);

    assertThat(result("UnansweredPeers").getSummary()).isEqualTo("Every host answered.");
    assertThat(result("UnusedPartition").getSeverity()).isEqualTo(Severity.OK);
  }

  @Test
  void prepGcQueueAndCheckpointsEachHaveTheirRule() throws Exception {
    // 10 s with prep 2 s, collections 0.25 s, queueing 0.75 s and checkpoint 1 s.
    evaluate(
        () -> {
          Recordings.emitEpoch(1, 10 * SECOND, 0);
          Recordings.emitTotals(1, 100, 10 * SECOND, 0);
        });

    assertThat(result("PrepBound").getSummary())
        .isEqualTo("Training waits for preparation: 20.0 % of training time in the only epoch.");
    assertThat(result("PrepBound").getSeverity()).isEqualTo(Severity.WARNING);
    assertThat(result("PrepBound").getSolution()).contains("decoded=share");
    assertThat(result("QueueBound").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("Checkpoint").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("Checkpoint").getSolution())
        .isEqualTo(
            "Write models in the background with -javaagent:coordl-agent.jar=checkpoint=async:"
                + " training stopped for 1.00 s in the only epoch while they were written;"
                + " predicted: at most 1.11x faster.");
    assertThat(result("GarbageCollection").getSeverity()).isEqualTo(Severity.OK);
    assertThat(score("GarbageCollection")).isStrictlyBetween(0.0, 25.0);
  }

  @Test
  void textOfAProgramIsEscaped() throws Exception {
    evaluate(
        () -> {
          Recordings.emitJob();
          Recordings.emitFault("<b>{score}</b>", "&c");
        });

    assertThat(result("AgentFault").getSeverity()).isEqualTo(Severity.INFO);
    assertThat(result("AgentFault").getExplanation())
        .isEqualTo("The first was in &lt;b&gt;&#123;score&#125;&lt;/b&gt;: &amp;c.");
  }

  @Test
  void severalRunsHaveNoFinding() throws Exception {
    evaluate(
        () -> {
          Recordings.emitTotals(3, 300, 130 * SECOND, 42 * SECOND);
          Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
        });

    assertThat(results.values())
        .allSatisfy(
            result -> {
              assertThat(result.getSeverity()).isEqualTo(Severity.NA);
              assertThat(result.getSummary()).startsWith("The events come from more than one run");
            });
  }

  @Test
  void aProfileHasOnlyFindingsAboutFaults() throws Exception {
    evaluate(
        () -> {
          Recordings.emitJob();
          Recordings.emitConfiguration("profile", "all");
          Recordings.emitFault("here", "it");
        });

    IResult faults = results.remove("io.coordl.AgentFault");
    assertThat(faults.getSeverity()).isEqualTo(Severity.INFO);
    assertThat(results.values())
        .allSatisfy(
            result -> {
              assertThat(result.getSeverity()).isEqualTo(Severity.NA);
              assertThat(result.getSummary()).startsWith("This is the recording of a profile");
            });
  }

  @Test
  void recordingsWithoutOurEventsAreIgnored() throws Exception {
    Path file = folder.resolve("foreign.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.JVMInformation");
      recording.start();
      recording.dump(file);
    }
    evaluate(file);

    assertThat(results.values())
        .isNotEmpty()
        .extracting(IResult::getSeverity)
        .containsOnly(Severity.IGNORE);
  }

  @Test
  void aRecordingWithoutBatchesIsNotApplicable() throws Exception {
    evaluate(() -> Recordings.emitFetches(3));

    assertThat(results.values()).extracting(IResult::getSeverity).containsOnly(Severity.NA);
  }

  @Test
  void everyRuleIsNamedInTheServiceFile() throws Exception {
    evaluate(Recordings::emitJob);
    var path = Path.of("src/main/jmc/META-INF/services", IRule.class.getName());

    assertThat(Files.readAllLines(path))
        .hasSameSizeAs(results.keySet())
        .allSatisfy(
            name -> {
              IRule rule =
                  Class.forName(name).asSubclass(IRule.class).getConstructor().newInstance();
              assertThat(results).containsKey(rule.getId());
              assertThat(rule.getName()).startsWith("CoorDL: ");
            });
    assertThat(ServiceLoader.load(IRule.class)).isEmpty();
  }
}
