package io.coordl.reports;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "io.coordl.reports",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule noPackagesDependOnEachOtherInACircle =
      slices().matching("io.coordl.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule onlyEventsAdviceStepsAndStatusAreShared =
      noClasses()
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "belong to another module, except io.coordl.telemetry.advice, .event, .live and"
                      + " .steps",
                  (JavaClass type) ->
                      type.getPackageName().startsWith("io.coordl")
                          && !type.getPackageName().equals("io.coordl.telemetry.advice")
                          && !type.getPackageName().equals("io.coordl.telemetry.event")
                          && !type.getPackageName().equals("io.coordl.telemetry.live")
                          && !type.getPackageName().equals("io.coordl.telemetry.steps")
                          && !type.getPackageName().startsWith("io.coordl.reports")));

  @ArchTest
  static final ArchRule recordingsKnowNoReport =
      noClasses()
          .that()
          .resideInAPackage("io.coordl.reports.recording")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.coordl.reports",
              "io.coordl.reports.summary",
              "io.coordl.reports.differential",
              "io.coordl.reports.whatif",
              "io.coordl.reports.page");

  /**
   * {@code EventJson} is an exception: it takes names and units from the annotations of the events.
   */
  @ArchTest
  static final ArchRule onlyRecordingsReadJfr =
      classes()
          .that()
          .resideOutsideOfPackage("io.coordl.reports.recording")
          .and()
          .haveNameNotMatching(".*\\.EventJson(\\$.*)?")
          .should()
          .onlyDependOnClassesThat()
          .resideOutsideOfPackage("jdk.jfr..");
}
