package io.coordl.reports.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The files of a plan for Kubernetes are YAML and set only fields that the kind has. No package on
 * Maven Central contains the schemas of JobSet, TrainJob and Kueue, so this class lists their
 * fields, copied from the custom resource definitions.
 */
class ManifestsTest {
  private static final String POD = "spec.template.spec";
  private static final Set<String> OF_POD =
      Set.of(
          ".nodeSelector.*",
          ".containers[].name",
          ".containers[].env[].name",
          ".containers[].env[].value",
          ".containers[].volumeMounts[].name",
          ".containers[].volumeMounts[].mountPath",
          ".volumes[].name",
          ".volumes[].emptyDir.medium",
          ".volumes[].emptyDir.sizeLimit");
  private static final Set<String> OF_ALL = Set.of("apiVersion", "kind", "metadata.name");

  private static final String TWO_POOLS =
      """
      pools:
        - gpu: v100
          servers: 2
          gpusPerServer: 4
          cores: 32
          memory: 400GiB
          storage: 800MB/s
          labels:
            example.com/gpu: v100
        - gpu: a100
          servers: 1
          gpusPerServer: 8
          cores: 64
          memory: 800GiB
          labels:
            example.com/gpu: a100
      """;

  @TempDir Path directory;

  /** Returns the table of a job that is fastest with 6 cores and its 50 GiB in memory. */
  private static ModelTable recorded() {
    return ModelTable.of(
        "mine",
        DemandTable.of(
            1,
            32,
            50,
            List.of(2.0, 6.0),
            List.of(0.0, 50.0),
            List.of(1.0),
            List.of(List.of(List.of(10.0), List.of(20.0)), List.of(List.of(20.0), List.of(60.0))),
            0));
  }

  private static PlanJob job(String name, int gpus, String gpu) {
    return new PlanJob(name, recorded(), "mine", gpus, gpu, 10.5, "trainer", true);
  }

  private Plan plan(String cluster, PlanJob... jobs) throws Exception {
    Path file = directory.resolve("cluster.yaml");
    Files.writeString(file, cluster);
    return Plan.of(ClusterFile.read(file), List.of(jobs), Allocation.TUNE);
  }

  private static Object yaml(String text) {
    return new Load(LoadSettings.builder().build()).loadFromString(text);
  }

  /**
   * Returns the paths of all values, with {@code []} for any element of a list and {@code *} for
   * the keys of maps that may have any keys.
   */
  private static Set<String> paths(Object value) {
    Set<String> paths = new TreeSet<>();
    collect("", value, paths);
    return paths;
  }

  private static void collect(String path, Object value, Set<String> paths) {
    if (value instanceof Map<?, ?> map) {
      boolean free = path.matches(".*(nodeSelector|requests|limits|nodeLabels)");
      map.forEach(
          (key, of) -> collect(path + (path.isEmpty() ? "" : ".") + (free ? "*" : key), of, paths));
    } else if (value instanceof List<?> list) {
      list.forEach(of -> collect(path + "[]", of, paths));
    } else {
      paths.add(path);
    }
  }

  private static Set<String> fields(String prefix, Set<String> below, String... more) {
    Set<String> fields = new TreeSet<>(OF_ALL);
    below.forEach(field -> fields.add(prefix + field));
    fields.addAll(List.of(more));
    return fields;
  }

  @Test
  void aJobsPatchSetsRequestsLimitsAndSharedMemory() throws Exception {
    Map<String, String> files =
        Manifests.of(plan(TWO_POOLS, job("mine", 1, "v100"), job("far", 8, "v100")), Form.JOB);

    assertThat(files.get("mine-job.yaml"))
        .isEqualTo(
            """
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: mine
            spec:
              template:
                spec:
                  nodeSelector:
                    example.com/gpu: v100
                  containers:
                    - name: trainer
                      resources:
                        requests:
                          cpu: "6"
                          memory: "61952Mi"
                          nvidia.com/gpu: "1"
                        limits:
                          cpu: "6"
                          memory: "61952Mi"
                          nvidia.com/gpu: "1"
                      env:
                        - name: COORDL_OPTS
                          value: cache=minio,cache.scope=host,cache.size=51200m
                      volumeMounts:
                        - name: coordl-shm
                          mountPath: /dev/shm
                  volumes:
                    - name: coordl-shm
                      emptyDir:
                        medium: Memory
                        sizeLimit: 51200Mi
            """);
    assertThat(files).doesNotContainKey("far-job.yaml");
    assertThat(paths(yaml(files.get("mine-job.yaml"))))
        .isSubsetOf(
            fields(
                POD,
                OF_POD,
                POD + ".containers[].resources.requests.*",
                POD + ".containers[].resources.limits.*"));
  }

