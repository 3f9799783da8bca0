package io.coordl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contents of coordl-agent.jar. */
final class PackagingIT {
  private static final int MAX_BRIDGE_CLASSES = 40;
  private static final long MAX_BYTES = 4_600_000;
  private static final String BRIDGE = "io/coordl/bridge/";

  /** Resources that JGroups loads by name. */
  private static final List<String> JGROUPS_RESOURCES =
      List.of(
          "inst/JGROUPS_VERSION.properties",
          "inst/jg-magic-map.xml",
          "inst/jg-messages.properties",
          "inst/jg-protocol-ids.xml");

  private static final Pattern USE = Pattern.compile("^ +(\\S+) +-> (\\S+) +(.*?) *$");

  private static final Pattern MAY_BE_MISSING =
      Pattern.compile(
          // The program brings these libraries, or there is nothing to hook.
          "(ai\\.djl|org\\.(bytedeco|datavec|deeplearning4j|nd4j))\\."
              // Loggers that JGroups and Jedis look up, and connection pools.
              + "|org\\.(slf4j|apache\\.(logging|commons\\.pool2))\\."
              // Annotations of Byte Buddy's build, and classes of Byte Buddy that its parser names
              // but does not use here.
              + "|(net\\.bytebuddy\\.(build|description|dynamic)|javax\\.annotation"
              + "|org\\.objectweb\\.asm)\\."
              // Commands, client-side caches and tokens of Jedis; RedisFromTheJarIT shows that the
              // packaged classes of Jedis suffice.
              + "|redis\\.clients\\.(jedis|authentication)\\."
              // Left out, so that bytes from other hosts never become objects.
              + "|org\\.jgroups\\.(blocks\\.MethodCall|util\\.ObjectWrapperSerializable)$");

  private static final List<String> FILES = new ArrayList<>();
  private static Attributes manifest;

