package io.coordl.transformers.callsite;

import io.coordl.transformers.classfile.ClassFile;
import io.coordl.transformers.classfile.RuleListener;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reloads test classes in rewritten form, and records which sites were found. */
final class Rewritten extends ClassLoader {
  final Map<String, Integer> rewritten = new HashMap<>();
  final List<String> left = new ArrayList<>();
  private final CallSiteRewriter rewriter = new CallSiteRewriter();
  private final List<String> prefixes;
  private final boolean rewrites;

  /** Rewrites classes whose names start with {@code prefix}. */
  Rewritten(String prefix) {
    this(true, prefix);
  }

  /**
   * Reloads classes whose names start with these prefixes, and rewrites them if {@code rewrites}.
   */
  Rewritten(boolean rewrites, String... prefixes) {
    super(Rewritten.class.getClassLoader());
    this.rewrites = rewrites;
    this.prefixes = List.of(prefixes);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (prefixes.stream().noneMatch(name::startsWith)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  /** Returns the class as the transformer would change it; null if it would not. */
  static byte[] rewrite(CallSiteRewriter rewriter, byte[] classFile, RuleListener listener) {
    ClassFile read = ClassFile.read(classFile);
    return read == null || !rewriter.concerns(read) ? null : rewriter.rewrite(read, listener);
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      byte[] original = in.readAllBytes();
      byte[] bytes = rewrites ? rewrite(rewriter, original, listener()) : null;
      return defineClass(
          name,
          bytes == null ? original : bytes,
          0,
          bytes == null ? original.length : bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  RuleListener listener() {
    return new RuleListener() {
      @Override
      public void applied(String library, String rule, String provenOn) {
        rewritten.merge(rule, 1, Integer::sum);
      }

      @Override
      public void skipped(String rule, String reason, String provenOn) {
        left.add(rule + ": " + reason);
      }
    };
  }
}
