package io.coordl.reports.plan;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.Sharing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A plan as files that a cluster accepts. In Kubernetes, a job's pods are identical: one for each
 * server if the job has the same number of GPUs on each, otherwise one for each GPU. For Slurm,
 * cores and memory are given per GPU.
 */
public final class Manifests {
  private static final String SHARED_MEMORY = "coordl-shm";
  private static final double MIB_PER_GIB = 1024;
  private static final String METADATA = "metadata:\n  name: %s\n";

  private final Map<String, String> files = new LinkedHashMap<>();
  private final List<String> patches = new ArrayList<>();
  private final Form form;

  private Manifests(Form form) {
    this.form = form;
  }

  /**
   * Returns the contents of files by name. Waiting jobs have no file.
   *
   * @throws InputException if a pool has no labels or a job no memory size, but the files need them
   */
  public static Map<String, String> of(Plan plan, Form form) throws InputException {
    Manifests manifests = new Manifests(form);
    boolean severalPools = plan.pools().size() > 1;
    for (Plan.Pool pool : plan.pools()) {
      if (severalPools && form != Form.SLURM && pool.file().labels().isEmpty()) {
        throw new InputException(
            "the pool '"
                + pool.gpu()
                + "' has no labels: Kueue distinguishes flavors by node labels");
      }
      for (Plan.Job job : pool.jobs()) {
        if (!job.waits()) {
          manifests.add(pool, job);
        }
      }
    }
    if (form != Form.SLURM) {
      manifests.addComponent();
      if (severalPools) {
        manifests.addFlavors(plan);
      }
    }
    return manifests.files;
  }

  /** The number of a job's pods, and the resources of each. */
  private record Pod(int pods, int gpus, double cores, double memoryGib, double itemsGib) {
    static Pod of(Plan.Job job) {
      List<Sharing.Part> parts = job.servers();
      boolean isUniform = parts.stream().map(Sharing.Part::gpus).distinct().count() == 1;
      int pods = isUniform ? parts.size() : job.gpus();
      double items =
          job.request().ownMemoryGib() == null ? 0 : job.memoryGib() - job.request().ownMemory();
      return new Pod(
          pods,
          job.gpus() / pods,
          job.cores() / pods,
          job.memoryGib() / pods,
          Math.max(0, items) / pods);
    }

    /** Returns whole millicores, rounded down so that all pods of a server fit. */
    String cpu() {
      long millis = Math.max(1, (long) Math.floor(cores * 1000 + 1e-6));
      return millis % 1000 == 0 ? Long.toString(millis / 1000) : millis + "m";
    }

    static long mib(double gib) {
      return (long) Math.floor(gib * MIB_PER_GIB + 1e-6);
    }
  }

  private void add(Plan.Pool pool, Plan.Job job) throws InputException {
    if (job.request().isMemoryMissing()) {
      throw new InputException(
          "the job '"
              + job.name()
              + "' has no memory=SIZE: a memory limit for its cache alone would kill it");
    }
    Pod pod = Pod.of(job);
    switch (form) {
      case JOB -> patch(job, "batch", "v1", "Job", forJob(pool, job, pod));
      case JOBSET -> patch(job, "jobset.x-k8s.io", "v1alpha2", "JobSet", forJobSet(pool, job, pod));
      case TRAINJOB ->
          patch(job, "trainer.kubeflow.org", "v1alpha1", "TrainJob", forTrainJob(pool, job, pod));
      case SLURM -> files.put(job.name() + ".slurm", forSlurm(pool, job, pod));
    }
  }

  private void patch(Plan.Job job, String group, String version, String kind, String content) {
    String file = job.name() + "-" + kind.toLowerCase(Locale.ROOT) + ".yaml";
    files.put(file, content);
    patches.add(
        """
        - path: %s
          target:
            group: %s
            version: %s
            kind: %s
            name: %s
        """
            .formatted(file, group, version, kind, job.name()));
  }

  private void addComponent() {
    files.put(
        "kustomization.yaml",
        String.format(
            "# Name this directory among the 'components:' of your kustomization.\n"
                + "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n%s",
            patches.isEmpty() ? "" : "patches:\n" + indented(2, String.join("", patches))));
  }

