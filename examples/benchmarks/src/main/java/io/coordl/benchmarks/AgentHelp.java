package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;

/** What the agent that was built can do, by its own help. Immutable. */
final class AgentHelp {
  private final String text;

  private AgentHelp(String text) {
    this.text = text;
  }

  static AgentHelp of(Checkout checkout) throws IOException, InterruptedException {
    ChildResult help =
        new ChildJvm(Jdks.running(), HelloWorld.class.getName())
            .classPath(checkout.benchmarkClasses())
            .agent(checkout.agentJar(), "help")
            .run()
            .orFail("The agent's help");
    return new AgentHelp(help.out() + help.err());
  }

  /** Whether there is an argument of that name. */
  boolean has(String key) {
    return text.lines().anyMatch(line -> line.startsWith("  " + key + " "));
  }
}
