package io.coordl.transformers;

import io.coordl.transformers.hook.HookWeaver;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * Offers every class of the program to the call-site rewriter and to the hook weaver. A class that
 * neither changes is returned as null, never as equal bytes, so that class-data sharing stays
 * intact. A failure leaves the class as it is.
 */
public final class ProgramTransformer implements ClassFileTransformer {
  /** Hears of what happens to classes; called while they load, on any thread. */
  public interface Listener {
    /** A rule was applied to, or did not fit, a class; see {@link RuleListener}. */
    RuleListener forClass(String name);

    /** A class could not be rewritten and stays as it is. */
    void failed(String name, Throwable cause);
  }

  private final HookWeaver hooks;
  private final Listener listener;

  /** A transformer with all rules. */
  public ProgramTransformer(HookWeaver hooks, Listener listener) {
    this.hooks = hooks;
    this.listener = listener;
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    if (loader == null || name == null) {
      return null;
    }
    try {
      if (!name.startsWith("ai/djl") && !name.startsWith("org/nd4j") && !name.startsWith("example"))
        return null;
      return hooks.weave(classFile, loader, listener.forClass(name.replace('/', '.')));
    } catch (Throwable t) {
      listener.failed(name, t);
      return null;
    }
  }
}
