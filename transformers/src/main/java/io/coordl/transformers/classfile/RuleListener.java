package io.coordl.transformers.classfile;

/** Receives what the rules did to one class, while it is rewritten. */
public interface RuleListener {
  /** A rule was applied to a call site or method; {@code library} is empty for the JDK's calls. */
  void applied(String library, String rule, String provenOn);

  /** A rule names this class but does not fit it. */
  void skipped(String rule, String reason, String provenOn);
}
