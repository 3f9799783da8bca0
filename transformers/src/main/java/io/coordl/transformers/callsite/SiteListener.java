package io.coordl.transformers.callsite;

/**
 * Hears which sites of a class were rewritten and which were left; called while it is rewritten.
 */
public interface SiteListener {
  /** A listener that says nothing. */
  SiteListener NONE =
      new SiteListener() {
        @Override
        public void rewritten(String className, CallSite site) {}

        @Override
        public void left(String className, CallSite site, String reason) {}
      };

  /** One site of {@code className} (with dots) now calls the bridge. */
  void rewritten(String className, CallSite site);

  /** One site was found and left as it is. */
  void left(String className, CallSite site, String reason);
}
