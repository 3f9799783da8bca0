package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;

/** The help text of the built agent. Immutable. */
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

  /** Whether the agent has this argument. */
  boolean has(String key) {
    return text.lines().anyMatch(line -> line.startsWith("  " + key + " "));
  }
}
