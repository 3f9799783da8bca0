/**
 * The call-site rewriter: which calls of program and library classes are sent to the bridge ({@link
 * io.coordl.transformers.callsite.CallSites} is the whole list) and how that is done without
 * changing anything else. No behaviour of its own: what a rewritten call does is in {@code
 * io.coordl.bridge}. Nothing here loads or names a class of the program.
 */
@NullMarked
package io.coordl.transformers.callsite;

import org.jspecify.annotations.NullMarked;
