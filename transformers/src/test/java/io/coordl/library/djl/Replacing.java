package io.coordl.library.djl;

/** A data set that replaces a field that it inherits; in a nest of its own. */
final class Replacing extends KnownDjlTest.Built {
  Replacing() {
    super(new Builder().setSampling(2, false));
  }

  void replace() {
    pipeline = null;
  }
}
