package io.coordl.transformers.classfile;

/** Receives what the rules did to one class, while it is rewritten. */
public interface RuleListener {
  /** A rule was applied to a call site or method; {@code library} is empty for a call site. */
  void applied(String library, String rule, String provenOn);

  /** A rule concerns this class, but was not applied to the class or to one of its calls. */
  void skipped(String rule, String reason, String provenOn);
}
