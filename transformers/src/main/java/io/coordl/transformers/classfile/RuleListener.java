package io.coordl.transformers.classfile;

/** Hears what the rules did to one class; called while it is rewritten, once for each place. */
public interface RuleListener {
  /** A rule was applied; {@code library} is empty for the JDK's calls. */
  void applied(String library, String rule, String provenOn);

  /** A rule was meant for this class but does not fit it. */
  void skipped(String rule, String reason, String provenOn);
}
