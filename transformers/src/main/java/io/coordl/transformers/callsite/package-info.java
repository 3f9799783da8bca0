/**
 * The call-site rewriter: redirects calls in program and library classes to the bridge without
 * changing anything else; {@link io.coordl.transformers.callsite.CallSites} lists them all. The
 * behaviour of rewritten calls is in {@code io.coordl.bridge}. Nothing here loads or names a class
 * of the program.
 */
@NullMarked
package io.coordl.transformers.callsite;

import org.jspecify.annotations.NullMarked;
