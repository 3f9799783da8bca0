package io.coordl.agent.install;

import io.coordl.bridge.Bridge;
import io.coordl.library.Library;
import io.coordl.library.catalog.Libraries;
import io.coordl.telemetry.recording.AgentLog;
import io.coordl.telemetry.recording.RewriteLog;
import io.coordl.transformers.ProgramTransformer;
import io.coordl.transformers.classfile.RuleListener;
import java.net.URL;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Records what the transformer does, and starts the agent once a library's rule has applied. */
final class ClassListener implements ProgramTransformer.Listener {
  private static final Pattern JAR = Pattern.compile(".*-(\\d[\\w.+-]*?)\\.jar[!/]*");

  private final RewriteLog rewrites;
  private final Libraries libraries;
  private final Activation activation;
  private final AgentLog log;
  private final AtomicBoolean reportedNewer = new AtomicBoolean();

  ClassListener(RewriteLog rewrites, Libraries libraries, Activation activation, AgentLog log) {
    this.libraries = libraries;
    this.log = log;
    this.rewrites = rewrites;
    this.activation = activation;
  }

  @Override
  public RuleListener forClass(String name, @Nullable ProtectionDomain domain) {
    return new RuleListener() {
      @Override
      public void applied(String library, String rule, String provenOn) {
        rewrites.add(name, rule, 1, "", provenOn);
        if (!library.isEmpty()) {
          Library rewrittenLibrary = libraries.named(library);
          Matcher version = version(rewrittenLibrary, name, domain);
          if (version.matches()) {
            rewrites.addLibrary(library, version.group(1));
          }
          rewrittenLibrary.applied(rule);
          activation.activate(rewrittenLibrary);
        }
      }

      @Override
      public void skipped(String rule, String reason, String provenOn) {
        rewrites.add(name, rule, 0, reason, provenOn);
      }
    };
  }

  /** Matches the version in the jar's name, if the class belongs to the library itself. */
  private static Matcher version(Library library, String name, @Nullable ProtectionDomain domain) {
    CodeSource source = domain == null ? null : domain.getCodeSource();
    URL jar = source == null ? null : source.getLocation();
    boolean isLibraryClass = library.packages().stream().anyMatch(name::startsWith);
    return JAR.matcher(isLibraryClass && jar != null ? jar.getPath() : "");
  }

  @Override
  public void failed(String name, Throwable cause) {
    rewrites.add(name, "all", 0, cause.toString(), "");
    Bridge.fault("rewriting " + name, cause);
  }

  @Override
  public void newer(String name, int version) {
    String reason = "its class file has version " + version + ", newer than the agent can read";
    rewrites.add(name, "all", 0, reason, "");
    if (!reportedNewer.getAndSet(true)) {
      log.say(
          "%s and other classes of its version are not rewritten, and their reads are not"
              + " observed: %s",
          name, reason);
    }
  }
}
