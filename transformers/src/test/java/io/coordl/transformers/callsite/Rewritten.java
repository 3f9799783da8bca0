package io.coordl.transformers.callsite;

import io.coordl.transformers.RuleListener;
import io.coordl.transformers.classfile.ClassFile;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Loads test classes anew, rewritten, and remembers which sites were found. */
final class Rewritten extends ClassLoader {
  final Map<String, Integer> rewritten = new HashMap<>();
  final List<String> left = new ArrayList<>();
  private final CallSiteRewriter rewriter = new CallSiteRewriter();
  private final String prefix;

  /** Rewrites classes whose names start with {@code prefix}. */
  Rewritten(String prefix) {
    super(Rewritten.class.getClassLoader());
    this.prefix = prefix;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(prefix)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  /** The class as the transformer would change it; null if it would not. */
  static byte[] rewrite(CallSiteRewriter rewriter, byte[] classFile, RuleListener listener) {
    ClassFile read = ClassFile.read(classFile);
    return read == null || !rewriter.concerns(read) ? null : rewriter.rewrite(read, listener);
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      byte[] original = in.readAllBytes();
      byte[] bytes = rewrite(rewriter, original, listener());
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