  @Test
  void aJobOnSeveralServersHasAPodForEach() throws Exception {
    Map<String, String> files = Manifests.of(plan(TWO_POOLS, job("two", 8, "v100")), Form.JOB);

    assertThat(files.get("two-job.yaml"))
        .contains("parallelism: 2", "completions: 2", "nvidia.com/gpu: \"4\"", "cpu: \"24\"");
  }

  @Test
  void theComponentNamesAPatchForEachJob() throws Exception {
    Map<String, String> files =
        Manifests.of(plan(TWO_POOLS, job("a", 1, "v100"), job("b", 1, "a100")), Form.JOB);

    assertThat(files.keySet())
        .containsExactly("a-job.yaml", "b-job.yaml", "kustomization.yaml", "kueue.yaml");
    assertThat(yaml(files.get("kustomization.yaml")))
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
        .containsEntry("kind", "Component")
        .containsEntry("apiVersion", "kustomize.config.k8s.io/v1alpha1");
    assertThat(paths(yaml(files.get("kustomization.yaml"))))
        .containsExactlyInAnyOrder(
            "apiVersion",
            "kind",
            "patches[].path",
            "patches[].target.group",
            "patches[].target.version",
            "patches[].target.kind",
            "patches[].target.name");
  }

  @Test
  void aTrainJobHasResourcesInItsTrainerAndTheRestInRuntimePatches() throws Exception {
    Map<String, String> files = Manifests.of(plan(TWO_POOLS, job("two", 8, "v100")), Form.TRAINJOB);

    String patches = "spec.runtimePatches[]";
    assertThat(paths(yaml(files.get("two-trainjob.yaml"))))
        .isSubsetOf(
            fields(
                patches
                    + ".trainingRuntimeSpec.template.spec.replicatedJobs[].template.spec.template"
                    + ".spec",
                OF_POD,
                patches + ".manager",
                patches + ".trainingRuntimeSpec.template.spec.replicatedJobs[].name",
                "spec.trainer.numNodes",
                "spec.trainer.resourcesPerNode.requests.*",
                "spec.trainer.resourcesPerNode.limits.*"))
        .contains("spec.trainer.numNodes", "spec.trainer.resourcesPerNode.limits.*");
  }

  @Test
  void aJobSetIsPatchedByOperations() throws Exception {
    Map<String, String> files = Manifests.of(plan(TWO_POOLS, job("two", 8, "v100")), Form.JOBSET);

    List<String> targets = new ArrayList<>();
    for (Object operation : (List<?>) yaml(files.get("two-jobset.yaml"))) {
      Map<?, ?> of = (Map<?, ?>) operation;
      assertThat(of.get("op")).isEqualTo("add");
      assertThat(of.get("value")).isNotNull();
      targets.add(String.valueOf(of.get("path")));
    }
    String job = "/spec/replicatedJobs/0/template/spec";
    String pod = job + "/template/spec";
    assertThat(targets)
        .containsExactly(
            job + "/parallelism",
            job + "/completions",
            pod + "/containers/0/resources",
            pod + "/nodeSelector",
            pod + "/volumes/-",
            pod + "/containers/0/volumeMounts/-",
            pod + "/containers/0/env/-");
  }

  @Test
  void eachTypeOfGpuIsAFlavor() throws Exception {
    Plan plan = plan(TWO_POOLS, job("a", 1, "v100"), job("b", 1, "a100"));

    String kueue = String.valueOf(Manifests.of(plan, Form.JOB).get("kueue.yaml"));

    List<Set<String>> flavors = new ArrayList<>();
    for (Object each : new Load(LoadSettings.builder().build()).loadAllFromString(kueue)) {
      flavors.add(paths(each));
    }
    assertThat(flavors).hasSize(2);
    assertThat(flavors.get(0)).isEqualTo(fields("spec", Set.of(".nodeLabels.*")));
  }

  @Test
  void aPoolWithoutLabelsIsRefused() throws Exception {
    Plan plan =
        plan(
            TWO_POOLS.replace("    labels:\n      example.com/gpu: a100\n", ""),
            job("a", 1, "v100"));

    assertThatThrownBy(() -> Manifests.of(plan, Form.JOB))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("the pool 'a100' has no labels");
    assertThat(Manifests.of(plan, Form.SLURM)).containsOnlyKeys("a.slurm");
  }

  @Test
  void slurmGetsOptionsOnOneLine() throws Exception {
    Map<String, String> files = Manifests.of(plan(TWO_POOLS, job("two", 8, "v100")), Form.SLURM);

    assertThat(files)
        .containsExactly(
            Map.entry(
                "two.slurm",
                "--job-name=two --nodes=2 --gpus=v100:8 --cpus-per-gpu=6 --mem-per-gpu=52544M\n"));
  }
}
