package io.coordl.transformers.classfile;

/**
 * Receives what the rules did to one class; called during rewriting, once per call site or method.
 */
public interface RuleListener {
  /** A rule was applied; {@code library} is empty for the JDK's calls. */
  void applied(String library, String rule, String provenOn);

  /** A rule names this class but does not fit it. */
  void skipped(String rule, String reason, String provenOn);
}
