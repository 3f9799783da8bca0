package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The example files for several hosts are valid for Kubernetes, Slurm and the agent. */
class RecipesTest {
  private static final Path FOLDER = Path.of("..", "examples", "several-hosts");
  private static final List<String> KEYS =
      List.of("cache", "cache.size", "peer", "peer.bind", "peer.hosts", "peer.secret", "record");

  private static Map<String, JsonNode> manifest() throws Exception {
    YAMLMapper yaml = new YAMLMapper();
    Map<String, JsonNode> kinds = new HashMap<>();
    String text = Files.readString(FOLDER.resolve("kubernetes.yaml"));
    for (String document : text.split("(?m)^---$", -1)) {
      JsonNode node = yaml.readTree(document);
      kinds.put(node.at("/kind").asString(), node);
    }
    return kinds;
  }

  private static List<Integer> ports(JsonNode list, String field) {
    List<Integer> ports = new ArrayList<>();
    list.forEach(port -> ports.add(port.at("/" + field).asInt()));
    return ports;
  }

  @Test
  void theServiceSelectsTheJobsPodsAndBothPorts() throws Exception {
    Map<String, JsonNode> kinds = manifest();
    JsonNode service = kinds.get("Service");
    JsonNode job = kinds.get("Job");
    JsonNode container = job.at("/spec/template/spec/containers/0");

    assertThat(kinds).containsOnlyKeys("Service", "NetworkPolicy", "Job");
    assertThat(service.at("/spec/clusterIP").asString()).isEqualTo("None");
    assertThat(service.at("/spec/publishNotReadyAddresses").asBoolean()).isTrue();
    assertThat(service.at("/spec/selector/job-name")).isEqualTo(job.at("/metadata/name"));
    assertThat(ports(service.at("/spec/ports"), "port")).containsExactly(7800, 7801);
    assertThat(ports(container.at("/ports"), "containerPort")).containsExactly(7800, 7801);
    JsonNode policy = kinds.get("NetworkPolicy");
    assertThat(ports(policy.at("/spec/ingress/0/ports"), "port")).containsExactly(7800, 7801);
    assertThat(policy.at("/spec/podSelector/matchLabels/job-name"))
        .isEqualTo(job.at("/metadata/name"));
  }

  @Test
  void theArgumentsOfThePodsNameExistingThings() throws Exception {
    Map<String, JsonNode> kinds = manifest();
    JsonNode container = kinds.get("Job").at("/spec/template/spec/containers/0");
    Map<String, String> environment = new HashMap<>();
    container
        .at("/env")
        .forEach(one -> environment.put(one.at("/name").asString(), one.at("/value").asString("")));
    Map<String, String> arguments = arguments(environment.get("COORDL_OPTS"));

    assertThat(arguments.get("peer"))
        .isEqualTo("dns:" + kinds.get("Service").at("/metadata/name").asString() + ":7800");
    assertThat(arguments.get("peer.hosts"))
        .isEqualTo(kinds.get("Job").at("/spec/parallelism").asString());
    assertThat(arguments.get("peer.bind")).isEqualTo("$(POD_IP)");
    assertThat(environment).containsKeys("POD_IP", "POD_NAME");
    // Without subPath, the file would be a link, which the agent does not follow.
    JsonNode mount = container.at("/volumeMounts/1");
    assertThat(mount.at("/mountPath").asString()).isEqualTo(arguments.get("peer.secret"));
    assertThat(arguments.get("peer.secret")).endsWith("/" + mount.at("/subPath").asString());
    assertThat(kinds.get("Job").at("/spec/template/spec/volumes/1/name"))
        .isEqualTo(mount.at("/name"));
    // The index and the items are in /dev/shm, within the volume's limit.
    assertThat(arguments.get("cache.size")).isEqualTo("20g");
    JsonNode memory = kinds.get("Job").at("/spec/template/spec/volumes/0/emptyDir");
    assertThat(memory.at("/medium").asString()).isEqualTo("Memory");
    assertThat(memory.at("/sizeLimit").asString()).isEqualTo("21Gi");
    assertThat(container.at("/volumeMounts/0/mountPath").asString()).isEqualTo("/dev/shm");
  }

  private static Map<String, String> arguments(String text) {
    Map<String, String> arguments = new HashMap<>();
    Stream.of(text.split(",", -1))
        .map(argument -> argument.split("=", 2))
        .forEach(pair -> arguments.put(pair[0], pair[1]));
    assertThat(KEYS).containsAll(arguments.keySet());
    return arguments;
  }

  @Test
  void theSlurmScriptIsValidBash() throws Exception {
    Path script = FOLDER.resolve("slurm.sbatch");
    Process bash = new ProcessBuilder("bash", "-n", script.toString()).inheritIO().start();

    assertThat(bash.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(bash.exitValue()).isZero();
    String text = Files.readString(script);
    String quoted = text.substring(text.indexOf("COORDL_OPTS=\"") + 13);
    Map<String, String> arguments = arguments(quoted.substring(0, quoted.indexOf('"')));
    assertThat(arguments).containsEntry("peer", "slurm").containsKey("peer.secret");
    // Slurm only reads directives before the first command.
    assertThat(text.indexOf("#SBATCH --mem")).isLessThan(text.indexOf("set -euo"));
  }
}
