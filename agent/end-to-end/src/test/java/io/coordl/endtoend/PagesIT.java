package io.coordl.endtoend;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Report pages of examples, searches and test programs, in a real browser; for Spark see {@link
 * RecipesIT}.
 */
class PagesIT {
  private static final Path BROWSER = Path.of("/usr/bin/chromedriver");

  @Test
  void theBrowserReportsNoProblemOnAnyExamplesPage() throws IOException, InterruptedException {
    Assumptions.assumeTrue(Workshop.FULL, "takes a minute, so it runs only with -Pfull");
    Path directory = Workshop.empty("pages");
    List<Path> pages = new ArrayList<>();
    for (Framework framework : Framework.values()) {
      Job job = new Job(framework, Workshop.newestJdk(), directory, "job-" + framework);
      job.agent("cache=minio,decoded=share,prefetch=2").runWell();
      pages.add(page(directory.resolve(framework + ".html"), job.recording()));
      Path search = Files.createDirectory(directory.resolve("search-" + framework));
      Job.search(
              framework,
              Workshop.newestJdk(),
              search,
              List.of("--lr", "0.001,0.01", "--agent", Workshop.checkout().agentJar().toString()))
          .orFail("The search");
      pages.add(
          page(
              directory.resolve("search-" + framework + ".html"),
              search.resolve("search-logs/0.001.jfr"),
              search.resolve("search-logs/0.01.jfr")));
      Path other = directory.resolve("program-" + framework + ".jfr");
      String program = framework == Framework.DJL ? "DjlJobs" : "Dl4jJobs";
      Workshop.program(Workshop.newestJdk(), framework, "example.resume." + program)
          .args("images", Files.createDirectory(directory.resolve(program)).toString())
          .agent(Workshop.checkout().agentJar(), "prepared=share,record=" + other)
          .run()
          .orFail("The test program");
      pages.add(page(directory.resolve("program-" + framework + ".html"), other));
    }
    assertNoProblems(pages);
  }

  /** Writes the report page of some recordings. */
  static Path page(Path page, Path... recordings) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("report", "-o", page.toString()));
    for (Path recording : recordings) {
      command.add(recording.toString());
    }
    Summary.coordl(command.toArray(new String[0]));
    return page;
  }

  /** Fails if the browser reports a problem on any page; the same checks as in ReportPageIT. */
  static void assertNoProblems(List<Path> pages) throws IOException, InterruptedException {
    Assumptions.assumeTrue(Files.isExecutable(BROWSER), "no browser to open the pages with");
    Path reports = Workshop.checkout().root().resolve("reports/target");
    new ChildJvm(Jdks.running(), "io.coordl.reports.page.ReportPageIT")
        .classPath(reports.resolve("test-classes"), reports.resolve("classes"))
        .classPathFile(reports.resolve("test-classpath.txt"))
        .jvmArgs("-Dcoordl.full=true")
        .directory(pages.get(0).getParent())
        .args(pages.stream().map(Path::toString).toArray(String[]::new))
        .timeout(Workshop.MAX_DURATION)
        .run()
        .orFail("The check of " + pages);
  }
}
