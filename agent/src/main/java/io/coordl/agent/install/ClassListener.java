package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.recording.RewriteLog;
import io.coordl.transformers.ProgramTransformer;
import io.coordl.transformers.RuleListener;

/** Notes what the transformer does, and wakes the agent at the first class of a library. */
final class ClassListener implements ProgramTransformer.Listener {
  private final RewriteLog rewrites;
  private final Activation activation;

  ClassListener(RewriteLog rewrites, Activation activation) {
    this.rewrites = rewrites;
    this.activation = activation;
  }

  @Override
  public RuleListener forClass(String name) {
    return new RuleListener() {
      @Override
      public void applied(String library, String rule, int sites, String provenOn) {
        rewrites.add(new RewriteLog.Entry(name, rule, sites, "", provenOn));
        if (!library.isEmpty()) {
          activation.activate(library);
        }
      }

      @Override
      public void skipped(String rule, String reason, String provenOn) {
        rewrites.add(new RewriteLog.Entry(name, rule, 0, reason, provenOn));
      }
    };
  }

  @Override
  public void failed(String name, Throwable cause) {
    rewrites.add(new RewriteLog.Entry(name, "all", 0, cause.toString(), ""));
    Bridge.fault("rewriting " + name, cause);
  }
}