  /** Adds a flavor per type of GPU; jobs select it by node labels. */
  private void addFlavors(Plan plan) {
    List<String> flavors = new ArrayList<>();
    for (Plan.Pool pool : plan.pools()) {
      flavors.add(
          String.format(
                  "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\n"
                      + METADATA
                      + "spec:\n",
                  pool.gpu().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-"))
              + indented(2, map("nodeLabels", pool.file().labels())));
    }
    files.put("kueue.yaml", String.join("---\n", flavors));
  }

  private static String storage(Plan.Pool pool, Plan.Job job) {
    return pool.file().sharesStorage() && job.storageMbs() > 0
        ? String.format(
            Locale.ROOT,
            "# Storage: %.0f MB/s in the plan; Kubernetes does not limit it.\n",
            job.storageMbs())
        : "";
  }

  /** Returns a strategic merge patch, which merges lists by name. */
  private static String forJob(Plan.Pool pool, Plan.Job job, Pod pod) {
    return storage(pool, job)
        + String.format("apiVersion: batch/v1\nkind: Job\n" + METADATA + "spec:\n", job.name())
        + (pod.pods() == 1
            ? ""
            : String.format("  parallelism: %d\n  completions: %1$d\n", pod.pods()))
        + "  template:\n    spec:\n"
        + indented(6, podSpec(pool, pod, job.request().container(), true));
  }

  private static String forTrainJob(Plan.Pool pool, Plan.Job job, Pod pod) {
    String overrides = podSpec(pool, pod, "node", false);
    String head =
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata:
          name: %s
        spec:
          trainer:
            numNodes: %d
            resourcesPerNode:
        """;
    String patches =
        """
        runtimePatches:
          - manager: coordl.io/plan
            trainingRuntimeSpec:
              template:
                spec:
                  replicatedJobs:
                    - name: node
                      template:
                        spec:
                          template:
                            spec:
        """;
    return storage(pool, job)
        + head.formatted(job.name(), pod.pods())
        + indented(6, resources(pool, pod))
        + (overrides.isEmpty() ? "" : indented(2, patches) + indented(24, overrides));
  }

  /**
   * Returns a patch of JSON operations: for a kind that Kustomize does not know, a strategic merge
   * would replace lists.
   */
  private static String forJobSet(Plan.Pool pool, Plan.Job job, Pod pod) {
    String inJob = "/spec/replicatedJobs/0/template/spec";
    String inPod = inJob + "/template/spec";
    String inContainer = inPod + "/containers/0";
    StringBuilder operations = new StringBuilder(storage(pool, job));
    if (pod.pods() > 1) {
      operations.append(add(inJob + "/parallelism", " " + pod.pods() + "\n"));
      operations.append(add(inJob + "/completions", " " + pod.pods() + "\n"));
    }
    operations.append(add(inContainer + "/resources", "\n" + indented(4, resources(pool, pod))));
    if (!pool.file().labels().isEmpty()) {
      operations.append(
          add(inPod + "/nodeSelector", "\n" + indented(4, entries(pool.file().labels()))));
    }
    if (pod.itemsGib() > 0) {
      operations.append(
          "# The lists volumes, volumeMounts and env must exist, even if only as [].\n");
      operations.append(add(inPod + "/volumes/-", "\n" + indented(4, volume(pod))));
      operations.append(add(inContainer + "/volumeMounts/-", "\n" + indented(4, mount())));
      operations.append(add(inContainer + "/env/-", "\n" + indented(4, variable(pod))));
    }
    return operations.toString();
  }

  private static String add(String path, String value) {
    return "- op: add\n  path: " + path + "\n  value:" + value;
  }

  /** Returns the fields below a pod's {@code spec}. */
  private static String podSpec(Plan.Pool pool, Pod pod, String container, boolean withResources) {
    StringBuilder spec = new StringBuilder();
    if (!pool.file().labels().isEmpty()) {
      spec.append(map("nodeSelector", pool.file().labels()));
    }
    boolean cache = pod.itemsGib() > 0;
    if (withResources || cache) {
      spec.append(String.format("containers:\n  - name: %s\n", quoted(container)));
    }
    if (withResources) {
      spec.append("    resources:\n").append(indented(6, resources(pool, pod)));
    }
    if (cache) {
      spec.append("    env:\n").append(item(6, variable(pod)));
      spec.append("    volumeMounts:\n").append(item(6, mount()));
      spec.append("volumes:\n").append(item(2, volume(pod)));
    }
    return spec.toString();
  }

  /** Returns equal requests and limits: the pod gets what the plan assumes and no more. */
  private static String resources(Plan.Pool pool, Pod pod) {
    Map<String, String> amounts = new LinkedHashMap<>();
    amounts.put("cpu", pod.cpu());
    amounts.put("memory", Pod.mib(pod.memoryGib()) + "Mi");
    amounts.put(pool.file().resource(), Integer.toString(pod.gpus()));
    return map("requests", amounts) + map("limits", amounts);
  }

  private static String volume(Pod pod) {
    return String.format(
        "name: %s\nemptyDir:\n  medium: Memory\n  sizeLimit: %dMi\n",
        SHARED_MEMORY, Pod.mib(pod.itemsGib()));
  }

  private static String mount() {
    return String.format("name: %s\nmountPath: /dev/shm\n", SHARED_MEMORY);
  }

  /** Returns the variable that sets the agent's cache size to the planned cache memory. */
  private static String variable(Pod pod) {
    return String.format(
        "name: COORDL_OPTS\nvalue: cache=minio,cache.scope=host,cache.size=%dm\n",
        Pod.mib(pod.itemsGib()));
  }

  /** Returns one line, for {@code sbatch $(cat FILE) ...}. */
  private static String forSlurm(Plan.Pool pool, Plan.Job job, Pod pod) {
    String gpu = pool.gpu().equals(ClusterFile.ANY_GPU) ? "" : pool.gpu() + ":";
    return String.format(
        "--job-name=%s --nodes=%s --gpus=%s%d --cpus-per-gpu=%d --mem-per-gpu=%dM\n",
        job.name(),
        job.servers().size(),
        gpu,
        job.gpus(),
        Math.max(1, (long) (pod.cores() / pod.gpus() + 1e-6)),
        Pod.mib(pod.memoryGib() / pod.gpus()));
  }

  private static String map(String key, Map<String, String> entries) {
    return String.format("%s:\n", key) + indented(2, entries(entries));
  }

  private static String entries(Map<String, String> entries) {
    StringBuilder lines = new StringBuilder();
    entries.forEach(
        (name, value) -> lines.append(String.format("%s: %s\n", quoted(name), quoted(value))));
    return lines.toString();
  }

  /** Leaves plain words unquoted; quotes all else as JSON strings, which are also valid YAML. */
  private static String quoted(String text) {
    return text.matches("[A-Za-z][A-Za-z0-9./_-]*")
            && !text.matches("(?i)y|n|yes|no|on|off|true|false|null")
        ? text
        : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }

  private static String indented(int blanks, String lines) {
    return lines.replaceAll("(?m)^(?=.)", " ".repeat(blanks));
  }

  private static String item(int blanks, String lines) {
    return indented(blanks, indented(2, lines).replaceFirst("^ {2}", "- "));
  }
}
