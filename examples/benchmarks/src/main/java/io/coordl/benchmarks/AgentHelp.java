package io.coordl.benchmarks;

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
            .classPath(checkout.ownClasses())
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