  @BeforeAll
  static void read() throws IOException {
    try (JarFile jar = new JarFile(Child.AGENT.toFile())) {
      manifest = jar.getManifest().getMainAttributes();
      jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).forEach(FILES::add);
    }
  }

  private static List<String> outside() {
    return FILES.stream().filter(name -> !name.startsWith("inst/")).toList();
  }

  @Test
  void theManifestNamesTheEntryClassAndRequestsOnlyRetransformation() {
    assertThat(manifest.getValue("Premain-Class")).isEqualTo(CoordlAgent.class.getName());
    assertThat(manifest.getValue("Agent-Class")).isEqualTo(CoordlAgent.class.getName());
    assertThat(manifest.getValue("Main-Class")).isEqualTo(CoordlAgent.class.getName());
    assertThat(manifest.getValue("Can-Retransform-Classes")).isEqualTo("true");
    assertThat(manifest.getValue("Can-Redefine-Classes")).isNull();
    assertThat(manifest.getValue("Boot-Class-Path")).isEqualTo("coordl-agent.jar");
    assertThat(manifest.getValue("Class-Path")).isNull();
    assertThat(manifest.getValue("Multi-Release")).isNull();
    assertThat(manifest.getValue("Implementation-Version")).isNotBlank();
  }

  @Test
  void outsideInstAreOnlyTheEntryClassTheBridgeAndTheLicence() {
    assertThat(outside())
        .filteredOn(name -> !name.startsWith(BRIDGE))
        .containsExactlyInAnyOrder(
            "META-INF/MANIFEST.MF",
            "META-INF/LICENSE",
            "META-INF/NOTICE",
            "io/coordl/agent/CoordlAgent.class");
    assertThat(outside()).filteredOn(name -> name.startsWith(BRIDGE)).allMatch(this::isClass);
  }

  /** Bytes from other hosts must never become objects; {@code NoObjects} refuses them. */
  @Test
  void noJGroupsClassDeserializesObjects() throws IOException {
    List<String> makers = new ArrayList<>();
    try (JarFile jar = new JarFile(Child.AGENT.toFile())) {
      for (String name : FILES) {
        if (name.startsWith("inst/org/jgroups/") && name.endsWith(".classdata")) {
          try (InputStream in = jar.getInputStream(jar.getEntry(name))) {
            new ClassReader(in).accept(maker(name, makers), ClassReader.SKIP_DEBUG);
          }
        }
      }
    }
    assertThat(makers).isEmpty();
    assertThat(FILES)
        .contains("inst/io/coordl/peers/hosts/membership/NoObjects.classdata")
        .noneMatch(name -> name.contains("ObjectInputStream"))
        .doesNotContain(
            "inst/org/jgroups/blocks/MethodCall.classdata",
            "inst/org/jgroups/util/ObjectWrapperSerializable.classdata");
  }

  private static ClassVisitor maker(String name, List<String> found) {
    return new ClassVisitor(Opcodes.ASM9) {
      @Override
      public void visit(int v, int access, String own, String sign, String base, String[] all) {
        if (base != null && base.contains("ObjectInputStream")) {
          found.add(name + " extends " + base);
        }
      }

      @Override
      public MethodVisitor visitMethod(int access, String in, String of, String sign, String[] ex) {
        return new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitTypeInsn(int opcode, String type) {
            if (opcode == Opcodes.NEW && type.contains("ObjectInputStream")) {
              found.add(name + "." + in + " makes a " + type);
            }
          }
        };
      }
    };
  }

  private boolean isClass(String name) {
    return name.endsWith(".class");
  }

  @Test
  void theBridgeIsSmall() {
    List<String> bridge = outside().stream().filter(name -> name.startsWith(BRIDGE)).toList();

    System.out.println("bridge: " + bridge.size() + " classes, nested ones included");
    assertThat(bridge).hasSizeLessThanOrEqualTo(MAX_BRIDGE_CLASSES);
  }

  @Test
  void insideInstAreOnlyAgentPackagesAndDeclaredLibraries() {
    TreeSet<String> packages = new TreeSet<>();
    for (String name : FILES) {
      if (name.startsWith("inst/") && !JGROUPS_RESOURCES.contains(name)) {
        String[] parts = name.split("/", -1);
        assertThat(parts).as(name).hasSizeGreaterThan(3);
        packages.add(
            String.join("/", parts[1], parts[2], parts[2].equals("coordl") ? parts[3] : ""));
      }
    }

    assertThat(packages)
        .containsExactlyInAnyOrder(
            "io/coordl/agent",
            "io/coordl/checkpoint",
            "io/coordl/coordination",
            "io/coordl/gpu",
            "io/coordl/host",
            "io/coordl/items",
            "io/coordl/library",
            "io/coordl/peers",
            "io/coordl/pipeline",
            "io/coordl/profile",
            "io/coordl/purity",
            "io/coordl/store",
            "io/coordl/telemetry",
            "io/coordl/transformers",
            "io/coordl/tuning",
            "net/bytebuddy/",
            "io/opentelemetry/",
            "io/prometheus/",
            "org/HdrHistogram/",
            "org/jgroups/",
            "redis/clients/");
    assertThat(FILES).containsAll(JGROUPS_RESOURCES);
  }

  @Test
  void noScannerFindsAClassInsideInst() {
    assertThat(FILES).noneMatch(name -> name.startsWith("inst/") && name.endsWith(".class"));
    assertThat(FILES)
        .noneMatch(
            name -> name.startsWith("inst/") && name.toLowerCase(Locale.ROOT).contains("meta-inf"));
  }

  @Test
  void noClassIsPackagedTwice() {
    List<String> classes =
        FILES.stream()
            .filter(name -> name.endsWith(".class") || name.endsWith(".classdata"))
            .map(name -> name.replaceFirst("^inst/", "").replaceFirst("\\.class(data)?$", ""))
            .toList();

    assertThat(classes).isNotEmpty().doesNotHaveDuplicates();
  }

  /** The build compiles lambdas to classes; only records still use invokedynamic. */
  @Test
  void noAgentClassUsesLambdaMetafactory() throws IOException {
    List<String> lambdas = new ArrayList<>();
    int classes = 0;
    try (JarFile jar = new JarFile(Child.AGENT.toFile())) {
      for (String name : FILES) {
        if (name.startsWith("inst/io/coordl/") && name.endsWith(".classdata")) {
          try (InputStream in = jar.getInputStream(jar.getEntry(name))) {
            classes++;
            new ClassReader(in)
                .accept(new HouseRulesTest.InvokeDynamics(lambdas), ClassReader.SKIP_DEBUG);
          }
        }
      }
    }

    assertThat(classes).isGreaterThan(100);
    assertThat(lambdas).isNotEmpty().allMatch(use -> use.endsWith("ObjectMethods.bootstrap"));
  }

  @Test
  void thereAreNoModulesVersionsServicesOrSignatures() {
    assertThat(FILES)
        .noneMatch(name -> name.contains("module-info"))
        .noneMatch(name -> name.contains("META-INF/versions"))
        .noneMatch(name -> name.contains("META-INF/services"))
        .noneMatch(name -> name.contains("META-INF/maven"))
        .noneMatch(name -> name.matches(".*\\.(SF|RSA|DSA|EC)"));
  }

  /**
   * All classes reachable from the agent's classes are in the jar, except those that the program
   * brings, annotations, and optional dependencies of the libraries.
   */
  @Test
  void noReachableClassIsMissing(@TempDir Path classes) throws IOException {
    try (JarFile jar = new JarFile(Child.AGENT.toFile())) {
      for (String name : FILES) {
        if (isClass(name) || name.endsWith(".classdata")) {
          Path file =
              classes.resolve(name.replaceFirst("^inst/", "").replace(".classdata", ".class"));
          Files.createDirectories(file.getParent());
          try (InputStream bytes = jar.getInputStream(jar.getEntry(name))) {
            Files.copy(bytes, file);
          }
        }
      }
    }
    Map<String, Set<String>> uses = new HashMap<>();
    Set<String> missing = new HashSet<>();
    for (String line :
        jdeps("-verbose:class", "-filter:none", classes.toString()).lines().toList()) {
      Matcher use = USE.matcher(line);
      if (use.find()) {
        uses.computeIfAbsent(use.group(1), user -> new TreeSet<>()).add(use.group(2));
        if (use.group(3).equals("not found")) {
          missing.add(use.group(2));
        }
      }
    }
    assertThat(uses).hasSizeGreaterThan(500);

    Set<String> reached = new TreeSet<>();
    Deque<String> next = new ArrayDeque<>(uses.keySet());
    next.removeIf(name -> !name.startsWith("io.coordl."));
    while (!next.isEmpty()) {
      String name = next.pop();
      if (reached.add(name)) {
        next.addAll(uses.getOrDefault(name, Set.of()));
      }
    }
    System.out.printf(
        "our classes reach %d classes, including those of the JDK; the jar has %d%n",
        reached.size(), uses.size());
    reached.retainAll(missing);
    assertThat(reached).filteredOn(name -> !MAY_BE_MISSING.matcher(name).lookingAt()).isEmpty();
  }

  @Test
  void theJarIsSmall() throws IOException {
    assertThat(Files.size(Child.AGENT)).isLessThan(MAX_BYTES);
  }

  /** JGroups does not start if a listed class is missing. */
  @Test
  void jGroupsListsNameOnlyPackagedClasses() throws IOException {
    try (JarFile jar = new JarFile(Child.AGENT.toFile())) {
      for (String list : List.of("inst/jg-magic-map.xml", "inst/jg-protocol-ids.xml")) {
        String text = new String(jar.getInputStream(jar.getEntry(list)).readAllBytes(), UTF_8);
        List<String> named =
            Pattern.compile("name=\"([^\"]+)\"")
                .matcher(text)
                .results()
                .map(name -> "inst/" + name.group(1).replace('.', '/') + ".classdata")
                .toList();
        assertThat(named).hasSizeGreaterThan(5);
        assertThat(FILES).containsAll(named);
      }
    }
  }

  private static String jdeps(String... arguments) {
    StringWriter out = new StringWriter();
    PrintWriter writer = new PrintWriter(out);
    ToolProvider.findFirst("jdeps").orElseThrow().run(writer, writer, arguments);
    writer.flush();
    return out.toString();
  }
}
