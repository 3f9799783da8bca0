package io.coordl.agent;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.bridge.Spans;
import io.coordl.transformers.ProgramTransformer;
import io.coordl.transformers.callsite.CallSiteRewriter;
import io.coordl.transformers.hook.HookWeaver;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.Executors;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which packages may depend on which, and that start-up uses no invokedynamic. */
@AnalyzeClasses(packages = "io.coordl", importOptions = ImportOption.DoNotIncludeTests.class)
final class HouseRulesTest {
  private static final String[] JDK = {
    "java.lang..",
    "java.io..",
    "java.net..",
    "java.nio..",
    "java.time..",
    "java.util..",
    "java.security..",
    "java.text.."
  };
  private static final String[] NULLNESS = {"org.jspecify.."};
  private static final String[] DESKTOP = {"java.awt..", "javax.imageio..", "javax.sound.."};
  private static final String BRIDGE = "io.coordl.bridge..";

  @ArchTest
  static final ArchRule packagesHaveNoCycles =
      slices().matching("io.coordl.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule onlyTheAgentDependsOnTheAgent =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.coordl.agent..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.coordl.agent..");

  @ArchTest
  static final ArchRule onlyTheAgentAndLibrariesDependOnTheTransformers =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "io.coordl.agent..", "io.coordl.library..", "io.coordl.transformers..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.coordl.transformers..");

  @ArchTest
  static final ArchRule transformersDependOnNoStoreEventOrRecording =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.transformers..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "io.coordl.store..",
                  "io.coordl.items..",
                  "io.coordl.telemetry.event..",
                  "io.coordl.telemetry.attribution..",
                  "io.coordl.telemetry.recording.."));

  @ArchTest
  static final ArchRule theBridgeDependsOnlyOnTheJdk =
      classes()
          .that()
          .resideInAPackage(BRIDGE)
          .should()
          .onlyDependOnClassesThat(
              resideInAPackage(BRIDGE)
                  .or(resideInAnyPackage(JDK))
                  .or(resideInAnyPackage(NULLNESS))
                  .or(resideInAnyPackage(DESKTOP)));

  @ArchTest
  static final ArchRule adviceDependsOnlyOnEvents =
      classes()
          .that()
          .resideInAPackage("io.coordl.telemetry.advice..")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.coordl.telemetry.advice..",
                      "io.coordl.telemetry.event..",
                      "java.lang..",
                      "java.util..")
                  .or(resideInAnyPackage(NULLNESS)));

  @ArchTest
  static final ArchRule eventsDependOnlyOnTheirAnnotations =
      classes()
          .that()
          .resideInAPackage("io.coordl.telemetry.event..")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.coordl.telemetry.event..", "java.lang..", "java.util..", "jdk.jfr..")
                  .or(resideInAnyPackage(NULLNESS)));

  @ArchTest
  static final ArchRule onlyImagesAndSoundsOfTheBridgeDependOnTheDesktop =
      noClasses()
          .that()
          .resideInAPackage(BRIDGE)
          .and()
          .doNotHaveSimpleName("DesktopReads")
          .and()
          .doNotHaveSimpleName("ItemImageInputStream")
          .and()
          .haveNameNotMatching(".*\\.DecodedPictures(\\$.*)?")
          .should()
          .dependOnClassesThat(resideInAnyPackage(DESKTOP));

  @ArchTest
  static final ArchRule bridgeAgentAndTransformersUseNeitherLoggingNorJmx =
      noClasses()
          .that()
          .resideInAnyPackage(BRIDGE, "io.coordl.agent..", "io.coordl.transformers..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "java.util.logging..", "java.lang.management..", "javax.management.."));

  @ArchTest
  static final ArchRule theEntryClassAndItsLoaderUseNoNioFiles =
      noClasses()
          .that()
          .haveSimpleName("CoordlAgent")
          .or()
          .haveSimpleName("IsolatedLoader")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("java.nio.file..");

  @ArchTest
  static final ArchRule theEntryClassDependsOnNoOtherAgentClass =
      noClasses()
          .that()
          .haveSimpleName("CoordlAgent")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("io.coordl.bridge..", "io.coordl.agent.install.."));

  @ArchTest
  static final ArchRule storesDependOnNoEventOrRecording =
      noClasses()
          .that()
          .resideInAnyPackage("io.coordl.store..", "io.coordl.items..", "io.coordl.peers..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "io.coordl.telemetry.event..",
                  "io.coordl.telemetry.attribution..",
                  "io.coordl.telemetry.recording..",
                  "jdk.jfr..",
                  "net.bytebuddy..",
                  "org.HdrHistogram.."));

  @ArchTest
  static final ArchRule attributionDependsOnNoFilesRecordingOrHistograms =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.telemetry.attribution..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "io.coordl.store..",
                  "io.coordl.items..",
                  "io.coordl.telemetry.recording..",
                  "java.nio.file..",
                  "org.HdrHistogram..",
                  "net.bytebuddy.."));

  @ArchTest
  static final ArchRule recordingDependsOnNoStoreAndNoByteBuddy =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.telemetry.recording..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("io.coordl.store..", "io.coordl.items..", "net.bytebuddy.."));

  /** The jar contains only these packages of Byte Buddy. */
  @ArchTest
  static final ArchRule onlyTheParserOfByteBuddyIsUsed =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAPackage("net.bytebuddy..")
                  .and(
                      not(
                          resideInAnyPackage(
                              "net.bytebuddy.jar.asm..", "net.bytebuddy.utility.."))));

  @ArchTest
  static final ArchRule strategiesKnowNoLibrary =
      noClasses()
          .that()
          .resideInAnyPackage("io.coordl.pipeline..", "io.coordl.purity..", "io.coordl.profile..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "io.coordl.library..",
                  "ai.djl..",
                  "org.nd4j..",
                  "org.datavec..",
                  "org.deeplearning4j.."));

  @ArchTest
  static final ArchRule onlyTheMembershipDependsOnJGroups =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.coordl.peers.hosts.membership..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.jgroups..");

  @ArchTest
  static final ArchRule theMembershipDependsOnNoItemEventOrRecording =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.peers.hosts.membership..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "io.coordl.store..",
                  "io.coordl.items..",
                  "io.coordl.telemetry.event..",
                  "io.coordl.telemetry.recording..",
                  "jdk.jfr.."));

  @ArchTest
  static final ArchRule onlyThePeerPolicyStartsAnEngine =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.agent..")
          .and()
          .doNotHaveSimpleName("PeerPolicy")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("io.coordl.peers.hosts", "io.coordl.peers.redis..")
                  .and(not(simpleName("RedisUri"))));

  @ArchTest
  static final ArchRule onlyTheRedisEngineDependsOnJedis =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.coordl.peers.redis..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("redis.clients..");

  @ArchTest
  static final ArchRule onlyTheMetricsDependOnTheirLibraries =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.coordl.telemetry.metrics..")
          .should()
          .dependOnClassesThat(resideInAnyPackage("io.opentelemetry..", "io.prometheus.."));

  @ArchTest
  static final ArchRule everyThreadIsAnAgentThread =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.coordl.host..")
          .should()
          .callConstructorWhere(target(owner(type(Thread.class))))
          .orShould()
          .dependOnClassesThat()
          .belongToAnyOf(Executors.class, Timer.class);

  @ParameterizedTest
  @ValueSource(
      classes = {
        CoordlAgent.class,
        IsolatedLoader.class,
        Bridge.class,
        Spans.class,
        ProgramTransformer.class,
        CallSiteRewriter.class,
        HookWeaver.class
      })
  void thePremainPathUsesNoInvokeDynamic(Class<?> type) throws IOException {
    List<String> found = new ArrayList<>();
    String file = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(file)) {
      new ClassReader(in).accept(new InvokeDynamics(found), ClassReader.SKIP_DEBUG);
    }

    assertThat(found).isEmpty();
  }

  /**
   * Names the methods of a class that use invokedynamic: lambdas, but also string concatenation.
   */
  static final class InvokeDynamics extends ClassVisitor {
    private final List<String> found;

    InvokeDynamics(List<String> found) {
      super(Opcodes.ASM9);
      this.found = found;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String descriptor, String signature, String[] exceptions) {
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitInvokeDynamicInsn(
            String name, String callDescriptor, Handle bootstrap, Object... arguments) {
          found.add(method + ": " + bootstrap.getOwner() + "." + bootstrap.getName());
        }
      };
    }
  }
}
