package io.coordl.transformers;

import io.coordl.bridge.Spans;
import io.coordl.transformers.callsite.CallSite;
import io.coordl.transformers.callsite.CallSiteRewriter;
import io.coordl.transformers.callsite.CallSites;
import io.coordl.transformers.callsite.ClassNames;
import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.ConstantPoolFilter;
import io.coordl.transformers.classfile.RuleListener;
import io.coordl.transformers.hook.HookWeaver;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Offers the program's classes to the call-site rewriter and the hook weaver. If neither changes a
 * class, returns null, never equal bytes, so that class-data sharing stays intact. A failure leaves
 * the class unchanged.
 */
public final class ProgramTransformer implements ClassFileTransformer {
  /** Receives what happens to classes as they load or are retransformed, on any thread. */
  public interface Listener {
    /** Returns the listener for the rules that are applied to, or do not fit, one class. */
    RuleListener forClass(String name, @Nullable ProtectionDomain domain);

    /** A class could not be rewritten and stays unchanged. */
    void failed(String name, Throwable cause);

    /** A class file is too new for the parser; it stays unchanged, which is not a fault. */
    void newer(String name, int version);
  }

  private final ConstantPoolFilter prefilter;
  private final CallSiteRewriter callSites = new CallSiteRewriter();
  private final HookWeaver hooks;
  private final Listener listener;
  private final Map<ClassLoader, Boolean> bridgeVisible =
      Collections.synchronizedMap(new WeakHashMap<>());

  public ProgramTransformer(HookWeaver hooks, Listener listener) {
    this.hooks = hooks;
    this.listener = listener;
    Set<String> interesting = hooks.markers();
    for (CallSite site : CallSites.TABLE) {
      interesting.add(site.marker());
    }
    prefilter = new ConstantPoolFilter(interesting);
  }

  /**
   * Whether a loaded class may need retransformation, judged by the class file that its loader
   * finds; true if there is none.
   */
  public boolean mayChange(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    String name = type.getName().replace('.', '/');
    if (loader == null || !ClassNames.isOffered(name) || ClassNames.isOfAnAgent(loader)) {
      return false;
    }
    try (InputStream in = loader.getResourceAsStream(name + ".class")) {
      return in == null || prefilter.mentionsAny(in.readAllBytes());
    } catch (IOException | RuntimeException | LinkageError e) {
      return true;
    }
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    if (loader == null
        || name == null
        || !ClassNames.isOffered(name)
        || ClassNames.isOfAnAgent(loader)
        || !prefilter.mentionsAny(classFile)) {
      return null;
    }
    try {
      ClassFile read = ClassFile.read(classFile);
      return read == null ? null : transform(loader, name.replace('/', '.'), domain, read);
    } catch (Throwable t) {
      listener.failed(name.replace('/', '.'), t);
      return null;
    }
  }

  private byte @Nullable [] transform(
      ClassLoader loader, String name, @Nullable ProtectionDomain domain, ClassFile classFile) {
    boolean hasSites = callSites.concerns(classFile);
    HookWeaver.Plan plan = hooks.plan(classFile);
    if (!hasSites && plan.isEmpty()) {
      return null;
    }
    if (classFile.version() > ClassFile.NEWEST) {
      listener.newer(name, classFile.version());
      return null;
    }
    RuleListener rules = listener.forClass(name, domain);
    if (!seesBridge(loader)) {
      rules.skipped("all", "its class loader does not delegate to the boot loader", "");
      return null;
    }
    byte[] rewritten = hasSites ? callSites.rewrite(classFile, rules) : null;
    byte[] woven = hooks.weave(plan, rewritten == null ? classFile.bytes() : rewritten, rules);
    return woven == null ? rewritten : woven;
  }

  /**
   * Whether classes of this loader can call the bridge. Module systems such as OSGi delegate only
   * {@code java.*} to the boot loader, so a rewritten call would fail there.
   */
  private boolean seesBridge(ClassLoader loader) {
    Boolean sees = bridgeVisible.get(loader);
    if (sees == null) {
      try {
        sees = Class.forName(Spans.class.getName(), false, loader) == Spans.class;
      } catch (ClassNotFoundException | LinkageError e) {
        sees = false;
      }
      bridgeVisible.put(loader, sees);
    }
    return sees;
  }
}
