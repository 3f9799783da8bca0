package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.recording.AgentLog;
import io.coordl.recording.RewriteLog;
import io.coordl.transformers.ProgramTransformer;
import io.coordl.transformers.RuleListener;
import java.util.concurrent.atomic.AtomicBoolean;

/** Notes what the transformer does, and wakes the agent at the first class of a library. */
final class ClassListener implements ProgramTransformer.Listener {
  private final RewriteLog rewrites;
  private final Activation activation;
  private final AgentLog log;
  private final AtomicBoolean saidNewer = new AtomicBoolean();

  ClassListener(RewriteLog rewrites, Activation activation, AgentLog log) {
    this.log = log;
    this.rewrites = rewrites;
    this.activation = activation;
  }

  @Override
  public RuleListener forClass(String name) {
    return new RuleListener() {
      @Override
      public void applied(String library, String rule, String provenOn) {
        rewrites.add(new RewriteLog.Entry(name, rule, 1, "", provenOn));
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

  @Override
  public void newer(String name, int version) {
    String reason = "its class file has version " + version + ", newer than the agent can read";
    rewrites.add(new RewriteLog.Entry(name, "all", 0, reason, ""));
    if (!saidNewer.getAndSet(true)) {
      log.say(
          name
              + " and other classes of its version stay as they are, and what they read is not"
              + " observed: "
              + reason);
    }
  }
}
