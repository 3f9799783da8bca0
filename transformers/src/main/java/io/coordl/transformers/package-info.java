/**
 * The class-file transformer; the two kinds of rules are in {@code callsite} and {@code hook}. Has
 * no runtime behaviour: rewritten code calls the bridge.
 */
@NullMarked
package io.coordl.transformers;

import org.jspecify.annotations.NullMarked;
